"""When two modules of LLVM assembly are the same code."""

from __future__ import annotations

from intelliperf.validation.edits.sameness import same_code

BEFORE = """source_filename = "a.hip"
@n = global i32 4, align 4, !dbg !0
define void @f(ptr noalias %p) #0 !dbg !3 {
  store i32 1, ptr %p, align 4, !dbg !4, !tbaa !6
    #dbg_value(ptr %p, !9, !DIExpression(), !4)
  br label %x, !dbg !4, !llvm.loop !7
}
attributes #0 = { "amdgpu-flat-work-group-size"="1,256" }
!0 = !DIGlobalVariable(name: "n", line: 2)
!3 = distinct !DISubprogram(name: "f", line: 3)
!4 = !DILocation(line: 4, column: 5, scope: !3)
!6 = !{!"int"}
!7 = distinct !{!7, !4, !8}
!8 = !{!"llvm.loop.unroll.count", i32 4}
"""


def test_lines_and_numbers_of_notes_make_no_difference() -> None:
    moved = BEFORE.replace("line: 4, column: 5", "line: 40, column: 1").replace("!6", "!16").replace("a.hip", "b.hip")
    assert same_code(BEFORE, moved)


def test_instructions_attributes_types_and_pragmas_do() -> None:
    for old, new in (
        ("store i32 1", "store i32 2"),
        ("noalias ", ""),
        ("1,256", "1,1024"),
        ('!{!"int"}', '!{!"float"}'),
        ("i32 4}", "i32 8}"),
        ("global i32 4", "global i32 5"),
    ):
        assert not same_code(BEFORE, BEFORE.replace(old, new)), old
