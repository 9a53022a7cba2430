"""The IR pass on written IR: hooks, sites, versions, kernels, and refusal of unknown forms."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from intelliperf.emulator.ir import Instrumented, expose_shared_variables, instrument
from intelliperf.emulator.ir.memory import (
    ACQUIRE,
    ALIGNMENT_MASK,
    ALIGNMENT_SHIFT,
    ATOMIC,
    BLOCK_SCOPE,
    DRAWS,
    FOLLOWS,
    RELEASE,
    UNIFORM,
    UNIFORM_VALUE,
    UPDATE,
    VOLATILE,
)
from intelliperf.errors import ToolchainError

PARAMETERS = "ptr noundef %p, i64 noundef %n"


def function(body: str, name: str = "f", parameters: str = PARAMETERS, result: str = "void", extra: str = "") -> str:
    return f"define {result} @{name}({parameters}) {extra}{{\nentry:\n{body}\n}}\n"


def traced(made: Instrumented, name: str = "f$traced") -> str:
    start = made.text.index(f"@{name}(")
    return made.text[start : made.text.index("\n}\n", start)]


def sites(text: str) -> list[dict[str, Any]]:
    return instrument(text).metadata["sites"]


def test_every_plain_access_gets_one_hook_in_the_traced_version_only() -> None:
    made = instrument(function("  %v = load float, ptr %p, align 4\n  store float %v, ptr %p, align 4\n  ret void"))
    assert traced(made).count("@__simt_access(") == 2
    fast = made.text[made.text.index("define void @f(") : made.text.index("define void @f$traced(")]
    assert "__simt_access" not in fast
    assert [s["kind"] for s in made.metadata["sites"]] == ["load", "store"]


def test_waves_are_counted_where_no_event_brings_them_together() -> None:
    made = instrument(function("  %v = load float, ptr %p, align 4\n  br label %next\nnext:\n"
                               "  %w = fmul float %v, %v\n  ret void"))  # fmt: skip
    assert traced(made).count("call void @__simt_block(i32 1)") == traced(made).count("@__simt_block(") == 1
    assert [block["site"] for block in made.metadata["blocks"]] == [0, None]


def test_both_versions_of_a_judged_build_mark_what_they_execute() -> None:
    chosen = "  %c = icmp eq i64 %n, 0\n  %v = select i1 %c, i64 1, i64 2, !dbg !2\n  ret void, !dbg !2"
    facts = (
        '!0 = !DIFile(filename: "app.hip", directory: "/")\n'
        '!1 = distinct !DISubprogram(name: "f", file: !0, line: 1)\n'
        "!2 = !DILocation(line: 3, scope: !1)\n"
    )
    called = "define void @user(ptr %p, i64 %n) {\n  call void @f(ptr %p, i64 %n)\n  ret void\n}\n"
    made = instrument(function(chosen) + called + facts, shadows=True)
    marks = [traced(made, name).count("ptr @__simt_reached, i64") for name in ("f", "f$traced")]
    assert marks == [2, 2], "a block and a choice"


LOOPS = """  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %more, %latch ]
  %go = icmp ult i64 %i, %n
  br i1 %go, label %inner, label %end
inner:
  %j = phi i64 [ 0, %outer ], [ %next, %body ]
  %on = icmp ult i64 %j, %i
  br i1 %on, label %body, label %latch
body:
  %next = add i64 %j, 1
  br label %inner
latch:
  %more = add i64 %i, 1
  br label %outer
