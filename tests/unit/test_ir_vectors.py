"""Accesses that the optimiser took apart and a GPU makes as one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from intelliperf.emulator.ir import Instrumented, instrument
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.vectors import COPY_WIDTH_SHIFT

HEAD = """%struct.S = type { double, float, [3 x i16], <{ i8, i32 }> }
@tile = internal global [64 x float] undef, align 16
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @other()
"""
METADATA = """!1 = !DIFile(filename: "a.cu", directory: "/d")
!2 = distinct !DISubprogram(name: "f", file: !1, line: 1)
!10 = !DILocation(line: 5, column: 3, scope: !2)
!11 = !DILocation(line: 5, column: 9, scope: !2)
"""


def instrumented(body: str, vendor: str = "nvidia") -> Instrumented:
    lines = "\n".join(f"  {line.strip()}" for line in body.strip().splitlines())
    return instrument(
        f"{HEAD}define void @f(ptr %p, ptr %q, i64 %n) {{\nentry:\n{lines}\n  ret void\n}}\n{METADATA}", vendor
    )


def accesses(made: Instrumented) -> list[tuple[str, int, str]]:
    return [(site["kind"], site["bytes"], site["type"]) for site in made.metadata["sites"]]


def parts(kind: str, *layout: tuple[str, int, int], place: str = "!10") -> str:
    """Loads or stores at %p + offset: (type, offset, alignment) each."""
    lines = []
    for number, (type_name, offset, alignment) in enumerate(layout):
        pointer = f"%a{number}"
        lines.append(f"{pointer} = getelementptr inbounds nuw i8, ptr %p, i64 {offset}")
        if kind == "load":
            lines.append(f"%v{number} = load {type_name}, ptr {pointer}, align {alignment}, !dbg {place}")
        else:
            lines.append(f"store {type_name} zeroinitializer, ptr {pointer}, align {alignment}, !dbg {place}")
    return "\n".join(lines)


FLOAT4 = (("float", 0, 16), ("float", 4, 4), ("float", 8, 8), ("float", 12, 4))


@pytest.mark.parametrize("vendor", ["amd", "nvidia"])
@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (FLOAT4, [(16, "<4 x float>")]),
        ((("<2 x float>", 0, 16), ("<2 x float>", 8, 8)), [(16, "<4 x float>")]),
        ((("double", 0, 16), ("double", 8, 8)), [(16, "<2 x double>")]),
        ((("i32", 0, 8), ("i32", 4, 4)), [(8, "<2 x i32>")]),
        ((("i8", 0, 4), ("i8", 1, 1), ("i8", 2, 2), ("i8", 3, 1)), [(4, "<4 x i8>")]),
        ((("half", 0, 4), ("half", 2, 2)), [(4, "<2 x half>")]),
        ((("i64", 0, 16), ("float", 8, 8), ("i32", 12, 4)), [(16, "i128")]),
        # two vectors side by side
        ((*FLOAT4, *((t, 16 + o, a) for t, o, a in FLOAT4)), [(16, "<4 x float>")] * 2),
    ],
)  # fmt: skip
def test_parts_of_an_aligned_vector_are_one_access(
    kind: str, layout: tuple[tuple[str, int, int], ...], expected: list[tuple[int, str]], vendor: str
) -> None:
    assert accesses(instrumented(parts(kind, *layout), vendor)) == [(kind, *rest) for rest in expected]


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize(
    ("layout", "nvidia", "amd"),
    [
        # float3: nothing promises more than 4 bytes
        ((("float", 0, 4), ("float", 4, 4), ("float", 8, 4)), [4, 4, 4], [12]),
        # aligned to 8 only: two accesses of 8
        ((("float", 0, 8), ("float", 4, 4), ("float", 8, 8), ("float", 12, 4)), [8, 8], [16]),
    ],
)
def test_amd_joins_without_alignment(
    kind: str, layout: tuple[tuple[str, int, int], ...], nvidia: list[int], amd: list[int]
) -> None:
    assert [size for _, size, _ in accesses(instrumented(parts(kind, *layout), "nvidia"))] == nvidia
    assert [size for _, size, _ in accesses(instrumented(parts(kind, *layout), "amd"))] == amd


def test_the_hook_stands_before_the_first_part_and_the_block_counts_one_access() -> None:
    made = instrumented(parts("load", *FLOAT4))
    text = made.text[made.text.index("@f$traced(") :]
    assert text.count("@__simt_access(") == 1
    assert re.search(r"@__simt_access\(ptr %a0, i32 0\)\n  %v0 = load float", text)
    assert made.metadata["blocks"][0]["mix"]["memory"] == 1


def test_a_part_before_the_lowest_one_is_hooked_with_the_lowest_address() -> None:
    made = instrumented(parts("store", ("float", 4, 4), ("float", 0, 8)))
    assert accesses(made) == [("store", 8, "<2 x float>")]
    assert re.search(
        r"%(simt\.begin\d+) = getelementptr i8, ptr %a0, i64 -4\n  call void @__simt_access\(ptr %\1,", made.text
    )


@pytest.mark.parametrize(
    ("vendor", "layout", "expected"),
    [
        # x and z, x and w of a float4
        ("nvidia", (("float", 0, 16), ("float", 8, 8)), [4, 4]),
        ("nvidia", (("float", 0, 16), ("float", 12, 4)), [4, 4]),
        ("amd", (("float", 0, 16), ("float", 8, 8)), [4, 4]),
        # x and z of a short4, x, z and w and then x, y and z of a float4: NVIDIA's compiler loads all of it
        ("nvidia", (("i16", 0, 8), ("i16", 4, 4)), [8]),
        ("nvidia", (("float", 0, 16), ("float", 8, 8), ("float", 12, 4)), [16]),
        ("nvidia", (("float", 0, 16), ("float", 4, 4), ("float", 8, 8)), [16]),
        ("amd", (("float", 0, 16), ("float", 4, 4), ("float", 8, 8)), [12]),
    ],
)
def test_members_that_nobody_uses(vendor: str, layout: tuple[tuple[str, int, int], ...], expected: list[int]) -> None:
    assert [size for _, size, _ in accesses(instrumented(parts("load", *layout), vendor))] == expected


def test_stores_never_take_in_what_the_program_does_not_write() -> None:
    layout = (("float", 0, 16), ("float", 8, 8))
    assert [size for _, size, _ in accesses(instrumented(parts("store", *layout)))] == [4, 4]


def test_the_copy_of_the_other_members_belongs_to_the_vector() -> None:
    made = instrumented(
        """%l = alloca [12 x i8], align 8
        %v = load float, ptr %p, align 16, !dbg !10
        %r = getelementptr inbounds nuw i8, ptr %p, i64 4
        call void @llvm.memcpy.p0.p0.i64(ptr align 8 %l, ptr align 4 %r, i64 12, i1 false), !dbg !10
        store float %v, ptr %q, align 16, !dbg !11
        %s = getelementptr inbounds nuw i8, ptr %q, i64 4
        call void @llvm.memcpy.p0.p0.i64(ptr align 4 %s, ptr align 8 %l, i64 12, i1 false), !dbg !11"""
    )
    assert accesses(made) == [("load", 16, "<4 x float>"), ("store", 16, "<4 x float>")]


@pytest.mark.parametrize(
    "between",
    [
        "store i32 1, ptr %q, align 4, !dbg !10",
        "call void @other(), !dbg !10",
        "fence seq_cst, !dbg !10",
        "%o = atomicrmw add ptr %q, i32 1 monotonic, align 4, !dbg !10",
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false), !dbg !10",
        "%o = load volatile i32, ptr %q, align 4, !dbg !10",
    ],
)
def test_what_may_change_memory_or_wait_keeps_loads_apart(between: str) -> None:
    halves = parts("load", ("float", 0, 8), ("float", 4, 4)).splitlines()
    made = instrumented("\n".join([*halves[:2], between, *halves[2:]]))
    assert [size for kind, size, _ in accesses(made) if kind == "load"][-1] == 4
    assert 8 not in [size for kind, size, _ in accesses(made)]


def test_a_load_between_keeps_stores_apart() -> None:
    halves = parts("store", ("float", 0, 8), ("float", 4, 4)).splitlines()
    made = instrumented("\n".join([*halves[:2], "%o = load i32, ptr %q, align 4, !dbg !10", *halves[2:]]))
    assert [size for _, size, _ in accesses(made)] == [4, 4, 4]


def test_neighbours_that_are_named_one_by_one_are_one_access() -> None:
    elsewhere = (
        parts("load", ("float", 0, 8)) + "\n" + parts("load", ("float", 4, 4), place="!11").replace("0 =", "1 =")
    )
    assert [size for _, size, _ in accesses(instrumented(elsewhere.replace("%a0, align 4", "%a1, align 4")))] == [8]


def test_members_named_one_by_one_are_loaded_alone_if_others_lie_between() -> None:
    elsewhere = (
        parts("load", ("float", 0, 16)) + "\n" + parts("load", ("float", 8, 8), place="!11").replace("0 =", "1 =")
    )
    made = instrumented(elsewhere.replace("%a0, align 8", "%a1, align 8"))
    assert [size for _, size, _ in accesses(made)] == [4, 4]


INDICES = """%i = trunc i64 %n to i32
%i4 = shl nsw i32 %i, 2
%w0 = sext i32 %i4 to i64
%a0 = getelementptr inbounds float, ptr %p, i64 %w0
%v0 = load float, ptr %a0, align 4, !dbg !10
%i1 = or disjoint i32 %i4, 1
%w1 = sext i32 %i1 to i64
%a1 = getelementptr inbounds float, ptr %p, i64 %w1
%v1 = load float, ptr %a1, align 4, !dbg !11"""


@pytest.mark.parametrize(
    ("text", "vendor", "sizes"),
    [
        (INDICES, "amd", [8]),  # no alignment is needed there
        (INDICES, "nvidia", [4, 4]),
        (INDICES.replace("align 4", "align 8", 1), "nvidia", [8]),
        (INDICES.replace("or disjoint", "add nsw"), "amd", [8]),
        (INDICES.replace("or disjoint", "add"), "amd", [4, 4]),  # it may wrap round
        (INDICES.replace("sext i32 %i1", "zext i32 %i1"), "amd", [4, 4]),
        (INDICES.replace("or disjoint i32 %i4, 1", "add nsw i32 %i4, 2"), "amd", [4, 4]),
        (INDICES.replace("float, ptr %p", "[64 x float], ptr @tile, i64 0"), "amd", [4, 4]),  # LDS: aligned
        (INDICES.replace("float, ptr %p", "[64 x float], ptr @tile, i64 0").replace("4, !dbg !10", "8, !dbg !10"),
         "amd", [8]),
    ],
)  # fmt: skip
def test_neighbours_with_computed_indices(text: str, vendor: str, sizes: list[int]) -> None:
    assert [size for _, size, _ in accesses(instrumented(text, vendor))] == sizes


def test_other_pointers_and_volatile_accesses_stay_apart() -> None:
    other = "%a = load float, ptr %p, align 8, !dbg !10\n%b = load float, ptr %q, align 4, !dbg !10"
    assert [size for _, size, _ in accesses(instrumented(other))] == [4, 4]
    loads = parts("load", ("float", 0, 8), ("float", 4, 4)).replace("= load", "= load volatile")
    assert [size for _, size, _ in accesses(instrumented(loads))] == [4, 4]


def test_parts_of_one_variable_are_found_through_constant_expressions() -> None:
    made = instrumented(
        """%a = load float, ptr @tile, align 16, !dbg !10
        %b = load float, ptr getelementptr inbounds nuw (i8, ptr @tile, i64 4), align 4, !dbg !10
        %c = load float, ptr getelementptr inbounds ([64 x float], ptr @tile, i64 0, i64 2), align 8, !dbg !10
        %e = getelementptr inbounds [64 x float], ptr @tile, i64 0, i64 3
        %d = load float, ptr %e, align 4, !dbg !10"""
    )
    assert accesses(made) == [("load", 16, "<4 x float>")]


@pytest.mark.parametrize(("parameters", "sizes"), [("ptr %p, ptr %q", [4, 4]), ("ptr %p, ptr noalias %q", [8])])
def test_a_store_that_cannot_touch_them_leaves_loads_together(parameters: str, sizes: list[int]) -> None:
    halves = parts("load", ("float", 0, 8), ("float", 4, 4)).splitlines()
    body = [*halves[:2], "store i32 1, ptr %q, align 4, !dbg !10", *halves[2:]]
    made = instrument(
        f"{HEAD}define void @f({parameters}) {{\nentry:\n"
        + "\n".join(f"  {line}" for line in body)
        + f"\n  ret void\n}}\n{METADATA}"
    )
    assert [size for kind, size, _ in accesses(made) if kind == "load"] == sizes


def test_one_address_loaded_twice_is_two_accesses() -> None:
    made = instrumented("%a = load i32, ptr %p, align 8, !dbg !10\n%b = load i32, ptr %p, align 8, !dbg !10")
    assert [size for _, size, _ in accesses(made)] == [4, 4]


@pytest.mark.parametrize(
    ("type_name", "indices", "expected"),
    [
        ("i8", [-4], -4),
        ("%struct.S", [2], 48),
        ("%struct.S", [0, 1], 8),
        ("%struct.S", [0, 2], 12),
        ("%struct.S", [0, 2, 2], 16),
        ("%struct.S", [1, 3, 1], 24 + 18 + 1),
        ("[4 x [8 x float]]", [0, 1, 3], 44),
        ("<4 x half>", [0, 3], 6),
        ("float", [0, 1], None),
    ],
)
def test_offsets_of_constant_indices(type_name: str, indices: list[int], expected: int | None) -> None:
    structs: dict[str, Any] = {"%struct.S": "{ double, float, [3 x i16], <{ i8, i32 }> }"}
    assert Layout(structs).offset(type_name, indices) == expected


@pytest.mark.parametrize(
    ("vendor", "alignment", "length", "width"),
    [
        ("nvidia", 16, "48", 16),
        ("nvidia", 8, "32", 8),
        ("nvidia", 4, "12", 4),  # float3: three accesses
        ("amd", 4, "12", 16),  # one of three words
        ("amd", 1, "12", 1),
        ("nvidia", 4, "4096", 0),
        ("amd", 4, "%n", 0),
    ],
)
def test_small_copies_have_the_width_that_their_alignment_allows(
    vendor: str, alignment: int, length: str, width: int
) -> None:
    pointers = f"ptr align {alignment} %p, ptr align {alignment} %q"
    made = instrumented(f"call void @llvm.memcpy.p0.p0.i64({pointers}, i64 {length}, i1 false), !dbg !10", vendor)
    assert [site["flags"] >> 8 & 31 for site in made.metadata["sites"]] == [width, width]


def test_a_load_does_not_take_in_what_lies_behind_its_variable() -> None:
    body = "\n".join(
        f"%a{k} = getelementptr inbounds i8, ptr @odd, i64 {4 * k}\n"
        f"%v{k} = load float, ptr %a{k}, align {(16, 4, 8, 4)[k % 4]}, !dbg !10"
        for k in range(7)
    )
    lines = f"@odd = internal global [7 x float] undef, align 16\n{HEAD}define void @f() {{\nentry:\n"
    made = instrument(
        lines + "\n".join(f"  {line}" for line in body.split("\n")) + f"\n  ret void\n}}\n{METADATA}", "nvidia"
    )
    assert [size for _, size, _ in accesses(made)] == [16, 8, 4]


@pytest.mark.parametrize(
    ("vendor", "alignment", "expected"),
    [("amd", 4, [16, 4]), ("amd", 8, [16, 8]), ("amd", 16, [16, 16]), ("nvidia", 4, [4, 4]), ("nvidia", 16, [16, 16])],
)
def test_a_record_is_copied_to_lds_in_parts_of_its_alignment(vendor: str, alignment: int, expected: list[int]) -> None:
    lds = '@lds = internal global [64 x [4 x float]] undef, section "simt_shared", align 16'
    copy = f"  call void @llvm.memcpy.p0.p0.i64(ptr align {alignment} @lds, ptr align {alignment} %p, i64 16, i1 false)"
    made = instrument(f"{HEAD}{lds}\ndefine void @f(ptr %p) {{\nentry:\n{copy}\n  ret void\n}}\n", vendor)
    assert [site["flags"] >> COPY_WIDTH_SHIFT & 31 for site in made.metadata["sites"]] == expected
