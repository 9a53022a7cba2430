"""What the host makes of copies from the device: read from LLVM assembly, matched in two runs, and added up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from intelliperf.interception.messages import Allocation, Dispatch, Transfer
from intelliperf.protocols import ShadowPart
from intelliperf.validation.algebrawords import different
from intelliperf.validation.buffers.algebra import Level, Shaded
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.buffers.totals import float_total, integer_total, shaded_total
from intelliperf.validation.edits.functionbody import FunctionBody, with_named_values, without_unused
from intelliperf.validation.edits.linear import Linear, Sizes
from intelliperf.validation.edits.total import Total
from intelliperf.validation.edits.totals import agree, totalled
from intelliperf.validation.runs.alignment import align
from intelliperf.validation.runs.pairing import Pairing
from intelliperf.validation.runs.totalled import TotalSites

SUM = Total("float", "fadd", "", "float")
COUNT = Total("i32", "add", "sext", "i64")
FUNCTION = """\
define i32 @total(ptr %0, i32 %1) {
  %3 = sext i32 %1 to i64
  %4 = shl nsw i64 %3, 2
  %5 = call noalias ptr @malloc(i64 noundef %4)
  %6 = call i32 @hipMemcpy(ptr noundef %5, ptr noundef %0, i64 noundef %4, i32 noundef 2), !dbg !9
  %7 = call i32 @llvm.smax.i32(i32 %1, i32 0)
  %8 = zext nneg i32 %7 to i64
  br label %9

9:                                                ; preds = %12, %2
  %10 = phi i64 [ 0, %2 ], [ %16, %12 ]
  %11 = phi i32 [ 0, %2 ], [ %15, %12 ]
  %.not = icmp eq i64 %10, %8
  br i1 %.not, label %17, label %12

12:                                               ; preds = %9
  %13 = getelementptr inbounds nuw i32, ptr %5, i64 %10
  %14 = load i32, ptr %13, align 4
  %15 = add nsw i32 %14, %11
  %16 = add nuw nsw i64 %10, 1
  br label %9

17:                                               ; preds = %9
  call void @free(ptr noundef %5)
  ret i32 %11
}
!9 = !DILocation(line: 31, column: 3, scope: !10)
!10 = distinct !DISubprogram(name: "total", scope: !11, file: !11, line: 20)
!11 = !DIFile(filename: "sub/app.hip", directory: "/")"""


def test_a_loop_over_all_that_was_copied_is_taken_out_with_the_copy():
    text, found = totalled(FUNCTION)
    assert found == (Total("i32", "add", "", "i32"),)
    assert found[0].places == (("app.hip", 31),)
    assert "ret i32 %brought.0" in text
    assert not any(word in text for word in ("malloc", "@free", "hipMemcpy", " load ", "%n4 "))


def test_a_copy_beside_another_one_has_no_place_of_its_own():
    other = "  %99 = call i32 @hipMemcpy(ptr noundef %0, ptr noundef %0, i64 8, i32 noundef 2), !dbg !9"
    _, found = totalled(FUNCTION.replace("  ret i32", f"{other}\n  ret i32"))
    assert [total.places for total in found] == [()]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%10 = phi i64 [ 0, %2 ]", "%10 = phi i64 [ 1, %2 ]"),
        ("add nuw nsw i64 %10, 1", "add nuw nsw i64 %10, 2"),
        ("icmp eq i64 %10, %8", "icmp eq i64 %10, %3x"),
        ("add nsw i32 %14, %11", "sub nsw i32 %14, %11"),
        ("add nsw i32 %14, %11", "add nsw i32 %14, %1"),
        ("  ret i32", "  store i32 0, ptr %5, align 4\n  ret i32"),
        ("  ret i32", "  call void @keep(ptr %5)\n  ret i32"),
        ("i64 noundef %4, i32 noundef 2", "i64 noundef 400, i32 noundef 2"),
        ("i64 noundef %4, i32 noundef 2", "i64 noundef %4, i32 noundef 1"),
        ("@malloc(i64 noundef %4)", "@malloc(i64 noundef %3)"),
        ("ptr %5, i64 %10", "ptr %0, i64 %10"),
        ("br i1 %.not, label %17, label %12", "br i1 %.not, label %12, label %17"),
    ],
)
def test_anything_else_stays(old, new):
    assert FUNCTION.count(old) == 1
    assert totalled(FUNCTION.replace(old, new)) == (FUNCTION.replace(old, new), ())


def test_sizes_are_sums_of_values_times_constants():
    lines = [
        "define void @f(i32 %0) {",
        "  %1 = sext i32 %0 to i64",
        "  %2 = shl nsw i64 %1, 3",
        "  %3 = add nsw i64 %2, 16",
        "  %4 = ashr exact i64 %3, 2",
        "  %5 = trunc i64 %1 to i8",
        "  %6 = zext i8 %5 to i64",
        "  %7 = select i1 %9, i64 -1, i64 %3",
        "  ret void",
        "}",
    ]
    sizes = Sizes(FunctionBody(with_named_values(lines)))
    assert sizes.of("%n4") == Linear(Fraction(4), (("%n0", Fraction(2)),))
    assert sizes.of("%n7") == sizes.of("%n3") == sizes.of("%n4").times(4)
    assert sizes.of("%n6") != sizes.of("%n1")


def test_lines_dominate_what_is_only_reached_through_them():
    lines = with_named_values(FUNCTION.split("\n!9")[0].split("\n"))
    body = FunctionBody(lines)
    copy, load, back = (body.definitions[name] for name in ("%n6", "%n14", "%n16"))
    assert body.dominates(copy, load)
    assert body.dominates(load, back)
    assert not body.dominates(load, next(at for at, line in enumerate(lines) if "@free" in line))
    assert without_unused(["  %a = add i32 1, 2", "  %b = add i32 %a, 1"]) == []


def test_the_only_element_is_any_total_of_itself():
    assert agree(SUM, Total("float", "", "", "float"))
    assert not agree(SUM, Total("float", "fadd", "fpext", "double"))
    assert not agree(SUM, COUNT)


def _copy(size: int, source: int, line: int) -> Transfer:
    return Transfer("memcpy_dtoh", size, (source, 0), (("app", line),))


def _dispatch(grid: int) -> Dispatch:
    return Dispatch(0, 0, "k", (grid, 1, 1), (64, 1, 1), 0, True, 0, (), ())


def _sites(*totals: Total) -> TotalSites:
    pairs = [(_at_line(one, 10 + at), _at_line(one, 20 + at)) for at, one in enumerate(totals)]
    return TotalSites(pairs, lambda caller: tuple(("app.hip", line) for _, line in caller))


def _at_line(total: Total, line: int) -> Total:
    return Total(total.element, total.how, total.cast, total.kept, places=(("app.hip", line),))


def test_copies_are_matched_by_their_places_whatever_their_sizes():
    mine = [_dispatch(8), _copy(32, 2, 10), _dispatch(8), _copy(32, 2, 10)]
    theirs = [_dispatch(4), _copy(16, 5, 20), _dispatch(4), _copy(16, 5, 20)]
    plan = align(mine, theirs, "k", _sites(SUM))
    assert (plan.problem, plan.points) == ("", ((0, 0), (1, 1)))
    assert [[(one.mine, one.theirs) for one in plan.totalled.at(at)] for at in (0, 1)] == [
        [((2, 0, 32), (5, 0, 16))],
        [((2, 0, 32), (5, 0, 16))],
    ]
    assert align(mine, theirs, "k").problem
    buffers = [Allocation(id, 0, size, "device", id, None, 0) for id, size in ((1, 8), (2, 32), (5, 16))]
    pairing = plan.totalled.without(Pairing(((buffers[0], buffers[0]),), (buffers[1],), (buffers[2],)))
    assert pairing == Pairing(((buffers[0], buffers[0]),), (), ())


def test_what_the_host_copies_whole_as_well_is_compared_whole():
    mine = [_dispatch(8), _copy(32, 2, 10), _copy(32, 2, 77)]
    plan = align(mine, [_dispatch(8), _copy(32, 2, 20), _copy(32, 2, 77)], "k", _sites(SUM))
    assert plan.totalled.copies == {}


def test_integers_are_added_as_the_host_adds_them():
    content = np.array([2**31 - 1, 1, -3], dtype=np.int32).view(np.uint8)
    assert integer_total(COUNT, content) == 2**31 - 3
    assert integer_total(Total("i32", "add", "", "i32"), content) == 2**31 - 3
    assert integer_total(Total("i32", "add", "zext", "i64"), content) == 2**31 + 2**32 - 3


def test_floats_are_added_without_the_errors_of_an_order():
    content = np.array([1e8, 1, -1e8, 0.5], dtype=np.float32).view(np.uint8)
    assert float_total(SUM, content) == (1.5, 2e8 + 1.5)
    content = np.array([np.inf, 1], dtype=np.float32).view(np.uint8)
    assert float_total(SUM, content) == (math.inf, math.inf)


def _shaded(field: Field, values: list[float]) -> Shaded:
    content = np.array(values, dtype=np.float32)
    records = np.zeros((content.size, 4), dtype=np.uint64)
    for at, value in enumerate(content):
        records[at, 0] = field.image(float(value))
        records[at, 2] = np.float64(value).view(np.uint64)
        records[at, 3] = np.uint64(int(value.view(np.uint32)) | 1 << 32)
    return Shaded(0, content.view(np.uint8), (ShadowPart(0, records.tobytes()),))


def test_totals_are_equal_as_real_numbers_however_they_are_parted():
    field = Field.drawn()
    one, other = _shaded(field, [0.1, 0.2, 0.3, 0.7]), _shaded(field, [0.1, 0.2, 0.3, 0.7][::-1])
    assert shaded_total(field, SUM, (one, other), False).level is Level.EQUAL
    short = _shaded(field, [0.1, 0.2, 0.3])
    apart = shaded_total(field, SUM, (one, short), False)
    assert apart.level is Level.DIFFERENT
    assert different(apart).startswith("computes something else: it is exactly 0.6")
    plain = Shaded(0, one.content, ())
    assert shaded_total(field, SUM, (one, plain), False).level is Level.EQUAL
    assert shaded_total(field, SUM, (one, plain), True).elements == 0
