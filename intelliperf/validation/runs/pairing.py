"""Which allocation of one process stands for which of the other, and whether arguments agree.

Both processes of an undeclared change allocate the same things in the same order, so pairs have the
same sequence number. A candidate that may allocate scratch memory is aligned: first by the arguments
of a kernel that both launched, then in order of allocation by kind and size.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from intelliperf.interception.messages import Allocation, Argument, Dispatch
from intelliperf.protocols import BufferKey
from intelliperf.validation.buffers.elements import Bytes

Key = BufferKey  # identity of a reference allocation in every run


@dataclass(frozen=True)
class Pairing:
    pairs: tuple[tuple[Allocation, Allocation], ...]
    missing: tuple[Allocation, ...]  # of the reference
    extra: tuple[Allocation, ...]  # of the candidate

    def translate(self, allocation: int) -> int | None:
        """The reference's id of one of the candidate's allocations."""
        for reference, candidate in self.pairs:
            if candidate.id == allocation:
                return reference.id
        return None


def key_of(allocation: Allocation) -> Key:
    return allocation.kind, allocation.sequence, allocation.name or ""


def describe(allocation: Allocation, names: Mapping[int, str]) -> str:
    """A buffer for people: its symbol, the parameter that it is passed as, or which allocation it is."""
    if allocation.name is not None:
        return f"symbol {allocation.name}"
    where = f"{allocation.kind} allocation {allocation.sequence} of {allocation.size} bytes"
    return f"{names[allocation.id]} ({where})" if allocation.id in names else where


def pair(reference: Dispatch, candidate: Dispatch) -> Pairing:
    """Align the live allocations at two matching dispatches."""
    forced = _by_argument(reference, candidate) if reference.kernel == candidate.kernel else {}
    symbols: dict[str, list[Allocation]] = {}  # two files may each have a static variable of one name
    for allocation in candidate.allocations:
        if allocation.name is not None:
            symbols.setdefault(allocation.name, []).append(allocation)
    pairs, missing = [], []
    by_id = {a.id: a for a in candidate.allocations}
    for allocation in reference.allocations:
        if allocation.name is not None and symbols.get(allocation.name):
            pairs.append((allocation, symbols[allocation.name].pop(0)))
        elif allocation.name is not None:
            missing.append(allocation)
        elif allocation.id in forced:
            pairs.append((allocation, by_id[forced[allocation.id]]))
    done = {a.id for a, _ in pairs} | {a.id for a in missing}
    taken = {b.id for _, b in pairs}
    left = [a for a in reference.allocations if a.id not in done]
    right = [b for b in candidate.allocations if b.id not in taken and b.name is None]
    in_order = _in_order(left, right)
    pairs += in_order
    paired = {a.id for a, _ in in_order}
    missing += [a for a in left if a.id not in paired]
    taken |= {b.id for _, b in in_order}
    return Pairing(tuple(pairs), tuple(missing), tuple(b for b in candidate.allocations if b.id not in taken))


def _in_order(left: Sequence[Allocation], right: Sequence[Allocation]) -> list[tuple[Allocation, Allocation]]:
    if [(a.kind, a.sequence, a.size) for a in left] == [(b.kind, b.sequence, b.size) for b in right]:
        return list(zip(left, right, strict=True))
    shapes = [(a.kind, a.size) for a in left], [(b.kind, b.size) for b in right]
    blocks = difflib.SequenceMatcher(None, *shapes, autojunk=False).get_matching_blocks()
    return [(left[m.a + i], right[m.b + i]) for m in blocks for i in range(m.size)]


def _by_argument(reference: Dispatch, candidate: Dispatch) -> dict[int, int]:
    """Reference id → candidate id where both pass buffers of one size at the same place of an argument."""
    sizes = {a.id: a.size for a in reference.allocations}, {b.id: b.size for b in candidate.allocations}
    forced: dict[int, int] = {}
    for left, right in zip(reference.arguments, candidate.arguments, strict=False):
        there = {pointer.offset: pointer for pointer in right.pointers}
        for pointer in left.pointers:
            other = there.get(pointer.offset)
            if other is None or pointer.at != other.at:
                continue
            fits = sizes[0][pointer.allocation] == sizes[1][other.allocation]
            if fits and pointer.allocation not in forced and other.allocation not in forced.values():
                forced[pointer.allocation] = other.allocation
    return forced


def argument_difference(
    reference: Dispatch, candidate: Dispatch, pairing: Pairing, noise: Collection[int]
) -> str | None:
    """How the arguments differ, in words; None if they say the same. `noise`: indices not to look at."""
    if len(reference.arguments) != len(candidate.arguments):
        return f"{len(candidate.arguments)} arguments, expected {len(reference.arguments)}"
    for left, right in zip(reference.arguments, candidate.arguments, strict=True):
        if left.index in noise:
            continue
        if _without_pointers(left) != _without_pointers(right):
            return f"argument {left.index} is 0x{right.value[::-1].hex()}, expected 0x{left.value[::-1].hex()}"
        for mine, theirs in zip(left.pointers, right.pointers, strict=True):
            if pairing.translate(theirs.allocation) != mine.allocation or mine.at != theirs.at:
                return f"argument {left.index} points into another buffer"
    return None


def _without_pointers(argument: Argument) -> tuple[int, bytes, tuple[int, ...]]:
    value = bytearray(argument.value)
    for pointer in argument.pointers:
        value[pointer.offset : pointer.offset + 8] = bytes(8)
    return argument.index, bytes(value), tuple(pointer.offset for pointer in argument.pointers)


def same_pointers(pairing: Pairing, reference: Bytes, candidate: Bytes) -> Bytes:
    """`candidate` with every aligned word that points where the reference's word does replaced by it."""
    if not pairing.pairs or reference.size % 8:
        return candidate
    left, right = reference.view(np.uint64), candidate.view(np.uint64)
    places = np.flatnonzero(left != right)
    order = sorted(pairing.pairs, key=lambda p: p[0].address)
    bases = np.array([a.address for a, _ in order], dtype=np.uint64)
    sizes = np.array([a.size for a, _ in order], dtype=np.uint64)
    others = np.array([b.address for _, b in order], dtype=np.uint64)
    slot = np.searchsorted(bases, left[places], side="right") - 1
    known = slot >= 0
    places, slot = places[known], slot[known]
    offset = left[places] - bases[slot]
    same = (offset <= sizes[slot]) & (right[places] == others[slot] + offset)
    replaced: Bytes = candidate.copy()
    replaced.view(np.uint64)[places[same]] = left[places[same]]
    return replaced
