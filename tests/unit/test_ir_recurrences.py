from __future__ import annotations

import pytest

from intelliperf.emulator.ir.mix import kind_of
from intelliperf.emulator.ir.module import parse_module
from intelliperf.emulator.ir.recurrences import recurrence

LOOP = """define float @f(ptr %x, i32 %n) {{
entry:
  br label %turn

turn:
  %k = phi i32 [ 0, %entry ], [ %next, %turn ]
  %s = phi float [ 0.0, %entry ], [ %t, %turn ]
  %p = getelementptr float, ptr %x, i32 %k
  %a = load float, ptr %p
{body}
  %next = add i32 %k, 1
  %end = icmp eq i32 %next, %n
  br i1 %end, label %done, label %turn

done:
  ret float %t
}}
"""


@pytest.mark.parametrize(
    ("body", "length"),
    [
        ("  %t = fadd float %s, %a", 1),
        ("  %m = fmul float %a, %a\n  %t = fadd float %s, %m", 1),
        ("  %m = fmul float %s, %a\n  %t = fadd float %m, 1.0", 1),
        ("  %m = fadd float %s, %a\n  %t = fadd float %m, %a", 2),
        ("  %b = fadd float %a, 1.0\n  %c = fadd float %b, 1.0\n  %t = fadd float %s, %c", 1),
        ("  %t = fadd float %a, 1.0", 0),
        ("  %q = getelementptr float, ptr %x, float %s\n  %t = load float, ptr %q", 0),
    ],
)
def test_what_a_turn_needs_of_the_turn_before_follows_one_after_another(body: str, length: int) -> None:
    (function,) = parse_module(LOOP.format(body=body)).functions
    assert recurrence(function.blocks[1].instructions, kind_of) == length
