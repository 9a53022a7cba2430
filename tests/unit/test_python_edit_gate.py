"""The edit gate of Python files: which changes of a Triton program may be judged at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from intelliperf.records import Candidate, Declaration, FileEdit, Origin, OriginKind, content_hash
from intelliperf.validation.edits.gate import StaticVerdict, examine
from tests.zoo.triton.edits import HONEST, REFUSED, WRONG, Edit

PROGRAMS = Path(__file__).parents[1] / "triton" / "programs"
NOTHING = Declaration()
FILES = {path.name: path.read_text() for path in sorted(PROGRAMS.glob("*.py"))}


def changed(edit: Edit) -> dict[str, str]:
    texts: dict[str, str] = {}
    for file, old, new in edit.changes:
        text = texts.get(file, FILES[file])
        assert text.count(old) == 1, (edit.name, old)
        texts[file] = text.replace(old, new)
    return texts


def judged(
    texts: dict[str, str], kernel: str, sources: dict[str, str] = FILES, declares: Declaration = NOTHING
) -> StaticVerdict:
    edits = tuple(FileEdit(path, content_hash(sources[path]), text) for path, text in texts.items())
    candidate = Candidate(edits, "", Origin(OriginKind.USER, "test"), declares)
    return examine(candidate, sources, set(sources), kernel, None)


@pytest.mark.parametrize("edit", REFUSED, ids=lambda edit: edit.name)
def test_an_attack_is_refused_by_name_and_line(edit: Edit) -> None:
    verdict = judged(changed(edit), edit.kernel, declares=edit.declares)
    assert re.search(edit.refused, verdict.refusal), verdict.refusal
    assert re.match(r"\w+\.py(:\d+)?: (line \d+: )?", verdict.refusal)


@pytest.mark.parametrize("edit", [*HONEST, *WRONG], ids=lambda edit: edit.name)
def test_what_only_a_run_can_judge_is_not_refused(edit: Edit) -> None:
    assert judged(changed(edit), edit.kernel, declares=edit.declares).refusal == ""


def test_comments_and_layout_change_nothing_that_is_compiled() -> None:
    text = FILES["contended_sum.py"]
    line = "    pid = tl.program_id(0)\n"
    assert line in text
    commented = text.replace(line, "    # which of the programs\n\n    pid = (tl.program_id(0))  # this one\n")
    assert judged({"contended_sum.py": commented}, "total").unchanged
    assert not judged({"contended_sum.py": text.replace("other=0", "other=1")}, "total").unchanged
    asserted = text.replace(line, f"{line}    # type: ignore[no-such-thing]\n    tl.static_assert(BLOCK > 0)\n")
    assert not judged({"contended_sum.py": asserted}, "total").unchanged


def test_geometry_is_refused_where_it_is_not_declared() -> None:
    refused = [
        edit.name for edit in HONEST if edit.declares.geometry and not judged(changed(edit), edit.kernel).refusal
    ]
    assert not refused


LAUNCHES = """\
import triton
import triton.language as tl


