"""What the gate of other numbers asks of a candidate, and when it believes what it sees.

The device runs each launch once more, altered in one of three ways, and shows both programs' memory after that:
all floats scaled, some numbers moved, or one scalar argument changed. Where the candidate has other kernels, no launch
of one program stands for one of the other: both run as a whole on altered copies of what the host sends. What the
original does with another argument was never promised: where it fails, or its result depends on the order of lanes
and blocks, nothing follows. A device that gives no choice of orders runs the original twice for every alteration: if
it disagrees with itself, that shows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from intelliperf.interception.messages import Allocation, Dispatch
from intelliperf.interception.wire import Deadline
from intelliperf.records import Interception, Kernel, Order, Outcome
from intelliperf.validation.buffers.compare import as_bytes, equal
from intelliperf.validation.buffers.elements import Mask
from intelliperf.validation.buffers.ends import idle_end, overrun
from intelliperf.validation.buffers.tolerance import Steadiness
from intelliperf.validation.calibration import Calibration, constant, is_few, scalars
from intelliperf.validation.checker import Checker
from intelliperf.validation.nanplaces import with_nan
from intelliperf.validation.runs.events import Divergence
from intelliperf.validation.runs.lockstep import Paused, Sync
from intelliperf.validation.runs.pairing import Key, Pairing, key_of
from intelliperf.validation.sameorder import SameOrder, decides, described

_MOST_SHAPES = 16
_MOST_BYTES_TO_END = 1 << 24  # of a buffer, to look where it ends
MOST_SECONDS = 2  # of the processor, for an altered launch of the original
PATIENCE = 20  # so many times as long may the same launch of the candidate take
TWIN = "original in another order"
NO_ONE_ANSWER = "the original is not deterministic"
_NOT_FINITE = "the original's results overflow"
TWIN_ORDER = Interception(lane_order=Order(), block_order=Order())
MORE_ORDERS = tuple(Interception(lane_order=Order(seed), block_order=Order(seed)) for seed in (1, 2, 5))
NAN_WINS, NAN_LOSES = Interception(nan_rank=1), Interception(nan_rank=2)  # where the twin compares numbers
OTHER_GARBAGE = Interception(lds_poison=0x5B)  # what an altered launch leaves unwritten in LDS may be read


@dataclass(frozen=True)
class Alteration:
    """One way: its number for the device, how a wrong answer is put, and how a pass is."""

    way: int
    wrong: str
    passed: str
    of_arguments: bool = False
    doubtful: bool = False  # the original may have no one answer then
    with_room: str = ""  # how a pass is put where memory is roomy
    of_data: bool = False  # the device says of each launch how its data differ
    not_raised: str = ""  # and where no larger launch could be compared
    finite: bool = False  # what the original's overflowing results are means nothing
    own_memory: bool = False  # allocations are laid out otherwise than for the others


LARGER = "a larger size"  # what the device tells of such launches
# Of a launch of which only the first block runs: of its own size, and then of larger ones, which would take too long.
PART, PART_OF_LARGER = "a part of the grid", "a part of a larger launch"
# The launch has its own size: its integers, and not their number, are beyond what a candidate's types hold.
IN_MORE_BITS = ("integers beyond the narrower width", "integers alike in the narrower width")
CROWDED = "the most frequent integers replaced"  # by others of the same list, even where it is in no fixed order
# Which part it is may go by such a list.
ONE_ROW = ("one part of a list with all of it", "a larger size, and one part of a list with all of it")
_EACH = "scalar arguments, members of structs and device variables each by itself"
_BY = (
    "(one, three, half, a prime, very few, what only one of the two compares with, the largest unsigned number), "
    "floats, if any, doubled and negated, wherever the original is deterministic then"
)
ALTERATIONS = (
    Alteration(1, "on other numbers in the same buffers", "all numbers scaled or lowered, buffer by buffer"),
    Alteration(
        2,
        "where some of the numbers are others",
        "an eighth of each buffer's numbers moved",
        doubtful=True,
        of_data=True,
    ),
    Alteration(
        5,
        "where the numbers are 128 times as large",
        "floats that are only read times 128, wherever the original's results are finite then",
        doubtful=True,
        finite=True,
        of_data=True,
    ),
    Alteration(
        3,
        "with another value of a scalar argument",
        "scalar arguments from 5 on lowered, floats among them doubled, wherever the original is deterministic then",
        of_arguments=True,
        doubtful=True,
        own_memory=True,
        with_room=f"{_EACH} lowered and raised {_BY}",
        not_raised=f"{_EACH} lowered, none raised {_BY}",
    ),
)


# Where the candidate's code keeps integers in fewer bits than the original's.
WIDE = Alteration(
    6,
    "with more numbers, or larger ones, than a type of the candidate holds",
    "sizes, counts and integers raised beyond the narrower types that the candidate has",
    of_arguments=True,
    doubtful=True,
    own_memory=True,
)


# Where memory is roomy.
TOGETHER = Alteration(
    7,
    "with another argument on other numbers",
    "other arguments, modes above all, together with other data",
    of_arguments=True,
    doubtful=True,
    finite=True,
)


# Where only the candidate compares scalar arguments, or data, with some numbers.
NAMED = Alteration(
    8,
    "where its own conditions hold",
    "arguments and data as only the candidate's code names them, each and together",
    of_arguments=True,
    doubtful=True,
    own_memory=True,
)


# Of kernels that are compiled for each launch.
CONSTANTS = Alteration(
    11,
    "with another constant of its compilation",
    "constants of the compilation doubled, with those that follow from them",
    of_arguments=True,
    doubtful=True,
    own_memory=True,
    of_data=True,
)


COPIES = Alteration(
    4,
    "where the program copies some other numbers to the device",
    "an eighth of the numbers moved in each copy to the device",
    doubtful=True,
)

COPIES_ABOVE = Alteration(
    9,
    "where some copied integers differ in their second byte or third alone",
    "an eighth of the integers in each copy to the device like the one before them in their lowest bytes",
    doubtful=True,
)

COPIES_ALIKE = Alteration(
    10,
    "where half of the numbers of a copy are the same",
    "half of the numbers in each copy to the device the same",
    doubtful=True,
)


def kept(calibration: Calibration) -> tuple[int, ...]:
    """Allocations in which every place may hold any of the numbers."""
    listed = [key for key, one in calibration.allowances.items() if one.steadiness >= Steadiness.UNORDERED]
    return tuple(sequence for _, sequence, name in sorted(listed) if not name)


def finite(paused: Paused) -> bool:
    """Are all numbers in the buffers that the kernel was handed?"""
    for id, (_, scalar) in scalars(paused.dispatch, paused.side.hello).items():
        content = paused.buffer(id)
        if (
            scalar.floating
            and content.size % scalar.size == 0
            and not np.isfinite(scalar.floats(content.whole())).all()
        ):
            return False
    return True


def last_launch(calibration: Calibration, kernel: Kernel) -> int | None:
    """Its number, from 0, which is that of the loop's last turn perhaps; None where nothing was launched."""
    launches = sum(isinstance(e, Dispatch) and e.target and e.kernel == kernel.symbol for e in calibration.events)
    return launches - 1 if launches else None


