"""Several intercepted runs side by side: paused after the same dispatches, compared, resumed.

The first run is the base that all others are held against. The list of dispatches and transfers must
be the same, but for what the candidate declares: with `geometry`, grid, block and LDS of the target
kernel; kernels that were split, renamed or added are the matter of `alignment` and `follow_planned`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from intelliperf.interception.messages import Allocation, Dispatch, End, Message
from intelliperf.interception.wire import Deadline, PeerTimeout
from intelliperf.processes.process import Completed
from intelliperf.processes.sandbox import Sandbox
from intelliperf.protocols import Backend
from intelliperf.records import Application, Kernel, Outcome
from intelliperf.validation.runs.content import Content
from intelliperf.validation.runs.effort import Begun
from intelliperf.validation.runs.events import DIVIDED, Divergence, Event, Rule, bare, difference_of_events, is_empty
from intelliperf.validation.runs.pairing import Pairing, pair
from intelliperf.validation.runs.reached import Reached
from intelliperf.validation.runs.remembered import Remembered
from intelliperf.validation.runs.side import Failure, Side, SideFailed, SideRun
from intelliperf.validation.runs.totalled import NO_TOTALS, Totalled, TotalledCopy

_AS_LONG = 10.0  # as the base's own step: on a busy machine, or where a compiler is part of it
_OUTCOME_OF_FAILURE = {
    Failure.CRASHED: Outcome.CRASHED,
    Failure.TIMED_OUT: Outcome.TIMED_OUT,
    Failure.NO_KERNEL: Outcome.DISPATCHES_CHANGED,
    Failure.MALFORMED: Outcome.CRASHED,
}


@dataclass(frozen=True)
class Setting:
    """What every run of one validation shares."""

    backend: Backend
    kernel: Kernel
    sandbox: Sandbox
    logs: Path
    deadline_s: float  # for one lock-step, comparisons included
    silence_s: float = math.inf  # how long a run other than the base may take for its next step
    jit: bool = False  # the kernel is Triton's, whose compiler and not the host sizes the LDS of a launch
    judged: Application | None = None  # the candidate, whose executed code is gathered in:
    reached: Reached | None = None
    compared: Callable[[int], None] = lambda launches: None  # called with how many there are so far
    base_silence_s: float = math.inf  # how long the base may take, where it is known how long it took before

    def listener(self, run: SideRun) -> Reached | None:
        return self.reached if run.application == self.judged else None

    def patience(self, deadline: Deadline, base_s: float = 0.0) -> Deadline:
        """For the next step of such a run, which took the base so long; a hang must leave time for the others."""
        return Deadline.after(min(deadline.left_s / 2, max(self.silence_s, _AS_LONG * base_s)))

    def base_patience(self, deadline: Deadline) -> Deadline:
        return Deadline.after(min(deadline.left_s, self.base_silence_s))


@dataclass(frozen=True)
class Paused:
    """A run at rest after a dispatch that carries its arguments and allocations."""

    side: Side
    dispatch: Dispatch

    def allocation(self, sequence: int) -> Allocation | None:
        """The buffer with this number; None where it is not alive."""
        found = (one for one in self.dispatch.allocations if one.sequence == sequence and one.name is None)
        return next(found, None)

    def content(self, allocation: int) -> memoryview:
        return self.side.read(self._found(allocation))

    def buffer(self, allocation: int) -> Content:
        return Content(self.side, self._found(allocation))

    def _found(self, allocation: int) -> Allocation:
        (found,) = (one for one in self.dispatch.allocations if one.id == allocation)
        return found

    def spoil(self, allocation: int) -> None:
        """See `Side.spoil`."""
        self.side.spoil(self._found(allocation))


@dataclass(frozen=True)
class Sync:
    """One point of comparison: `number` counts them, `where` says it for people.

    `totals`: copies that follow it, of which the host needs the total alone.
    """

    number: int
    where: str
    totals: tuple[TotalledCopy, ...] = ()


class Observer(Protocol):
    """Looks at two paused runs. Returns how they disagree, or None."""

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None: ...


class Uncompared:
    """Where only what launches end with is of interest."""

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        return None


@dataclass
class ByWay:
    """Where launches are altered in several ways, each way's own observer looks at its launches."""

    observers: Mapping[int, Observer]
    wrong: int = 0  # the way in which the first run diverged

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        found = self.observers[base.dispatch.way].compare(sync, base, other, pairing, deadline)
        if found is not None:
            self.wrong = base.dispatch.way
        return found


