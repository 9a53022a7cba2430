"""Rows and columns whose threads are numbered over a plane of blocks, or by quotient and remainder."""

from __future__ import annotations

from pathlib import Path

from rowproposals import propose
from rulebench import output

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void plane(const int* m, int* sums, int rows, int length) {
  int r = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int sum = r;
  for (int i = 0; i < length; ++i) sum += m[r * length + i];
  sums[r] = sum;
}
__global__ void columns(const int* m, int* least, int* rest, int count, int depth, int width) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= count) return;
  int outer = n / width, inner = n % width, low = 1 << 30;
  for (int d = 0; d < depth; d++) {
    int at = (outer * depth + d) * width + inner;
    low = min(low, m[at]);
  }
  for (int d = 0; d < depth; d++) {
    int at = (outer * depth + d) * width + inner;
    rest[at] = m[at] - low;
  }
  least[n] = low;
}
int main() {
  const int n = 96 * 40;
  static int h[n];
  for (int i = 0; i < n; ++i) h[i] = i * 7919 % 1013;
  int *m, *out, *rest;
  hipMalloc(&m, sizeof h); hipMalloc(&out, sizeof h); hipMalloc(&rest, sizeof h);
  hipMemcpy(m, h, sizeof h, hipMemcpyHostToDevice);
  hipMemset(out, 0, sizeof h); hipMemset(rest, 0, sizeof h);
  plane<<<dim3(1, 2), 64>>>(m, out, 96, 40);
  hipMemcpy(h, out, 384, hipMemcpyDeviceToHost);
  for (int i = 0; i < 96; ++i) printf("%d ", h[i]);
  columns<<<3, 64>>>(m, out, rest, 160, 24, 8);
  hipMemcpy(h, out, 640, hipMemcpyDeviceToHost);
  for (int i = 0; i < 160; ++i) printf("%d ", h[i]);
  hipMemcpy(h, rest, sizeof h, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 7) printf("%d ", h[i]);
}
"""


def test_threads_of_a_plane_of_blocks_and_of_remainders_share_their_work(tmp_path: Path) -> None:
    text = PROGRAM
    for kernel in ("plane", "columns"):
        proposal = propose(tmp_path / kernel, "app.hip", text, kernel)
        assert proposal.candidate is not None, proposal.declined
        text = proposal.candidate.edits[0].text
    assert "int r = (blockIdx.x + blockIdx.y * gridDim.x) * (blockDim.x / 32) + threadIdx.x / 32;" in text
    assert "plane<<<dim3(1 * 32, 2), 64>>>" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


def test_a_width_that_nothing_was_divided_by_may_be_zero(tmp_path: Path) -> None:
    text = PROGRAM.replace("outer = n / width, inner = n % width", "outer = n / 8, inner = n % 8")
    proposal = propose(tmp_path, "app.hip", text, "columns")
    assert proposal.candidate is not None
    shared = [line for line in proposal.candidate.edits[0].text.splitlines() if "d += 16" in line]
    assert len(shared) == 1
