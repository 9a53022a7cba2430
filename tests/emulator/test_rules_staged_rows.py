"""Rows staged through LDS by rule, run on the emulator before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

ROWS = "stage_rows"
ROW_PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
__device__ float weighed(float v, float w) { return v * w; }
__global__ void dots(const float* m, const float* x, float* out, int rows, int columns) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row < rows) {
    float sum = 0, most = -1;
    for (int c = 0; c < columns; c++) {
      if (c == 3) continue;
      sum += weighed(m[row * columns + c], x[c]);  //@ unsure
    }
    out[row] = sum + most;
  }
}
using real = double;
__global__ void norms(const real* m, real* out, int rows, int columns, int pitch) {
  int row, c;
  real sum;
  row = threadIdx.x + blockDim.x * blockIdx.x;
  if (row < rows) {
    sum = 0;
    for (c = 0; c < columns; ++c) sum += fabs(m[row * pitch + c]) / (1 + c);  //@ row
    out[row] = sqrt(sum);
  }
}
template <typename T, int Wide>
__global__ void largest(const T* __restrict__ in, T* __restrict__ out, unsigned n) {
  unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  T best = T(0);
  for (unsigned k = 0; k < Wide; k++) {
    T v = in[r * Wide + k];  //@ row
    if (best < v) best = v;
  }

  out[r] = best;
}
__global__ void all(const int* in, int* out) {
  int total = 7;
  for (int k = 0; k < 21; ++k)
    total = total * 3 + in[(blockIdx.x * blockDim.x + threadIdx.x) * 21 + k];  //@ row
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
template <typename T> double weigh(const T* device, int n) {
  static T host[2048];
  hipMemcpy(host, device, n * sizeof(T), hipMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(host[i]) * (i % 1001);
  return sum;
}
int main() {
  const int n = 12000;
  static double d[n]; static float f[n]; static int k[n];
  for (int i = 0; i < n; ++i) { d[i] = (i * 31) % 57 - 20; f[i] = (i * 17) % 91; k[i] = i % 13; }
  double *a, *ao; float *b, *bo; int *c, *co;
  hipMalloc(&a, sizeof d); hipMalloc(&ao, 8192); hipMalloc(&b, sizeof f); hipMalloc(&bo, 8192);
  hipMalloc(&c, sizeof k); hipMalloc(&co, 8192);
  hipMemcpy(a, d, sizeof d, hipMemcpyHostToDevice); hipMemcpy(b, f, sizeof f, hipMemcpyHostToDevice);
  hipMemcpy(c, k, sizeof k, hipMemcpyHostToDevice);
  norms<<<4, 64>>>(a, ao, 240, 37, 50); printf("%.17g\\n", weigh(ao, 240));
  norms<<<1, 128>>>(a, ao, 100, 16, 16); printf("%.17g\\n", weigh(ao, 100));
  largest<float, 29><<<3, 100>>>(b, bo, 290); printf("%f\\n", weigh(bo, 290));
  largest<int, 5><<<1, 64>>>(c, co, 7); printf("%f\\n", weigh(co, 7));
  all<<<4, 128>>>(c, co); printf("%f\\n", weigh(co, 512));
  dots<<<2, 64>>>(b, b + 5000, bo, 120, 30); printf("%f\\n", weigh(bo, 120));
}
"""


def test_rows_that_are_staged_leave_the_same_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a", {"app.hip": ROW_PROGRAM}, block=(96, 1, 1))
    expected = output(tmp_path / "a", bench.files)

    changed = bench.rewritten(ROWS, AccessKind.LOAD)

    assert changed["app.hip"].count("__shared__") == 4
    assert "__shared__ T tile" in changed["app.hip"]
    assert output(tmp_path / "b", changed) == expected


ROW_REFUSED = """
#include <hip/hip_runtime.h>
__global__ void stops(const float* m, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; c < n; c++) { if (sum > 9) break; sum += m[row * n + c]; }  //@ stops
  out[row] = sum;
}
__global__ void skips(const float* m, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; c < n; c++) if (c & 1) sum += m[row * n + c];  //@ skips
  out[row] = sum;
}
__global__ void writes(const float* m, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int c = 0; c < n; c++) out[row * n + c] = m[row * n + c];  //@ writes
}
__global__ void ragged(const float* m, const int* ends, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; c < ends[row]; c++) sum += m[row * n + c];  //@ ragged
  out[row] = sum;
}
__global__ void other(const float* m, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (row % 3) { for (int c = 0; c < n; c++) sum += m[row * n + c]; }  //@ other
  out[row] = sum;
}
__global__ void nearest(const float* m, const float* centres, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float least = 1e30f;
  for (int k = 0; k < 3; k++) {
    float sum = 0;
    for (int c = 0; c < n; c++) sum += fabsf(m[row * n + c] - centres[k * n + c]);  //@ nearest
    least = fminf(least, sum);
  }
  out[row] = least;
}
__global__ void along(const float* m, float* out, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < n; r++) sum += m[r * n + column];  //@ along
  out[column] = sum;
}
__global__ void syncs(const float* m, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; c < n; c++) sum += m[row * n + c];  //@ syncs
  __syncthreads();
  out[row] = sum;
}
__global__ void loads(const float* m, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = out[row];
  for (int c = 0; c < n; c++) sum += m[row * n + c];  //@ loads
  out[row] = sum;
}
"""


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("stops", "leaves the loop early"),
        ("skips", "does not read every element"),
        ("writes", "stores before the row has been read"),
        ("ragged", "not the end of a thread's chunk"),
        ("other", "is not just a comparison of the thread's number"),
        ("nearest", "is not at the top of the kernel or of one guard"),
        ("along", "reads no array parameter"),
        ("syncs", "uses sync"),
        ("loads", "is not for threads without a row"),
    ],
)
def test_rows_are_not_staged_where_an_element_may_not_be_read(mark: str, words: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"r.hip": ROW_REFUSED}, block=(128, 1, 1))
    assert words in bench.declined(ROWS, AccessKind.LOAD, mark=mark)
