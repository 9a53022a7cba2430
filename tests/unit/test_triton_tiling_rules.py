# ruff: noqa: E501
"""Rules for Triton kernels that put a loop around blocks, or a second dimension in place of a loop or of programs."""

from __future__ import annotations

import pytest

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
