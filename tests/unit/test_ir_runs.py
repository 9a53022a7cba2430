from __future__ import annotations

from intelliperf.emulator.ir.functions import successors
from intelliperf.emulator.ir.module import Instruction, parse_module
from intelliperf.emulator.ir.order import nested_order
from intelliperf.emulator.ir.runs import END, LOAD, LoadRuns

STRAIGHT = """define void @f(ptr %x, ptr %y) {
entry:
  %a = load i32, ptr %x
  %b = load i32, ptr %x
  br i1 true, label %more, label %less

more:
  %c = load i32, ptr %x
  br label %less

less:
  %d = load i32, ptr %x
  store i32 %d, ptr %y
  %e = load i32, ptr %x
  call void @__simt_barrier()
  %f = load i32, ptr %x
  ret void
}
"""
LOOP = """define void @f(ptr %x, ptr %y, i32 %n) {{
entry:
  store i32 0, ptr %y
  br label %turn

turn:
  %k = phi i32 [ 0, %entry ], [ %next, %turn ]
  %p = getelementptr i32, ptr %x, i32 %k
  %a = load i32, ptr %p
  %q = getelementptr i32, ptr %x, i32 %a
  %b = load i32, ptr %q
  {last}
  %next = add i32 %k, 1
  %end = icmp eq i32 %next, %n
  br i1 %end, label %done, label %turn

done:
  ret void
}}
"""


def kind(instruction: Instruction) -> str | None:
    if instruction.opcode == "load":
        return LOAD
    return END if instruction.opcode in ("store", "call") else None


def beginning(text: str, dependent: tuple[str, ...] = ()) -> set[str | None]:
    """Results of the loads that begin a run."""
    (function,) = parse_module(text).functions
    following = successors(function.blocks)
    runs = LoadRuns(function.blocks, nested_order(following)[1], following, kind)
    return {
        load.result
        for at, block in enumerate(function.blocks)
        for load in block.instructions
        if load.opcode == "load" and runs.begins(load, at, lambda name=load.result: name in dependent)
    }


def test_loads_of_one_run_reach_past_branches_to_the_next_store_or_barrier() -> None:
    assert beginning(STRAIGHT) == {"%a", "%e", "%f"}


def test_turns_of_a_loop_without_stores_belong_to_one_run_though_a_store_stands_before_the_loop() -> None:
    assert beginning(LOOP.format(last="%same = add i32 %b, 0")) == set()


def test_each_turn_begins_a_run_where_it_ends_with_a_store() -> None:
    assert beginning(LOOP.format(last="store i32 %b, ptr %y")) == {"%a"}


def test_a_load_by_what_the_turn_has_loaded_begins_another_where_turns_cannot_overlap() -> None:
    assert beginning(LOOP.format(last="store i32 %b, ptr %y"), dependent=("%b",)) == {"%a", "%b"}
    assert beginning(LOOP.format(last="%same = add i32 %b, 0"), dependent=("%b",)) == set()


def test_loads_that_stand_beside_others_of_their_run_join_them() -> None:
    (function,) = parse_module(STRAIGHT).functions
    following = successors(function.blocks)
    runs = LoadRuns(function.blocks, nested_order(following)[1], following, kind)
    joining = {
        load.result
        for at, block in enumerate(function.blocks)
        for load in block.instructions
        if load.opcode == "load" and runs.joins(load, at)
    }
    assert joining == {"%b"}
