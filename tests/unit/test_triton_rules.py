# ruff: noqa: E501
"""Rules for Triton kernels: each on a program that shows its bottleneck, and on ones that it has to leave alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intelliperf.protocols import Proposal
from intelliperf.records import Candidate, Metric, Provenance, Quantity
from intelliperf.validation.edits.gate import examine
from tests.unit.triton_task import proposed, sources_of, triton_task

SUM, LANES, MAX, DOT = "contended_sum.py", "contended_lanes.py", "contended_max.py", "dot_product.py"

CURED = (
    ("triton_block_loop", (SUM,), "total", "tl.atomic_add", [
        "    first = tl.program_id(0)\n    if first >= 2048:\n        return\n",
        "    partial = tl.zeros((BLOCK,), dtype=out_ptr.dtype.element_ty)\n",
        "    for pid in range(first, tl.num_programs(0), 2048):\n        offsets = pid * BLOCK + tl.arange(0, BLOCK)\n",
        "    tl.atomic_add(out_ptr, tl.sum(partial))\n",
    ]),
    ("triton_block_loop", (DOT, "helpers.py"), "scalar_product", "tl.atomic_add", [
        "        first = block * BLOCK\n",
        '    tl.atomic_add(out_ptr + 0, tl.sum(partial_sum, axis=0), sem="relaxed")\n',
    ]),
    ("triton_reduce_lanes", (LANES,), "squares", "tl.atomic_add", [
        "    # one address for all lanes\n    tl.atomic_add(out_ptr, tl.sum(tl.where(mask, x * x, 0)))\n",
    ]),
    ("triton_reduce_lanes", (MAX,), "largest", "tl.atomic_max", [
        "    tl.atomic_max(out_ptr + group, tl.max(x), mask=tl.max(keep.to(tl.int32)) > 0)\n",
    ]),
    ("triton_lane_order", ("lane_chunks.py",), "block_sums", "tl.load", [
        "x_ptr + start + tl.arange(0, BLOCK) + k * BLOCK)",
    ]),
    ("triton_lane_order", ("scaled_chunks.py",), "scale", "tl.load", ["where = base + lanes + step * BLOCK\n"]),
    ("triton_split_pairs", ("complex_magnitude.py",), "magnitude", "im = tl.load", [
        "    re, im = tl.split(tl.reshape(both, (BLOCK, 2)))\n    tl.store",
    ]),
    ("triton_block_loop", ("best_distance.py",), "nearest", "tl.atomic_min", [
        "    partial = tl.full((TILE,), 2147483647, dtype=best.dtype.element_ty)\n",
        "        partial = tl.minimum(partial, d2.to(best.dtype.element_ty))\n    tl.atomic_min(best, tl.min(partial, axis=0))\n",
    ]),
    ("triton_block_loop", ("count_above.py",), "count_kernel", "tl.atomic_add", [
        "        partial += tl.where(hits > 0, hits, 0).to(counter.dtype.element_ty)\n    tl.atomic_add(counter, partial)\n",
    ]),
    ("triton_block_loop", ("bias_gradient.py",), "bias_grad", "tl.atomic_add", [
        "    partial = tl.zeros((ROWS, COLS), dtype=db.dtype.element_ty)\n",
        "    tl.atomic_add(db + cols, tl.sum(partial, axis=0), mask=cols < N)\n",
    ]),
    ("triton_histogram", ("letter_counts.py",), "histogram_kernel", "tl.atomic_add", [
        "    tl.atomic_add(bins_ptr + letters, 1, mask=m & (small == 0))\n",
        "    tl.atomic_add(bins_ptr + counters, counts, mask=counts > 0)\n",
    ]),
    ("triton_lane_order", ("runs_per_lane.py",), "block_peak", "tl.load", [
        "        i = pid * BLOCK * PER_THREAD + tl.arange(0, BLOCK) + j * BLOCK\n",
    ]),
    ("triton_interchange", ("swapped_index.py",), "add_bias", "x = tl.load", [
        "    r = xindex // n_cols\n    c = xindex % n_cols\n",
    ]),
    ("triton_column_tile", ("column_sums.py",), "column_sum", "x = tl.load", [
        "    first = tl.program_id(0) * 16\n    if first >= tl.num_programs(0):\n        return\n",
        "    col = first + tl.arange(0, 16)[None, :]\n    present = col < tl.num_programs(0)\n    r = tl.arange(0, ROWS)[:, None]\n",
        "    tl.store(out_ptr + col, tl.sum(x, axis=0, keep_dims=True), mask=present)\n",
    ]),
    ("triton_column_tile", ("feature_scale.py",), "standardise", "squares += v", [
        "mask=(s < n_samples) & present, other=0.0)\n", "    mean = tl.sum(total, axis=0, keep_dims=True) / n_samples\n",
    ]),
    ("triton_store_layout", ("linear_layer.py",), "linear_kernel", "tl.store", ["tl.reshape(c_mask, (BLOCK_M * BLOCK_N,))"]),
    ("triton_tiles", ("linear_layer.py",), "linear_kernel", "def linear_kernel", ["BLOCK_M=128, BLOCK_N=64,"]),
    ("triton_join_pairs", ("interleaved_parts.py",), "from_polar", "z + idx * 2,", [
        "    pair_offsets = 2 * (tl.program_id(0) * B) + tl.arange(0, 2 * B)\n",
        "    tl.store(z + pair_offsets, tl.interleave(re, im), mask=pair_offsets < 2 * count)\n",
    ]),
    ("triton_unit_stride", ("unit_stride.py",), "doubled", "tl.load", [
        "    elif stride_m == 1:\n        x = tl.load(x_ptr + m + n * stride_n, mask=inside)\n    else:\n",
    ]),
    ("triton_store_layout", ("product.py",), "product", "tl.store", [
        "    tl.store(tl.reshape(c, (BM * BN,)), tl.reshape(acc, (BM * BN,)))\n",
    ]),
    ("triton_reuse_load", ("fetched_again.py",), "normalise", "mean = tl.sum", ["tl.sum(tl.where(live, x, 0.0), axis=0)"]),
    ("triton_warps", ("few_lanes.py",), "add", "def add", ["BLOCK=32, num_warps=1)"]),
    ("triton_warps", ("spilled_rows.py",), "softmax", "def softmax", ["BLOCK=16384, num_warps=16)"]),
    ("triton_larger_block", (SUM,), "total", "def total", ["(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)"]),
    ("triton_larger_block", ("few_lanes.py",), "add", "def add", ["BLOCK=256, num_warps=8)"]),
    ("triton_stages", ("product.py",), "product", "def product", ["num_warps=4, num_stages=1)"]),
)  # fmt: skip


def judged_text(proposal: Proposal, sources: dict[str, str], kernel: str) -> tuple[Candidate, dict[str, str]]:
    assert proposal.candidate is not None, proposal.declined
    verdict = examine(proposal.candidate, sources, set(sources), kernel, None)
    assert verdict.refusal == ""
    return proposal.candidate, {edit.path: edit.text for edit in proposal.candidate.edits}


@pytest.mark.parametrize(("rule", "files", "kernel", "line", "expected"), CURED, ids=lambda value: str(value)[:40])
def test_a_rule_rewrites_the_program_that_shows_its_bottleneck(
    rule: str, files: tuple[str, ...], kernel: str, line: str, expected: list[str]
) -> None:
    sources = sources_of(*files)
    _, texts = judged_text(proposed(triton_task(sources, kernel, line, rule=rule)), sources, kernel)
    (text,) = texts.values()
    for part in expected:
        assert part in text


def changed(file: str, *pairs: tuple[str, str]) -> dict[str, str]:
    (text,) = sources_of(file).values()
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return {file: text}


_CHUNKS = "        acc += tl.load(x_ptr + start + tl.arange(0, BLOCK) * CHUNK + k)\n"
_PAIR = "    im = tl.load(z_ptr + 2 * i + 1, mask=ok, other=0.0)\n"

LEFT_ALONE = (
    ("triton_block_loop", "total", "tl.atomic_add", changed(SUM, ("out_ptr, tl.sum", "out_ptr + pid % 2, tl.sum")), "of its own"),
    ("triton_block_loop", "total", "tl.atomic_add", changed(SUM, ("    mask =", "    tl.store(out_ptr + 1 + offsets, 1)\n    mask =")), "beside the atomic"),
    ("triton_block_loop", "total", "tl.atomic_add", changed(SUM, ("    tl.atomic_add(out_ptr", "    old = tl.atomic_add(out_ptr")), "old value"),
    ("triton_block_loop", "total", "tl.atomic_add", changed(SUM, ("    mask =", "    x_ptr += 0 * pid\n    mask =")), "goes from statement to statement"),
    ("triton_block_loop", "total", "tl.atomic_add", changed(SUM, ("other=0)\n", "other=0) + tl.num_programs(0)\n")), "number of programs"),
    ("triton_block_loop", "largest", "tl.atomic_max", changed(MAX, ("+ cols * 0", ""), ("target, x, mask=keep", "target, tl.max(x)"), ("other=-2147483648", "other=0")), "neutral element"),
    ("triton_reduce_lanes", "total", "tl.atomic_add", sources_of(SUM), "only one lane"),
    ("triton_reduce_lanes", "squares", "tl.atomic_add", changed(LANES, ("tl.zeros((BLOCK,), dtype=tl.int32)", "offsets % 7")), "addresses of their own"),
    ("triton_block_loop", "nearest", "tl.atomic_min", changed("best_distance.py", ("2147483647)", "7)")), "neutral element"),
    ("triton_histogram", "histogram_kernel", "tl.atomic_add", changed("letter_counts.py", ("letters, 1,", "letters, 2,")), "other than one"),
    ("triton_histogram", "squares", "tl.atomic_add", changed(LANES, ("tl.zeros((BLOCK,), dtype=tl.int32), x * x", "offsets, 1")), "computed, not read"),
    ("triton_interchange", "add_bias", "x = tl.load", changed("swapped_index.py", ("x + b, mask", "x + b + xindex, mask")), "apart from its parts"),
    ("triton_interchange", "add_bias", "x = tl.load", changed("swapped_index.py", ("xindex < n_rows * n_cols", "xindex < n_rows * n_cols - 1")), "does not count to"),
    ("triton_interchange", "add_bias", "x = tl.load", changed("swapped_index.py", ("b = tl.load(bias + c, mask=xmask)", "b = tl.load(out + c * n_cols + r, mask=xmask)")), "walks along|another lane reads"),
    ("triton_interchange", "add_bias", "x = tl.load", changed("swapped_index.py", ("x + b, mask", "tl.cumsum(x + b, 0), mask")), "may mix lanes"),
    ("triton_column_tile", "column_sum", "x = tl.load", changed("column_sums.py", ("tl.sum(x, axis=0)", "tl.sum(tl.sort(x), axis=0)")), "several columns at once"),
    ("triton_column_tile", "column_sum", "x = tl.load", changed("column_sums.py", ("r * cols + col", "col * rows + r")), "as a term of its own"),
    ("triton_column_tile", "column_sum", "x = tl.load", changed("column_sums.py", ("out_ptr + col", "out_ptr")), "to one place"),
    ("triton_join_pairs", "from_polar", "z + idx * 2,", changed("interleaved_parts.py", ("idx * 2 + 1", "idx * 2 + 2")), "not written here"),
    ("triton_join_pairs", "from_polar", "z + idx * 2,", changed("interleaved_parts.py", ("    tl.store(z + idx * 2 + 1", "    im += tl.load(radius + idx, mask=keep)\n    tl.store(z + idx * 2 + 1")), "a load stands"),
    ("triton_tiles", "softmax", "def softmax", sources_of("spilled_rows.py"), "no product"),
    ("triton_larger_block", "linear_kernel", "def linear_kernel", sources_of("linear_layer.py"), "other steps"),
    ("triton_lane_order", "block_sums", "tl.load", changed("lane_chunks.py", ("* CHUNK + k)", "* CHUNK + k) * k")), "apart from the index"),
    ("triton_lane_order", "block_sums", "tl.load", changed("lane_chunks.py", (_CHUNKS, _CHUNKS.replace("+=", "= 0.5 * acc +"))), "order of rounds"),
    ("triton_lane_order", "block_sums", "tl.load", changed("lane_chunks.py", ("out_ptr + pid, tl.sum(acc, axis=0)", "out_ptr + pid * BLOCK + tl.arange(0, BLOCK), acc")), "used by itself"),
    ("triton_lane_order", "block_sums", "tl.load", changed("lane_chunks.py", ("* CHUNK + k)", "* (CHUNK + 1) + k)")), "no lane has a run"),
    ("triton_lane_order", "scale", "tl.load", changed("scaled_chunks.py", ("tl.load(x_ptr + where,", "tl.load(y_ptr + where - 1,")), "another lane reads"),
    ("triton_lane_order", "scale", "tl.load", changed("scaled_chunks.py", ("value * factor", "tl.cumsum(value, 0)")), "mix"),
    ("triton_split_pairs", "magnitude", "re = tl.load", changed("complex_magnitude.py", (_PAIR, _PAIR.replace("+ 1,", "+ 2,"))), "other half"),
    ("triton_split_pairs", "magnitude", "re = tl.load", changed("complex_magnitude.py", ("ok = i < n", "ok = i != n")), "does not compare"),
    ("triton_split_pairs", "magnitude", "re = tl.load", changed("complex_magnitude.py", (_PAIR, "    tl.store(out_ptr + i, re)\n" + _PAIR)), "stands between"),
    ("triton_unit_stride", "doubled", "tl.load", changed("unit_stride.py", ('(do_not_specialize=["stride_m", "stride_n"])', "")), "kept from the compiler"),
    ("triton_store_layout", "add", "tl.store", sources_of("few_lanes.py"), "no product"),
    ("triton_reuse_load", "normalise", "mean = tl.sum", changed("fetched_again.py", ('other=-float("inf")', "other=0.0")), "joins loads"),
    ("triton_reuse_load", "normalise", "mean = tl.sum", changed("fetched_again.py", ("    top =", "    c += 1\n    top =")), "stands between"),
    ("triton_warps", "total", "def total", changed(SUM, ("BLOCK=128)", "BLOCK=1024)")), "fits"),
    ("triton_larger_block", "softmax", "def softmax", sources_of("spilled_rows.py"), "no constant sizes both"),
    ("triton_stages", "softmax", "def softmax", sources_of("spilled_rows.py"), "no product"),
    ("triton_warps", "scalar_product", "def scalar_product", sources_of(DOT), "tunes its launches itself"),
)  # fmt: skip


@pytest.mark.parametrize(("rule", "kernel", "line", "sources", "reason"), LEFT_ALONE, ids=lambda value: str(value)[:30])
def test_a_rule_declines_with_the_reason(
    rule: str, kernel: str, line: str, sources: dict[str, str], reason: str
) -> None:
    proposal = proposed(triton_task(sources, kernel, line, rule=rule))
    assert proposal.declined is not None, proposal.candidate
    assert any(words in proposal.declined.reason for words in reason.split("|")), proposal.declined.reason


def test_a_maximum_without_a_neutral_element_takes_one_of_its_own_lanes() -> None:
    sources = changed(MAX, ("other=-2147483648", "other=0"))
    _, texts = judged_text(
        proposed(triton_task(sources, "largest", "tl.atomic_max", rule="triton_reduce_lanes")), sources, "largest"
    )
    assert "tl.max(tl.where(keep, x, tl.min(x))), mask=tl.max(keep.to(tl.int32)) > 0)\n" in texts[MAX]


ROWS = """import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, stride, count, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    row = x_ptr + tl.program_id(0) * stride
    x = tl.load(row + lanes, mask=lanes < count, other=0.0)
    tl.store(y_ptr + tl.program_id(0) * stride + lanes, x / tl.sum(x), mask=lanes < count)


