"""Which buffers to look at after which dispatch, so that long runs over much memory stay affordable.

Up to `_FREELY_BYTES` in a run every live buffer is compared after every dispatch. Beyond that those
that the kernel can reach are (its arguments', all symbols, and what small buffers among these point
to), and all of them now and then: a buffer that was spoilt in between stays so until something
overwrites it. The choice depends on the reference alone, so that all runs look at the same.
"""

from __future__ import annotations

import numpy as np

from intelliperf.validation.lockstep import Paused, Sync
from intelliperf.validation.messages import Dispatch

_FREELY_BYTES = 1 << 30
_EVERY = 32
_TABLE_BYTES = 1 << 16  # larger buffers are not searched for pointers


def all_due(sync: Sync, dispatch: Dispatch) -> bool:
    """Is this a dispatch after which every live buffer is compared?"""
    live = sum(allocation.size for allocation in dispatch.allocations)
    number = sync.number
    return number * live <= _FREELY_BYTES or number & (number - 1) == 0 or number % _EVERY == 0


def reachable(paused: Paused) -> set[int]:
    """Ids of the allocations that the dispatched kernel was handed, directly or through tables of pointers."""
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
        if not 8 <= sizes[table] <= _TABLE_BYTES:
            continue
        content = paused.content(table)
        words = np.frombuffer(content[: len(content) & ~7], dtype=np.uint64)
        slots = np.searchsorted(bases, words, side="right") - 1
        inside = slots[(slots >= 0) & (words < ends[slots])]
        new = {order[slot].id for slot in np.unique(inside)} - found
        found |= new
        waiting += new
    return found


def chosen(sync: Sync, paused: Paused) -> set[int] | None:
    """Ids to compare at this point; None for all."""
    return None if all_due(sync, paused.dispatch) else reachable(paused)
