"""How the host's compiled code computes a grid from what it hands to the kernel."""

from __future__ import annotations

import pytest

from intelliperf.validation.edits.grids import alike, grid_formulas

_MAIN = """define i32 @main(i32 %argc, i32 %m) {{
  %n = call i32 @atoi(ptr null)
{body}
  %w = zext i32 %g to i64, !dbg !3
  %p = or disjoint i64 %w, 4294967296
  %r = invoke i32 @__cudaPushCallConfiguration(i64 %p, i32 1, i64 4294967552, i32 1, i64 noundef 0, ptr null)
          to label %1 unwind label %2
1:
  invoke void @_Z20__device_stub__scalePfi(ptr noundef %a, i32 noundef %n) #16
}}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  %g = udiv i32 %n, 256", "@1 #256 udiv.32"),
        ("  %s = add nsw i32 %n, 255, !dbg !5\n  %g = lshr i32 %s, 8", "@1 #255 add.32 #8 lshr.32"),
        (
            "  %s = sdiv exact i32 %n, 2\n  %g = tail call i32 @llvm.smin.i32(i32 %s, i32 1024)",
            "@1 #2 sdiv.32 #1024 smin.32",
        ),
        ("  %g = udiv i32 %m, 256", "=x"),  # no argument of the kernel
        ("  %g = add i32 7, 1", "#7 #1 add.32"),  # nor anything else
        ("  %g = call i32 @blocks(i32 %n)", ""),
    ],
)
def test_a_grid_is_a_formula_of_the_kernels_arguments(body: str, expected: str) -> None:
    formula = f"2:{expected if expected == '=x' else f'{expected} trunc.32'} #4294967296 or.64:#1"
    assert grid_formulas(_MAIN.format(body=body), {"scale"}) == ((formula,) if expected else ())
    assert grid_formulas(_MAIN.format(body=body), {"other"}) == ()
    handed = _MAIN.replace("i32 noundef %n", "i32 noundef 2048")  # of which the compiler may have made the grid
    assert grid_formulas(handed.format(body="  %g = add i32 7, 1"), {"scale"}) == ()
    calculated = _MAIN.replace("i64 4294967552", "i64 %b")
    assert grid_formulas(calculated.format(body=body), {"scale"}) == ()


def test_a_one_that_is_calculated_with_is_not_the_argument_that_happens_to_be_one() -> None:
    handed = _MAIN.replace("i32 noundef %n)", "i32 noundef %n, i32 noundef 1, i32 noundef 64)")
    body = "  %b = sdiv i32 %n, 64\n  %g = add i32 %b, 1"
    formula = "4:@1 @3 sdiv.32 #1 add.32 trunc.32 #4294967296 or.64:@2"  # a depth of 1 may be the argument, as 64 may
    assert grid_formulas(handed.format(body=body), {"scale"}) == (formula,)


def test_dynamic_lds_that_depends_on_an_argument_stands_behind_the_grid() -> None:
    body = "  %g = udiv i32 %n, 256\n  %c = zext i32 %n to i64\n  %l = shl nuw i64 %c, 2"
    text = _MAIN.replace("i64 noundef 0", "i64 noundef %l").format(body=body)
    assert [one.split(":")[3] for one in grid_formulas(text, {"scale"})] == ["@1 trunc.32 #2 shl.64"]


@pytest.mark.parametrize(
    ("blocks", "grid"), [("udiv i32 %m, 256", "=x #4294967296 or.64:#1"), ("call i32 @blocks(i32 %n)", "*:*")]
)
def test_dynamic_lds_is_known_where_the_grid_is_not(blocks: str, grid: str) -> None:
    body = f"  %g = {blocks}\n  %c = zext i32 %n to i64\n  %l = shl nuw i64 %c, 2"
    text = _MAIN.replace("i64 noundef 0", "i64 noundef %l").format(body=body)
    assert grid_formulas(text, {"scale"}) == (f"2:{grid}:@1 trunc.32 #2 shl.64",)


@pytest.mark.parametrize(
    ("more", "known"),
    [("%m", True), ("%called", True), ("%mixed", False)],  # one that an argument has a share in may change with it
)
def test_a_dimension_that_goes_by_no_argument_stays_as_it_is(more: str, known: bool) -> None:
    body = (
        "  %g = udiv i32 %n, 256\n  %called = call i32 @rows()\n  %mixed = mul i32 %n, %called\n"
        f"  %y = zext i32 {more} to i64\n  %h = shl nuw i64 %y, 32"
    )
    text = _MAIN.replace("or disjoint i64 %w, 4294967296", "or disjoint i64 %h, %w").format(body=body)
    formula = "2:@1 #256 udiv.32 trunc.32 =y #32 shl.64 or.64:#1"
    assert grid_formulas(text, {"scale"}) == ((formula,) if known else ())


@pytest.mark.parametrize(
    ("between", "known"),
    [
        ("", True),
        ("  call void @llvm.lifetime.start.p0(i64 4, ptr %b)\n", True),
        ("  store i32 0, ptr %b\n", False),
        ("  %x = call i32 @cudaMemset(ptr %b, i32 0, i64 4)\n", False),
    ],
)
def test_a_count_that_the_host_loads_twice_is_one_number_while_nothing_is_written(between: str, known: bool) -> None:
    text = _MAIN.format(body="  %m1 = load i32, ptr %q, align 4\n  %g = udiv i32 %m1, 256")
    text = text.replace("  invoke void", f"{between}  %m2 = load i32, ptr %q, align 4\n  invoke void")
    text = text.replace("i32 noundef %n)", "i32 noundef %m2)")
    formula = "2:@1 #256 udiv.32 trunc.32 #4294967296 or.64:#1"
    assert grid_formulas(text, {"scale"}) == ((formula,) if known else ())


_LEVELS = """define i32 @main(i32 %argc, ptr %starts) {{
  br label %level
level:                                            ; preds = %launched, %0
  %l = phi i64 [ 0, %0 ], [ %next, %launched ]
  %next = add nuw nsw i64 %l, 1
  %p1 = load ptr, ptr %starts, align 8
  %a1 = getelementptr inbounds nuw i32, ptr %p1, i64 %next
  %end1 = load i32, ptr %a1, align 4, !dbg !1
  %b1 = getelementptr inbounds nuw i32, ptr %p1, i64 %l
  %begin1 = load i32, ptr %b1, align 4
  %many = sub i32 %end1, %begin1
  %g = udiv i32 %many, 64
  %w = zext i32 %g to i64
  %x = or disjoint i64 %w, 4294967296
  %r = invoke i32 @__cudaPushCallConfiguration(i64 %x, i32 1, i64 4294967360, i32 1, i64 noundef 0, ptr null)
          to label %pushed unwind label %lost
other:                                            ; preds = %lost
  store i32 0, ptr %starts
  br label %launched
pushed:                                           ; preds = %{before}
  %p2 = load ptr, ptr %starts, align 8
  %b2 = getelementptr i32, ptr %p2, i64 %l, !dbg !2
  %begin2 = load i32, ptr %b2, align 4
  %a2 = getelementptr i32, ptr %p2, i64 %next
  %end2 = load i32, ptr %a2, align 4
  invoke void @_Z20__device_stub__solvePfii(ptr noundef %a, i32 noundef %begin2, i32 noundef %end2)
}}
"""


@pytest.mark.parametrize(("before", "known"), [("level", True), ("other", False), ("level, %other", False)])
def test_what_a_vector_holds_is_loaded_again_through_its_pointer(before: str, known: bool) -> None:
    formula = "3:@2 @1 sub.32 #64 udiv.32 trunc.32 #4294967296 or.64:#1"
    assert grid_formulas(_LEVELS.format(before=before), {"solve"}) == ((formula,) if known else ())


def test_versions_may_size_their_dynamic_lds_by_other_arguments() -> None:
    grid, tile = "4:@1 #64 udiv.32:#1", "4:@1 #32 udiv.32:#1"
    lds, unknown = ":@3 #2 shl.64", "4:*:*"
    assert alike((grid,), (tile + lds,)) == ((grid,), (tile + lds,))
    assert alike((), (unknown + lds,)) == ((), (unknown + lds,))  # the grid is nobody's to tell
    assert alike((grid,), (unknown + lds,)) is None
    assert alike((), (tile + lds,)) is None
    assert alike((), ()) is None


def test_versions_are_told_of_arguments_that_only_one_of_their_grids_goes_by() -> None:
    rows, all_of_them, fixed = "4:@1 #64 udiv.32:#1", "4:@1 @2 mul.32 #64 udiv.32:#1", "4:#8:#1"
    assert alike((rows,), (all_of_them,)) == ((rows, "&4:@1 @2", "!4:@2"), (all_of_them, "&4:@1 @2", "!4:@2"))
    assert alike((all_of_them,), (rows,)) == ((all_of_them, "&4:@1 @2"), (rows, "&4:@1 @2"))
    assert alike((rows,), (fixed,)) == ((rows, "&4:@1"), (fixed, "&4:@1"))
    assert alike((rows,), (rows, "3:#1:#1")) is None  # another kernel, of which one side knows nothing


def test_what_is_passed_by_value_in_memory_may_have_a_share_in_a_grid() -> None:
    text = _MAIN.format(body="  %g = udiv i32 %m, 256")
    assert grid_formulas(text, {"scale"})[0].startswith("2:=x")
    members = text.replace("ptr noundef %a", "ptr noundef byval(%struct.Grid) align 8 %a")
    assert grid_formulas(members, {"scale"})[0].startswith("2?:=x")
    assert alike(("4?:=x:#1",), ("4?:@1:#1",)) == (("4?:=x:#1", "&4:@1", "!4:@1"), ("4?:@1:#1", "&4:@1", "!4:@1"))