def run(x, y):
    rows, count = x.shape
    block = triton.next_power_of_2(count)
    num_warps = 8 if block > 1024 else 4
    if rows < 65536:
        scale[(rows,)](x, y, x.stride(0), count, BLOCK=block, num_warps=num_warps)
    else:
        scale[(65536,)](x, y, x.stride(0), count, block)
"""


def test_warps_follow_tensors_that_only_the_launch_can_size() -> None:
    sources = {"rows.py": ROWS}
    proposal = proposed(triton_task(sources, "scale", "def scale", rule="triton_warps"))
    _, texts = judged_text(proposal, sources, "scale")
    assert "BLOCK=block, num_warps=max(1, min(num_warps, block // 64)))" in texts["rows.py"]
    assert "count, block, num_warps=max(1, min(4, block // 64)))" in texts["rows.py"]


def test_warps_whose_lanes_all_have_work_stay_as_they_are() -> None:
    task = triton_task({"rows.py": ROWS}, "scale", "def scale", rule="triton_warps")
    full = {**task.finding.profile.quantities, Metric.LANE_FILL_RATIO: Quantity(1.0, Provenance.MODELLED)}
    finding = replace(task.finding, profile=replace(task.finding.profile, quantities=full))
    proposal = proposed(replace(task, finding=finding))
    assert proposal.declined is not None and "work for all lanes" in proposal.declined.reason


ROUNDS = """import triton
import triton.language as tl