def suited(shapes: Collection[tuple[int, ...]]) -> tuple[tuple[int, ...], ...] | None:
    """All grids and blocks that an altered argument must suit; None where there are too many of them."""
    return tuple(sorted(shapes)) if len(shapes) <= _MOST_SHAPES else None


@dataclass
class BesideTwin:
    """Where the original runs a second time for the sake of other alterations than this observer's."""

    observer: Checker | DoubtingChecker

    @property
    def left_open(self) -> Collection[str]:
        return self.observer.left_open if isinstance(self.observer, DoubtingChecker) else ()

    @property
    def no_one_answer(self) -> bool:
        return isinstance(self.observer, DoubtingChecker) and self.observer.no_one_answer

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        if other.side.label == TWIN and not isinstance(self.observer, DoubtingChecker):
            return None
        return self.observer.compare(sync, base, other, pairing, deadline)

    def unsettled(self, label: str) -> Divergence | None:
        return self.observer.unsettled(label)


@dataclass
class DoubtingChecker:
    """An observer that compares what the original agrees on with itself, in whatever order it runs."""

    checker: Checker
    own: Checker  # for the original's second run
    alteration: Alteration
    doubtful: set[int] = field(default_factory=set)
    reordered: set[int] = field(default_factory=set)  # where it reads lists in another order when it runs in another
    seen: set[int] = field(default_factory=set)  # where the candidate was looked at
    nan: set[int] = field(default_factory=set)  # where numbers were made NaN
    unranked: set[str] = field(default_factory=set)  # buffers in which it then depends on the order what is largest
    overflowing: set[int] = field(default_factory=set)  # where the original's results are not finite
    bare: set[int] = field(default_factory=set)  # where nothing that the kernel writes has one answer
    same_order: SameOrder = field(default_factory=SameOrder)
    by_order: set[tuple[int, Key]] = field(default_factory=set)  # where its order decides what is in a buffer
    strayed: dict[Key, Divergence] = field(default_factory=dict)  # what the candidate then makes of it, otherwise
    ends: dict[tuple[int, Key], int] = field(default_factory=dict)  # of buffers that are left out: no order fills more
    shared_otherwise: bool = True  # the candidate's first block may have other work than the original's

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        if with_nan(base.dispatch.alteration):
            self.nan.add(sync.number)
        if other.side.label == TWIN:
            self._see_twin(sync, base, other, pairing, deadline)
            return None
        if base.dispatch.alteration == PART and other.dispatch.status == 0:
            self.shared_otherwise = self.checker.compare(sync, base, other, pairing, deadline) is not None
            return None
        self.seen.add(sync.number)
        if self._all_left_out(sync.number, base, pairing):
            self.bare.add(sync.number)
        # As long as the candidate was handed the original's own list, it has to make the same of any part of it.
        if self._goes_by_order(base, other, pairing):
            self.doubtful.add(sync.number)
        if sync.number in self.doubtful:
            return None
        found = self.checker.compare(sync, base, other, pairing, deadline)
        self._see_same_order(sync, base, other, pairing)
        return found or self._beyond_ends(sync, base, other, pairing)

    def _see_twin(self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline) -> None:
        if base.dispatch.alteration == PART:
            self.shared_otherwise = True  # until it is seen that the two agree
        if base.dispatch.alteration in (PART, PART_OF_LARGER) and self.shared_otherwise:
            self.doubtful.add(sync.number)
        failed = other.dispatch.status != 0
        overflows = self.alteration.finite and not failed and not finite(base)
        if overflows:
            self.overflowing.add(sync.number)
        if failed or overflows or self._altered_otherwise(base, other, pairing):
            self.doubtful.add(sync.number)
            return
        if self._takes_parts(base) and self._reordered(base, other, pairing):
            self.reordered.add(sync.number)
        for key, loose in self.own.disagreements(sync, base, other, pairing, deadline).items():
            self._leave_out((sync.number, key), loose)
        self._see_ends(sync.number, base, other, pairing)
        for mine, theirs in pairing.pairs:
            if not self._ordered(mine) and decides(base, mine, other, theirs):
                self.by_order.add((sync.number, key_of(mine)))

    def _leave_out(self, where: tuple[int, Key], loose: Mask | None) -> None:
        """The few elements alone that are others in another order, or the whole buffer."""
        known = self.checker.loose.get(where)
        if loose is not None and known is not None and known.size == loose.size:
            loose = loose | known
        if where[0] in self.nan:
            self.unranked.add(self.checker.name(where[1]))
        if loose is None or not is_few(loose):
            self.checker.without.add(where)
        else:
            self.checker.loose[where] = loose

    def _see_ends(self, number: int, base: Paused, other: Paused, pairing: Pairing) -> None:
        for mine, theirs in pairing.pairs:
            where = (number, key_of(mine))
            if where not in self.checker.without or mine.size > _MOST_BYTES_TO_END:
                continue
            end = idle_end(as_bytes(base.content(mine.id)), as_bytes(other.content(theirs.id)))
            if end is not None:
                self.ends[where] = max(end, self.ends.get(where, 0))
            else:
                self.ends.pop(where, None)

    def _beyond_ends(self, sync: Sync, base: Paused, other: Paused, pairing: Pairing) -> Divergence | None:
        for mine, theirs in pairing.pairs:
            end = self.ends.get((sync.number, key_of(mine)))
            if end is None or other.dispatch.status != 0:
                continue
            at = overrun(end, as_bytes(base.content(mine.id)), as_bytes(other.content(theirs.id)))
            if at is not None:
                data = f", {base.dispatch.alteration}" if base.dispatch.alteration else ""
                name = self.checker.name(key_of(mine))
                why = "is written, which the original leaves as it is in every order"
                text = f"{sync.where}{data}: {name}: byte {at} {why}"
                return Divergence(other.side.label, Outcome.MEMORY_ERROR, text, sync=sync.number)
        return None

    @property
    def no_one_answer(self) -> bool:
        """Does all that could show whether the candidate is right depend on the order, at every launch?"""
        return bool(self.seen) and self.seen <= self.doubtful | self.bare

    @property
    def why_doubtful(self) -> str:
        """Why there is nothing to hold a candidate to, at any launch."""
        return _NOT_FINITE if self.doubtful and self.doubtful <= self.overflowing else NO_ONE_ANSWER

    def _all_left_out(self, number: int, base: Paused, pairing: Pairing) -> bool:
        handed, read = scalars(base.dispatch, base.side.hello), constant(base.dispatch, base.side.hello)
        written = [key_of(mine) for mine, _ in pairing.pairs if mine.id in handed and mine.id not in read]
        return bool(written) and all((number, key) in self.checker.without for key in written)

    @property
    def left_open(self) -> Collection[str]:
        """In words, what was not compared of altered launches that were."""
        if not self.unranked:
            return ()
        return (f"with NaN, what the order of comparisons decides in {', '.join(sorted(self.unranked))}",)

    def left_out(self, number: int) -> dict[Key, Mask | None]:
        """At that point, by buffer: bytes of it, None for all."""
        parts: dict[Key, Mask | None] = {key: mask for (at, key), mask in self.checker.loose.items() if at == number}
        return parts | {key: None for at, key in self.checker.without if at == number}

    def hold_to(self, calibration: Calibration) -> None:
        """From here on, both runs."""
        self.checker.hold_to(calibration)
        self.own.hold_to(calibration)

    def leave_out(self, places: Mapping[tuple[int, Key], Mask | None]) -> None:
        self.checker.leave_out(places)

    def unsettled(self, label: str) -> Divergence | None:
        """See `Checker.unsettled`."""
        bound = (found for key, found in self.strayed.items() if self.same_order.binds(key))
        return self.checker.unsettled(label) or next(bound, None)

    def _see_same_order(self, sync: Sync, base: Paused, other: Paused, pairing: Pairing) -> None:
        if base.dispatch.alteration in (PART, PART_OF_LARGER) or base.dispatch.status or other.dispatch.status:
            return
        for mine, theirs in pairing.pairs:
            key = key_of(mine)
            if (sync.number, key) not in self.by_order or key in self.strayed:
                continue
            if not self.same_order.see(key, (base, mine), (other, theirs), base.dispatch.alteration in IN_MORE_BITS):
                continue
            scalar = self.own.rule(key).scalar
            what = described(scalar, base, mine, other, theirs)
            data = f", {base.dispatch.alteration}" if base.dispatch.alteration else ""
            text = f"{sync.where}{data}: {self.checker.name(key)}: {what}; in smaller launches it is as the original's"
            self.strayed[key] = Divergence(other.side.label, Outcome.WRONG_OUTPUT, text, sync=sync.number)

    def doubts(self, number: int) -> bool:
        """Has the original no one answer at that point, in any buffer?"""
        left_out = (*self.checker.without, *self.checker.loose)
        return number in self.doubtful | self.reordered or any(number == without for without, _ in left_out)

    def _takes_parts(self, base: Paused) -> bool:
        """May the launch go through another part of a list than the one that is filled?"""
        return self.alteration.of_arguments or base.dispatch.alteration == CROWDED

    def _reordered(self, base: Paused, other: Paused, pairing: Pairing) -> bool:
        """Does the kernel read a list that is in no fixed order? Part of it is then any part of it."""
        return self._reads_others(base, other, pairing, in_order=False)

    def _altered_otherwise(self, base: Paused, other: Paused, pairing: Pairing) -> bool:
        """Went what became of a row by a list whose order is not the same in both?"""
        return base.dispatch.alteration in ONE_ROW and self._reads_others(base, other, pairing, in_order=True)

    def _goes_by_order(self, base: Paused, other: Paused, pairing: Pairing) -> bool:
        parts = self._takes_parts(base) and self._reordered(base, other, pairing)
        return parts or self._altered_otherwise(base, other, pairing)

    def _reads_others(self, base: Paused, other: Paused, pairing: Pairing, in_order: bool) -> bool:
        read = constant(base.dispatch, base.side.hello)
        lists = [
            (mine, theirs) for mine, theirs in pairing.pairs if mine.id in read and self._ordered(mine) is in_order
        ]
        return any(not equal(as_bytes(base.content(a.id)), as_bytes(other.content(b.id))) for a, b in lists)

    def _ordered(self, buffer: Allocation) -> bool:
        allowance = self.own.calibration.allowances.get(key_of(buffer))
        return allowance is None or allowance.steadiness < Steadiness.UNORDERED
