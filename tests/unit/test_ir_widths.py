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
        ("  %t = and i32 %n, 1048575\n", {20: 1}),
        ("  %t = and i64 %w, 4294967288\n", {}),  # a word times eight
        ("  %t = lshr i32 %n, 22\n", {}),
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
        (
            "  %s = phi float [ 0.0, %0 ], [ %t, %1 ]\n  %f = sitofp i32 %a to float\n"
            "  %g = fmul float %f, %h\n  %t = fadd float %s, %g\n",
            {24: 1},
        ),
        (
            "  %s = phi float [ 0.0, %0 ], [ %t, %1 ]\n  %f = uitofp i8 %a to float\n"
            "  %t = call float @llvm.fma.f32(float %f, float %h, float %s)\n",
            {24: 1},
        ),
        ("  %s = phi float [ 0.0, %0 ], [ %t, %1 ]\n  %t = fadd float %s, %x\n", {}),  # of floats
        ("  %f = sitofp i32 %a to float\n  %t = fadd float %f, %x\n", {}),  # once
        ("  %m = call i32 @llvm.smin.i32(i32 %n, i32 65535)\n", {16: 1}),
        ("  %m = call noundef <2 x i32> @llvm.umin.v2i32(<2 x i32> %v, <2 x i32> splat (i32 16777215))\n", {24: 1}),
        ("  %m = call i32 @llvm.smin.i32(i32 %n, i32 %o)\n", {}),
        ("  %i = fptosi float %x to i32\n", {24: 1}),
        ("  %i = fptosi double %x to i32\n", {}),
        ("  %i = call i32 @llvm.fptosi.sat.i32.f16(half %x)\n", {11: 1}),
        ("  %f = uitofp i32 %a to float\n  %o = atomicrmw fadd ptr %p, float %f monotonic\n", {24: 1}),
        ("  store i64 %w, ptr %p, align 8\n  %h = load i32, ptr %p\n", {64: 1}),
    ],
)
def test_narrow_integers_are_counted_by_their_bits(body: str, expected: dict[int, int]) -> None:
    (function,) = parse_module(f"define void @f() {{\n{body}  ret void\n}}\n").functions
    assert dict(widths(function)) == expected
