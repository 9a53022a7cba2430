"""What the unmodified application does when only orders, clocks and the poison of fresh memory change.

One lock-step of several runs of the reference gives, per buffer, how steady it is and how far a
candidate may be from it; which bytes it leaves undefined; which arguments and which numbers of its
output vary by themselves.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from intelliperf.errors import ApplicationFailed
from intelliperf.interception.messages import Allocation, Dispatch, Hello
from intelliperf.interception.wire import Deadline
from intelliperf.processes.endings import check_ended_well
from intelliperf.processes.process import Completed
from intelliperf.records import Application, Bounds, Interception, Order
from intelliperf.validation.buffers.compare import Reordered, moved_together, same_multiset
from intelliperf.validation.buffers.elements import BYTE, POISONS, Bytes, Mask, Scalar, scalar_of
from intelliperf.validation.buffers.output import OutputModel
from intelliperf.validation.buffers.tolerance import BITS, Allowance, Spread, Steadiness, by_operations
from intelliperf.validation.runs.content import chunks_that_differ
from intelliperf.validation.runs.events import Divergence, Event, Rule
from intelliperf.validation.runs.lockstep import Followed, Paused, Setting, Sync, follow
from intelliperf.validation.runs.pairing import Key, Pairing, argument_difference, describe, key_of
from intelliperf.validation.runs.reach import chosen
from intelliperf.validation.runs.remembered import Remembered
from intelliperf.validation.runs.side import SideFailed, SideRun

_BOUNDED = ("random-1", "random-2", "random-3")  # more draws of the spread; the others are followed to their end
POISON, OTHER_POISON = POISONS  # they differ in every bit
TWIN = "other-poison"
BASE = "reference"
_MASK_LIMIT_BYTES = 64 * 1024 * 1024
_FEW_SHARE = 1 / 16  # no more of a chunk or buffer may depend on the order for the rest to be compared
_UNDEFINED_RELATIVE = 1e-3  # two poisons make a float differ by more, noise by less

# The base first. The clock is skewed so that printed times can be told from answers.
_VARIATIONS: tuple[tuple[str, Interception], ...] = (
    (BASE, Interception(poison=POISON)),
    ("reverse", Interception(poison=POISON, lane_order=Order(), block_order=Order(), clock_scale=1.37)),
    ("random-1", Interception(poison=POISON, lane_order=Order(1), block_order=Order(1), clock_scale=0.71)),
    (TWIN, Interception(poison=OTHER_POISON, lds_poison=OTHER_POISON)),
)
# Only where those differ from the base or may do so: more draws for the spread.
_MORE_VARIATIONS: tuple[tuple[str, Interception], ...] = (
    _VARIATIONS[0],
    ("random-2", Interception(poison=POISON, lane_order=Order(2), block_order=Order(2))),
    ("random-3", Interception(poison=POISON, lane_order=Order(5), block_order=Order(5))),
)


class Masks:
    """Undefined elements, one bit per byte, compressed: by dispatch, buffer and offset of the chunk.

    What depends on the order of lanes and blocks does so at every dispatch, altered ones among them.
    """

    def __init__(self) -> None:
        self._masks: dict[tuple[int, Key], dict[int, bytes]] = {}
        self._loose: dict[tuple[Key, int], Mask] = {}
        self._stored = 0
        self.full = False

    def add(self, dispatch: int, key: Key, offset: int, undefined: Mask) -> None:
        packed = zlib.compress(np.packbits(undefined).tobytes(), 1)
        self._stored += len(packed)
        if self._stored > _MASK_LIMIT_BYTES:
            self.full = True
            return
        self._masks.setdefault((dispatch, key), {})[offset] = packed

    def add_everywhere(self, key: Key, offset: int, loose: Mask) -> None:
        known = self._loose.get((key, offset))
        self._loose[key, offset] = loose if known is None or known.size != loose.size else loose | known

    def get(self, dispatch: int, key: Key, offset: int, size: int) -> Mask | None:
        """True for each undefined byte of the chunk; None if all are defined."""
        packed = self._masks.get((dispatch, key), {}).get(offset)
        loose = self._loose.get((key, offset))
        if packed is None and loose is None:
            return None
        found = np.zeros(size, dtype=np.bool_)
        if packed is not None:
            found |= np.unpackbits(np.frombuffer(zlib.decompress(packed), dtype=np.uint8), count=size).astype(np.bool_)
        if loose is not None:  # the buffer may be larger in altered launches
            both = min(size, loose.size)
            found[:both] |= loose[:both]
        return found

    def drop(self, key: Key) -> None:
        self._loose = {place: loose for place, loose in self._loose.items() if place[0] != key}
        for entry in [entry for entry in self._masks if entry[1] == key]:
            del self._masks[entry]

    def __len__(self) -> int:
        return len(self._masks) + len(self._loose)


Launched = tuple[int, str, Key]  # number and alteration of a dispatch, and a buffer after it


@dataclass(frozen=True)
class Calibration:
    """The reference's own behaviour: what candidates are held to."""

    allowances: Mapping[Key, Allowance]  # buffers that vary; all others are bit-exact
    undefined: Masks
    noisy_arguments: Mapping[str, frozenset[int]]
    events: tuple[Event, ...]
    ended: Completed
    output: OutputModel
    notes: tuple[str, ...]
    names: Mapping[Key, str]
    uncovered: tuple[str, ...] = ()  # what the reference does that cannot be compared
    erratic_at: frozenset[tuple[int, Key]] = frozenset()  # dispatches at which an unordered buffer is not even that
    parallel: frozenset[tuple[Key, Key]] = frozenset()  # unordered buffers whose elements move together
    formats: frozenset[str] = frozenset()  # floating-point formats of its kernels, where that is told
    coverage: str = ""  # where not all draws of the spread were followed to their end
    proven_at: Mapping[Launched, float] = field(default_factory=dict)  # what a proof allows there, relative

    def allowed_at(self, index: int, alteration: str, key: Key, allowance: Allowance) -> Allowance:
        """What holds for a buffer after one launch: numbers that cancel there may be small beside their errors."""
        if not allowance.by_algebra:
            return allowance
        return replace(allowance, rtol=max(allowance.rtol, self.proven_at.get((index, alteration, key), 0.0)))

    def moved(self, homes: Mapping[Key, Key]) -> Calibration:
        """Of the same buffers under other keys; what has no other keeps its own."""
        return replace(
            self,
            allowances={homes.get(key, key): allowance for key, allowance in self.allowances.items()},
            names={homes.get(key, key): name for key, name in self.names.items()},
            erratic_at=frozenset((nth, homes.get(key, key)) for nth, key in self.erratic_at),
            parallel=frozenset((homes.get(a, a), homes.get(b, b)) for a, b in self.parallel),
            proven_at={(nth, how, homes.get(key, key)): apart for (nth, how, key), apart in self.proven_at.items()},
        )

    def is_noisy(self, buffer: Allocation) -> bool:
        """Does it hold numbers that may be rounded otherwise?"""
        allowance = self.allowances.get(key_of(buffer))
        return allowance is not None and allowance.steadiness is Steadiness.NUMERIC

    def erratic(self) -> tuple[str, ...]:
        wanted = (key for key, a in self.allowances.items() if a.steadiness is Steadiness.ERRATIC)
        return tuple(sorted(self.names[key] for key in wanted))