@dataclass(frozen=True)
class Followed:
    """What came of a lock-step. `events` are the base's, without arguments and allocations."""

    ended: Mapping[str, Completed]
    divergences: Mapping[str, Divergence]
    events: tuple[Event, ...]
    syncs: int
    uncovered: tuple[str, ...] = ()  # what the base did that cannot be compared
    left: Mapping[str, int] = field(default_factory=dict)  # runs that were left early → points compared until then
    round_seen: bool = False  # launches were altered in every way before that
    astray: Collection[str] = ()  # those of them that died after a launch with which the base itself had failed

    def coverage(self, label: str) -> str:
        """For people: empty where the run was followed to its end."""
        if label not in self.left:
            return ""
        died = "then it died, after a launch with which the original itself fails"
        return (
            f"the first {self.left[label]} compared launches, {died if label in self.astray else 'to bound the effort'}"
        )


@dataclass
class _Progress:
    divergences: dict[str, Divergence] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    syncs: int = 0
    uncovered: tuple[str, ...] = ()
    pairings: Remembered[Pairing] = field(default_factory=Remembered)
    left: dict[str, int] = field(default_factory=dict)
    astray: set[str] = field(default_factory=set)
    base_failed: bool = False  # with a launch, after which what memory holds is anybody's guess
    since: Begun | None = None  # the first point of comparison
    ways: list[int] = field(default_factory=list)  # to alter launches, in the order in which they came up
    way: int = 0  # the latest
    round_seen: bool = False

    def leave(self, others: Sequence[Side], rule: Rule, dispatch: Dispatch) -> list[Side]:
        """The sides to continue with."""
        if self.since is None and self.syncs and rule.bounded:
            self.since = Begun.now()
        if dispatch.target:
            self._see(dispatch.way)
        enough = self.since is not None and (
            (self.syncs >= rule.effort.least_syncs and self.since.spent(rule.effort.seconds))
            or (self.round_seen and self.since.spent(rule.effort.round_seconds))
        )
        if not enough:
            return list(others)
        self.left |= {side.label: self.syncs for side in others if side.label in rule.bounded}
        return [side for side in others if side.label not in rule.bounded]

    def _see(self, way: int) -> None:
        if way not in self.ways:
            self.ways.append(way)
        self.round_seen = len(self.ways) > 1 and way == self.ways[0] and self.way != way
        self.way = way


def follow(
    setting: Setting, runs: Sequence[SideRun], rule: Rule, observer: Observer, base_to_the_end: bool = False
) -> Followed:
    """Run all to the end in lock-step. Raises `SideFailed` if the base fails; others end in `divergences`.

    Ends early once all others that are in question have diverged or were left, unless `base_to_the_end`.
    """
    rule = dataclasses.replace(rule, free_lds=setting.jit)
    deadline = Deadline.after(setting.deadline_s)
    progress = _Progress()
    with _sides(setting, runs) as sides:
        base, others = sides[0], list(sides[1:])
        begun = time.monotonic()

        def patience() -> Deadline:
            return setting.patience(deadline, took_s)

        base.connect(setting.base_patience(deadline))
        took_s = time.monotonic() - begun
        others = [side for side in others if _survives(progress, side, lambda s: s.connect(patience()))]
        while others or base_to_the_end:
            begun = time.monotonic()
            message = base.next(setting.base_patience(deadline))
            took_s = time.monotonic() - begun
            if isinstance(message, Dispatch) and message.before:
                begins = message
                others = [s for s in others if _given(patience, progress, (base, begins), s, rule)]
                base.proceed()
                continue
            others = rule.in_question(
                [s for s in others if _keeps_up(patience, progress, base, message, s, rule, observer, deadline)]
            )
            if isinstance(message, End):
                progress.uncovered = message.uncovered
                break
            progress.events.append(bare(message))
            if isinstance(message, Dispatch):
                progress.base_failed |= message.status != 0
                progress.syncs += message.target and rule.compared(message)
                setting.compared(progress.syncs)
                others = progress.leave(others, rule, message)
                if message.target:
                    base.proceed()
        ended: dict[str, Completed] = {}
        if others or base_to_the_end:
            ended[base.label] = base.finish(setting.base_patience(deadline))
        for side in others:
            _survives(progress, side, lambda s: ended.update({s.label: s.finish(patience())}))
    return Followed(
        ended,
        progress.divergences,
        tuple(progress.events),
        progress.syncs,
        progress.uncovered,
        progress.left,
        bool(progress.left) and progress.round_seen,
        progress.astray,
    )