@triton.jit
def count(x_ptr, c_ptr, N, B: tl.constexpr):
    pid = tl.program_id(0)
    for k in tl.static_range(4):
        # a quarter of the program's numbers
        i = (pid * 4 + k) * B + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < N, other=0.0)
        if k < N:
            tl.atomic_add(c_ptr, tl.sum((x > 0).to(tl.int32)))
        unused = x + 1


def run(x, c):
    count[(triton.cdiv(x.numel(), 1024),)](x, c, x.numel(), B=256)
"""


def test_what_a_loop_adds_to_one_address_is_added_behind_it() -> None:
    sources = {"rounds.py": ROUNDS}
    _, texts = judged_text(
        proposed(triton_task(sources, "count", "tl.atomic_add", rule="triton_hoist_atomic")), sources, "count"
    )
    (text,) = texts.values()
    assert "    partial = tl.full((), 0, dtype=c_ptr.dtype.element_ty)\n    for k in tl.static_range(4):\n" in text
    assert "            partial += tl.sum((x > 0).to(tl.int32)).to(c_ptr.dtype.element_ty)\n" in text
    assert "        unused = x + 1\n    tl.atomic_add(c_ptr, partial)\n" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("c_ptr, tl", "c_ptr + k, tl", "differs between the rounds"),
        ("c_ptr, tl", "c_ptr + pid, tl", "accesses its address at all"),
        ("unused = x + 1", "tl.store(c_ptr + 1, 0)", "beside the atomic"),
        ("unused = x + 1", "unused = tl.load(c_ptr)", "looks at what it adds to"),
        ("for k in tl.static_range(4):", "k = 0\n    if N > 0:", "is in no loop"),
    ],
)
def test_an_atomic_stays_in_its_loop_with_the_reason(old: str, new: str, reason: str) -> None:
    assert old in ROUNDS
    task = triton_task({"rounds.py": ROUNDS.replace(old, new)}, "count", "tl.atomic_add", rule="triton_hoist_atomic")
    declined = proposed(task).declined
    assert declined is not None and reason in declined.reason, declined


SPREAD = """import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    step = tl.num_programs(0)
    offs = pid + tl.arange(0, B) * step
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x * offs, mask=offs < n)