@triton.jit
def double(p, n, B: tl.constexpr, ODD: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(p + o, 2 * tl.load(p + o, mask=o < n), mask=o < n)


def run(x, n, odd):
    T, C = 128, 4
    limit, other = 10, 4
    double[(triton.cdiv(n, 64),)](x, n, B=64, ODD=odd, num_warps=2)
    double[(triton.cdiv(n, T * C),)](x, n, T * C, odd, num_warps=C)
    return limit + other
"""


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        ("B=64", "B=triton.next_power_of_2(min(n, 1024))", True),
        ("B=64", "B=int(max(n // 2, 32))", True),
        ("B=64", "B=len(open('x').read())", False),
        ("B=64", "B=n.__index__()", False),
        ("B=64", "B=unknown", False),
        ("ODD=odd", "ODD=1", False),
        ("T, C = 128, 4", "T, C = 256, 2", True),
        ("T, C = 128, 4", "T, C = 256, print(2)", False),
        ("limit, other = 10, 4", "limit, other = 10, 5", False),
        ("num_warps=C", "num_warps=max(1, min(C, n // 64))", True),
        ("num_warps=2", "num_warps=2, num_stages=min(n, 2)", True),
        ("num_warps=C", "num_warps=x.unlink() or C", False),
        ("num_warps=C", "num_warps=unknown", False),
        ("num_warps=C", "num_warps=C, enable_fp_fusion=False", False),
    ],
)
def test_launch_constants_may_be_computed_from_what_is_read_there(old: str, new: str, allowed: bool) -> None:
    texts = {"app.py": LAUNCHES.replace(old, new)}
    verdict = judged(texts, "double", {"app.py": LAUNCHES}, Declaration(geometry=True, reason="a test"))
    assert (verdict.refusal == "") is allowed, verdict.refusal
    assert allowed or "changes code outside kernels" in verdict.refusal


TUNED = """\
import triton
import triton.language as tl


@triton.autotune([triton.Config({"B": b}, num_warps=w) for b, w in ((64, 1), (256, 4))], key=["n"])
@triton.jit
def double(p, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(p + o, 2 * tl.load(p + o, mask=o < n), mask=o < n)
"""


@pytest.mark.parametrize(
    ("rows", "allowed"),
    [
        ("((128, 2), (512, 4), (1024, 8))", True),
        ("[(64, 1)]", True),
        ("((64, 1, 1), (256, 4, 1))", False),
        ("((64, 1), (256, print(4)))", False),
        ("((64, 1), 256)", False),
        ("()", False),
    ],
)
def test_configurations_that_are_made_of_rows_may_have_other_numbers(rows: str, allowed: bool) -> None:
    texts = {"app.py": TUNED.replace("((64, 1), (256, 4))", rows)}
    verdict = judged(texts, "double", {"app.py": TUNED}, Declaration(geometry=True, reason="a test"))
    assert (verdict.refusal == "") is allowed, verdict.refusal


KERNELS = """\
import triton
from triton import language as tl
from triton.runtime.jit import jit as compiled
from lib.ops import gelu
from . import near
SIZE = tl.constexpr(64)
LIMIT = 10


@compiled
def first(p, q, n, B: tl.constexpr, ACT: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(p + o, mask=o < n)
    tl.store(q + o, ACT(gelu(x)), mask=o < n)


@triton.jit
def second(p, q, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(q + o, near.twice(tl.load(p + o, mask=o < n)), mask=o < n)


class Holder:
    @staticmethod
    @triton.jit
    def third(p, n):
        lock = 0
        while tl.atomic_cas(p, 0, 1) == 1:
            lock += 1
        tl.store(p + 1, lock)
        tl.debug_barrier()
        tl.atomic_xchg(p, 0)


def run(x, y, square):
    first[(4,)](x, y, 7, B=SIZE, ACT=near.square)
"""
OPS = """import triton
import triton.language as tl


@triton.jit
def gelu(x):
    return 0.5 * x * (1 + tl.erf(x * 0.70710678))
"""
NEAR = """import triton


@triton.jit
def square(x):
    return x * x


@triton.jit
def twice(x):
    return x + x
"""
PROJECT = {"app/kernels.py": KERNELS, "lib/ops.py": OPS, "app/near.py": NEAR}


def edited(path: str, old: str, new: str, kernel: str = "first", declares: Declaration = NOTHING) -> StaticVerdict:
    assert PROJECT[path].count(old) == 1
    return judged({path: PROJECT[path].replace(old, new)}, kernel, PROJECT, declares)


def test_functions_are_followed_through_imports_and_constants_of_a_launch() -> None:
    assert edited("lib/ops.py", "0.5 * x * (1 +", "x * (0.5 + 0.5 *").refusal == ""
    assert edited("app/near.py", "x * x", "1 * x * x").refusal == ""
    assert "does not reach" in edited("app/near.py", "x + x", "2 * x").refusal
    assert edited("app/near.py", "x + x", "2 * x", "second").refusal == ""


def test_other_kernels_may_change_where_that_is_declared() -> None:
    assert edited("app/near.py", "x + x", "2 * x", declares=Declaration(kernels=True)).refusal == ""


def test_a_function_that_other_kernels_share_is_compared_for_all_of_them() -> None:
    shared = KERNELS.replace("near.twice(tl.load(p + o, mask=o < n))", "gelu(tl.load(p + o, mask=o < n))")
    texts = {**PROJECT, "app/kernels.py": shared}
    change = {"lib/ops.py": OPS.replace("0.5 * x", "x * 0.5")}
    assert judged(change, "first", texts).beyond_target
    assert not judged(change, "first", PROJECT).beyond_target


def test_programs_that_wait_for_each_other_keep_their_order() -> None:
    weaker = edited("app/kernels.py", "tl.atomic_xchg(p, 0)", 'tl.atomic_xchg(p, 0, sem="relaxed")', "third")
    assert "orders less" in weaker.refusal
    acquires = edited("app/kernels.py", "tl.atomic_xchg(p, 0)", 'tl.atomic_xchg(p, 0, sem="acquire")', "third")
    assert "orders less" in acquires.refusal, "nobody reads what it returns: it announces"
    releases = edited("app/kernels.py", "tl.atomic_xchg(p, 0)", 'tl.atomic_xchg(p, 0, sem="release")', "third")
    assert releases.refusal == ""
    assert "barrier was taken away" in edited("app/kernels.py", "        tl.debug_barrier()\n", "", "third").refusal


def test_a_constant_of_the_file_may_be_read_and_a_variable_may_not() -> None:
    assert edited("app/kernels.py", "x = tl.load(p + o, mask=o < n)\n    tl.store(q + o, ACT", (
        "x = tl.load(p + o, mask=o < n) + SIZE - 64\n    tl.store(q + o, ACT"
    )).refusal == ""  # fmt: skip
    refused = edited("app/kernels.py", "x = tl.load(p + o, mask=o < n)\n    tl.store(q + o, ACT", (
        "x = tl.load(p + o, mask=o < n) + LIMIT\n    tl.store(q + o, ACT"
    )).refusal  # fmt: skip
    assert "global LIMIT" in refused


def test_a_local_variable_may_have_the_name_of_the_scripts_data_and_of_nothing_else() -> None:
    line = "    o = tl.program_id(0) * B + tl.arange(0, B)\n    x ="
    for name, refused in (("grid", ""), ("near", "rebinds near"), ("run", "rebinds run")):
        text = KERNELS + "\n\ngrid = 7\n"
        change = {"app/kernels.py": text.replace(line, f"    {name} = B // 2\n{line}")}
        refusal = judged(change, "first", {**PROJECT, "app/kernels.py": text}).refusal
        assert refused in refusal and bool(refused) == bool(refusal), (name, refusal)


def test_a_text_that_python_does_not_read_is_refused_in_one_line() -> None:
    for text in (KERNELS.replace("def run(", "def run(("), KERNELS + "\udcff = 1\n", "x = " + "(" * 3000 + ")" * 3000):
        refusal = judged({"app/kernels.py": text}, "first", PROJECT).refusal
        assert refusal.startswith("app/kernels.py: ") and "\n" not in refusal


def test_expressions_nested_deeply_do_not_end_the_judge() -> None:
    deep = "x = " + "-" * 5000 + "1\n    tl.store(q + o, ACT"
    text = KERNELS.replace("x = tl.load(p + o, mask=o < n)\n    tl.store(q + o, ACT", deep)
    assert judged({"app/kernels.py": text}, "first", PROJECT).refusal


def test_a_kernel_by_a_decorator_of_the_project_is_known_where_it_was_launched() -> None:
    text = KERNELS.replace("@triton.jit\ndef second", "@own.kernel\ndef second").replace("near.twice(", "1.0 * (")
    change = {"app/kernels.py": text.replace("1.0 * (", "2.0 * (")}
    candidate = Candidate(
        tuple(FileEdit(path, content_hash(text), new) for path, new in change.items()),
        "", Origin(OriginKind.USER, "test"),
    )  # fmt: skip
    sources = {**PROJECT, "app/kernels.py": text}
    assert examine(candidate, sources, set(sources), "second", None, Path("/x/app/kernels.py")).refusal == ""
    assert examine(candidate, sources, set(sources), "first", None, Path("/x/app/kernels.py")).refusal


def test_an_access_may_pass_by_caches_and_a_load_may_not_ask_for_the_innermost() -> None:
    def stored(modifier: str) -> StaticVerdict:
        return edited(
            "app/kernels.py", "ACT(gelu(x)), mask=o < n)", f"ACT(gelu(x)), mask=o < n, cache_modifier={modifier})"
        )

    assert stored('".cg"').refusal == "" and stored('".wt"').refusal == ""
    assert "which caches" in stored("B").refusal
    loads = "x = tl.load(p + o, mask=o < n)\n    tl.store(q + o, ACT"
    innermost = loads.replace("o < n)\n", 'o < n, cache_modifier=".ca")\n')
    assert "which caches" in edited("app/kernels.py", loads, innermost).refusal
    past = loads.replace("o < n)\n", 'o < n, cache_modifier=".cv")\n')
    assert edited("app/kernels.py", loads, past).refusal == ""
