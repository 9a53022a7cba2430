"""The corpus: its families of kernels, their sizes, and which kernel is the better way to write which other.

Halves were drawn before anything was measured: families in the order in which they were written, one by one. The
model and its error are fitted to the calibration half; the test half is only looked at. The fresh families were written
after that, and what the model says of them was put down before they were measured: see FRESH.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
CALIBRATION, TEST, FRESH = "calibration", "test", "fresh"


@dataclass(frozen=True)
class Family:
    """`sizes` are argument lists of the program, small first; `pairs` are (naive, expert) variants."""

    name: str
    half: str
    sizes: tuple[tuple[int, ...], ...]
    pairs: tuple[tuple[str, str], ...]

    @property
    def source(self) -> Path:
        return CORPUS.parent / ("fresh" if self.half == FRESH else "corpus") / f"{self.name}.cu"


_WRITTEN = (
    ("stream", [(1 << 18,), (1 << 23,)], "chunked scalar, scalar vec4, chunked grid_stride"),
    ("transpose", [(512,), (2048,)], "writes_apart tile_padded, reads_apart tile_padded, tile_conflicts tile_padded"),
    ("rows", [(512, 1024), (16384, 256)], "thread_per_row warp_per_row, thread_per_row block_per_row"),
    ("columns", [(512, 512), (2048, 2048)], "block_per_column strips, thread_per_column strips"),
    (
        "reduce",
        [(1 << 16,), (1 << 20,)],
        "atomic_each shuffled, atomic_each_int shuffled, atomic_in_lds shuffled, atomic_in_lds_int shuffled, "
        "tree_modulo tree, tree shuffled, shuffled shuffled_many",
    ),
    (
        "histogram",
        [(1 << 18, 64), (1 << 21, 256)],
        "global_one_each lds, global lds, lds per_warp, global_skewed lds_skewed, lds_skewed per_warp_skewed",
    ),
    ("gemm", [(128,), (320,)], "columns_first direct, direct tiled, tiled in_registers, columns_first in_registers"),
    ("stencil", [(512,), (1536,)], "row_wrapped row_direct, row_direct row_in_lds, plane_down plane_across"),
    ("layout", [(1 << 17,), (1 << 21,)], "records apart, records by_fours, records_one_field apart_one_field"),
    ("scan", [(1 << 17,), (1 << 20,)], "one_thread by_warps, doubling by_warps, two_sweeps by_warps"),
    (
        "spmv",
        [(1 << 14, 16), (1 << 17, 16)],
        "thread_per_row eight_per_row, thread_per_row column_major, warp_per_row eight_per_row",
    ),
    ("softmax", [(512, 512), (4096, 1024)], "thread_per_row block_per_row, block_per_row warp_per_row"),
    ("nbody", [(1024,), (4096,)], "fields tiled, direct tiled"),
    (
        "gather",
        [(1 << 18,), (1 << 23,)],
        "random in_order, scattered scattered_in_order, twice random, small small_in_lds",
    ),
    ("divergence", [(1 << 15, 128), (1 << 19, 128)], "every_other by_halves, uneven uneven_sorted"),
    ("local", [(1 << 14,), (1 << 17,)], "in_private in_lds, in_lds_by_thread in_lds, in_private in_registers"),
    (
        "launch",
        [(1 << 16,), (1 << 20,)],
        "one_block one_each, sixteen_blocks one_each, tiny_blocks one_each, one_lane_each one_each, hoarding holding",
    ),
    (
        "matvec",
        [(512,), (2048,)],
        "thread_per_row warp_per_row, warp_per_row by_fours, thread_per_row transposed",
    ),
    ("conv", [(256,), (768,)], "down across, across constant, constant tiled"),
    ("compact", [(1 << 17,), (1 << 21,)], "place_each place_per_warp, place_per_warp place_per_block"),
    ("search", [(1 << 15, 1 << 15), (1 << 18, 1 << 20)], "linear binary_few, binary binary_top_in_lds"),
    (
        "maths",
        [(1 << 16,), (1 << 20,)],
        "divided shifted, doubles singles, one_chain four_chains, functions fast_functions",
    ),
    (
        "extremes",
        [(1 << 16,), (1 << 20,)],
        "atomic_each per_block, swapped per_block, checked_first per_block, per_warp per_block",
    ),
    ("lds", [(132, 256), (2112, 256)], "by_columns by_columns_padded, by_columns by_rows, records fields"),
    ("unequal", [(512,), (4096,)], "triangle triangle_paired, one_long one_long_shared_out"),
    ("kmeans", [(1 << 14,), (1 << 17,)], "by_point by_dimension, by_dimension held, by_point held"),
    ("image", [(1 << 18,), (1 << 22,)], "by_rows by_bytes, by_bytes by_words, by_bytes by_lds"),
)


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for words in text.split(","):
        naive, expert = words.split()
        pairs.append((naive, expert))
    return tuple(pairs)


FAMILIES: Mapping[str, Family] = {
    name: Family(name, TEST if place % 2 else CALIBRATION, tuple(sizes), _pairs(pairs))
    for place, (name, sizes, pairs) in enumerate(_WRITTEN)
}

_FRESH = (
    ("options", [(1 << 15,), (1 << 20,)], "promoted single, records single"),
    ("layernorm", [(512,), (8192,)], "thread_per_row kept_by_warp, three_passes kept_by_warp"),
    ("hadamard", [(1 << 15,), (1 << 20,)], "through_memory through_lds, through_lds by_shuffles"),
    ("sorting", [(1 << 15,), (1 << 19,)], "in_memory in_lds"),
    ("life", [(256,), (2048,)], "down across, across masked"),
    (
        "montecarlo",
        [(1 << 14, 64), (1 << 17, 64)],
        "atomic_per_hit atomic_per_thread, atomic_per_hit atomic_per_block",
    ),
    ("pooling", [(64,), (256,)], "channels_outside channels_inside"),
    ("hashing", [(1 << 14,), (1 << 18,)], "whole_entries keys_apart"),
    ("adam", [(1 << 16,), (1 << 21,)], "powers given, records given"),
    ("waves", [(1 << 16,), (1 << 21,)], "by_parts by_pairs, in_turn by_pairs"),
    ("heat", [(64,), (160,)], "along_depth along_rows, along_rows marching"),
    ("segments", [(1 << 12,), (1 << 16,)], "one_lane eight_lanes, one_lane whole_warp"),
    ("channels", [(1 << 12,), (1 << 16,)], "read_in_order by_tiles, written_in_order by_tiles"),
    ("tridiagonal", [(1 << 12,), (1 << 15,)], "one_by_one interleaved"),
    (
        "checksums",
        [(1 << 13,), (1 << 17,)],
        "constant_table table_in_lds, table_in_memory table_in_lds, table_in_lds by_words",
    ),
    ("ranks", [(1 << 11,), (1 << 13,)], "from_memory from_lds, from_memory four_each"),
    ("window", [(1 << 17,), (1 << 21,)], "running anew_in_lds, anew anew_in_lds"),
    ("frontier", [(1 << 14,), (1 << 18,)], "thread_per_vertex warp_per_vertex, thread_per_vertex listed"),
    ("unpacking", [(512,), (8192,)], "by_bytes by_words, by_words by_fours"),
)
FRESH_FAMILIES: Mapping[str, Family] = {
    name: Family(name, FRESH, tuple(sizes), _pairs(pairs)) for name, sizes, pairs in _FRESH
}