@dataclass(frozen=True)
class Additions:
    """Atomic operations of the kernel per dispatch, 0 where it has none or they are not known.

    `of_floats`: they may add floating-point numbers, so that buffers may depend on an order that few runs show.
    `assumed`: and the device does not let us choose their order.
    """

    count: float = 0.0
    assumed: bool = False
    of_floats: bool = False


NO_ADDITIONS = Additions()


def scalars(dispatch: Dispatch, hello: Hello | None) -> dict[int, tuple[str, Scalar]]:
    """By allocation: the parameter's name and what the signature says that the buffer holds."""
    parameters = dispatch.parameters or (hello.kernels.get(dispatch.kernel, ()) if hello else ())
    by_index = {parameter.index: parameter for parameter in parameters}
    known: dict[int, tuple[str, Scalar]] = {}
    for argument in dispatch.arguments:
        parameter = by_index.get(argument.index)
        if parameter is None:
            continue
        for pointer in argument.pointers:
            element = parameter.element if parameter.pointer else dict(parameter.fields).get(pointer.offset)
            scalar = scalar_of(element) if pointer.at % max(1, scalar_of(element).size) == 0 else BYTE
            name, before = known.get(pointer.allocation, (parameter.name, scalar))
            same = before is scalar or before.encoding == scalar.encoding and before.size == scalar.size
            known[pointer.allocation] = (name, scalar if same else BYTE)
    return known


