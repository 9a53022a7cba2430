"""Rows and columns whose threads are numbered in a plane, or by quotient and remainder."""

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
__global__ void pairs(const int* a, const int* b, int* dots, int rows, int columns, int length) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * 8 + threadIdx.x;
  if (r >= rows || c >= columns) return;
  int dot = 0;
  for (int i = 0; i < length; ++i) dot += a[r * length + i] * b[c * length + i];
  dots[r * columns + c] = dot + gridDim.x;
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
  pairs<<<dim3(2, 3), dim3(8, 4)>>>(m, m + 7, out, 11, 13, 40);
  hipMemcpy(h, out, 572, hipMemcpyDeviceToHost);
  for (int i = 0; i < 143; ++i) printf("%d ", h[i]);
  hipMemcpy(h, rest, sizeof h, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 7) printf("%d ", h[i]);
}
"""


def test_threads_of_planes_and_of_remainders_share_their_work(tmp_path: Path) -> None:
    text = PROGRAM
    for kernel in ("plane", "columns", "pairs"):
        proposal = propose(tmp_path / kernel, "app.hip", text, kernel)
        assert proposal.candidate is not None, proposal.declined
        text = proposal.candidate.edits[0].text
    assert "int r = (blockIdx.x + blockIdx.y * gridDim.x) * (blockDim.x / 32) + threadIdx.x / 32;" in text
    assert "plane<<<dim3(1 * 32, 2), 64>>>" in text
    assert "int r = blockIdx.y * blockDim.y + whole_y, c = whole_block * 8 + whole_x;" in text
    assert "pairs<<<dim3(2 * 32, 3), dim3(8, 4)>>>" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


def test_a_width_that_nothing_was_divided_by_may_be_zero(tmp_path: Path) -> None:
    text = PROGRAM.replace("outer = n / width, inner = n % width", "outer = n / 8, inner = n % 8")
    proposal = propose(tmp_path, "app.hip", text, "columns")
    assert proposal.candidate is not None
    shared = [line for line in proposal.candidate.edits[0].text.splitlines() if "d += 4" in line]
    assert len(shared) == 1


def test_blocks_of_a_plane_that_are_no_whole_groups_stay(tmp_path: Path) -> None:
    declined = propose(tmp_path, "app.hip", PROGRAM.replace("dim3(8, 4)", "dim3(8, 5)"), "pairs").declined
    assert declined is not None
    assert "blocks of 40 threads are not whole groups of 32" in declined.reason
