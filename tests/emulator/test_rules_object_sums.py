"""Sums of objects by functions that return them, shared out over the lanes of a row: run before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from rowproposals import propose
from rulebench import output

PROGRAM = """\
#include <cuComplex.h>
#include <cstdio>
struct Vec3 { float x, y, z; };
__device__ Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
class Complex {
 public:
  __host__ __device__ Complex(float r = 0, float i = 0) : re(r), im(i) {}
  __device__ Complex operator+(const Complex& o) const { return Complex(re + o.re, im + o.im); }
  __device__ Complex operator*(const Complex& o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
  float re, im;
};
__device__ Vec3 add(Vec3 a, Vec3 b) {
  Vec3 r;
  r.x = a.x + b.x;
  r.y = a.y + b.y;
  r.z = a.z + b.z;
  return r;
}
__global__ void added(const Vec3* v, const Complex* z, const cuDoubleComplex* w, Vec3* out, Complex* o, cuDoubleComplex* q, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  Vec3 s = {0, 0, 0}, t = {1, 2, 3};
  Complex c(1, 2);
  cuDoubleComplex d = make_cuDoubleComplex(0, 0);
  for (int k = 0; k < cols; ++k) {
    s = s + v[r * cols + k];
    t = add(v[r * cols + k], t);
    c = c + z[r * cols + k] * z[r * cols + k];
    d = cuCadd(d, cuCmul(w[r * cols + k], w[r * cols + k]));
  }
  out[r] = add(s, t);
  o[r] = c;
  q[r] = d;
}
int main() {
  const int rows = 64, cols = 37;
  static Vec3 h[rows * cols]; static Complex g[rows * cols]; static cuDoubleComplex e[rows * cols];
  for (int i = 0; i < rows * cols; ++i) h[i] = {i % 5 * 1.f, i % 7 * 1.f, i % 3 * 1.f}, g[i] = Complex(i % 3, i % 5), e[i] = make_cuDoubleComplex(i % 4, i % 9);
  Vec3 *a, *b; Complex *c, *d; cuDoubleComplex *x, *y;
  cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h); cudaMalloc(&c, sizeof g); cudaMalloc(&d, sizeof g); cudaMalloc(&x, sizeof e); cudaMalloc(&y, sizeof e);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice); cudaMemcpy(c, g, sizeof g, cudaMemcpyHostToDevice); cudaMemcpy(x, e, sizeof e, cudaMemcpyHostToDevice);
  added<<<1, 64>>>(a, c, x, b, d, y, rows, cols);
  cudaMemcpy(h, b, rows * sizeof *h, cudaMemcpyDeviceToHost); cudaMemcpy(g, d, rows * sizeof *g, cudaMemcpyDeviceToHost); cudaMemcpy(e, y, rows * sizeof *e, cudaMemcpyDeviceToHost);
  for (int i = 0; i < rows; i += 9) printf("%g %g %g %g %g %g %g\\n", h[i].x, h[i].y, h[i].z, g[i].re, g[i].im, e[i].x, e[i].y);
}
"""  # noqa: E501


def test_objects_that_functions_and_operators_return_as_sums_are_added_up_by_groups(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "a", "app.cu", PROGRAM, "added")
    assert proposal.candidate is not None, proposal.declined
    (edit,) = proposal.candidate.edits
    assert "value = cuCadd(value, other);" in edit.text and "value = add(value, other);" in edit.text
    assert edit.text.count("value = value + other;") == 2
    assert output(tmp_path / "b", {"app.cu": edit.text}) == output(tmp_path / "c", {"app.cu": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.z + b.z}", "a.z - b.z}"),
        ("a.z + b.z}", "a.z + b.y}"),
        ("  r.z = a.z + b.z;", "  r.z = a.z;"),
        (": re(r), im(i) {}", ": re(i), im(r) {}"),
        ("s = s + v[r * cols + k]", "s = s + s"),
    ],
)
def test_what_is_no_plain_sum_of_members_is_carried_along(tmp_path: Path, old: str, new: str) -> None:
    assert old in PROGRAM
    proposal = propose(tmp_path, "app.cu", PROGRAM.replace(old, new), "added")
    assert proposal.declined is not None and "from one turn to the next" in proposal.declined.reason
