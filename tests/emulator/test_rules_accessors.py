"""Elements that methods and device functions name, as rules see them: run on the emulator before and after."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rowproposals import propose
from rulebench import output

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__device__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }
template <typename T, int PAD>
class View {
 public:
  View(T* d, int r, int c) : data(d), rows(r), cols(c) {}
  __device__ T& at(int r, int c) { return data[place(r, c)]; }
  __device__ const T& at(int r, int c) const { return data[place(r, c)]; }
  __device__ T* row(int r) const { return data + r * (cols + PAD); }
  __host__ __device__ int height() const { return rows; }
  __host__ __device__ int width() const { return cols; }
 private:
  __device__ int place(int r, int c) const { return r * (cols + PAD) + c; }
  T* data;
  int rows, cols;
};
struct Square {
  double* m; int n;
  __device__ double& operator()(int r, int c) const { return m[r * n + c]; }
};
__device__ float twice(float v) { return v + v; }
__global__ void centred(View<float, 0> in, View<float, 3> out, float* means) {
  int r = number();
  if (r < in.height()) {
    float mean = 0;
    for (int c = 0; c < in.width(); c++) mean += in.at(r, c);
    mean /= in.width();
    for (int c = 0; c < in.width(); ++c) out.at(r, c) = twice(in.at(r, c) - mean);
    const float* x = out.row(r);
    float least = x[0];
    for (int c = 1; c < out.width(); ++c) least = fminf(least, x[c]);
    means[r] = mean + least;
  }
}
__global__ void scaled(Square s, double* norms) {
  const unsigned r = number();
  if (r >= s.n) return;
  double sum = 0;
  for (int c = 0; c < s.n; ++c) sum += s(r, c) * s(r, c);
  for (int c = 0; c < s.n; ++c) s(r, c) /= sum;
  norms[r] = sum;
}
int main() {
  const int rows = 70, cols = 45;
  static float h[rows * (cols + 3)]; static double d[64 * 64], n[64];
  for (int i = 0; i < rows * cols; ++i) h[i] = i % 8 + (i % 3) * 0.25f;
  for (int i = 0; i < 64 * 64; ++i) d[i] = 1 + i % 4;
  float *a, *b, *m; double *e, *f;
  hipMalloc(&a, sizeof h); hipMalloc(&b, sizeof h); hipMalloc(&m, rows * 4); hipMalloc(&e, sizeof d); hipMalloc(&f, 512);
  hipMemcpy(a, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(e, d, sizeof d, hipMemcpyHostToDevice);
  centred<<<2, 64>>>(View<float, 0>(a, rows, cols), View<float, 3>(b, rows, cols), m);
  scaled<<<1, 64>>>(Square{e, 64}, f);
  hipMemcpy(h, b, sizeof h, hipMemcpyDeviceToHost);
  hipMemcpy(d, e, sizeof d, hipMemcpyDeviceToHost); hipMemcpy(n, f, 512, hipMemcpyDeviceToHost);
  for (int i = 0; i < 64; i += 5) printf("%.3g %.3g %.3g\\n", h[i * (cols + 3) + i % cols], d[i * 64 + i], n[i]);
  hipMemcpy(h, m, rows * 4, hipMemcpyDeviceToHost);
  for (int i = 0; i < rows; i += 7) printf("%.3g\\n", h[i]);
}
"""  # noqa: E501


def test_rows_behind_methods_and_operators_are_walked_by_groups(tmp_path: Path) -> None:
    text = PROGRAM
    for kernel in ("centred", "scaled"):
        proposal = propose(tmp_path / kernel, "app.hip", text, kernel)
        assert proposal.candidate is not None, proposal.declined
        (edit,) = proposal.candidate.edits
        text = edit.text
    assert "for (int c = lane; c < in.width(); c += 32) mean += in.at(r, c);" in text
    assert re.search(r"for \(int c = lane\w*; c < s.n; c \+= 32\) s\(r, c\) /= sum;", text)
    assert text.count("blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32") == 2
    assert output(tmp_path / "b", {"app.hip": text}) == output(tmp_path / "c", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("{ return data[place(r, c)]; }\n  __device__ const", "{ return data[place(r, ++cols)]; }\n  __device__ const",
         "calls at, which is not const"),
        ("return blockIdx.x * blockDim.x + threadIdx.x;", "return threadIdx.x;", "other than for the thread's number"),
    ],
)  # fmt: skip
def test_accessors_that_do_more_or_lead_elsewhere_are_left_alone(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in PROGRAM
    proposal = propose(tmp_path, "app.hip", PROGRAM.replace(old, new), "centred")
    assert proposal.declined is not None and reason in proposal.declined.reason
