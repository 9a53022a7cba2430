"""Which integer arguments may take any value."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.divisions import undivided
from intelliperf.emulator.ir.module import parse_module


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("  %c = icmp slt i32 %n, 7\n  %m = mul i32 %n, %k\n", [0, 1]),
        ("  %r = lshr i32 %n, 6\n", [1]),
        ("  %w = zext i32 %n to i64\n  %s = add i64 %w, 3\n  %r = and i64 %s, -4\n", [1]),
        ("  %r = udiv i32 %n, %k\n", []),
        ("  call void @other(i32 %k)\n", [0]),
        ("  %r = call i32 @llvm.smin.i32(i32 %n, i32 9)\n  %q = srem i32 %r, 5\n", [1]),
    ],
)
def test_arguments_that_are_divided_or_passed_on_may_be_promised_to_be_multiples(body: str, found: list[int]) -> None:
    (function,) = parse_module(f"define void @f(i32 %n, i32 %k, float %x) {{\n{body}  ret void\n}}\n").functions
    assert undivided(function, [("i32 %n", 0), ("i32 noundef %k", 1), ("float %x", 2)]) == found