@dataclass
class Calibrator:
    """Observer of the reference's runs; never finds fault with contents."""

    spreads: dict[Key, Spread] = field(default_factory=dict)
    names: dict[Key, str] = field(default_factory=dict)
    undefined: Masks = field(default_factory=Masks)
    noisy_arguments: dict[str, set[int]] = field(default_factory=dict)
    compared_bytes: int = 0
    written_floats: dict[Key, tuple[Scalar, int]] = field(default_factory=dict)  # with their number of elements
    parallel: dict[tuple[Key, Key], bool] = field(default_factory=dict)
    unordered: set[Key] = field(default_factory=set)
    formats: set[str] = field(default_factory=set)
    erratic_at: set[tuple[int, Key]] = field(default_factory=set)
    loose_at: dict[tuple[int, Key], int] = field(default_factory=dict)  # few elements depend on the order there: bytes
    known: Remembered[tuple[dict[int, tuple[str, Scalar]], set[int]]] = field(default_factory=Remembered)
    differing: Remembered[frozenset[int]] = field(default_factory=Remembered)  # arguments

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        reordered: dict[Key, Reordered] = {}
        dispatch, hello = base.dispatch, base.side.hello
        self._arguments(dispatch, other.dispatch, pairing)
        self.formats |= set(hello.formats) if hello else set()
        objects = hello, dispatch.kernel, dispatch.arguments, dispatch.parameters
        known, read_only = self.known.get(objects, lambda: (scalars(dispatch, hello), constant(dispatch, hello)))
        due = chosen(sync, base)
        for mine, theirs in pairing.pairs:
            if mine.size != theirs.size or due is not None and mine.id not in due:
                continue
            key = key_of(mine)
            named = {id: name for id, (name, _) in known.items()}
            self.names[key] = describe(mine, named) if mine.id in named or key not in self.names else self.names[key]
            left, right = base.buffer(mine.id), other.buffer(theirs.id)
            self.compared_bytes += left.size
            scalar = known.get(mine.id, ("", BYTE))[1]
            if scalar.floating and mine.id not in read_only:
                self.written_floats[key] = (scalar, max(1, mine.size // scalar.size))
            told = left.differences(right, BITS)
            for offset, expected, found in chunks_that_differ(left, right, deadline, told):
                if other.side.label == TWIN:
                    self.undefined.add(base.dispatch.index, key, offset, undefined_bytes(scalar, expected, found))
                    continue
                spread = self.spreads.setdefault(key, Spread(scalar))
                if spread.steadiness <= Steadiness.NUMERIC and spread.add(expected, found):
                    continue
                if same_multiset(scalar, left.whole(), right.whole()):
                    spread.steadiness = Steadiness.UNORDERED
                    reordered[key] = Reordered(spread.scalar, left.whole(), right.whole())
                elif self._few(spread, (base.dispatch.index, key), offset, expected, found):
                    continue
                else:
                    # Of a list that was longer before, what is left behind its end may be anything.
                    spread.steadiness = max(spread.steadiness, Steadiness.ERRATIC)
                    self.erratic_at.add((base.dispatch.index, key))
                self.unordered |= reordered.keys()
                break
        for pair in itertools.combinations(sorted(reordered), 2):
            together = moved_together(reordered[pair[0]], reordered[pair[1]])
            self.parallel[pair] = together and self.parallel.get(pair, True)
        return None

    def _few(self, spread: Spread, where: tuple[int, Key], offset: int, expected: Bytes, found: Bytes) -> bool:
        """Do few elements alone come out otherwise in another order? They are left out then, like undefined ones."""
        loose = undefined_bytes(spread.scalar, expected, found)
        few = np.count_nonzero(loose) <= max(spread.scalar.size, expected.size * _FEW_SHARE)
        if spread.steadiness > Steadiness.NUMERIC or not few:
            return False
        rest = np.where(loose, expected, found)
        if not np.array_equal(rest, expected) and not spread.add(expected, rest):
            return False
        self.undefined.add_everywhere(where[1], offset, loose)
        self.loose_at[where] = max(self.loose_at.get(where, 0), int(np.count_nonzero(loose)))
        return True

    def _arguments(self, base: Dispatch, other: Dispatch, pairing: Pairing) -> None:
        def differing() -> frozenset[int]:
            indices = {argument.index for argument in base.arguments}
            return frozenset(i for i in indices if argument_difference(base, other, pairing, indices - {i}) is not None)

        found = self.differing.get((base.kernel, base.arguments, other.arguments, pairing), differing)
        if found:
            self.noisy_arguments.setdefault(base.kernel, set()).update(found)

    def allowances(self, additions: Additions) -> dict[Key, Allowance]:
        for key in self.unordered:
            self.spreads[key].steadiness = Steadiness.UNORDERED
            self.erratic_at |= {at for at in self.loose_at if at[1] == key}
        found = {key: spread.allowance(additions.count) for key, spread in self.spreads.items()}
        if additions.assumed and additions.count > 0:
            for key, (scalar, elements) in self.written_floats.items():
                found.setdefault(key, by_operations(scalar, additions.count / elements))
        return found


def constant(dispatch: Dispatch, hello: Hello | None) -> set[int]:
    """Allocations that an argument leads into by a pointer to const, and none by another."""
    parameters = dispatch.parameters or (hello.kernels.get(dispatch.kernel, ()) if hello else ())
    return _only_by(dispatch, {one.index for one in parameters if one.pointer and one.const})


def copies(dispatch: Dispatch, hello: Hello | None) -> set[int]:
    """Allocations whose floats the kernel has from elsewhere, as they are."""
    return _only_by(dispatch, hello.copies.get(dispatch.kernel, frozenset()) if hello else frozenset())


def _only_by(dispatch: Dispatch, indices: Collection[int]) -> set[int]:
    led_to = [(pointer.allocation, one.index in indices) for one in dispatch.arguments for pointer in one.pointers]
    return {id for id, such in led_to if such} - {id for id, such in led_to if not such}


def is_few(loose: Mask, filled: int | None = None) -> bool:
    """Is the rest worth comparing where these depend on the order?

    `filled`: of so many bytes, where the rest is room that no launch has come to.
    """
    return bool(np.count_nonzero(loose) <= (loose.size if filled is None else filled) * _FEW_SHARE)


def undefined_bytes(scalar: Scalar, left: Bytes, right: Bytes) -> Mask:
    """Bytes whose value depends on the poison. A float must differ by more than noise would make it."""
    if not scalar.floating or left.size % scalar.size:
        different: Mask = left != right
        return different
    mine, theirs = scalar.floats(left), scalar.floats(right)
    with np.errstate(invalid="ignore", over="ignore"):
        far = ~(np.abs(mine - theirs) <= _UNDEFINED_RELATIVE * np.maximum(np.abs(mine), np.abs(theirs)))
    far &= scalar.bits(left) != scalar.bits(right)
    return np.repeat(far, scalar.size)


def calibrate(
    setting: Setting,
    reference: Application,
    kernels: str,
    rule: Rule,
    memory: Bounds = "strict",
    additions: Additions = NO_ADDITIONS,
) -> Calibration:
    """Run the reference in all variations. Raises `ApplicationFailed` where it cannot serve as one.

    `kernels`: a mangled name or `ANY_KERNEL`.
    """
    common = Interception(kernels=(kernels,), memory=memory)
    calibrator = Calibrator()

    def vary(variations: Sequence[tuple[str, Interception]]) -> Followed:
        runs = [SideRun(label, reference, variation | common) for label, variation in variations]
        return follow(setting, runs, rule, calibrator, base_to_the_end=variations is _VARIATIONS)

    rule = replace(rule, bounded=_BOUNDED)
    try:
        followed = vary(_VARIATIONS)
        # A few sums that round seldom come out equal in two other orders by luck.
        more = vary(_MORE_VARIATIONS) if calibrator.spreads or additions.of_floats else None
    except SideFailed as error:
        raise ApplicationFailed(f"the unmodified application cannot be validated against: {error}") from error
    if followed.syncs == 0:
        raise ApplicationFailed(f"the kernel {setting.kernel.name} was not dispatched in the intercepted run")
    broken = next((e for e in followed.events if isinstance(e, Dispatch) and e.status != 0), None)
    if memory == "strict" and broken is not None:
        raise ApplicationFailed(f"{broken.kernel} ends with error {broken.status} in the unmodified application")
    check_ended_well(followed.ended[BASE], reference, "paused after each dispatch")
    allowances = calibrator.allowances(additions)
    for key, allowance in allowances.items():
        if allowance.steadiness >= Steadiness.UNORDERED:
            calibrator.undefined.drop(key)
    divergences = [*followed.divergences.values(), *(more.divergences.values() if more else ())]
    notes = [f"the reference run '{d.label}' took another path: {d.detail}" for d in divergences]
    for key in sorted({key for _, key in calibrator.loose_at if key not in calibrator.unordered}):
        most = max(count for at, count in calibrator.loose_at.items() if at[1] == key)
        notes.append(f"{calibrator.names[key]}: up to {most} bytes depend on the order in the original itself")
    if calibrator.undefined.full:
        notes.append("too much memory is left undefined by the reference to keep track of all of it")
    ended = {**(more.ended if more else {}), **followed.ended}
    covered = {label: one.coverage(label) for one in (followed, more) if one for label in one.left}
    others = [done for label, done in ended.items() if label != BASE]
    return Calibration(
        allowances=allowances,
        undefined=calibrator.undefined,
        noisy_arguments={kernel: frozenset(found) for kernel, found in calibrator.noisy_arguments.items()},
        events=followed.events,
        ended=followed.ended[BASE],
        output=OutputModel.learn(followed.ended[BASE], others),
        notes=tuple(notes),
        names=calibrator.names,
        uncovered=followed.uncovered,
        formats=frozenset(calibrator.formats),
        erratic_at=frozenset(calibrator.erratic_at),
        parallel=frozenset(pair for pair, together in calibrator.parallel.items() if together),
        coverage="; ".join(f"{label}: {text}" for label, text in covered.items()),
    )
