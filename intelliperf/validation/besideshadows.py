"""The numbers themselves, looked at in the run that carries shadows, so that the two need not run again for them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from intelliperf.interception.wire import Deadline
from intelliperf.validation.algebraobserver import AlgebraObserver
from intelliperf.validation.buffers.elements import Mask
from intelliperf.validation.calibration import Calibration
from intelliperf.validation.checker import Checker
from intelliperf.validation.nanplaces import with_nan
from intelliperf.validation.othernumbers import NAN_LOSES, NAN_WINS, TWIN, DoubtingChecker
from intelliperf.validation.runs.events import Divergence
from intelliperf.validation.runs.lockstep import Followed, Observer, Paused, Sync
from intelliperf.validation.runs.pairing import Key, Pairing
from intelliperf.validation.runs.side import SideRun


class BesideShadows:
    """Holds the numbers to what the shadows have proven so far. What is wrong with them ends no run: see `wrong`.

    `twin`: the original in another order, where it may have no one answer.
    """

    def __init__(self, fresh: Callable[[], Checker | DoubtingChecker], twin: SideRun | None) -> None:
        self._fresh = fresh
        self._numbers = fresh()
        self._algebra: AlgebraObserver | None = None
        self._runs = 0
        self._learn: Callable[[], Calibration] | None = None
        self.twin = twin
        self.by_nan = False  # is what the shadows are apart in what was made NaN?
        self._undecided: dict[tuple[int, str], dict[Key, Mask | None]] = {}  # by launch, in any run
        self.wrong: Divergence | None = None
        self.followed: Followed | None = None  # once the run has ended

    def begin(self, algebra: AlgebraObserver, allowed: Callable[[AlgebraObserver], Calibration]) -> Observer:
        """The observer of a new run, in which `algebra` looks first."""
        self._numbers = self._fresh()
        self._algebra, self._learn = algebra, lambda: allowed(algebra)
        self.wrong = self.followed = None
        if self._runs and self.twin is not None:
            rank = NAN_WINS if self._runs % 2 == 0 else NAN_LOSES
            self.twin = replace(self.twin, interception=self.twin.interception | rank)
        self._runs += 1
        self.by_nan = False
        return self

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        if self._algebra is None or self._learn is None:
            raise RuntimeError("no run has begun")
        if other.side.label == TWIN:
            return self._see_twin(sync, base, other, pairing, deadline)
        ranks = with_nan(base.dispatch.alteration)
        undecided = self._undecided.get((base.dispatch.index, base.dispatch.alteration), {}) if ranks else {}
        self._algebra.undecided = undecided
        self._numbers.leave_out({(sync.number, key): mask for key, mask in undecided.items()})
        found = self._algebra.compare(sync, base, other, pairing, deadline)
        if found is None and self.wrong is None:
            self._numbers.hold_to(self._learn())
            self._numbers.leave_out(self._algebra.endless)
            self._checker.decided = self._algebra.decided
            self.wrong = self._numbers.compare(sync, base, other, pairing, deadline)
        self.by_nan |= found is not None and ranks and self.twin is not None
        return found

    def _see_twin(
        self, sync: Sync, base: Paused, twin: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        if not isinstance(self._numbers, DoubtingChecker):
            return None
        found = self._numbers.compare(sync, base, twin, pairing, deadline)
        known = self._undecided.setdefault((base.dispatch.index, base.dispatch.alteration), {})
        for key, mask in self._numbers.left_out(sync.number).items():
            before = known.get(key, mask)
            if mask is None or before is None or mask.size != before.size:
                known[key] = None
            else:
                known[key] = mask | before
        return found

    @property
    def left_open(self) -> Collection[str]:
        """In words, what of the numbers was not compared."""
        unranked = self._numbers.left_open if isinstance(self._numbers, DoubtingChecker) else ()
        if not self._checker.rounded:
            return unranked
        return (*unranked, f"few integers that rounding alone decides in {', '.join(sorted(self._checker.rounded))}")

    @property
    def _checker(self) -> Checker:
        return self._numbers.checker if isinstance(self._numbers, DoubtingChecker) else self._numbers

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
