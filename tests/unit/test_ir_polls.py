"""Which loads in loops may wait for another thread."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.functions import successors
from intelliperf.emulator.ir.module import parse_module
from intelliperf.emulator.ir.order import nested_order
from intelliperf.emulator.ir.polls import Polls

SPIN = """define void @f(ptr %flags, ptr %data, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ %n, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %p = getelementptr inbounds i32, ptr %flags, i64 %i
  br label %spin
spin:
  %flag = load volatile i32, ptr %p, align 4
  %none = icmp eq i32 %flag, 0
  br i1 %none, label %spin, label %body
body:
  %q = getelementptr inbounds i32, ptr %data, i64 %i
  %value = load volatile i32, ptr %q, align 4
  %more = add i32 %sum, %value
  %again = load volatile i32, ptr %data, align 4
  %r = getelementptr inbounds i32, ptr %flags, i64 %i
  %look = load volatile i32, ptr %r, align 4
  %next = add i64 %i, -1
  %stop = icmp eq i32 %look, 2
  br i1 %stop, label %exit, label %head
exit:
  %last = load volatile i32, ptr %data, align 4
  ret void
}
"""


@pytest.mark.parametrize(
    ("name", "waits"), [("%flag", True), ("%value", False), ("%again", True), ("%look", True), ("%last", False)]
)
def test_a_load_that_moves_and_decides_nothing_does_not_wait(name: str, waits: bool) -> None:
    (function,) = parse_module(SPIN).functions
    following = successors(function.blocks)
    polls = Polls(function.blocks, nested_order(following)[1], following)
    ((block, load),) = (
        (at, one) for at, block in enumerate(function.blocks) for one in block.instructions if one.result == name
    )
    assert polls.may_wait(load, block, is_load=True) is waits
