"""Which instructions calculate a rounding error, and which only take numbers from each other."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.compensation import compensations
from intelliperf.emulator.ir.module import parse_module

_SUM = "  %t = fadd float %sum, %y\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{_SUM}  %d = fsub float %t, %sum, !dbg !7\n  %c = fsub float %d, %y\n", 1),  # Kahan
        (f"{_SUM}  %d = fsub float %sum, %t\n  %c = fadd float %d, %y\n", 1),  # Neumaier
        ("  %t = fadd contract double %a, %b\n  %d = fsub contract double %t, %b\n", 1),
        (f"{_SUM}  %d = fsub reassoc float %t, %sum\n", 0),  # as good as gone
        (f"{_SUM}  %d = fsub float %t, %z\n", 0),
        (
            "  %p = fmul float %a, %b\n  %n = fneg float %p\n"
            "  %e = tail call float @llvm.fma.f32(float %a, float %b, float %n)\n",
            1,
        ),
        ("  %n = fneg float %p\n  %e = tail call float @llvm.fma.f32(float %a, float %b, float %n)\n", 0),
    ],
)
def test_rounding_errors_that_are_calculated_are_counted(body: str, expected: int) -> None:
    (function,) = parse_module(f"define void @f() {{\n{body}  ret void\n}}\n").functions
    assert compensations(function) == expected
