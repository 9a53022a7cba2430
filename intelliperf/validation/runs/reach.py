"""Which buffers to look at after which dispatch, so that long runs over much memory stay affordable.

Up to `_FREELY_BYTES` in a run every live buffer is compared after every dispatch. Beyond that those
that the kernel can reach are (its arguments', all symbols, and what small buffers among these point
to), and all of them now and then: a buffer that was spoilt in between stays so until something
overwrites it. The choice depends on the reference alone, so that all runs look at the same.
"""

from __future__ import annotations

import numpy as np

from intelliperf.interception.messages import Dispatch
from intelliperf.validation.runs.lockstep import Paused, Sync

_FREELY_BYTES = 1 << 30
_EVERY = 32
_TABLE_BYTES = 1 << 16  # larger buffers are not searched for pointers
_SEARCHED_BYTES = 256 << 20  # for an upper bound
_LINE_BYTES = 128


def all_due(sync: Sync, dispatch: Dispatch) -> bool:
    """Is this a dispatch after which every live buffer is compared?"""
    live = sum(allocation.size for allocation in dispatch.allocations)
    number = sync.number
    return number * live <= _FREELY_BYTES or number & (number - 1) == 0 or number % _EVERY == 0


def reachable(paused: Paused, table_bytes: int = _TABLE_BYTES) -> set[int]:
    """Ids of the allocations that the dispatched kernel was handed, directly or through tables of pointers.

    Larger buffers than `table_bytes` are not searched.
    """
    dispatch = paused.dispatch
    found = {pointer.allocation for argument in dispatch.arguments for pointer in argument.pointers}
    found |= {allocation.id for allocation in dispatch.allocations if allocation.name is not None}
    order = sorted(dispatch.allocations, key=lambda allocation: allocation.address)
    bases = np.array([allocation.address for allocation in order], dtype=np.uint64)
    ends = np.array([allocation.address + allocation.size for allocation in order], dtype=np.uint64)
    sizes = {allocation.id: allocation.size for allocation in order}
    waiting = list(found)
    while waiting:
        table = waiting.pop()
        if not 8 <= sizes[table] <= table_bytes:
            continue
        content = paused.content(table)
        words = np.frombuffer(content[: len(content) & ~7], dtype=np.uint64)
        words = words[(words >= bases[0]) & (words < ends.max())]
        slots = np.searchsorted(bases, words, side="right") - 1
        inside = slots[(slots >= 0) & (words < ends[slots])]
        new = {order[slot].id for slot in np.flatnonzero(np.bincount(inside))} - found
        found |= new
        waiting += new
    return found


def reachable_bytes(paused: Paused) -> int | None:
    """The kernel can read no more memory than this: all that pointers lead to, in whole lines; None where that is open.

    Every aligned word of what it can reach is taken for a pointer if it could be one. Where there is too much to
    search, it is all memory that is allocated.
    """
    dispatch = paused.dispatch
    if dispatch.uncovered != 0 or dispatch.status != 0:
        return None
    found = reachable(paused, _SEARCHED_BYTES)
    sizes = {allocation.id: allocation.size for allocation in dispatch.allocations}
    if sum(sizes[one] for one in found) > _SEARCHED_BYTES or not _in_arguments(dispatch) <= found:
        found = set(sizes)
    return sum(-(-sizes[one] // _LINE_BYTES) * _LINE_BYTES + _LINE_BYTES for one in found)


def _in_arguments(dispatch: Dispatch) -> set[int]:
    """Allocations whose addresses are among the arguments' bytes, whatever these are said to be."""
    found = set()
    for argument in dispatch.arguments:
        for offset in range(0, len(argument.value) - 7, 4):
            address = int.from_bytes(argument.value[offset : offset + 8], "little")
            found |= {one.id for one in dispatch.allocations if one.address <= address < one.address + one.size}
    return found


def chosen(sync: Sync, paused: Paused) -> set[int] | None:
    """Ids to compare at this point; None for all."""
    return None if all_due(sync, paused.dispatch) else reachable(paused)
