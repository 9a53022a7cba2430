"""Kernels that collect in a table of each block: their rows are shared out as if they had none."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
__device__ void bump(unsigned* copy, unsigned* all, unsigned* entry, unsigned by) {
  const auto at = entry - all;
  if (at < 48) {
    atomicAdd(copy + at, by);
  } else {
    atomicAdd(entry, by);
  }
}
__global__ void k(const int* x, unsigned* bins, float* sum, int n, int length) {
  __shared__ unsigned table[64];
  __shared__ float total;
  const int tid = threadIdx.x;
  for (int e = tid; e < 64; e += blockDim.x) table[e] = 0;
  if (threadIdx.x == 0) total = 0.0f;
  __syncthreads();
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    for (int j = 0; j < length; ++j) {
      int value = x[row * length + j];  //@
      atomicAdd(&table[value & 63], 1u);
    }
    atomicAdd(&total, 0.25f);
  }
  __syncthreads();
  for (int e = tid; e < 64; e += blockDim.x)
    if (table[e] != 0) atomicAdd(&bins[e], table[e]);
  if (threadIdx.x == 0) atomicAdd(sum, total);
}
int main() {
  const int n = 200, length = 45;
  std::vector<int> x(n * length);
  for (int i = 0; i < n * length; ++i) x[i] = i * 7 % 61 + i % 3;
  int* dx;
  unsigned* bins;
  float* sum;
  hipMalloc(&dx, x.size() * 4);
  hipMalloc(&bins, 64 * 4);
  hipMalloc(&sum, 4);
  hipMemcpy(dx, x.data(), x.size() * 4, hipMemcpyHostToDevice);
  hipMemset(bins, 0, 64 * 4);
  hipMemset(sum, 0, 4);
  k<<<(n + 63) / 64, 64>>>(dx, bins, sum, n, length);
  std::vector<unsigned> out(64);
  float all;
  hipMemcpy(out.data(), bins, 64 * 4, hipMemcpyDeviceToHost);
  hipMemcpy(&all, sum, 4, hipMemcpyDeviceToHost);
  for (unsigned one : out) printf("%u ", one);
  printf("%g\\n", all);
}
"""
PLAIN, PASSED_ON = "atomicAdd(&table[value & 63], 1u);", "bump(table, bins, &bins[value & 63], 1u);"


def _bench(root: Path, *changes: tuple[str, str]) -> Bench:
    text = PROGRAM
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return Bench(root, {"app.hip": text}, block=(64, 1, 1))


@pytest.mark.parametrize("update", [PLAIN, PASSED_ON])
def test_rows_are_shared_out_around_a_block_s_table(tmp_path: Path, update: str) -> None:
    bench = _bench(tmp_path, (PLAIN, update))
    changed = bench.rewritten("row_per_wave", AccessKind.LOAD)
    assert "for (int e = tid; e < 64; e += blockDim.x) table[e] = 0;" in changed["app.hip"]
    assert "if (lane == 0) atomicAdd(&total, 0.25f);" in changed["app.hip"]
    assert output(tmp_path / "before", bench.files) == output(tmp_path / "after", changed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("table[e] = 0;", "table[e] = 1;"),  # which each block adds
        ("table[e] = 0;", "table[e] = e;"),
        ("table[e] = 0;", "table[e] = gridDim.x;"),
        ("atomicAdd(&bins[e], table[e]);", "atomicAdd(&bins[e], table[e] > 9);"),
        ("atomicAdd(&bins[e], table[e]);", "atomicMax(&bins[e], table[e]);"),
        ("atomicAdd(&bins[e], table[e]);", "bins[e] = table[e];"),
        ("atomicAdd(&bins[e], table[e]);", "atomicAdd(&bins[e + 0 * blockIdx.x], table[e]);"),
        ("table[e] != 0", "table[e] > 4"),
        ("atomicAdd(&bins[e], table[e]);", "atomicAdd(&bins[e], table[e] + 1);"),
        ("int value = x[row * length + j];", "int value = x[row * length + j] + table[0];"),
        ("int value = x[row * length + j];", "int value = x[row * length + j] + bins[0];"),
        ("int value = x[row * length + j];", "int value = x[row * length + j] + tid;"),
        (PLAIN, "atomicMax(&table[value & 63], 1u); atomicAdd(&table[0], 1u);"),
        (PLAIN, "bins[value & 63] += atomicAdd(&table[value & 63], 1u);"),
        (PLAIN, "atomicSub(&bins[value & 63], 1u); atomicMin(&bins[0], 9u);"),
        ("atomicAdd(&total, 0.25f);", "total += 0.25f;"),
        ("atomicAdd(&total, 0.25f);", "__syncthreads();"),
        ("atomicAdd(&total, 0.25f);", "return;"),
        ("atomicAdd(copy + at, by);", "{ atomicAdd(copy + at, by); atomicAdd(copy, by); }"),
        ("    atomicAdd(entry, by);", "    atomicMax(entry, by);"),
        ("const auto at = entry - all;", "const auto at = entry - all; all[0] = 7;"),
        ("const auto at = entry - all;", "const auto at = entry - all; if (threadIdx.x > 3) return;"),
    ],
)
def test_other_tables_keep_their_rows(tmp_path: Path, old: str, new: str) -> None:
    passed_on = [(PLAIN, PASSED_ON)] if old not in PROGRAM.partition("__global__")[2] else []
    reason = _bench(tmp_path, (old, new), *passed_on).declined("row_per_wave", AccessKind.LOAD)
    assert "LDS" in reason or "reads the thread's place itself" in reason