def _given(
    patience: Callable[[], Deadline], progress: _Progress, begins: tuple[Side, Dispatch], side: Side, rule: Rule
) -> bool:
    """Give `side`, before the launch, the numbers that the base has where these may differ by rounding."""
    base, expected = begins
    try:
        found = side.next(patience())
        divergence = difference_of_events(side.label, expected, found, rule)
        if divergence is None and isinstance(found, Dispatch):
            for mine, theirs in pair(expected, found).pairs:
                if mine.size == theirs.size > 0 and rule.alike(mine):
                    side.write(theirs, base.read(mine))
            side.proceed()
    except SideFailed as error:
        if error.label == base.label:
            raise
        divergence = _failed(error)
    if divergence is not None:
        progress.divergences[side.label] = divergence
    return divergence is None


def _keeps_up(
    patience: Callable[[], Deadline],
    progress: _Progress,
    base: Side,
    expected: Message,
    side: Side,
    rule: Rule,
    observer: Observer,
    deadline: Deadline,
) -> bool:
    """Take one step with `side`; False once it has left the path."""
    left_alone = (
        isinstance(expected, Dispatch) and expected.target and rule.after_failures and not rule.compared(expected)
    )
    try:
        if left_alone:
            side.proceed()  # it need not run for long what the base has failed with
        found = side.next(patience())
        excused = False
        if isinstance(expected, Dispatch) and isinstance(found, Dispatch) and found.status != expected.status:
            excused = rule.doubted(progress.syncs)
            nothing_done = rule.may_be_launched_otherwise(expected) and is_empty(found)
            divided = found.status == DIVIDED and not expected.status  # it may not matter
            alike = excused or nothing_done or divided
            found = dataclasses.replace(found, status=expected.status) if alike else found
        divergence = difference_of_events(side.label, expected, found, rule)
        if divergence is not None and isinstance(found, Dispatch) and found.status and (said := side.complaint()):
            divergence = dataclasses.replace(divergence, detail=f"{divergence.detail}: {said}")
        if divergence is not None and isinstance(found, End) and (said := side.last_output()):
            divergence = dataclasses.replace(divergence, detail=f"{divergence.detail}; it wrote: {said}")
        if divergence is None and isinstance(expected, Dispatch) and isinstance(found, Dispatch) and expected.target:
            if rule.compared(expected) and not excused:
                here = Sync(progress.syncs, f"dispatch {expected.nth} of {expected.kernel}")
                paused = Paused(base, expected), Paused(side, found)
                divergence = _compare(progress.pairings, observer, here, paused, deadline)
            if divergence is None and not left_alone:
                side.proceed()
    except SideFailed as error:
        if error.label == base.label:
            raise
        astray = progress.base_failed or (isinstance(expected, Dispatch) and expected.status != 0)
        if rule.after_failures and astray and error.failure is Failure.CRASHED:
            progress.left[side.label] = progress.syncs
            progress.astray.add(side.label)
            return False
        divergence = _failed(error)
    if divergence is not None:
        progress.divergences[side.label] = divergence
    return divergence is None


def _compare(
    pairings: Remembered[Pairing],
    observer: Observer,
    sync: Sync,
    paused: tuple[Paused, Paused],
    deadline: Deadline,
    totalled: Totalled = NO_TOTALS,
) -> Divergence | None:
    base, other = paused
    mine, theirs = base.dispatch, other.dispatch
    objects = mine.kernel, theirs.kernel, mine.arguments, theirs.arguments, mine.allocations, theirs.allocations
    pairing = pairings.get(objects, lambda: totalled.without(pair(mine, theirs)))
    try:
        return observer.compare(sync, base, other, pairing, deadline)
    except PeerTimeout as error:
        return Divergence(other.side.label, Outcome.TIMED_OUT, str(error))


