"""The numbers themselves, looked at in the run that carries shadows, so that the two need not run again for them."""

from __future__ import annotations

from collections.abc import Callable

from intelliperf.interception.wire import Deadline
from intelliperf.validation.algebraobserver import AlgebraObserver
from intelliperf.validation.calibration import Calibration
from intelliperf.validation.checker import Checker
from intelliperf.validation.othernumbers import TWIN, DoubtingChecker
from intelliperf.validation.runs.events import Divergence
from intelliperf.validation.runs.lockstep import Followed, Observer, Paused, Sync
from intelliperf.validation.runs.pairing import Pairing
from intelliperf.validation.runs.side import SideRun


class BesideShadows:
    """Holds the numbers to what the shadows have proven so far. What is wrong with them ends no run: see `wrong`.

    `twin`: the original in another order, where it may have no one answer.
    """

    def __init__(self, fresh: Callable[[], Checker | DoubtingChecker], twin: SideRun | None) -> None:
        self._fresh = fresh
        self._numbers = fresh()
        self._algebra: AlgebraObserver | None = None
        self._learn: Callable[[], Calibration] | None = None
        self.twin = twin
        self.wrong: Divergence | None = None
        self.followed: Followed | None = None  # once the run has ended

    def begin(self, algebra: AlgebraObserver, allowed: Callable[[AlgebraObserver], Calibration]) -> Observer:
        """The observer of a new run, in which `algebra` looks first."""
        self._numbers = self._fresh()
        self._algebra, self._learn = algebra, lambda: allowed(algebra)
        self.wrong = self.followed = None
        return self

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        if self._algebra is None or self._learn is None:
            raise RuntimeError("no run has begun")
        doubting = isinstance(self._numbers, DoubtingChecker)
        if other.side.label == TWIN:
            return self._numbers.compare(sync, base, other, pairing, deadline) if doubting else None
        found = self._algebra.compare(sync, base, other, pairing, deadline)
        if found is None and self.wrong is None:
            self._numbers.hold_to(self._learn())
            self._numbers.leave_out(self._algebra.endless)
            self.wrong = self._numbers.compare(sync, base, other, pairing, deadline)
        return found

    def unsettled(self, label: str) -> Divergence | None:
        """See `Checker.unsettled`."""
        return self._numbers.unsettled(label)

    def doubts(self, number: int) -> bool:
        """Has the original no one answer at that point?"""
        return isinstance(self._numbers, DoubtingChecker) and self._numbers.doubts(number)

    @property
    def has_one_answer(self) -> bool:
        """Of the original, at any of the points at which both were compared."""
        return self.followed is not None and not (
            isinstance(self._numbers, DoubtingChecker)
            and (self._numbers.no_one_answer or 0 < self.followed.syncs <= len(self._numbers.doubtful))
        )
