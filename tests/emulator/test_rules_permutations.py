"""Permutations by a grid of one dimension, taken tile by tile: run on the emulator before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

RULE = "tile_permutation"

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
struct Shape { int n, c, h, w; };
template <typename T>
__global__ void turn(const T* in, T* out, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) {
    int r = i / cols, c = i - r * cols;
    out[c * rows + r] = in[i] + T(1);  //@ turn
  }
}
__global__ void to_channels_last(const float* __restrict__ in, float* __restrict__ out, Shape s, float scale) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n * s.c * s.h * s.w)
    return;
  float v = in[i] * scale;
  if (v < 0) v = -v;
  int x = i % s.w;
  int y = (i / s.w) % s.h;
  int c = (i / (s.w * s.h)) % s.c;
  int n = i / (s.w * s.h * s.c);
  out[((n * s.h + y) * s.w + x) * s.c + c] = v;  //@ last
}
__global__ void to_channels_first(const double* in, double* out, int N, int C, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * C * H * W) return;
  int left = i / W;
  int w = i % W, h = left % H, m = left / H;
  out[i] = in[((m / C * H + h) * W + w) * C + m % C];  //@ first
}
template <typename T> double weigh(const T* device, int n) {
  static T host[8192];
  hipMemcpy(host, device, n * sizeof(T), hipMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(host[i]) * (i % 1001);
  return sum;
}
int main() {
  static float f[8192]; static double d[8192]; static int k[8192];
  for (int i = 0; i < 8192; ++i) { f[i] = i % 97 - 50; d[i] = i % 89; k[i] = i % 83; }
  float *fi, *fo; double *di, *dd; int *ki, *ko;
  hipMalloc(&fi, sizeof f); hipMalloc(&fo, sizeof f); hipMalloc(&di, sizeof d); hipMalloc(&dd, sizeof d);
  hipMalloc(&ki, sizeof k); hipMalloc(&ko, sizeof k);
  hipMemset(fo, 0, sizeof f); hipMemset(dd, 0, sizeof d); hipMemset(ko, 0, sizeof k);
  hipMemcpy(fi, f, sizeof f, hipMemcpyHostToDevice); hipMemcpy(di, d, sizeof d, hipMemcpyHostToDevice);
  hipMemcpy(ki, k, sizeof k, hipMemcpyHostToDevice);
  turn<float><<<(70 * 100 + 255) / 256, 256>>>(fi, fo, 70, 100); printf("%f\\n", weigh(fo, 8192));
  turn<int><<<3, 100>>>(ki, ko, 33, 41); printf("%f\\n", weigh(ko, 8192));
  turn<int><<<1, 64>>>(ki, ko, 0, 41); printf("%f\\n", weigh(ko, 8192));
  to_channels_last<<<31, 256>>>(fi, fo, Shape{3, 40, 5, 13}, 2.f); printf("%f\\n", weigh(fo, 8192));
  to_channels_first<<<40, 192>>>(di, dd, 2, 35, 9, 11); printf("%f\\n", weigh(dd, 8192));
}
"""


def test_permutations_tile_by_tile_leave_the_same_memory(tmp_path: Path) -> None:
    files = {"app.hip": PROGRAM}
    for mark, access in (("turn", AccessKind.STORE), ("last", AccessKind.STORE), ("first", AccessKind.LOAD)):
        files = Bench(tmp_path / mark, files).rewritten(RULE, access, mark=mark)
    text = files["app.hip"]
    assert "across = min(elements, max(1u, static_cast<unsigned int>(cols)));" in text
    assert "down_2 = min(elements_2, max(1u, static_cast<unsigned int>(s.c)));" in text
    assert text.count("continue;") == 6 + 2
    assert output(tmp_path / "changed", files) == output(tmp_path / "original", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "c = i - r * cols;",
            "c = i - r * cols + threadIdx.x;",
            "uses threadIdx.x other than for the element's number",
        ),
        ("out[c * rows + r] = in[i] + T(1);", "out[i] = in[i] + T(1);", "which is not worth a barrier"),
        ("int r = i / cols, c = i - r * cols;", "int r = in[i] / cols, c = i;", "depends on more than coordinates"),
        ("    out[c * rows + r]", "    __syncthreads(); out[c * rows + r]", "has a barrier on line"),
        ("int r = i / cols,", "int r = i,", "does not divide the element's number"),
    ],
)
def test_other_kernels_are_left_alone(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in PROGRAM
    assert reason in Bench(tmp_path, {"app.hip": PROGRAM.replace(old, new)}).declined(
        RULE, AccessKind.STORE, mark="turn"
    )
