from __future__ import annotations

import pytest

from intelliperf.emulator.ir.addresses import Addresses
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.localarrays import LocalArrays, LocalCosts
from intelliperf.emulator.ir.memory import access_of
from intelliperf.emulator.ir.module import parse_module

ARRAY = """define void @f(ptr %x, i64 %same, i64 %own) {
  %counts = alloca [32 x i32], align 4
  %p = getelementptr [32 x i32], ptr %counts, i64 0, i64 %same
  %q = getelementptr [32 x i32], ptr %counts, i64 0, i64 %own
  %a = load i32, ptr %p
  %b = load i32, ptr %q
  store i32 %b, ptr %q
  %c = load i32, ptr %x
  ret void
}
"""

UNROLLED = """define void @f(ptr %x, i64 %n) {
  %sums = alloca [64 x float], align 4
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k.next, %loop ]
  %at = shl nuw nsw i64 %k, 2
  %p = getelementptr inbounds [64 x float], ptr %sums, i64 0, i64 %at
  %q = getelementptr inbounds i8, ptr %p, i64 4
  %a = load float, ptr %q, align 4
  store float %a, ptr %p, align 4
  %k.next = add nuw nsw i64 %k, 1
  %end = icmp eq i64 %k.next, 16
  br i1 %end, label %done, label %loop
done:
  ret void
}
"""


def costs_of(*results: str | None) -> LocalCosts:
    (function,) = parse_module(ARRAY).functions
    layout = Layout({})
    arrays = LocalArrays(function, Addresses(function, layout), layout, lambda name: name != "%own")
    costs = LocalCosts()
    for instruction in function.blocks[0].instructions:
        if instruction.opcode in ("load", "store") and instruction.result in results:
            arrays.add(access_of(instruction, layout, True), costs)
    return costs


def test_lanes_with_one_index_read_their_elements_side_by_side() -> None:
    costs = costs_of("%a")
    assert (costs.loads, costs.load_sectors, costs.lines, costs.array_bytes) == (1, 4, 1, 128)


def test_lanes_with_indices_of_their_own_come_to_rows_of_their_own() -> None:
    load, store = costs_of("%b"), costs_of(None)
    assert (load.loads, load.load_sectors, load.lines) == (1, 29, 20)  # 28.7 of an H200, see local.cu
    assert (store.stores, store.store_sectors) == (1, 29)


def test_what_is_not_an_array_costs_nothing_here() -> None:
    assert costs_of("%c") == LocalCosts()


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (UNROLLED, True),
        (UNROLLED.replace("%k.next, 16", "%k.next, %n"), False),  # who knows how many turns
        (UNROLLED.replace("i64 0, i64 %at", "i64 0, i64 %n"), False),
        (UNROLLED.replace("64 x float", "512 x float"), False),  # more than a thread's registers
        (UNROLLED.replace("store float %a, ptr %p", "store ptr %p, ptr %x"), False),  # somebody else reads it there
    ],
)
def test_an_array_that_loops_of_known_turns_walk_through_is_held_in_registers(text: str, held: bool) -> None:
    (function,) = parse_module(text).functions
    layout = Layout({})
    arrays = LocalArrays(function, Addresses(function, layout), layout, lambda name: True)
    (load,) = (one for one in function.blocks[1].instructions if one.opcode == "load")
    costs = LocalCosts()
    arrays.add(access_of(load, layout, True), costs)
    assert (arrays.in_registers(load), costs.loads) == (held, 0 if held else 1)
