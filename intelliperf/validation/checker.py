"""Holds a candidate's buffers to what the calibration allows, and proves that it would notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from intelliperf.errors import ToolchainError
from intelliperf.interception.messages import Allocation
from intelliperf.interception.wire import Deadline
from intelliperf.protocols import Difference
from intelliperf.records import Check, CheckStatus, Outcome
from intelliperf.validation.buffers.compare import (
    Mismatch,
    MismatchBuilder,
    Reordered,
    as_bytes,
    differing_chunks,
    moved_together,
    same_multiset,
    wrong_elements,
)
from intelliperf.validation.buffers.elements import BYTE, Bytes, Mask, Scalar
from intelliperf.validation.buffers.ends import filled_bytes
from intelliperf.validation.buffers.tolerance import Allowance, Steadiness, UserTolerance, wrongly_accepted
from intelliperf.validation.calibration import Calibration, copies, is_few, scalars
from intelliperf.validation.nanplaces import NAN, NanPlaces, excused
from intelliperf.validation.runs.content import Content, chunks_that_differ
from intelliperf.validation.runs.events import Divergence
from intelliperf.validation.runs.lockstep import Paused, Sync
from intelliperf.validation.runs.pairing import Key, Pairing, argument_difference, describe, key_of, same_pointers
from intelliperf.validation.runs.reach import chosen
from intelliperf.validation.runs.remembered import Remembered
from intelliperf.validation.totalcheck import compare_totals

_SAMPLE_BYTES = 1 << 18  # of live content, to plant errors in
_WORD, _DOUBLE = 32, 64  # bits
_MOST_LOOSE_BYTES = 1 << 24  # of a buffer, to be taken apart
_FEW_INTEGERS = 1 / 16  # of a buffer
_WITH_ROOM = 2  # times what is filled of an altered launch's buffer; more room says nothing about the rest


@dataclass(frozen=True)
class _Wrong:
    text: str
    near: bool = False


@dataclass
class Checker:
    """Observer of a candidate's run against the reference's; gathers what to report."""

    calibration: Calibration
    tolerance: UserTolerance = UserTolerance()
    free_arguments: bool = False  # the candidate declares other kernels: arguments are its own
    restricted: bool = False  # the candidate adds __restrict__, and nobody will look whether it may
    forgets: bool = False  # spoil the candidate's scratch memory wherever it was compared
    altered: bool = False  # the data are not the application's: one NaN is as good as another
    puts_aside: bool = True  # NaN that the other has no NaN for is looked at again, see `nanplaces`
    without: set[tuple[int, Key]] = field(default_factory=set)  # buffers not to look at, by the number of the point
    nan_places: NanPlaces = field(default_factory=NanPlaces)  # of altered launches
    decided: int = 0  # at the next point so many integers may be others, as many as comparisons that rounding decides
    rounded: set[str] = field(default_factory=set)  # buffers in which some were
    loose: dict[tuple[int, Key], Mask] = field(default_factory=dict)  # and bytes of a buffer, likewise
    compared_bytes: int = 0
    undefined_bytes: int = 0
    syncs: set[int] = field(default_factory=set)
    by_wave: bool = False  # lanes exchange values or share memory, in either program
    constants: set[int] = field(default_factory=set)  # that only one of the two versions' code names
    limits: set[float] = field(default_factory=set)  # of floats, likewise
    named: set[tuple[float, ...]] = field(default_factory=set)  # what only the candidate compares numbers with
    widths: set[int] = field(default_factory=set)  # bits that the candidate's code keeps more numbers in
    shared: str = ""  # pointer arguments of the candidate into one buffer
    uncompensated: bool = False  # the candidate's code calculates fewer of its rounding errors
    shapes: set[tuple[int, ...]] = field(default_factory=set)  # grids and blocks of both programs' launches
    held: set[tuple[int, ...]] = field(default_factory=set)  # numbers with which both have the constants that they have
    totalled: set[str] = field(default_factory=set)  # buffers of which the host needs, and this compares, the total
    partly: set[int] = field(default_factory=set)  # those at which only what the kernel can reach was compared
    extra: set[Key] = field(default_factory=set)
    weak: dict[Key, set[str]] = field(default_factory=dict)  # buffer → wrong answers that would pass
    controls: set[Key] = field(default_factory=set)
    given: dict[Key, Scalar] = field(default_factory=dict)  # buffer → its elements, for those that were looked at
    apart: set[Key] = field(default_factory=set)  # buffers that were not equal bit for bit somewhere
    unsure: dict[Key, str] = field(default_factory=dict)  # buffer → how far apart, where the original errs so itself
    ulps: dict[str, int] = field(default_factory=dict)  # buffer → largest distance where the device measured it
    ways: dict[str, int] = field(default_factory=dict)  # how the candidate's buffers were read → how many of them
    known: Remembered[dict[int, tuple[str, Scalar]]] = field(default_factory=Remembered)
    differences: Remembered[str | None] = field(default_factory=Remembered)  # of arguments

    def hold_to(self, calibration: Calibration) -> None:
        """From here on."""
        self.calibration = calibration

    def leave_out(self, places: Mapping[tuple[int, Key], Mask | None]) -> None:
        """Bytes that nothing follows from, by comparison and buffer; None for all of it."""
        for where, mask in places.items():
            if mask is None:
                self.without.add(where)
                continue
            known = self.loose.get(where)
            self.loose[where] = mask if known is None or known.size != mask.size else known | mask

    def unsettled(self, label: str) -> Divergence | None:
        """Once the run has ended: what was to be looked at again, and was not."""
        number = self.nan_places.unsettled()
        if number is None:
            return None
        text = f"on other numbers, {NAN}: the candidate has numbers where the original has NaN"
        return Divergence(label, Outcome.WRONG_OUTPUT, text, sync=number)

    def disagreements(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> dict[Key, Mask | None]:
        """All buffers in which the two are further apart than allowed: in which bytes, None where in many."""
        known = self._scalars(base)
        due = chosen(sync, base)
        found: dict[Key, Mask | None] = {}
        for mine, theirs in pairing.pairs:
            if due is None or mine.id in due:
                scalar = known.get(mine.id, ("", BYTE))[1]
                if self._buffer(sync, (base, mine, scalar), (other, theirs), pairing, deadline) is not None:
                    rule = self._allowance(_launch(base), key_of(mine), scalar)
                    found[key_of(mine)] = self._few(rule, base, mine, other.buffer(theirs.id))
        return found

    def _few(self, allowance: Allowance, base: Paused, mine: Allocation, right: Content) -> Mask | None:
        left = base.buffer(mine.id)
        if left.size != right.size or left.size > _MOST_LOOSE_BYTES or allowance.steadiness >= Steadiness.UNORDERED:
            return None
        mine_whole, others_whole = left.whole(), right.whole()
        wrong = self._wrong(allowance, mine_whole, others_whole, False, base.dispatch.alteration)
        found: Mask = np.repeat(wrong, left.size // wrong.size)
        filled = filled_bytes(mine_whole, others_whole)
        return found if is_few(found, min(left.size, _WITH_ROOM * filled)) else None

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        if not base.dispatch.alteration:
            self.nan_places.next_launch()
        hellos = base.side.hello, other.side.hello
        mine, theirs = (h.constants.get(base.dispatch.kernel, frozenset()) if h else frozenset() for h in hellos)
        self.constants |= theirs ^ mine
        few, more = (h.limits.get(base.dispatch.kernel, frozenset()) if h else frozenset() for h in hellos)
        self.limits |= more ^ few
        old, new = (h.named.get(base.dispatch.kernel, frozenset()) if h else frozenset() for h in hellos)
        self.named |= new - old
        self.widths |= _narrower(*(h.widths.get(base.dispatch.kernel, {}) if h else {} for h in hellos))
        before, after = (h.compensations.get(base.dispatch.kernel, 0) if h else 0 for h in hellos)
        self.uncompensated |= after < before
        self.by_wave |= any(base.dispatch.kernel in h.by_wave for h in hellos if h)
        self.shapes |= {(*one.grid, *(one.tile or one.block)) for one in (base.dispatch, other.dispatch)}
        # What a candidate's code covers is its own claim: it may have forgotten the rest.
        self.held |= base.dispatch.held | base.dispatch.covered | other.dispatch.held
        self.shared = self.shared or _shared(other)
        if self.restricted and self.shared:
            text = f"{sync.where}: __restrict__ was added, but {self.shared} point into one buffer"
            return Divergence(other.side.label, Outcome.FORBIDDEN_EDIT, text)
        problem = self._arguments(base, other, pairing)
        if problem is not None:
            return Divergence(other.side.label, Outcome.DISPATCHES_CHANGED, f"{sync.where}: {problem}")
        self.extra |= {key_of(allocation) for allocation in pairing.extra}
        kept = next((a for a in pairing.extra if a.name is not None and as_bytes(other.content(a.id)).any()), None)
        if kept is not None:
            text = f"{sync.where}: {describe(kept, {})}, new with the candidate, keeps values between launches"
            return Divergence(other.side.label, Outcome.FORBIDDEN_EDIT, text)
        known = self._scalars(base)
        names = {id: name for id, (name, _) in known.items()}
        for lost in pairing.missing:
            text = f"{sync.where}: {describe(lost, names)} is not there"
            return Divergence(other.side.label, Outcome.WRONG_OUTPUT, text)
        wrong = self._contents(sync, base, other, pairing, deadline) or self._totals(sync, base, other, names)
        if wrong:
            data = f", {base.dispatch.alteration}" if base.dispatch.alteration else ""
            text = f"{sync.where}{data}: {wrong.text}"
            return Divergence(other.side.label, Outcome.WRONG_OUTPUT, text, wrong.near, sync.number)
        self.syncs.add(sync.number)
        if self.forgets:
            for extra in pairing.extra:
                other.spoil(extra.id)
        return None

    def _totals(self, sync: Sync, base: Paused, other: Paused, names: Mapping[int, str]) -> _Wrong | None:
        """What is wrong with the first copy behind this point of which the host needs the total alone."""
        for copy in sync.totals:
            found = compare_totals(copy, base, other, self.rule)
            self.compared_bytes += found.compared_bytes
            mine = base.allocation(copy.mine[0])
            if mine is not None:
                self.totalled.add(describe(mine, names))
            if found.wrong:
                return _Wrong(f"{describe(mine, names) if mine else 'a copy'}: {found.wrong}", found.near)
        return None

    def _contents(self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline) -> _Wrong | None:
        """What is wrong with the first buffer that is not as it should be."""
        known = self._scalars(base)
        names = {id: name for id, (name, _) in known.items()}
        due = chosen(sync, base)
        if due is not None:
            self.partly.add(sync.number)
        reordered: dict[Key, Reordered] = {}
        for mine, theirs in pairing.pairs:
            if due is not None and mine.id not in due or (sync.number, key_of(mine)) in self.without:
                continue
            scalar = known.get(mine.id, ("", BYTE))[1]
            problem = self._buffer(sync, (base, mine, scalar), (other, theirs), pairing, deadline)
            for way, buffers in other.side.ways.items():
                self.ways[way] = max(self.ways.get(way, 0), len(buffers))
            if problem is not None:
                return replace(problem, text=f"{describe(mine, names)}: {problem.text}")
            allowance = self._allowance(_launch(base), key_of(mine), scalar)
            if allowance.steadiness is Steadiness.UNORDERED and not self._erratic(base, key_of(mine)):
                contents = as_bytes(base.content(mine.id)), as_bytes(other.content(theirs.id))
                reordered[key_of(mine)] = Reordered(allowance.scalar, *contents)
        return self._torn(reordered)

    def _torn(self, reordered: Mapping[Key, Reordered]) -> _Wrong | None:
        """Parallel lists of which one was put into another order than the other, in words."""
        for first, second in self.calibration.parallel:
            both = first in reordered and second in reordered
            if both and not moved_together(reordered[first], reordered[second]):
                named = " and ".join(self.calibration.names.get(key, str(key)) for key in (first, second))
                return _Wrong(f"elements of {named} that belong together stand at different indices")
        return None

    def _scalars(self, base: Paused) -> dict[int, tuple[str, Scalar]]:
        dispatch, hello = base.dispatch, base.side.hello
        objects = hello, dispatch.kernel, dispatch.arguments, dispatch.parameters
        return self.known.get(objects, lambda: scalars(dispatch, hello))

    def _arguments(self, base: Paused, other: Paused, pairing: Pairing) -> str | None:
        if self.free_arguments:
            return None
        mine, theirs = base.dispatch, other.dispatch
        noise = self.calibration.noisy_arguments.get(mine.kernel, frozenset())

        def difference() -> str | None:
            return argument_difference(mine, theirs, pairing, noise)

        return self.differences.get((mine.kernel, mine.arguments, theirs.arguments, pairing), difference)

    def _buffer(
        self,
        sync: Sync,
        base: tuple[Paused, Allocation, Scalar],
        other: tuple[Paused, Allocation],
        pairing: Pairing,
        deadline: Deadline,
    ) -> _Wrong | None:
        (here, mine, scalar), (there, theirs) = base, other
        if mine.size != theirs.size:
            return _Wrong(f"has {theirs.size} bytes, expected {mine.size}")
        key = key_of(mine)
        allowance = self._allowance(_launch(here), key, scalar)
        if allowance.steadiness is Steadiness.ERRATIC or self._erratic(here, key) or mine.size == 0:
            return None
        left, right = here.buffer(mine.id), there.buffer(theirs.id)
        self._prove(sync, key, allowance, left)
        self.compared_bytes += left.size
        if allowance.steadiness is Steadiness.UNORDERED:
            self.apart.add(key)
            same = same_multiset(allowance.scalar, left.whole(), right.whole())
            return None if same else _Wrong("holds other elements than the original's, whatever their order")
        copied = self.altered and mine.id in copies(here.dispatch, here.side.hello)
        alteration = here.dispatch.alteration
        if unlike := self.nan_places.settle(key, alteration, allowance, left.whole):
            return _Wrong(unlike)
        builder = MismatchBuilder(allowance.scalar, left.size)
        told = left.differences(right, allowance.numbers)
        if told is not None:
            self._measured(key, told)
            if any(one.elements for one in told):
                self.apart.add(key)
            # What is near even without regard to the chunk's scale (`tolerance.allowed`) need not be looked at again.
            told = tuple(one for one in told if one.beyond)
        for offset, expected, found in chunks_that_differ(left, right, deadline, told):
            if not allowance.scalar.floating:
                found = same_pointers(pairing, expected, found)
            found = self._steady(sync.number, here, key, offset, expected, found)
            if not np.array_equal(expected, found):
                self.apart.add(key)
            wrong = self._wrong(allowance, expected, found, copied, alteration)
            if self.altered and self.puts_aside and alteration == NAN and not copied:
                wrong = self.nan_places.set_aside(key, sync.number, allowance, offset, wrong, (expected, found))
            builder.add(offset, wrong, expected, found)
        mismatch = builder.mismatch()
        if mismatch is not None and not copied and self._by_rounding(allowance, mismatch):
            self.rounded.add(self.name(key))
            return None
        return self._told(key, allowance, mismatch, copied)

    def _by_rounding(self, allowance: Allowance, mismatch: Mismatch) -> bool:
        """Are they a few integers, no more than comparisons that rounding alone decides?"""
        integers = allowance.scalar is not BYTE and not allowance.scalar.floating
        few = mismatch.wrong <= min(self.decided, mismatch.elements * _FEW_INTEGERS)
        return integers and few and allowance.steadiness is Steadiness.EXACT

    def _told(self, key: Key, allowance: Allowance, mismatch: Mismatch | None, copied: bool) -> _Wrong | None:
        if mismatch is None:
            return None
        if not copied and mismatch.relative is not None and mismatch.relative <= allowance.unsure:
            self.unsure[key] = f"{mismatch.relative:.2g}"
            return None
        return _Wrong(mismatch.describe() + _advice(mismatch, allowance), mismatch.near and not copied)

    def _wrong(self, allowance: Allowance, expected: Bytes, found: Bytes, copied: bool, alteration: str) -> Mask:
        wrong = wrong_elements(allowance, expected, found)
        if not self.altered or not allowance.scalar.floating or expected.size % allowance.scalar.size:
            return wrong
        if copied:
            return wrong | _other_bits(allowance.scalar, expected, found)
        return wrong & ~excused(allowance.scalar, expected, found, alteration)

    def _erratic(self, base: Paused, key: Key) -> bool:
        return (base.dispatch.index, key) in self.calibration.erratic_at

    def _allowance(self, launch: tuple[int, str], key: Key, scalar: Scalar) -> Allowance:
        if self.given.get(key, BYTE) is BYTE:  # of kernels that do not take the buffer nobody knows what it holds
            self.given[key] = scalar
        return self.calibration.allowed_at(*launch, key, self.rule(key))

    def rule(self, key: Key) -> Allowance:
        """What holds for a buffer now: a proof may have replaced what the calibration derived."""
        exact = Allowance(Steadiness.EXACT, self.given.get(key, BYTE))
        return self.tolerance.apply(self.calibration.allowances.get(key, exact))

    def name(self, key: Key) -> str:
        return self.calibration.names.get(key, str(key))

    @property
    def allowances(self) -> dict[str, str]:
        """By buffer the rule that it was held to, where that is not equality of all bits."""
        rules = {key: self.rule(key) for key in self.given}
        return {self.name(key): r.describe() for key, r in rules.items() if r.steadiness is not Steadiness.EXACT}

    def _measured(self, key: Key, told: Sequence[Difference]) -> None:
        if told and key in self.calibration.allowances:
            name = self.calibration.names.get(key, str(key))
            self.ulps[name] = max(self.ulps.get(name, 0), *(one.ulps for one in told))

    def _steady(self, number: int, here: Paused, key: Key, offset: int, expected: Bytes, found: Bytes) -> Bytes:
        """`found`, but the reference's own bytes where it leaves them undefined or they depend on the order."""
        mask = self.calibration.undefined.get(here.dispatch.index, key, offset, expected.size)
        if mask is not None:
            excluded = int(np.count_nonzero(mask))
            self.undefined_bytes += excluded
            self.compared_bytes -= excluded
            found = np.where(mask, expected, found)
        loose = self.loose.get((number, key))
        part = loose[offset : offset + expected.size] if loose is not None else None
        return found if part is None or part.size != expected.size else np.where(part, expected, found)

    def _prove(self, sync: Sync, key: Key, allowance: Allowance, content: Content) -> None:
        """On live content, at the first, second, fourth, … comparison: planted errors must be noticed."""
        if sync.number & (sync.number - 1) and key in self.controls:
            return
        sample = content.part(0, _SAMPLE_BYTES)
        if allowance.by_algebra:
            return  # the algebra itself tells them apart; this tolerance only allows for another order
        if allowance.steadiness is Steadiness.NUMERIC:
            passing = wrongly_accepted(allowance, sample)
            if passing:
                self.weak.setdefault(key, set()).update(passing)
        else:
            _positive_control(allowance, sample)
        self.controls.add(key)

    def too_wide(self) -> Mapping[Key, set[str]]:
        """Buffers whose tolerance would let wrong answers pass, and which; a proof may have made it needless."""
        return {key: passing for key, passing in sorted(self.weak.items()) if not self.rule(key).by_algebra}

    def control(self) -> str:
        """What the comparison was shown to reject, in words."""
        if not self.controls:
            return ""
        numeric = any(self.rule(key).steadiness is Steadiness.NUMERIC for key in self.controls)
        text = f"an error planted in each of {len(self.controls)} buffers"
        return (
            f"{text}; under a tolerance zeros, the mean, a shuffle, off by one, a wrong end, bf16" if numeric else text
        )

    def checks(self) -> tuple[Check, ...]:
        """What was compared and how sharply."""
        found = [self._tolerance_check()]
        if self.ways:
            text = "; ".join(f"{count} {way}" for way, count in sorted(self.ways.items()))
            found.append(Check("way to the buffers", CheckStatus.PASSED, text))
        if self.calibration.uncovered:
            found.append(Check("not covered", CheckStatus.NOT_RUN, "; ".join(self.calibration.uncovered)))
        for key, apart in sorted(self.unsure.items()):
            if self.rule(key).by_algebra:
                continue  # proven since
            text = f"{self.name(key)} differs by {apart} of its value: no evidence, the original may err by as much"
            found.append(Check("ill-conditioned original", CheckStatus.WEAK, text))
        if self.undefined_bytes:
            text = f"{self.undefined_bytes} bytes that the original leaves undefined were left out"
            found.append(Check("undefined bytes", CheckStatus.WEAK, text))
        if self.extra:
            text = f"{len(self.extra)} buffers that the original does not have (scratch memory)"
            text += ", spoilt after every comparison" if self.forgets else ", which may hold earlier answers"
            found.append(Check("additional buffers", CheckStatus.PASSED, text))
        return tuple(found)

    def _distance(self, buffer: str) -> str:
        return f", at most {self.ulps[buffer]} units in the last place apart" if buffer in self.ulps else ""

    def _not_everywhere(self) -> list[str]:
        """Unordered buffers that were left out somewhere."""
        places = Counter(key for _, key in self.calibration.erratic_at)
        return [
            f"{self.calibration.names.get(key, key)} not compared after {count} dispatches, where runs of the original "
            "hold other elements"
            for key, count in sorted(places.items())
            if (allowance := self.calibration.allowances.get(key)) and allowance.steadiness is Steadiness.UNORDERED
        ]

    def _tolerance_check(self) -> Check:
        name = "tolerance"
        erratic = self.calibration.erratic()
        weak = [
            f"{self.name(key)} (would accept: {', '.join(sorted(passing))})" for key, passing in self.too_wide().items()
        ]
        if erratic or weak:
            told = [f"not comparable, differs from run to run: {buffer}" for buffer in erratic]
            told += self._not_everywhere()
            return Check(name, CheckStatus.WEAK, "weakly checkable: " + "; ".join([*weak, *told]))
        if not self.allowances:
            return Check(name, CheckStatus.PASSED, "bit-exact")
        told = [f"{buffer}: {rule}{self._distance(buffer)}" for buffer, rule in sorted(self.allowances.items())]
        told += self._not_everywhere()
        return Check(name, CheckStatus.PASSED, "; ".join(told) + "; everything else bit-exact")