end:
  ret void"""


def test_a_lane_tells_its_turn_at_each_loops_head_and_where_it_is_out_of_one() -> None:
    made = instrument(function(LOOPS))
    text = traced(made)
    blocks = dict(re.findall(r"^(\w+):\n(.*?)(?=^\w+:|\Z)", text, re.MULTILINE | re.DOTALL))
    assert re.search(r"%(simt.turn\d+) = phi i32 \[ 0, %entry \], \[ %simt.following\d+, %latch \]", blocks["outer"])
    assert re.search(r"__simt_turn\(i32 \d+, i32 1, i32 %simt.turn\d+\)", blocks["outer"])
    assert re.search(r"__simt_turn\(i32 \d+, i32 2, i32 %simt.turn\d+\)", blocks["inner"])
    assert "__simt_leave(i32 1)" in blocks["latch"]
    assert "__simt_leave(i32 0)" in blocks["end"]
    assert len(re.findall("@__simt_(?:turn|leave)", text)) == 4
    assert "simt_turn" not in made.text[made.text.index("define void @f(") : made.text.index("define void @f$traced(")]


def test_a_loop_that_is_entered_in_its_midst_is_left_alone() -> None:
    either = "  %odd = icmp eq i64 %n, 7\n  br i1 %odd, label %outer, label %latch\nouter"
    jump = LOOPS.replace("  br label %outer\nouter", either, 1)
    assert "@__simt_turn(" not in traced(instrument(function(jump)))


@pytest.mark.parametrize(
    ("instruction", "kind", "size", "flags"),
    [
        ("%v = load i32, ptr %p, align 4", "load", 4, 0),
        ("%v = load volatile i8, ptr %p, align 1", "load", 1, 1),
        ("%v = load atomic i64, ptr %p monotonic, align 8", "load", 8, VOLATILE | ATOMIC),
        ("%v = load <4 x float>, ptr %p, align 16", "load", 16, 2),
        ('%v = load i32, ptr getelementptr inbounds ([8 x i32], ptr @"a b", i64 0, i64 3), align 4', "load", 4, 0),
        ("store { float, i64 } zeroinitializer, ptr %p, align 8", "store", 16, 0),
        ("store ptr getelementptr (i8, ptr @g, i64 4), ptr %p, align 8", "store", 8, 0),
        ("store volatile double 1.0, ptr %p, align 8", "store", 8, 3),
        ("store <3 x i1> zeroinitializer, ptr %p", "store", 1, 0),
        ('store atomic i32 1, ptr %p syncscope("agent") release, align 4', "store", 4, VOLATILE | ATOMIC | RELEASE),
        ("%v = atomicrmw fadd ptr %p, float 1.0 monotonic, align 4", "reduction", 4, 3 | ATOMIC),
        (
            '%v = atomicrmw volatile umax ptr %p, i64 7 syncscope("one") seq_cst, align 8',
            "reduction",
            8,
            VOLATILE | ATOMIC | ACQUIRE | RELEASE,
        ),
        (
            "%v = cmpxchg weak volatile ptr %p, i32 0, i32 1 acq_rel monotonic, align 4",
            "atomic",
            4,
            5 | ATOMIC | ACQUIRE | RELEASE,
        ),
    ],
)
def test_forms_of_access(instruction: str, kind: str, size: int, flags: int) -> None:
    (site,) = sites('@"a b" = global [8 x i32] zeroinitializer\n@g = global [8 x i8] zeroinitializer\n'
                    + function(f"  {instruction}\n  ret void"))  # fmt: skip
    assert (
        site["kind"],
        site["bytes"],
        site["flags"] & ~(UNIFORM | UNIFORM_VALUE | FOLLOWS) | site["order"] << 16 & ~ALIGNMENT_MASK,
    ) == (kind, size, flags)
    aligned = re.search(r"align (\d+)", instruction)
    assert 1 << (site["order"] >> ALIGNMENT_SHIFT - 16) == (int(aligned[1]) if aligned else 1)


def test_a_mark_gives_the_next_atomic_operation_its_scope_and_a_fence_is_told_to_the_runtime() -> None:
    declared = "declare void @__simt_scope(i32)\ndeclare void @__simt_fence(i32)\n"
    made = instrument(declared + function(
        "  call void @__simt_scope(i32 noundef 1)\n  %v = atomicrmw add ptr %p, i32 1 monotonic, align 4\n"
        "  %w = atomicrmw add ptr %p, i32 %v monotonic, align 4\n"
        "  call void @__simt_fence(i32 noundef 9)\n  fence acquire\n  ret void"
    ))  # fmt: skip
    first, second = (site["order"] << 16 for site in made.metadata["sites"])
    assert first & BLOCK_SCOPE and not second & BLOCK_SCOPE
    assert re.findall(r"call void @__simt_fence\(i32 (\d+)\)", traced(made)) == ["9", "4"]
    fast = made.text[made.text.index("define void @f(") : made.text.index("define void @f$traced(")]
    assert "@__simt" not in fast and fast.count('fence syncscope("singlethread") seq_cst') == 2


@pytest.mark.parametrize(
    ("between", "completes"),
    [
        ("  %s = add i32 %v, 1", True),
        ("  %s = add i32 %n32, 1", False),
        ("  %s = add i32 %v, 1\n  %c = icmp eq i32 %v, 3", False),
    ],
)
def test_a_store_of_what_its_own_place_held_is_an_update_unless_that_is_compared(between: str, completes: bool) -> None:
    load = "  %n32 = trunc i64 %n to i32\n  %v = load volatile i32, ptr %p, align 4"
    _, store = sites(function(f"{load}\n{between}\n  store volatile i32 %s, ptr %p, align 4\n  ret void"))
    assert bool(store["order"] << 16 & UPDATE) == completes


def test_an_atomic_whose_value_is_used_is_no_reduction() -> None:
    body = "  %v = atomicrmw add ptr %p, i32 1 monotonic\n  %v2 = add i32 %v, 1\n  store i32 %v2, ptr %p\n  ret void"
    assert [s["kind"] for s in sites(function(body))] == ["atomic", "store"]


DRAWN = """  br label %turn
turn:
  %k = phi i32 [ 0, %entry ], [ %more, %turn ]
  ATOMIC
  %more = add i32 %k, 1
  %end = icmp sge i32 COMPARED, 9
  br i1 %end, label %over, label %turn