def record(setting: Setting, run: SideRun) -> tuple[tuple[Event, ...], Completed]:
    """The dispatches and transfers of one run, without looking at memory. Raises `SideFailed`."""
    deadline = Deadline.after(setting.deadline_s)
    with _sides(setting, [run]) as (side,):
        side.connect(deadline)
        events: list[Event] = []
        while not isinstance(message := side.next(setting.patience(deadline)), End):
            events.append(bare(message))
            if isinstance(message, Dispatch) and message.target:
                side.proceed()
        return tuple(events), side.finish(deadline)


def follow_planned(
    setting: Setting,
    runs: tuple[SideRun, SideRun],
    plan: Sequence[tuple[int, int]],
    observer: Observer,
    totalled: Totalled = NO_TOTALS,
) -> Followed:
    """Compare at pairs of dispatch numbers (counted from 0 in each run) in rising order, then run to the end.

    Both runs must export every kernel. Raises `SideFailed` if the base fails.
    """
    deadline = Deadline.after(setting.deadline_s)
    progress = _Progress()
    ended: dict[str, Completed] = {}
    with _sides(setting, runs) as (base, other):
        base.connect(deadline)
        walkers = _Walker(base, lambda: deadline), _Walker(other, lambda: setting.patience(deadline))

        def walk(side: Side) -> None:
            side.connect(setting.patience(deadline))
            for number, (left, right) in enumerate(plan):
                here, there = walkers[0].stop_at(left), walkers[1].stop_at(right)
                sync = Sync(number, f"dispatch {left} ({here.dispatch.kernel})", totalled.at(number))
                divergence = _compare(progress.pairings, observer, sync, (here, there), deadline, totalled)
                if divergence is not None:
                    progress.divergences[side.label] = divergence
                    return
                progress.syncs += 1
                setting.compared(progress.syncs)
            for walker in walkers:
                walker.to_the_end()
                ended[walker.side.label] = walker.side.finish(deadline)

        try:
            walk(other)
        except SideFailed as error:
            if error.label == base.label:
                raise
            progress.divergences[other.label] = _failed(error)
    return Followed(ended, progress.divergences, tuple(walkers[0].events), progress.syncs)


class _Walker:
    """Moves one run forward to given dispatches."""

    def __init__(self, side: Side, patience: Callable[[], Deadline]) -> None:
        self.side = side
        self.events: list[Event] = []
        self._patience = patience
        self._dispatches = 0
        self._paused = False

    def stop_at(self, number: int) -> Paused:
        while True:
            message = self._step()
            if isinstance(message, End):
                raise SideFailed(self.side.label, Failure.CRASHED, "it ended earlier than in the previous run")
            if isinstance(message, Dispatch) and self._dispatches == number + 1:
                return Paused(self.side, message)

    def to_the_end(self) -> None:
        while not isinstance(self._step(), End):
            pass

    def _step(self) -> Message:
        if self._paused:
            self.side.proceed()
        message = self.side.next(self._patience())
        self._paused = isinstance(message, Dispatch) and message.target
        if isinstance(message, Dispatch):
            self._dispatches += 1
        if not isinstance(message, End):
            self.events.append(bare(message))
        return message


def _survives(progress: _Progress, side: Side, step: Callable[[Side], None]) -> bool:
    try:
        step(side)
    except SideFailed as error:
        progress.divergences[side.label] = _failed(error)
        return False
    return True


def _failed(error: SideFailed) -> Divergence:
    return Divergence(error.label, _OUTCOME_OF_FAILURE[error.failure], f"{error.failure.value}: {error.detail}")


@contextlib.contextmanager
def _sides(setting: Setting, runs: Sequence[SideRun]) -> Iterator[tuple[Side, ...]]:
    with ExitStack() as stack:
        yield tuple(
            stack.enter_context(
                Side(run, setting.backend, setting.kernel, setting.logs, setting.sandbox, setting.listener(run))
            )
            for run in runs
        )
