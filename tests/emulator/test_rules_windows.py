"""Sums of floating-point numbers over a window that moves along a row: run on the emulator before and after."""

from __future__ import annotations

from pathlib import Path

from rowproposals import propose
from rulebench import output

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void smooth(const float* in, float* out, int rows, int cols, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* x = in + r * cols;
  float sum = 1;
  for (int c = 0; c < cols; c++) {
    sum += x[c];
    if (c >= width) sum -= x[c - width];
    out[r * cols + c] = sum / width;
  }
}
int main() {
  const int rows = 64, cols = 83;
  static float h[rows * cols];
  for (int i = 0; i < rows * cols; ++i) h[i] = i * 7 % 31;
  float *a, *b;
  hipMalloc(&a, sizeof h); hipMalloc(&b, sizeof h);
  hipMemcpy(a, h, sizeof h, hipMemcpyHostToDevice);
  smooth<<<1, 64>>>(a, b, rows, cols, 8);
  hipMemcpy(h, b, sizeof h, hipMemcpyDeviceToHost);
  for (int i = 0; i < rows * cols; i += 91) printf("%g\\n", h[i]);
}
"""


def test_what_leaves_a_window_is_added_up_apart_from_what_enters_it(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "a", "app.hip", PROGRAM, "smooth")
    assert proposal.candidate is not None, proposal.declined
    (edit,) = proposal.candidate.edits
    assert "sum -= group_running_sum(part_here_less);" in edit.text
    assert output(tmp_path / "b", {"app.hip": edit.text}) == output(tmp_path / "c", {"app.hip": PROGRAM})
