from __future__ import annotations

from intelliperf.emulator.ir.functions import successors
from intelliperf.emulator.ir.module import parse_module
from intelliperf.emulator.ir.order import nested_order
from intelliperf.emulator.ir.waits import WaitingLoads

LOOP = """define void @f(ptr %table, ptr %next, i32 %n) {{
entry:
  %first = load i32, ptr %next
  br label %turn

turn:
  %k = phi i32 [ %first, %entry ], [ %more, %turn ]
  %at = phi i32 [ 0, %entry ], [ {carried}, %turn ]
  %p = getelementptr i32, ptr %table, i32 {index}
  %value = load i32, ptr %p
  %q = getelementptr i32, ptr %next, i32 %value
  %through = load i32, ptr %q
  %more = add i32 %k, {step}
  %end = icmp eq i32 {compared}, %n
  br i1 %end, label %done, label %turn

done:
  ret void
}}
"""
STRAIGHT = """define void @f(ptr %table, ptr %own) {
  %i = load i32, ptr %own
  %p = getelementptr i32, ptr %table, i32 %i
  %value = load i32, ptr %p
  %beside = load float, ptr %table
  ret void
}
"""


AGAIN = """define void @f(ptr %next, ptr %first, i64 %n) {
entry:
  br label %outer

outer:
  %k = phi i64 [ 0, %entry ], [ %more, %over ]
  %from = phi i64 [ 0, %entry ], [ CARRIED, %over ]
  br label %turn

turn:
  %at = phi i64 [ %from, %outer ], [ %through, %turn ]
  %q = getelementptr i64, ptr %next, i64 %at
  %through = load i64, ptr %q
  %end = icmp eq i64 %through, 0
  br i1 %end, label %over, label %turn

over:
  %more = add i64 %k, 1
  %all = icmp eq i64 %more, %n
  br i1 %all, label %done, label %outer

done:
  ret void
}
"""


def waiting(text: str, own: str = "", chained: bool = False) -> set[str | None]:
    """Results of the loads that wait."""
    (function,) = parse_module(text).functions
    following = successors(function.blocks)
    _, nests = nested_order(following)
    waits = WaitingLoads(function.blocks, nests, following, lambda load: bool(own) and own in load.text)
    return {
        instruction.result
        for at, block in enumerate(function.blocks)
        for instruction in block.instructions
        if instruction.opcode == "load" and (waits.chained if chained else waits.waits)(instruction, at)
    }


def test_loads_by_an_index_that_counts_do_not_wait_nor_do_those_by_what_the_turn_loads() -> None:
    assert waiting(LOOP.format(carried="%at", index="%k", compared="%more", step="1")) == set()


def test_a_load_whose_address_an_earlier_turn_has_loaded_waits() -> None:
    assert waiting(LOOP.format(carried="%through", index="%at", compared="%more", step="1")) == {"%value", "%through"}


def test_all_loads_wait_where_a_loaded_value_decides_on_another_turn() -> None:
    assert waiting(LOOP.format(carried="%at", index="%k", compared="%value", step="1")) == {"%value", "%through"}


def test_the_first_load_of_a_turn_waits_where_the_step_is_not_known() -> None:
    by_argument = LOOP.format(carried="%at", index="%k", compared="%more", step="%n")
    assert waiting(by_argument) == {"%value"}
    assert waiting(by_argument.replace("add i32", "add nsw i32")) == set()  # signed: nvcc unrolls
    assert waiting(by_argument.replace("add i32", "sub nsw i32")) == {"%value"}  # but not this
    counting = "  %old = atomicrmw add ptr %p, i32 1 monotonic\n  br i1"  # nor that
    assert waiting(by_argument.replace("add i32", "add nsw i32").replace("  br i1", counting)) == {"%value"}
    by_turn = LOOP.format(carried="%more", index="%k", compared="%more", step="%at")
    assert waiting(by_turn.replace("add i32", "add nsw i32")) == {"%value"}  # but what it adds is another number


def test_outside_of_loops_a_load_waits_for_the_one_that_its_address_comes_from() -> None:
    assert waiting(STRAIGHT) == {"%value"}


def test_what_comes_from_a_lane_s_own_memory_need_not_be_waited_for() -> None:
    assert waiting(STRAIGHT, own="ptr %own") == set()


def test_a_chain_that_every_turn_of_an_outer_loop_begins_anew_is_none() -> None:
    assert waiting(AGAIN.replace("CARRIED", "%through"), chained=True) == {"%through"}
    assert waiting(AGAIN.replace("CARRIED", "%more"), chained=True) == set()


def test_a_loaded_value_that_only_ends_the_loop_makes_no_chain() -> None:
    assert not waiting(LOOP.format(carried="%at", index="%k", compared="%value", step="1"), chained=True)