over:
  ret void"""
ADDED = '%t = atomicrmw add ptr %p, i32 1 syncscope("agent") monotonic, align 4'
THROUGH_LDS = ADDED + "\n  store i32 %t, ptr @box, align 4\n  %read = load i32, ptr @box, align 4"
SWAPPED = "%s = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic, align 4\n  %t = extractvalue { i32, i1 } %s, 0"


@pytest.mark.parametrize(
    ("atomic", "compared", "draws"),
    [
        (ADDED, "%t", True),
        (ADDED + "\n  %q = getelementptr i32, ptr %p, i32 %t\n  store i32 1, ptr %q, align 4", "%more", False),
        (THROUGH_LDS, "%read", True),
        (SWAPPED, "%t", False),
    ],
    ids=["ends the loop", "says where to write", "through LDS", "tried again"],
)
def test_an_atomic_whose_result_ends_its_loop_draws_work(atomic: str, compared: str, draws: bool) -> None:
    body = DRAWN.replace("ATOMIC", atomic).replace("COMPARED", compared)
    box = "@box = internal addrspace(0) global i32 undef, align 4\n"
    found = [site for site in sites(box + function(body)) if site["kind"] == "atomic"]
    assert [bool(site["order"] << 16 & DRAWS) for site in found] == [draws]


def test_locals_and_by_value_arguments_are_not_memory_traffic() -> None:
    body = (
        "  %l = alloca [8 x i32]\n  %q = getelementptr inbounds [8 x i32], ptr %l, i64 0, i64 %n\n"
        "  %r = select i1 true, ptr %q, ptr %b\n  %v = load i32, ptr %r, align 4\n  store i32 %v, ptr %p\n  ret void"
    )
    parameters = "ptr %p, i64 %n, ptr noundef byval(%struct.S) align 8 %b"
    made = sites("%struct.S = type { [9 x i64] }\n" + function(body, parameters=parameters))
    assert [s["kind"] for s in made] == ["store"]


def test_a_pointer_that_may_be_local_or_not_counts() -> None:
    body = "  %l = alloca i32\n  %r = select i1 true, ptr %l, ptr %p\n  %v = load i32, ptr %r\n  ret void"
    assert [s["kind"] for s in sites(function(body))] == ["load"]


def test_memory_intrinsics_are_ranges_with_the_source_first() -> None:
    text = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n" + function(
        "  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 4 dereferenceable(8) %p, "
        "ptr align 4 @s, i64 %n, i1 false)\n  ret void"
    )
    made = instrument("@s = external global i8\n" + text)
    assert [s["kind"] for s in made.metadata["sites"]] == ["range_load", "range_store"]
    assert "@__simt_access_range(ptr @s, i32 0, i64 %n)" in made.text
    assert "@__simt_access_range(ptr %p, i32 1, i64 %n)" in made.text


def test_calls_are_hooked_and_lead_to_the_traced_callee() -> None:
    text = function("  ret void", name="g", extra="noinline ") + function(
        "  tail call void @g(ptr %p, i64 %n)\n  ret void"
    )
    made = traced(instrument(text))
    assert re.search(
        r"@__simt_call\(i32 0\)\n  call void @g\$traced\(ptr %p, i64 %n\)\n  call void @__simt_return", made
    )


def test_a_musttail_call_stays_next_to_its_return() -> None:
    text = function("  ret void", name="g") + function("  musttail call void @g(ptr %p, i64 %n)\n  ret void")
    assert "musttail call void @g$traced(ptr %p, i64 %n)\n  ret void" in traced(instrument(text))


def test_an_indirect_call_is_resolved_to_the_traced_version() -> None:
    text = (
        "@table = global ptr @g\n"
        + function("  ret void", name="g")
        + function("  call void %p(ptr %p, i64 1)\n  ret void")
    )
    made = instrument(text)
    assert "%simt.callee1 = call ptr @__simt_traced_version(ptr %p)" in traced(made)
    assert "select i1 %is0, ptr @g$traced" in made.text


def test_positions_of_barriers_and_collectives_are_in_both_versions() -> None:
    text = "declare i64 @__simt_collective(i32, i64, i64, i32, i32)\n" + function(
        "  %v = call i64 @__simt_collective(i32 4, i64 0, i64 1, i32 0, i32 0)\n  ret void"
    )
    made = instrument(text)
    assert made.text.count("call void @__simt_at(i32 0)") == 2
    assert made.metadata["sites"][0]["operation"] == "ballot"


def test_undefined_globals_are_shared_memory_and_open_arrays_the_dynamic_part() -> None:
    text = (
        "@tile = internal global [16 x float] undef, align 4\n@dyn = external global [0 x i32], align 4\n"
        "@c = externally_initialized constant [4 x float] zeroinitializer, align 4\n"
    )
    made = instrument(text + function("  store i32 1, ptr @dyn\n  ret void"))
    tile = (
        '@tile = internal global <{ [16 x float], [256 x i8] }> zeroinitializer, section ".bss.simt_shared", align 16'
    )
    assert tile in made.text
    assert made.text.index("@__simt_shared_anchor = internal global [256 x i8]") < made.text.index(tile)
    assert "@__simt_shared_variables = constant [1 x %simt.shared] [%simt.shared { ptr @tile, i64 64 }]" in made.text
    assert "@__simt_shared_variable_count = constant i32 1" in made.text
    assert "store i32 1, ptr @__simt_dynamic_lds" in made.text
    room = "<{ [4 x float], [256 x i8] }> <{ [4 x float] zeroinitializer, [256 x i8] zeroinitializer }>, align 4"
    assert f"@c = externally_initialized global {room}" in made.text
    assert made.metadata["symbols"]["c"] == {
        "size": 16,
        "type": "[4 x float]",
        "constant": True,
        "guard": 256,
        "only_read": True,
    }


def test_shared_variables_are_exposed_before_optimisation() -> None:
    text = "@s = internal global i32 undef, align 4\n@t = internal global i32 0, align 4\n"
    assert expose_shared_variables(text) == "@s = global i32 undef, align 16\n@t = internal global i32 0, align 4\n"


@pytest.mark.parametrize(
    "instruction",
    [
        "%v = load i32, ptr addrspace(3) %p, align 4",
        "%v = frobnicate i32 %n",
        "%v = load",
        "store i32 1, %p",
        "call void @llvm.masked.scatter.v4f32.v4p0(<4 x float> zeroinitializer, <4 x ptr> %p, i32 4, <4 x i1> poison)",
    ],
)
def test_an_unknown_form_is_an_error_that_names_the_line(instruction: str) -> None:
    with pytest.raises(ToolchainError) as raised:
        instrument(function(f"  {instruction}\n  ret void"))
    assert instruction[:12] in str(raised.value)


def test_the_pass_survives_random_control_flow() -> None:
    generator = random.Random(3)
    for _ in range(40):
        count = generator.randint(2, 20)
        blocks = []
        for index in range(count):
            target = [f"label %b{generator.randrange(1, count)}" for _ in range(3)]
            end = generator.choice([
                "ret void", "unreachable", f"br {target[0]}", f"br i1 true, {target[0]}, {target[1]}",
                f"switch i64 %n, {target[0]} [\n    i64 1, {target[1]}\n    i64 2, {target[2]}\n  ]",
            ])  # fmt: skip
            blocks.append(f"b{index}:\n  store i64 {index}, ptr %p, align 8\n  {end}")
        text = f"define void @f({PARAMETERS}) {{\n" + "\n\n".join(blocks) + "\n}\n"
        made = instrument(text)
        assert len(made.metadata["sites"]) == count
        assert traced(made).count("@__simt_access(") == count
        assert [line for line in traced(made).split("\n") if line.startswith("b")] == [f"b{i}:" for i in range(count)]


KERNEL = """
define void @_Z1kPf1Sb(ptr noundef %a, ptr %s.coerce0, i32 %s.coerce1, i1 noundef zeroext %flag) #0 !dbg !10 {
entry:
  store float 1.0, ptr %a, align 4, !dbg !40
  ret void, !dbg !41
}
attributes #0 = { "uniform-work-group-size"="true" }
!3 = !DIFile(filename: "k.hip", directory: "/src")
!10 = distinct !DISubprogram(name: "k", scope: !3, file: !3, line: 5, type: !11, retainedNodes: !30)
!11 = !DISubroutineType(types: !12)
!12 = !{null, !13, !15, !17, !20}
!13 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !14, size: 64)
!14 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!15 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Empty", file: !3, size: 8, elements: !16)
!16 = !{}
!17 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "S", file: !3, size: 128, elements: !18)
!18 = !{!19, !21}
!19 = !DIDerivedType(tag: DW_TAG_member, name: "data", scope: !17, file: !3, baseType: !22, size: 64)
!20 = !DIBasicType(name: "bool", size: 8, encoding: DW_ATE_boolean)
!21 = !DIDerivedType(tag: DW_TAG_member, name: "n", scope: !17, file: !3, baseType: !23, size: 32, offset: 64)
!22 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !24, size: 64)
!23 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!24 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !23)
!30 = !{!31, !33}
!31 = !DILocalVariable(name: "a", arg: 1, scope: !10, file: !3, type: !13)
!33 = !DILocalVariable(name: "s", arg: 3, scope: !10, file: !3, type: !17)
!40 = !DILocation(line: 6, column: 8, scope: !10)
!41 = !DILocation(line: 7, column: 1, scope: !10)
"""


def test_a_kernels_arguments_are_mapped_and_described() -> None:
    made = instrument(KERNEL)
    kernel = made.metadata["kernels"]["_Z1kPf1Sb"]
    assert (kernel["name"], kernel["file"], kernel["line"], kernel["end_line"]) == ("k", "/src/k.hip", 5, 7)
    assert [(p["name"], p["type"], p["size"]) for p in kernel["parameters"]] == [
        ("a", "float *", 8), ("", "Empty", 1), ("s", "S", 16), ("", "bool", 1),
    ]  # fmt: skip
    assert [p["number"] for p in kernel["parameters"]] == [
        {"bytes": 4, "encoding": "float"}, None, None, {"bytes": 1, "encoding": "boolean"},
    ]  # fmt: skip
    (field,) = kernel["parameters"][2]["fields"]
    assert (field["name"], field["offset"], field["const"]) == ("data", 0, True)
    assert field["element"] == {"name": "int", "bytes": 4, "encoding": "signed"}
    adapter = made.text[made.text.index("@_Z1kPf1Sb$fast(") :]
    slots = re.findall(r"%slot\d+ = getelementptr ptr, ptr %arguments, i64 (\d+)", adapter[: adapter.index("}")])
    assert slots == ["0", "2", "2", "3"]
    assert "getelementptr i8, ptr %source2, i64 8" in adapter
    assert made.metadata["sites"][0]["locations"] == [{"file": "/src/k.hip", "line": 6, "column": 8, "function": "k"}]


def test_arguments_that_do_not_match_the_source_are_an_error() -> None:
    with pytest.raises(ToolchainError, match="more IR arguments"):
        instrument(KERNEL.replace("i1 noundef zeroext %flag", "i1 %flag, i32 %more"))
