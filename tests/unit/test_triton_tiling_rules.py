# ruff: noqa: E501
"""Rules for Triton kernels that put a loop around blocks, or a second dimension in place of a loop or of programs."""

from __future__ import annotations

import ast

import pytest

from intelliperf.codegen.rules.problem import Problem
from intelliperf.codegen.rules.triton import launched_kernel_at
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.codegen.syntax.clang import ClangParser
from intelliperf.protocols import Proposal
from intelliperf.validation.edits.gate import examine
from tests.unit.triton_task import proposed, triton_task

GRADIENT = """import triton
import triton.language as tl


@triton.jit
def backward(dy, x, dx, dw, seen, rows, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    # columns of a row
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    if row >= rows:
        return
    g = tl.load(dy + row * stride + cols, mask=inside, other=0.0)
    v = tl.load(x + row * stride + cols, mask=inside, other=0.0)
    tl.store(dx + row * stride + cols, g * 2, mask=inside)
    tl.atomic_add(dw + cols, g * v, mask=inside & (v > 0))
    tl.atomic_add(seen, 1)


def run(dy, x, dx, dw, seen, n):
    backward[(n,)](dy, x, dx, dw, seen, n, 64, 60, BLOCK=64)
"""
PREFIXES = """import triton
import triton.language as tl


@triton.jit
def prefixes(src, dst, peak, rows, cols, R: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    ok = r < rows
    total = tl.zeros([R], tl.float32)
    top = tl.full([R], 0.0, tl.float32)
    line = src + r * cols
    for c in range(cols):
        # one element of each row
        x = tl.load(line + c, mask=ok, other=0.0)
        total += x
        tl.store(dst + r * cols + c, total, mask=ok)
        top = tl.maximum(top, x)
    tl.store(peak + r, top, mask=ok)


def run(src, dst, peak, rows, cols):
    prefixes[(rows // 128,)](src, dst, peak, rows, cols, R=128)
"""
CHANNELS = """import triton
import triton.language as tl


@triton.jit
def filtered(x, w, y, T, C, batch, TAPS: tl.constexpr, B: tl.constexpr):
    c = tl.program_id(0)
    image = tl.program_id(2)
    t = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B,), dtype=tl.float32)
    for k in tl.static_range(TAPS):
        at = image * batch + (t + k) * C + c
        acc += tl.load(x + at, mask=t + k < T, other=0.0) * tl.load(w + c * TAPS + k)
    tl.store(y + image * batch + t * C + c, acc, mask=t < T)


def run(x, w, y, T, C, images):
    filtered[(C, triton.cdiv(T, 128), images)](x, w, y, T, C, T * C, TAPS=3, B=128)
"""
SEGMENTS = """import triton
import triton.language as tl


@triton.jit
def segments(values, keys, out, n, F: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    f = tl.arange(0, F)
    key = tl.load(keys + r, mask=r < n, other=0)
    v = tl.load(values + r[:, None] * F + f[None, :])
    tl.atomic_add(out + key[:, None] * F + f[None, :], v, mask=(r < n)[:, None])


def run(values, keys, out, n):
    segments[(triton.cdiv(n, 16),)](values, keys, out, n, F=16, ROWS=16)
"""

