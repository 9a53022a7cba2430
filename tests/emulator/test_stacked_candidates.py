"""A candidate upon an accepted one that launches another kernel otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from patchbench import Bench

from intelliperf.records import Declaration, Outcome

ONE_THREAD = """\
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += in[row * columns + c];
  out[row] = sum;
"""
A_WAVE = """\
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int c = threadIdx.x % 32; c < columns; c += 32) sum += in[row * columns + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) out[row] = sum;
"""
SOURCE = f"""\
#include <cstdio>
#include <cuda_runtime.h>
__global__ void sums(const float* in, float* out, int rows, int columns) {{
{ONE_THREAD}}}
__global__ void scale(const float* in, float* out, int rows, int columns) {{
  if (blockIdx.x >= rows) return;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {{
    float v = in[blockIdx.x * columns + c];
    out[blockIdx.x * columns + c] = v + v * 2;
  }}
}}
int main() {{
  const int rows = 1024, columns = 128, n = rows * columns;
  static float h[n], s[rows];
  for (int i = 0; i < n; ++i) h[i] = i % 17 * 0.25f;
  float *a, *b, *c;
  cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h); cudaMalloc(&c, sizeof s);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  sums<<<(rows + 255) / 256, 256>>>(a, c, rows, columns);
  scale<<<rows, 64>>>(a, b, rows, columns);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost); cudaMemcpy(s, c, sizeof s, cudaMemcpyDeviceToHost);
  double t = 0;
  for (float v : h) t += v;
  for (float v : s) t += v;
  printf("%.6g\\n", t);
}}
"""


@pytest.mark.slow
def test_launches_of_another_kernel_are_altered_where_their_grids_are_known(tmp_path: Path) -> None:
    accepted = SOURCE.replace(ONE_THREAD, A_WAVE).replace(
        "sums<<<(rows + 255) / 256,", "sums<<<(rows + 255) / 256 * 32,"
    )
    faster = accepted.replace("v + v * 2", "v * 3")
    assert len({SOURCE, accepted, faster}) == 3
    bench = Bench(tmp_path, SOURCE, "app.cu", "scale")
    verdict = bench.verdict_upon(accepted, faster, Declaration(geometry=True))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
    wrong = faster.replace("v * 3", "v * (rows < 1000 ? 4 : 3)")
    assert bench.verdict_upon(accepted, wrong, Declaration(geometry=True)).outcome is Outcome.WRONG_OUTPUT
