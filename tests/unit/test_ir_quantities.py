"""What becomes of the plain numbers that a kernel is handed."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.module import parse_module
from intelliperf.emulator.ir.quantities import (
    ParameterPlace,
    Users,
    constants,
    limits,
    named,
    of_parameters,
    of_variable,
    only_loaded,
    reads_grid,
)

TYPES = """!1 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!2 = !DICompositeType(tag: DW_TAG_structure_type, name: "P", size: 64, elements: !3)
!3 = !{!4, !5}
!4 = !DIDerivedType(tag: DW_TAG_member, name: "n", baseType: !1, size: 32)
!5 = !DIDerivedType(tag: DW_TAG_member, name: "k", baseType: !1, size: 32, offset: 32)
!6 = !DIBasicType(name: "short", size: 16, encoding: DW_ATE_signed)
!7 = !DICompositeType(tag: DW_TAG_structure_type, name: "Q", size: 32, elements: !8)
!8 = !{!9, !10}
!9 = !DIDerivedType(tag: DW_TAG_member, name: "mode", baseType: !6, size: 16)
!10 = !DIDerivedType(tag: DW_TAG_member, name: "taps", baseType: !6, size: 16, offset: 16)
"""


def found(
    body: str, places: dict[int, list[ParameterPlace]], kinds: list[int], header: str = "i32 %n, i32 %k"
) -> list[dict]:
    module = parse_module(f"define void @f({header}) {{\n{body}  ret void\n}}\n{TYPES}")
    return of_parameters(Users(module.functions[0]), places, kinds, DebugInfo(module.metadata))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  %c = icmp sgt i32 %n, 0\n", [0]),
        ("  %c = icmp sgt i32 %n, 0\n  %d = icmp slt i32 %i, %n\n", [1]),
        ("  %c = icmp eq i32 %n, 3\n  %d = icmp slt i32 %i, %n\n", [3]),
    ],
)
def test_a_loops_limit_does_not_mean_another_thing_at_nought(body: str, expected: list[int]) -> None:
    (n,) = found(body, {0: [ParameterPlace("i32", "%n", 0, False)]}, [1])
    assert n["constants"] == expected


@pytest.mark.parametrize(
    ("body", "divisors", "unknown"),
    [
        ("  %c = icmp slt i32 %n, 7\n  %m = mul i32 %n, %k\n", [], False),
        ("  %r = lshr i32 %n, 6\n", [64], False),
        ("  %s = add nsw i32 %n, 15\n  %r = sdiv i32 %s, 16\n", [], False),  # rounded up
        ("  %s = add nsw i32 %n, 14\n  %r = sdiv i32 %s, 16\n", [16], False),
        ("  %w = zext i32 %n to i64\n  %r = and i64 %w, -4\n", [4], False),
        ("  %r = udiv i32 %n, %k\n", [], True),
        ("  %r = udiv i32 %k, %n\n", [], False),
        ("  %r = urem i32 %k, %n\n  %h = lshr i32 %r, 1\n", [], False),  # of any remainder
        ("  %s = add i32 %i, %n\n  %r = srem i32 %s, %n\n", [], False),  # wraps round
        ("  call void @other(i32 %n)\n", [], True),
        ("  %r = call i32 @llvm.smin.i32(i32 %n, i32 9)\n  %q = srem i32 %r, 5\n", [5], False),
    ],
)
def test_what_a_number_is_divided_by_may_be_promised(body: str, divisors: list[int], unknown: bool) -> None:
    n, _ = found(body, {0: [ParameterPlace("i32", "%n", 0, False)], 1: [ParameterPlace("i32", "%k", 0, False)]}, [1, 1])
    assert (n["divisors"], n["open"]) == (divisors, unknown)


def test_a_number_that_masks_others_is_told_from_one_that_is_masked() -> None:
    body = "  %a = and i32 %n, %h\n  %b = and i32 %k, 255\n"
    n, k = found(body, {0: [ParameterPlace("i32", "%n", 0, False)], 1: [ParameterPlace("i32", "%k", 0, False)]}, [1, 1])
    assert (n["mask"], k["mask"]) == (True, False)


def test_members_of_a_struct_are_found_in_memory_and_in_a_register_that_holds_two() -> None:
    loads = (
        "  %a = load i32, ptr %p, align 4\n  %c = icmp eq i32 %a, 3\n"
        "  %at = getelementptr inbounds nuw i8, ptr %p, i64 4\n  %b = load i32, ptr %at\n  %d = udiv i32 %b, 8\n"
    )
    n, k = found(loads, {0: [ParameterPlace("ptr", "%p", 0, True)]}, [2], "ptr byval(%P) %p")
    assert (n["offset"], n["compared"], n["constants"], n["divisors"]) == (0, True, [3], [])
    assert (k["offset"], k["compared"], k["divisors"]) == (4, False, [8])
    shifts = (
        "  %a = trunc i64 %p to i32\n  %c = icmp eq i32 %a, 3\n"
        "  %h = lshr i64 %p, 32\n  %b = trunc nuw i64 %h to i32\n  %d = udiv i32 %b, 8\n"
    )
    assert found(shifts, {0: [ParameterPlace("i64", "%p", 0, False)]}, [2], "i64 %p") == [n, k]


@pytest.mark.parametrize(
    "second",
    [
        "  %w = shl i64 %p, 32\n  %b = ashr exact i64 %w, 48\n",
        "  %w = lshr i64 %p, 16\n  %v = trunc i64 %w to i32\n  %b = and i32 %v, 65535\n",
        "  %w = trunc i64 %p to i32\n  %b = ashr i32 %w, 16\n",
    ],
)
def test_shorts_that_share_a_register_are_told_apart(second: str) -> None:
    wide = "i64" if "i64 %w" in second and "and" not in second else "i32"
    body = f"  %a = trunc i64 %p to i16\n  %c = icmp eq i16 %a, 1\n{second}  %d = icmp sgt {wide} %b, 5\n"
    mode, taps = found(body, {0: [ParameterPlace("i64", "%p", 0, False)]}, [7], "i64 %p")
    assert (mode["offset"], mode["constants"], mode["divisors"]) == (0, [1], [])
    assert (taps["offset"], taps["constants"], taps["divisors"]) == (2, [5], [])


def test_device_variables_that_are_only_read_are_quantities_too() -> None:
    body = "  %a = load i32, ptr @taps\n  %r = udiv i32 %a, 2\n  store i32 1, ptr @flag\n"
    module = parse_module(f"define void @f() {{\n{body}  ret void\n}}\n{TYPES}")
    users = [Users(module.functions[0])]
    assert only_loaded("@taps", users) and not only_loaded("@flag", users)
    (taps,) = of_variable("@taps", 1, DebugInfo(module.metadata), users)
    assert taps["divisors"] == [2]


def test_constants_of_the_code_are_where_it_may_do_something_else() -> None:
    body = (
        "  %c = icmp sgt i32 %n, 96\n  %m = and i32 %n, 63\n  %q = udiv i32 %k, 12\n"
        "  %b = lshr i32 -1, %k\n  %s = lshr exact i32 %n, 4\n"  # all lanes up to one
        "  %g = load i32, ptr getelementptr inbounds nuw (i8, ptr @__simt_grid, i64 32)\n"
    )
    (function,) = parse_module(f"define void @f(i32 %n, i32 %k) {{\n{body}  ret void\n}}\n").functions
    assert constants(function) == [12, 16, 64, 96] and reads_grid(function)


def test_floats_are_compared_with_limits_of_either_sign() -> None:
    body = (
        "  %c = fcmp nnan olt float %x, -1.000000e+03\n  %z = fcmp ogt float %x, 0.000000e+00\n"
        "  %m = call float @llvm.minnum.f32(float %x, float 0x3FB99999A0000000), !dbg !1\n"
        "  %s = fadd float %x, 5.000000e-01\n  %k = icmp eq i32 %n, -77\n"
    )
    (function,) = parse_module(f"define void @f(float %x, i32 %n) {{\n{body}  ret void\n}}\n").functions
    assert limits(function) == [-1000.0, pytest.approx(0.1)]
    assert constants(function) == [-77]


def test_what_arguments_and_data_are_compared_with_is_told_apart() -> None:
    body = (
        "  %t = load i32, ptr @__simt_thread\n  %in = icmp ult i32 %t, 128\n"
        "  %m = add i32 %n, -7\n  %c = icmp eq i32 %m, 77\n  %g = fcmp ogt float %gain, 2.5e+00\n"
        "  %x = load float, ptr %p\n  %w = fpext float %x to double\n  %d = fcmp oeq double %w, 9.5e+00\n"
        "  %k = load i8, ptr %q\n  %z = zext i8 %k to i32\n  %o = xor i32 %z, 33\n"
        "  %v = load <2 x i32>, ptr %q\n  %e = icmp eq <2 x i32> %v, <i32 900, i32 1200>\n"
    )
    text = f"define void @f(i32 %n, float %gain, ptr %p, ptr %q) {{\n{body}  ret void\n}}\n{TYPES}"
    module = parse_module(f'{text}!11 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)\n')
    places = {0: [ParameterPlace("i32", "%n", 0, False)], 1: [ParameterPlace("float", "%gain", 0, False)]}
    data, n, gain = [], [], []
    for row in named(module.functions[0], places, [1, 11], DebugInfo(module.metadata)):
        {-1: data, 0: n, 1: gain}[row[0]].append(tuple(row[1:]))
    assert n == [(0, 4, 0, 7), (0, 4, 0, 84)]
    assert gain == [(0, 4, 1, 2.5)]
    assert data == [(0, 0, 0, 33), (0, 0, 0, 900), (0, 0, 0, 1200), (0, 0, 1, 9.5)]


def test_bounds_and_cases_are_constants_too() -> None:
    body = (
        "  %m = call i32 @llvm.smin.i32(i32 %n, i32 512)\n"
        "  switch i32 %n, label %a [\n    i32 7, label %a\n    i32 9, label %a\n  ]\na:\n"
    )
    (function,) = parse_module(f"define void @f(i32 %n) {{\n{body}  ret void\n}}\n").functions
    assert constants(function) == [7, 9, 512]


def test_the_bounds_of_a_range_are_constants_although_one_comparison_holds_both() -> None:
    body = "  %low = add i8 %c, -9\n  %in = icmp ult i8 %low, 5, !dbg !7\n  %far = add i32 %n, %m\n"
    (function,) = parse_module(f"define void @f() {{\n{body}  ret void\n}}\n").functions
    assert constants(function) == [5, 9, 14]