CURED = (
    ("triton_program_loop", GRADIENT, "backward", "tl.atomic_add(dw", (8000, 1, 1), [
        "    # columns of a row\n    cols = tl.arange(0, BLOCK)\n    inside = cols < N\n    dw_part = tl.zeros((BLOCK,), dtype=dw.dtype.element_ty)\n",
        "    for row in range(first, tl.num_programs(0), 2048):\n        if not (row >= rows):\n            g = tl.load(",
        "            tl.store(dx + row * stride + cols, g * 2, mask=inside)\n            dw_part += tl.where(inside & (v > 0), g * v, 0).to(dw.dtype.element_ty)\n            seen_part += 1\n",
        "    tl.atomic_add(dw + cols, dw_part, mask=dw_part != 0)\n    tl.atomic_add(seen, seen_part, mask=seen_part != 0)\n",
    ]),
    ("triton_uniform_rows", SEGMENTS, "segments", "tl.atomic_add", (900, 1, 1), [
        "    if lowest_key == tl.max(key, axis=0):\n        row_sum = tl.sum(tl.where((r < n)[:, None], v, 0), axis=0, keep_dims=True)\n",
        "        tl.atomic_add(out + lowest_key * F + f[None, :], row_sum, mask=row_sum != 0)\n    else:\n        tl.atomic_add(out + key[:, None]",
    ]),
    ("triton_loop_lanes", PREFIXES, "prefixes", "x = tl.load", (16, 1, 1), [
        "    for first_c in range(0, cols, 16):\n        c = (first_c + tl.arange(0, 16))[None, :]\n        present = c < cols\n",
        "        # one element of each row\n        x = tl.load(line[:, None] + c, mask=ok[:, None] & present, other=0.0)\n",
        "        total_here = total[:, None] + tl.cumsum(total_terms, axis=1)\n        total += tl.sum(total_terms, axis=1)\n",
        "        tl.store(dst + r[:, None] * cols + c, total_here, mask=ok[:, None] & present)\n",
        "        top = tl.maximum(top, tl.max(tl.where(present, x, top[:, None]), axis=1))\n    tl.store(peak + r, top",
    ]),
    ("triton_column_tile", CHANNELS, "filtered", "acc += tl.load", (64, 8, 2), [
        "    c = first + tl.arange(0, 16)[None, :]\n", "    t = tl.program_id(1) * B + tl.arange(0, B)[:, None]\n",
        "tl.load(w + c * TAPS + k, mask=present)", "    tl.store(y + image * batch + t * C + c, acc, mask=(t < T) & present)\n",
    ]),
)  # fmt: skip
LEFT_ALONE = (
    ("triton_program_loop", GRADIENT, "backward", "tl.atomic_add(dw", ("dw + cols, g", "dw + row + cols, g"), "of its own"),
    ("triton_program_loop", GRADIENT, "backward", "tl.atomic_add(dw", ("    tl.atomic_add(seen, 1)", "    n = tl.atomic_add(seen, 1)"), "wait for each other"),
    ("triton_program_loop", GRADIENT, "backward", "tl.atomic_add(dw", ("        return\n    g", "        tl.store(seen, 0)\n        return\n    g"), "within another statement"),
    ("triton_uniform_rows", SEGMENTS, "segments", "tl.atomic_add", ("(out + key[:, None]", "(out + r[:, None] + key[:, None]"), "addresses of their own"),
    ("triton_uniform_rows", SEGMENTS, "segments", "tl.atomic_add", ("tl.load(keys + r, mask=r < n, other=0)", "r // 4"), "no one key"),
    ("triton_loop_lanes", PREFIXES, "prefixes", "x = tl.load", ("        total += x\n", "        tl.store(peak + r, total)\n        total += x\n"), "the round before"),
    ("triton_loop_lanes", PREFIXES, "prefixes", "x = tl.load", ("range(cols)", "range(1, cols)"), "count from 0"),
    ("triton_loop_lanes", PREFIXES, "prefixes", "x = tl.load", ("(line + c, ", "(dst + (r + 1) * cols + c, "), "another lane reads"),
    ("triton_loop_lanes", PREFIXES, "prefixes", "x = tl.load", ("(peak + r, top", "(peak + r, top + x"), "after the loop"),
    ("triton_loop_lanes", PREFIXES, "prefixes", "x = tl.load", ("        total += x\n", "        y = tl.cumsum(x, 0)\n        total += y\n"), "mix lanes"),
    ("triton_column_tile", CHANNELS, "filtered", "acc += tl.load", ("(t + k) * C + c\n", "(t + k) * C + c + image\n"), "more than one program number"),
    ("triton_column_tile", CHANNELS, "filtered", "acc += tl.load", ("        acc +=", "        if k < C:\n            at += 1\n        acc +="), "several columns at once"),
)  # fmt: skip


