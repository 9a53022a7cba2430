"""Which instructions keep integers in few bits."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.module import parse_module
from intelliperf.emulator.ir.widths import widths


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  %t = trunc i32 %n to i16\n", {16: 1}),
        ("  %t = trunc <4 x i32> %v to <4 x i8>\n", {8: 1}),
        ("  %t = trunc i64 %w to i32\n", {32: 1}),
        ("  %t = and i32 %n, 65535, !dbg !7\n", {16: 1}),
        ("  %t = and i32 %n, 31\n", {}),  # a lane
        ("  %t = and i64 %w, 262140\n", {16: 1}),  # an index times four
        ("  %t = and i32 %n, 65533\n", {}),
        ("  %u = shl i64 %w, 48\n  %t = ashr exact i64 %u, 46\n", {16: 1}),
        ("  %u = shl i32 %n, 20\n  %t = ashr exact i32 %u, 20\n", {12: 1}),
        ("  %t = lshr i32 %n, 16\n", {16: 1}),
        ("  store i16 %h, ptr %p, align 2\n  %h = load i16, ptr %p, align 2, !tbaa !5\n", {16: 2}),
        ("  %o = atomicrmw add ptr %p, i32 1 monotonic\n", {32: 1}),
        ("  %r = phi i8 [ 0, %0 ], [ %s, %1 ]\n  %s = add nuw i8 %r, %c\n  %t = add i32 %n, 1\n", {8: 2}),
        ("  %s = add i32 %a, %b\n  %w = zext i32 %s to i64\n  store i64 %w, ptr %p, align 8\n", {64: 1, 32: 1}),
        (
            "  %s = phi i32 [ 0, %0 ]\n  %w = sext i32 %s to i64\n  %o = atomicrmw add ptr %p, i64 %w monotonic\n",
            {64: 1, 32: 1},
        ),
        ("  %w = zext i32 %a to i64\n  %s = add i64 %w, %t\n  store i64 %s, ptr %p\n", {64: 1}),  # of one word
        (
            "  %s = add i32 %a, %b\n  %w = sext i32 %s to i64\n  %g = getelementptr i32, ptr %p, i64 %w\n",
            {},
        ),  # an index
        ("  store i64 %w, ptr %p, align 8\n  %h = load i32, ptr %p\n", {64: 1}),
    ],
)
def test_narrow_integers_are_counted_by_their_bits(body: str, expected: dict[int, int]) -> None:
    (function,) = parse_module(f"define void @f() {{\n{body}  ret void\n}}\n").functions
    assert dict(widths(function)) == expected