def run(x, y):
    scale[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), B=1024)
"""


def test_lanes_as_far_apart_as_the_grid_is_long_become_neighbours() -> None:
    sources = {"spread.py": SPREAD}
    task = triton_task(sources, "scale", "x = tl.load", rule="triton_renumber_lanes")
    _, texts = judged_text(proposed(task), sources, "scale")
    assert "    offs = pid * B + tl.arange(0, B)\n" in texts["spread.py"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("x * offs", "x * pid", "pid is used apart"),
        ("x * offs", "tl.cumsum(x, 0)", "may mix lanes"),
        ("num_programs(0)", "num_programs(1)", "step by the number"),
        ("tl.load(x_ptr + offs,", "tl.load(y_ptr + offs + 1,", "another lane reads"),
    ],
)
def test_lanes_keep_their_programs_with_the_reason(old: str, new: str, reason: str) -> None:
    assert old in SPREAD
    task = triton_task({"spread.py": SPREAD.replace(old, new)}, "scale", "x = tl.load", rule="triton_renumber_lanes")
    declined = proposed(task).declined
    assert declined is not None and reason in declined.reason, declined


FEW = (2, 2, 1)  # programs


def smaller(sources: dict[str, str], kernel: str, grid: tuple[int, int, int] = FEW) -> Proposal:
    return proposed(triton_task(sources, kernel, f"def {kernel}(", grid=grid, rule="triton_smaller_block"))


def test_tiles_are_halved_until_there_are_programs_for_all_units() -> None:
    sources = sources_of("few_programs.py")
    _, texts = judged_text(smaller(sources, "product"), sources, "product")
    assert "BM, BN = 16, 16\n" in texts["few_programs.py"]
    assert "BM, BN, BK=32, num_warps=1)" in texts["few_programs.py"]


SHARED = """import triton
import triton.language as tl

