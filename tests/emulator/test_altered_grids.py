"""Altered launches of two versions whose hosts choose different grids, by rules of their own that are known."""

from __future__ import annotations

from pathlib import Path

from test_altered_launches import Variants

from intelliperf.records import Interception

DIAGONAL = """#include <hip/hip_runtime.h>
__global__ void diagonal(int* out, int n, int skipped, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - skipped) out[i] = i + step;
}
int main() {
  const int n = 50, skipped = 20, step = 2, threads = VARIANT ? 32 : 16;
  int* out;
  if (hipMalloc(&out, n * 4) || hipMemset(out, 0, n * 4)) return 1;
  diagonal<<<(n - skipped + threads - 1) / threads, threads>>>(out, n, skipped, step);
  return hipDeviceSynchronize();
}
"""
_SHAPES = ((2, 1, 1, 16, 1, 1), (1, 1, 1, 32, 1, 1))
_GRIDS = tuple(f"4:@1 @2 sub.32 #{n - 1} add.32 #{n} sdiv.32 trunc.32 #4294967296 or.64:#1" for n in (16, 32))


def test_a_grid_of_one_block_grows_as_its_host_has_it_grow(tmp_path: Path) -> None:
    altered = Interception(other_numbers=(3,), other_shapes=_SHAPES, other_grids=_GRIDS)
    followed = Variants(tmp_path, DIAGONAL).followed(1, altered, Interception())
    assert not followed.divergences


def test_a_small_number_that_is_one_grid_by_chance_is_the_same_in_both_versions(tmp_path: Path) -> None:
    altered = Interception(other_numbers=(3,), other_shapes=_SHAPES)
    source = DIAGONAL.replace("n - skipped", "n").replace("n = 50, skipped = 20", "n = 30, skipped = 7")
    assert not Variants(tmp_path, source).followed(1, altered, Interception()).divergences


ROWS = """#include <hip/hip_runtime.h>
__global__ void rows(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && blockIdx.y < (VARIANT ? 3 : 60000)) out[blockIdx.y * n + i] = in[blockIdx.y * n + i] + 1;
}
int main() {
  const int n = 50, count = 3;
  int *in, *out;
  if (hipMalloc(&in, n * count * 4) || hipMalloc(&out, n * count * 4)) return 1;
  if (hipMemset(in, 0, n * count * 4) || hipMemset(out, 0, n * count * 4)) return 2;
  rows<<<dim3(2, count), 32>>>(in, out, n);
  return hipDeviceSynchronize();
}
"""


def test_a_limit_of_blocks_that_no_argument_says_shows_in_more_of_them(tmp_path: Path) -> None:
    grids = ("3:@2 #31 add.32 #32 sdiv.32 trunc.32 =y #32 shl.64 or.64:#1",)
    variants = Variants(tmp_path, ROWS)
    assert "variant" in variants.followed(1, Interception(other_numbers=(3,), other_grids=grids)).divergences
    assert not variants.followed(0, Interception(other_numbers=(3,), other_grids=grids)).divergences
