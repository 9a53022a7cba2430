"""Which buffers are compared after which dispatch of a long run."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from intelliperf.interception.messages import Allocation, Argument, Dispatch, Pointer
from intelliperf.validation.runs.lockstep import Sync
from intelliperf.validation.runs.reach import all_due, chosen, reachable_bytes

GIB = 1 << 30
TABLE = Allocation(1, 0x1000, 64, "device", 1, None, 0x1000)
BEHIND = Allocation(2, 0x100000, 4096, "device", 2, None, 0x100000)
IDLE = Allocation(3, 0x200000, GIB, "device", 3, None, 0x200000)
SYMBOL = Allocation(4, 0x90000000, 4, "symbol", 4, "counter", 0x90000000)
HANDED = Argument(0, struct.pack("<Q", TABLE.base), (Pointer(0, TABLE.id, 0),))


@dataclass(frozen=True)
class Still:
    """A run at rest, as `reach` sees it."""

    dispatch: Dispatch

    def content(self, allocation: int) -> memoryview:
        if allocation != TABLE.id:
            return memoryview(bytes(4096))
        return memoryview(struct.pack("<8Q", 0, 5, BEHIND.base + 8, 0, 1, 2, 3, BEHIND.base + BEHIND.size))


def still(*allocations: Allocation) -> Still:
    shape = (1, 1, 1)
    return Still(Dispatch(0, 0, "k", shape, shape, 0, True, 0, (HANDED,), allocations))


def test_a_short_run_is_compared_wholly_after_every_dispatch():
    small = still(TABLE, BEHIND, SYMBOL)
    assert all(all_due(Sync(number, ""), small.dispatch) for number in range(10_000))


def test_a_long_run_over_much_memory_is_compared_wholly_now_and_then():
    large = still(TABLE, BEHIND, IDLE, SYMBOL).dispatch
    whole = [number for number in range(100) if all_due(Sync(number, ""), large)]
    assert whole == [0, 1, 2, 4, 8, 16, 32, 64, 96]


def test_in_between_what_the_kernel_can_reach_is_compared():
    paused = still(TABLE, BEHIND, IDLE, SYMBOL)
    assert chosen(Sync(16, ""), paused) is None
    assert chosen(Sync(17, ""), paused) == {TABLE.id, BEHIND.id, SYMBOL.id}


def known(paused: Still, **changes: object) -> Still:
    return Still(replace(paused.dispatch, uncovered=0, **changes))


def test_what_a_kernel_can_reach_is_bounded_by_what_pointers_lead_to() -> None:
    reached = 3 * 128 + 128 + 4096 + 128  # TABLE and SYMBOL, a line each and one over; BEHIND and one over
    assert reachable_bytes(known(still(TABLE, BEHIND, IDLE, SYMBOL))) == reached
    large = replace(BEHIND, size=GIB)
    assert reachable_bytes(known(still(TABLE, large, SYMBOL))) == 4 * 128 + GIB + 128


def test_an_address_in_a_plain_argument_makes_the_bound_all_memory() -> None:
    hidden = Argument(1, struct.pack("<iQ", 1, IDLE.base + 64), ())
    everything = 4 * 128 + 4096 + 128 + GIB + 128
    paused = still(TABLE, BEHIND, IDLE, SYMBOL)
    assert reachable_bytes(known(paused, arguments=(HANDED, hidden))) == everything


def test_memory_that_is_no_allocation_leaves_the_bound_open() -> None:
    paused = still(TABLE, BEHIND, IDLE, SYMBOL)
    assert reachable_bytes(paused) is None  # nobody says that there is no other
    assert reachable_bytes(Still(replace(paused.dispatch, uncovered=1))) is None