def _other_bits(scalar: Scalar, expected: Bytes, found: Bytes) -> Mask:
    """Where both are NaN, or both are zero, of other bits."""
    mine, theirs = scalar.floats(expected), scalar.floats(found)
    alike = (np.isnan(mine) & np.isnan(theirs)) | ((mine == 0) & (theirs == 0))
    other: Mask = alike & (scalar.bits(expected) != scalar.bits(found))
    return other


def _positive_control(allowance: Allowance, content: Bytes) -> None:
    """Flip one bit of the last byte; the comparison must see it."""
    flipped = content.copy()
    flipped[-1] ^= 0x40
    if allowance.steadiness is Steadiness.UNORDERED:
        noticed = not same_multiset(allowance.scalar, content, flipped)
    else:
        chunks = list(differing_chunks(content, flipped, Deadline.after(60.0)))
        noticed = any(wrong_elements(allowance, left, right).any() for _, left, right in chunks)
    if not noticed:
        raise ToolchainError("the comparison of buffers overlooks a planted error on this machine; numpy is broken?")


def _advice(mismatch: Mismatch, allowance: Allowance) -> str:
    if not mismatch.near:
        return ""
    if allowance.steadiness is Steadiness.EXACT:
        return " (the original is bit-exact here; --rtol and --atol allow another order of summation)"
    return f" (allowed: {allowance.describe()})"


def _launch(paused: Paused) -> tuple[int, str]:
    return paused.dispatch.index, paused.dispatch.alteration


def _shared(paused: Paused) -> str:
    """Two pointer arguments into one allocation; empty where there are none."""
    hello, seen = paused.side.hello, dict[int, int]()
    parameters = paused.dispatch.parameters or (hello.kernels.get(paused.dispatch.kernel, ()) if hello else ())
    names = {one.index: one.name for one in parameters}
    for argument in paused.dispatch.arguments:
        for pointer in argument.pointers:
            first = seen.setdefault(pointer.allocation, argument.index)
            if first != argument.index:
                return " and ".join(names.get(index) or f"argument {index}" for index in (first, argument.index))
    return ""


def _narrower(mine: Mapping[int, int], theirs: Mapping[int, int]) -> set[int]:
    found = {bits for bits, count in theirs.items() if count > mine.get(bits, 0)} - {_DOUBLE}
    return found if mine.get(_DOUBLE) else found - {_WORD}  # where the original keeps no totals of two words