@pytest.mark.parametrize(("rule", "source", "kernel", "line", "grid", "expected"), CURED, ids=lambda v: str(v)[:20])
def test_a_second_dimension_or_a_loop_takes_the_place_of_what_was_one_by_one(
    rule: str, source: str, kernel: str, line: str, grid: tuple[int, int, int], expected: list[str]
) -> None:
    sources = {"program.py": source}
    candidate = proposed(triton_task(sources, kernel, line, rule=rule, grid=grid)).candidate
    assert candidate is not None
    assert examine(candidate, sources, set(sources), kernel, None).refusal == ""
    (edit,) = candidate.edits
    for part in expected:
        assert part in edit.text, edit.text


@pytest.mark.parametrize(
    ("rule", "source", "kernel", "line", "change", "reason"), LEFT_ALONE, ids=lambda v: str(v)[:20]
)
def test_what_depends_on_its_order_is_left_alone(
    rule: str, source: str, kernel: str, line: str, change: tuple[str, str], reason: str
) -> None:
    assert source.count(change[0]) == 1
    sources = {"program.py": source.replace(*change)}
    proposal = proposed(triton_task(sources, kernel, line, rule=rule))
    assert proposal.declined is not None, proposal.candidate
    assert reason in proposal.declined.reason, proposal.declined.reason


SWIZZLED = """import triton
import triton.language as tl


@triton.jit
def gate(a_ptr, b_ptr, out_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    x, y = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), 4)
    rows, cols = x * BM + tl.arange(0, BM), y * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + tl.expand_dims(rows, 1) * k + tl.expand_dims(inner, axis=0)
    b_ptrs = b_ptr + inner[:, None] * n + cols[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(k // BK):
        a = tl.load(a_ptrs)
        total += tl.dot(a, tl.load(b_ptrs))
        a_ptrs += BK
        b_ptrs += BK * n
    tl.store(out_ptr + rows[:, None] * n + cols[None, :], total)


def run(a, b, out, m, n, k):
    grid = lambda meta: (triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"]))
    gate[grid](a, b, out, m, n, k, BM=128, BN=64, BK=32)
"""


def swizzled(text: str) -> Proposal:
    return proposed(triton_task({"app.py": text}, "gate", "def gate(", grid=(2, 2, 1), rule="triton_smaller_block"))


def test_shapes_are_known_of_what_is_set_together_and_of_swizzled_programs() -> None:
    candidate = swizzled(SWIZZLED).candidate
    assert candidate is not None and "BM=16, BN=16, BK=32" in candidate.edits[0].text
    declined = swizzled(SWIZZLED.replace("tl.load(a_ptrs)", "tl.load(somewhere(a_ptrs))")).declined
    assert declined is not None and "along which size the product sums up cannot be told" in declined.reason


@pytest.mark.parametrize(
    ("spelled", "shape"),
    [
        ("tl.expand_dims(inner, -1)", ("BK", "1")),
        ("tl.sum(cols[None, :] + rows[:, None], axis=-2, keep_dims=True)", ("1", "BN")),
        ("tl.max(cols[None, :] * m, 0)", ("BN",)),
        ("tl.expand_dims(cols, 5)", None),
        ("tl.sum(cols, axis=axis)", None),
    ],
)
def test_axes_are_counted_from_either_end(spelled: str, shape: tuple[str, ...] | None) -> None:
    text = SWIZZLED.replace("    total = ", f"    asked = {spelled}\n    total = ")
    task = triton_task({"app.py": text}, "gate", "def gate(", rule="triton_smaller_block")
    kernel = launched_kernel_at(Problem(task, ClangParser(("false",))), task.evidence[0])
    assert shape_of(kernel, ast.parse("asked", mode="eval").body) == shape
