"""Altered launches of two versions whose hosts choose different grids, by rules of their own that are known."""

from __future__ import annotations

from pathlib import Path

import pytest
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


CELLS = """#include <hip/hip_runtime.h>
__global__ void cells(int* out, int n, int m, int gap) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i < m + 60) out[i] = i + gap;
}
int main() {
  const int n = 150, m = 90, gap = 2, threads = VARIANT ? 64 : 128;
  int* out;
  if (hipMalloc(&out, n * 4) || hipMemset(out, 0, n * 4)) return 1;
  cells<<<(n + threads - 1) / threads, threads>>>(out, n, m, gap);
  return hipDeviceSynchronize();
}
"""


def test_two_sizes_that_are_raised_at_once_are_the_same_in_both_versions(tmp_path: Path) -> None:
    """With the one raised, the blocks of one version alone would by chance be those of the other one."""
    mine, theirs = (f"4:@1 #{n - 1} add.32 #{n} sdiv.32 trunc.32 #4294967296 or.64:#1" for n in (128, 64))
    altered = Interception(
        other_numbers=(3,), other_shapes=((2, 1, 1, 128, 1, 1), (3, 1, 1, 64, 1, 1)), other_grids=(mine,)
    )
    assert not Variants(tmp_path, CELLS).followed(1, altered, Interception(other_grids=(theirs,))).divergences


STRUCT = """#include <hip/hip_runtime.h>
struct Shape { int rows, columns, step; };
__global__ void shaped(int* out, Shape s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.rows * s.columns) out[i] = i + s.step;
}
int main() {
  const Shape s = {8, 16, 2};
  int* out;
  if (hipMalloc(&out, 1024) || hipMemset(out, 0, 1024)) return 1;
  shaped<<<VARIANT ? s.rows * s.columns / 32 : (s.rows * s.columns + 31) / 32, 32>>>(out, s);
  return hipDeviceSynchronize();
}
"""


def test_a_grid_that_goes_by_members_of_a_struct_grows_and_shrinks_as_each_host_has_it(tmp_path: Path) -> None:
    """Rounded down in the one: wrong where a member that divides evenly becomes another."""
    end = "trunc.32 #4294967296 or.64:#1"
    mine = f"2/_Z6shapedPi5Shape:@1+0.4 @1+4.4 mul.32 #31 add.32 #32 sdiv.32 {end}"
    theirs = f"2/_Z6shapedPi5Shape:@1+0.4 @1+4.4 mul.32 #32 sdiv.32 {end}"
    versions, shapes = Variants(tmp_path, STRUCT), ((4, 1, 1, 32, 1, 1), (4, 1, 1, 32, 1, 1))
    altered = Interception(other_numbers=(3,), other_shapes=shapes)
    assert not versions.followed(1, altered, Interception()).divergences
    grids = Interception(other_grids=(mine,)), Interception(other_grids=(theirs,))
    assert versions.followed(1, altered | grids[0], grids[1]).divergences
    assert not versions.followed(1, altered | grids[0], grids[0]).divergences
    others = Interception(other_grids=(theirs.replace("shaped", "shapes"),))  # another kernel with as many arguments
    assert not versions.followed(1, altered, others).divergences


