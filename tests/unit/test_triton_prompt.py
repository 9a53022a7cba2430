"""What a model is told about a Triton kernel, and how its reply is applied."""

from __future__ import annotations

import dataclasses

import pytest

from intelliperf.codegen.edits import apply_blocks
from intelliperf.codegen.model import definitions
from intelliperf.codegen.prompts import rewrite_prompt
from intelliperf.codegen.reply import MalformedReply, parse_reply
from intelliperf.codegen.texts import instructions, text
from intelliperf.project import jitfacts
from intelliperf.records import FileEdit, content_hash
from intelliperf.validation.edits.targets import python_functions
from tests.unit.triton_task import sources_of, triton_task

DOT = sources_of("dot_product.py", "helpers.py")


def test_the_instructions_speak_of_triton_and_ask_for_the_same_form_of_reply() -> None:
    told = instructions("triton")
    assert "HIP" not in told and "__global__" not in told.split("# Your reply")[0]
    assert told.split("# Your reply")[1] == text("rewrite").split("# Your reply")[1]
    assert "input_precision" in told and "Sections headed" in told


def test_the_prompt_shows_the_kernel_its_helpers_and_its_launch() -> None:
    task = triton_task(DOT, "scalar_product", "tl.atomic_add", rule="triton_block_loop")
    prompt = rewrite_prompt(task, [])
    sections = dict(prompt.sections)
    assert "Language: Triton (Python)" in sections["task"]
    assert prompt.messages()[0]["content"] == instructions("triton")
    assert "scalar_product[lambda meta" in sections["source"]


def test_a_long_file_is_cut_to_the_kernel_and_what_calls_it() -> None:
    (body,) = sources_of("contended_sum.py").values()
    padding = "".join(f"\n\ndef other_{n}():\n" + "    x = 1\n" * 12 + f"    return {n}\n" for n in range(150))
    sources = {"contended_sum.py": body.replace("\n\ndef main", f"{padding}\n\ndef main")}
    shown = dict(rewrite_prompt(triton_task(sources, "total", "tl.atomic_add", rule="none"), []).sections)["source"]
    assert "def total(" in shown and "total[(triton.cdiv(n, 128),)]" in shown and "@triton.jit" in shown
    assert "def other_70" not in shown


def test_a_whole_function_of_python_can_be_replaced_with_its_decorators() -> None:
    (body,) = sources_of("contended_sum.py").values()
    reply = (
        "[[ ## rationale ## ]]\nWhy.\n\n[[ ## edits ## ]]\nFILE: contended_sum.py\n<<<<<<< FUNCTION total\n"
        "@triton.jit\ndef total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n    pass\n>>>>>>> REPLACE\n\n"
        "[[ ## declares ## ]]\nnothing\n"
    )
    (edit,) = apply_blocks(parse_reply(reply).blocks, {"contended_sum.py": body}, definitions)
    assert edit.text.count("@triton.jit") == 1 and "tl.atomic_add" not in edit.text
    with pytest.raises(MalformedReply, match="shares a line"):
        definitions("a.py", "def f(): return 1  # and why\n", "f")


def test_a_patch_of_a_helper_is_judged_by_the_kernel_that_calls_it() -> None:
    change = [FileEdit("helpers.py", content_hash(DOT["helpers.py"]), DOT["helpers.py"].replace("a * b", "b * a"))]
    found = python_functions(change, DOT)
    assert found.own == {"products"} and found.reaching == {"scalar_product"}


def test_a_patch_of_a_launch_is_judged_by_its_kernel() -> None:
    (body,) = sources_of("contended_lanes.py").values()
    change = [FileEdit("contended_lanes.py", content_hash(body), body.replace("BLOCK = 256", "BLOCK = 512"))]
    found = python_functions(change, {"contended_lanes.py": body})
    assert "squares" not in found.own and found.launched == {"squares"}


_TTGIR = """\
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#loc = loc("/home/x/app.py":9:1)
module attributes {"ttg.num-warps" = 4 : i32} {
"""
_CODE = """\
\t.loc\t1 13 14                         ; app.py:13:14
\tbuffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen
\ts_nop 0
\t.loc\t2 314 12                        ; standard.py:314:12 @[ app.py:14:28 ]
\tv_add_f32 v0, v0, v1
\tv_add_f32 v0, v0, v2
\t.loc\t1 140 5                         ; app.py:140:5
\tglobal_atomic_add_f32 v4, v0, s[4:5]
"""


def test_layouts_and_instructions_of_hot_lines_are_read_from_what_triton_compiled() -> None:
    (layout,) = jitfacts.layouts(_TTGIR)
    assert layout.startswith("layout #blocked: #ttg.blocked<{sizePerThread = [4]")
    assert jitfacts.mnemonics(_CODE, "app.py", 13) == "buffer_load_dwordx4"
    assert jitfacts.mnemonics(_CODE, "app.py", 14) == "v_add_f32 ×2"


def test_the_prompt_says_what_the_compiler_made_of_the_kernel_where_that_is_known() -> None:
    task = triton_task(DOT, "scalar_product", "tl.atomic_add", rule="none")
    assert "compiled" not in dict(rewrite_prompt(task, []).sections)
    told = dataclasses.replace(task, compiled=("layout #blocked: …",))
    assert dict(rewrite_prompt(told, []).sections)["compiled"] == "layout #blocked: …"