TILE = 256


@triton.jit
def bias(x_ptr, b_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for row in range(rows):
        x = tl.load(x_ptr + row * cols + c, mask=c < cols)
        tl.store(y_ptr + row * cols + c, x + tl.load(b_ptr + c, mask=c < cols), mask=c < cols)


def one(x, b, y):
    rows, cols = x.shape
    grid = ((cols + TILE - 1) // TILE,)
    bias[grid](x, b, y, rows, cols, TILE)


def other(x, b, y):
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    grid = lambda meta: (triton.cdiv(cols, meta["BLOCK"]),)
    bias[grid](x, b, y, rows, cols, BLOCK=block)
"""


def test_a_size_that_others_read_or_the_program_computes_is_bounded_in_the_kernel() -> None:
    sources = {"shared.py": SHARED}
    _, texts = judged_text(smaller(sources, "bias", (1, 1, 1)), sources, "bias")
    text = texts["shared.py"]
    assert "    BLOCK_PIECE: tl.constexpr = BLOCK if BLOCK < 64 else 64\n    c = tl.program_id(0) * BLOCK_PIECE" in text
    assert "grid = ((cols + min(TILE, 64) - 1) // min(TILE, 64),)\n" in text
    assert 'grid = lambda meta: (triton.cdiv(cols, min(meta["BLOCK"], 64)),)\n' in text
    assert "rows, cols, TILE, num_warps=1)" in text and "BLOCK=block, num_warps=1)" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("x + tl.load(b_ptr + c, mask=c < cols)", "x / tl.sum(x, axis=0)", "may mix elements along BLOCK"),
        ("x + tl.load(b_ptr + c, mask=c < cols)", "tl.cumsum(x, 0)", "may mix elements along BLOCK"),
        ("    for row", "    tl.store(y_ptr + tl.program_id(0), 1.0)\n    for row", "one place for its whole block"),
        ('triton.cdiv(cols, meta["BLOCK"])', "cols // 256 + 1", "no constant sizes both"),
    ],
)
def test_blocks_keep_their_size_with_the_reason(old: str, new: str, reason: str) -> None:
    assert old in SHARED
    declined = smaller({"shared.py": SHARED.replace(old, new)}, "bias", (1, 1, 1)).declined
    assert declined is not None and reason in declined.reason, declined


GRIDS = {
    "a function": """
    def grid(meta):
        # as many as there are blocks
        size = meta["BLOCK"]
        return (triton.cdiv(cols, size),)
""",
    "a variable": """
    blocks = triton.cdiv(cols, TILE)
    grid = (blocks, 1)
""",
    "a lambda of a variable": """
    count = (cols + TILE - 1) // TILE
    grid = lambda meta: (count,)
""",
}


@pytest.mark.parametrize("written", GRIDS)
def test_grids_are_followed_into_functions_and_variables(written: str) -> None:
    one = SHARED[: SHARED.index("def other")].replace("    grid = ((cols + TILE - 1) // TILE,)\n", GRIDS[written][1:])
    sources = {"shared.py": one}
    _, texts = judged_text(smaller(sources, "bias", (1, 1, 1)), sources, "bias")
    assert "TILE = 64\n" in texts["shared.py"]
    grid = texts["shared.py"].split("shape\n")[1]
    assert GRIDS[written][1:] in grid, texts


def test_a_count_that_equals_the_size_of_a_block_is_no_size() -> None:
    one = SHARED[: SHARED.index("def other")].replace("((cols + TILE - 1) // TILE,)", "(triton.cdiv(256, 256),)")
    sources = {"shared.py": one.replace("rows, cols, TILE)", "rows, 256, 256)")}
    _, texts = judged_text(smaller(sources, "bias", (1, 1, 1)), sources, "bias")
    assert "grid = (triton.cdiv(256, 64),)\n" in texts["shared.py"]
    assert "rows, 256, 64, num_warps=1)" in texts["shared.py"]


@pytest.mark.parametrize("written", GRIDS)
def test_a_grid_that_other_code_reads_stays(written: str) -> None:
    one = SHARED[: SHARED.index("def other")].replace("    grid = ((cols + TILE - 1) // TILE,)\n", GRIDS[written][1:])
    name = {"a variable": "blocks", "a lambda of a variable": "count"}.get(written, "grid")
    reason = "no constant sizes both" if name != "grid" else "other code reads this grid"
    one += f"    print({name}, TILE)\n"
    declined = smaller({"shared.py": one}, "bias", (1, 1, 1)).declined
    assert declined is not None and reason in declined.reason, declined


def test_blocks_stay_as_they_are_where_all_units_have_some() -> None:
    declined = smaller(sources_of("few_programs.py"), "product", (400, 1, 1)).declined
    assert declined is not None and "programs for" in declined.reason


def test_few_programs_are_no_reason_to_loop() -> None:
    proposal = proposed(
        triton_task(sources_of(SUM), "total", "tl.atomic_add", grid=(300, 1, 1), rule="triton_block_loop")
    )
    assert proposal.declined is not None and "only 300 programs" in proposal.declined.reason


def test_narrow_sums_are_not_made_longer() -> None:
    task = triton_task(sources_of(LANES), "squares", "tl.atomic_add", rule="triton_reduce_lanes", element_bytes=2)
    declined = proposed(task).declined
    assert declined is not None and "lose precision" in declined.reason


def test_line_ends_and_comments_are_kept() -> None:
    (text,) = sources_of(SUM).values()
    text = text.replace("    mask = offsets", "    # the last block is short\n    mask = offsets").replace("\n", "\r\n")
    sources = {SUM: text}
    task = triton_task(sources, "total", "tl.atomic_add", rule="triton_block_loop")
    _, texts = judged_text(proposed(task), sources, "total")
    assert "        # the last block is short\r\n        mask = offsets < n\r\n" in texts[SUM]
    assert "\n" not in texts[SUM].replace("\r\n", "")


def test_only_rules_of_the_file_s_language_are_asked() -> None:
    task = triton_task(sources_of(SUM), "total", "tl.atomic_add", rule="privatize_atomics")
    from intelliperf.codegen.rulebook import RuleRewriter
    from intelliperf.codegen.syntax.clang import ClangParser

    assert RuleRewriter(ClangParser(("false",))).propose(task, []) is None