REST = """#include <hip/hip_runtime.h>
__global__ void rest(int* out, int n, int first, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + (VARIANT ? first : 0);
  if (i >= first && i < n) out[i] = i + step;
}
int main() {
  const int n = 50, first = 20, step = 2, threads = 16;
  int* out;
  if (hipMalloc(&out, n * 4) || hipMemset(out, 0, n * 4)) return 1;
  rest<<<(n - (VARIANT ? first : 0) + threads - 1) / threads, threads>>>(out, n, first, step);
  return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize(("cells", "known"), [(">= first", True), (">= first - 40", False)])
def test_without_a_block_nothing_has_to_be_done(tmp_path: Path, cells: str, known: bool) -> None:
    mine = "4:@1 #15 add.32 #16 sdiv.32 trunc.32 #4294967296 or.64:#1"
    theirs = "4:@1 @2 sub.32 #15 add.32 #16 sdiv.32 trunc.32 #4294967296 or.64:#1"
    altered = Interception(
        other_numbers=(3,), other_shapes=((2, 1, 1, 16, 1, 1), (4, 1, 1, 16, 1, 1)), other_grids=(mine, "&4:@1 @2")
    )
    variants = Variants(tmp_path, REST.replace(">= first", cells))
    followed = variants.followed(1, altered, Interception(other_grids=(theirs, "&4:@1 @2")))
    assert ("variant" not in followed.divergences) == known


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


WINDOWS = """#include <hip/hip_runtime.h>
__global__ void windows(const int* in, int* out, int n, int radius) {
  extern __shared__ int tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, left = blockIdx.x * blockDim.x - radius;
  if (VARIANT) {
    for (int k = threadIdx.x; k < blockDim.x + 2 * radius; k += blockDim.x) tile[k] = in[min(max(left + k, 0), n - 1)];
    __syncthreads();
  }
  int sum = 0;
  for (int k = -radius; k <= radius; ++k)
    sum += VARIANT ? tile[threadIdx.x + radius + k] : in[min(max(i + k, 0), n - 1)];
  if (i < n) out[i] = sum;
}
int main() {
  const int n = 50, radius = 6, threads = 32;
  int *in, *out;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out, n * 4)) return 1;
  if (hipMemset(in, 1, n * 4) || hipMemset(out, 0, n * 4)) return 2;
  windows<<<(n + threads - 1) / threads, threads, VARIANT ? (threads + 2 * radius) * 4 : 0>>>(in, out, n, radius);
  return hipDeviceSynchronize();
}
"""


def test_a_tile_grows_with_its_radius_although_the_original_has_none(tmp_path: Path) -> None:
    grid = "4:@2 #31 add.32 #32 sdiv.32 trunc.32 #4294967296 or.64:#1"
    tile = f"{grid}:@3 #1 shl.32 #32 add.32 sext.32 #2 shl.64"
    altered = Interception(other_numbers=(3,), other_shapes=((2, 1, 1, 32, 1, 1),), other_grids=(grid,))
    variants = Variants(tmp_path, WINDOWS)
    assert not variants.followed(1, altered, Interception(other_grids=(tile,))).divergences
    assert "variant" in variants.followed(1, altered, Interception()).divergences


def test_a_small_radius_grows_beyond_a_tile_of_fixed_size(tmp_path: Path) -> None:
    grid = "4:@2 #31 add.32 #32 sdiv.32 trunc.32 #4294967296 or.64:#1"
    source = WINDOWS.replace("radius = 6", "radius = 2").replace(
        "extern __shared__ int tile[]", "__shared__ int tile[48]"
    )
    altered = Interception(other_numbers=(3,), other_grids=(grid,))
    assert "variant" in Variants(tmp_path, source).followed(1, altered).divergences


SPREAD = """#include <hip/hip_runtime.h>
__global__ void spread(int* out, int n, int rows) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * rows; i += step) {
    out[i] = i % n + i / n;
    if (VARIANT == 2) break;
  }
}
int main(int argc, char**) {
  const int n = 40 + 10 * argc, rows = 6 + argc, threads = 32;
  int* out;
  if (hipMalloc(&out, n * rows * 4) || hipMemset(out, 0, n * rows * 4)) return 1;
  spread<<<VARIANT ? 11 : (n * rows + threads - 1) / threads, threads>>>(out, n, rows);
  return hipDeviceSynchronize();
}
"""


def test_a_grid_that_goes_by_other_arguments_than_the_originals_is_its_own(tmp_path: Path) -> None:
    mine = ("3:@1 @2 mul.32 #31 add.32 #32 sdiv.32 trunc.32 #4294967296 or.64:#1", "&3:@1 @2")
    fixed = ("3:#4294967307:#1", "&3:@1 @2")
    altered = Interception(other_numbers=(3,), other_shapes=((11, 1, 1, 32, 1, 1),), other_grids=mine)
    variants = Variants(tmp_path, SPREAD)
    assert not variants.followed(1, altered, Interception(other_grids=fixed)).divergences
    assert "variant" in variants.followed(2, altered, Interception(other_grids=fixed)).divergences


def test_what_only_the_candidates_grid_goes_by_is_not_raised(tmp_path: Path) -> None:
    """The original's may go by a number that is made of it."""
    source = SPREAD.replace("i < n * rows; i += step", "i < n * rows; i += n * rows")
    mine = ("3:#4294967307:#1", "&3:@1 @2", "!3:@1 @2")
    grows = ("3:@1 @2 mul.32 #31 add.32 #32 sdiv.32 trunc.32 #4294967296 or.64:#1", "&3:@1 @2", "!3:@1 @2")
    altered = Interception(other_numbers=(3,), other_shapes=((11, 1, 1, 32, 1, 1),), other_grids=mine)
    assert not Variants(tmp_path, source).followed(1, altered, Interception(other_grids=grows)).divergences


def test_a_grid_that_members_of_a_structure_make_grows_with_them(tmp_path: Path) -> None:
    source = DIAGONAL.replace("int n, int skipped, int step)", "Numbers g)").replace(
        "const int i =", "const int n = g.n, skipped = 0, step = 2, i ="
    )
    source = source.replace("n = 50", "n = 40").replace(
        "__global__", "struct Numbers { long unused[2]; int n; };\n__global__", 1
    )
    source = source.replace("(n - skipped + threads", "(n + threads").replace(
        "(out, n, skipped, step)", "(out, Numbers{{}, n})"
    )
    altered = Interception(
        other_numbers=(3,),
        other_shapes=((3, 1, 1, 16, 1, 1), (2, 1, 1, 32, 1, 1)),
        other_grids=("2?:=x #4294967296 or.64:#1",),
    )
    assert not Variants(tmp_path, source).followed(1, altered, Interception()).divergences


LARGE = """#include <hip/hip_runtime.h>
__global__ void large(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i < (VARIANT ? 700000 : INT_MAX)) out[i] = in[i] + 1;
}
int main() {
  const int n = 600000, threads = 256;
  int *in, *out;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out, n * 4)) return 1;
  if (hipMemset(in, 0, n * 4) || hipMemset(out, 0, n * 4)) return 2;
  large<<<(n + threads - 1) / threads, threads>>>(in, out, n);
  return hipDeviceSynchronize();
}
"""


def test_a_size_of_a_launch_of_a_million_accesses_is_raised_too(tmp_path: Path) -> None:
    grid = "3:@2 #255 add.32 #256 sdiv.32 trunc.32 #4294967296 or.64:#1"
    altered = Interception(other_numbers=(3,), other_grids=(grid,))
    assert "variant" in Variants(tmp_path, LARGE).followed(1, altered).divergences
