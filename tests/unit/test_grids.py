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
    formula = f"2/_Z5scalePfi:{expected if expected == '=x' else f'{expected} trunc.32'} #4294967296 or.64:#1"
    assert grid_formulas(_MAIN.format(body=body), {"scale"}) == ((formula,) if expected else ())
    assert grid_formulas(_MAIN.format(body=body), {"other"}) == ()
    handed = _MAIN.replace("i32 noundef %n", "i32 noundef 2048")  # of which the compiler may have made the grid
    assert grid_formulas(handed.format(body="  %g = add i32 7, 1"), {"scale"}) == ()
    calculated = _MAIN.replace("i64 4294967552", "i64 %b")
    assert grid_formulas(calculated.format(body=body), {"scale"}) == ()


def test_a_one_that_is_calculated_with_is_not_the_argument_that_happens_to_be_one() -> None:
    handed = _MAIN.replace("i32 noundef %n)", "i32 noundef %n, i32 noundef 1, i32 noundef 64)")
    body = "  %b = sdiv i32 %n, 64\n  %g = add i32 %b, 1"
    formula = "4/_Z5scalePfi:@1 @3 sdiv.32 #1 add.32 trunc.32 #4294967296 or.64:@2"  # a depth of 1 may be one, as 64 is
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
    assert grid_formulas(text, {"scale"}) == (f"2/_Z5scalePfi:{grid}:@1 trunc.32 #2 shl.64",)


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
    formula = "2/_Z5scalePfi:@1 #256 udiv.32 trunc.32 =y #32 shl.64 or.64:#1"
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
    formula = "2/_Z5scalePfi:@1 #256 udiv.32 trunc.32 #4294967296 or.64:#1"
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
    formula = "3/_Z5solvePfii:@2 @1 sub.32 #64 udiv.32 trunc.32 #4294967296 or.64:#1"
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
    one, two = "4/_Z3onei:@1:#1", "4/_Z3twoi:@2:#1"
    assert alike((one, two), (two, one)) == ((one, two), (two, one))
    assert alike((one, two), ("4/_Z3onei:#9:#1", two)) == (
        (one, two, "&4/_Z3onei:@1"),
        ("4/_Z3onei:#9:#1", two, "&4/_Z3onei:@1"),
    )
    assert alike((one,), ("4/_Z3onej:@1:#1",)) == ((one,), ("4/_Z3onej:@1:#1",))


def test_what_is_passed_by_value_in_memory_may_have_a_share_in_a_grid() -> None:
    text = _MAIN.format(body="  %g = udiv i32 %m, 256")
    assert grid_formulas(text, {"scale"})[0].startswith("2/_Z5scalePfi:=x")
    members = text.replace("ptr noundef %a", "ptr noundef byval(%struct.Grid) align 8 %a")
    assert grid_formulas(members, {"scale"})[0].startswith("2?/_Z5scalePfi:=x")
    assert alike(("4?:=x:#1",), ("4?:@1:#1",)) == (("4?:=x:#1", "&4:@1", "!4:@1"), ("4?:@1:#1", "&4:@1", "!4:@1"))


_MEMBERS = """define void @_Z19__device_stub__poolPf5Shape6Window(ptr %0, ptr byval(%S) align 8 %1, i64 %2, i64 %3) {{
  %5 = alloca %Window, align 8
  %6 = alloca ptr, align 8
  %7 = alloca [3 x ptr], align 16
  store i64 %2, ptr %5, align 8
  %8 = getelementptr inbounds nuw i8, ptr %5, i64 8
  store i64 %3, ptr %8, align 8
  store ptr %0, ptr %6, align 8
  store ptr %6, ptr %7, align 16
  %9 = getelementptr inbounds nuw i8, ptr %7, i64 8
  store ptr %1, ptr %9, align 8
  %10 = getelementptr inbounds nuw i8, ptr %7, i64 16
  store ptr %5, ptr %10, align 16
  %11 = call i32 @hipLaunchKernel(ptr noundef @_Z4poolPf5Shape6Window, i64 1, i32 1, i64 1, i32 1, ptr %7)
  ret void
}}
define i32 @main(ptr %outside) {{
  %copy = alloca %Shape, align 8
  %copy8 = getelementptr inbounds nuw i8, ptr %copy, i64 8
  %copy16 = getelementptr inbounds nuw i8, ptr %copy, i64 16
  %n = call i32 @planes()
  %m = call i32 @rows()
  %k = call i32 @size()
{before}
  %nm = mul nsw i32 %n, %m
  %all = mul nsw i32 %nm, %k
  %g = udiv i32 %all, 64
  %x = zext i32 %g to i64
  %xy = or disjoint i64 %x, 4294967296
  %k64 = zext i32 %k to i64
  %k4 = shl nuw i64 %k64, 32
  %d64 = zext i32 %n to i64
  %both = or disjoint i64 %k4, %d64
  %r = call i32 @__hipPushCallConfiguration(i64 %xy, i32 1, i64 4294967360, i32 1, i64 noundef 0, ptr null)
  br label %pushed
pushed:
{stores}
  call void @_Z19__device_stub__poolPf5Shape6Window(ptr null, ptr byval(%Shape) align 8 %copy, i64 %q, i64 %both)
}}
"""
_STORES = """  store i32 %n, ptr %copy, align 8
  store double 1.0, ptr %copy8, align 8
  store i32 %m, ptr %copy16, align 8"""
_COPIED = (
    "  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr noundef nonnull align 8 %outside, i64 24, i1 false)"
)
_LOADED = """  %n1 = load i32, ptr %outside, align 8
  %outside8 = getelementptr inbounds nuw i8, ptr %outside, i64 8
  %v = load double, ptr %outside8, align 8
  %outside16 = getelementptr inbounds nuw i8, ptr %outside, i64 16
  %m1 = load i32, ptr %outside16, align 8"""


@pytest.mark.parametrize(
    ("before", "stores", "known"),
    [
        ("", _STORES, True),
        (_STORES, "", True),  # the only ones
        (_STORES + "\n  store i32 7, ptr %copy16", "", False),
        (_STORES + "\n  call void @grow(ptr %copy)", "", False),
        (_LOADED, _COPIED, True),
        ("", _COPIED, False),
    ],
)
def test_a_grid_may_be_made_of_members_of_structs(before: str, stores: str, known: bool) -> None:
    text = _MEMBERS.format(before=before, stores=stores)
    numbers = "%n1, %m1" if before == _LOADED else "%n, %m"
    text = text.replace("%nm = mul nsw i32 %n, %m", f"%nm = mul nsw i32 {numbers}")
    first = "@1+0.4" if before == _LOADED else "@2+8.4"  # it is handed twice
    formula = (
        f"3/_Z4poolPf5Shape6Window:{first} @1+16.4 mul.32 @2+12.4 mul.32 #64 udiv.32 trunc.32 #4294967296 or.64:#1"
    )
    assert grid_formulas(text, {"pool"}) == ((formula,) if known else ())
