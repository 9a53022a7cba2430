from __future__ import annotations

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
