"""Sums and extremes that functions swap into memory, combined by the wave: read, and run on the emulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__device__ double greatest(double* address, double value) {
  unsigned long long* bits = (unsigned long long*)address;
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(fmax(value, __longlong_as_double(assumed))));  //@ greatest
  } while (assumed != old);
  return __longlong_as_double(old);
}
__device__ void add(float* address, float value) {
  int old = __float_as_int(*address), seen;
  do {
    seen = old;
    old = atomicCAS((int*)address, seen, __float_as_int(__int_as_float(seen) + value));  //@ add
  } while (old != seen);
}
__global__ void most(const double* values, double* out, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    greatest(out + i % 2, values[i]);  //^ greatest
    add(&sum[i / 100], 1.0f);  //^ add
  }
}
int main() {
  const int n = 300;
  double h[n], *values, *out; float* sum, s[3];
  for (int i = 0; i < n; ++i) h[i] = i * 7919 % 1013 - 20.5;
  hipMalloc(&values, sizeof h); hipMalloc(&out, 16); hipMalloc(&sum, 12);
  hipMemcpy(values, h, sizeof h, hipMemcpyHostToDevice); hipMemset(out, 0, 16); hipMemset(sum, 0, 12);
  most<<<5, 64>>>(values, out, sum, n);
  hipMemcpy(h, out, 16, hipMemcpyDeviceToHost); hipMemcpy(s, sum, 12, hipMemcpyDeviceToHost);
  printf("%g %g %g %g %g\\n", h[0], h[1], s[0], s[1], s[2]);
}
"""


def test_lanes_combine_what_they_would_swap_one_after_another(tmp_path: Path) -> None:
    files = {"app.hip": PROGRAM}
    for mark in ("greatest", "add"):
        bench = Bench(tmp_path / mark, files)
        files = bench.rewritten("wave_aggregate_swaps", AccessKind.ATOMIC, mark=mark)
    assert "    wave_greatest(out + i % 2, values[i]);" in files["app.hip"]
    assert "      total = fmax(other, total);" in files["app.hip"]
    assert "    wave_add(&sum[i / 100], 1.0f);" in files["app.hip"]
    assert output(tmp_path / "after", files) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("mark", "old", "new", "words"),
    [
        ("greatest", "    greatest(out", "    values[i] + greatest(out", "what greatest returns is used"),
        ("greatest", "fmax(value,", "fma(value, 2.0,", "not in a function that only swaps a sum or an extreme"),
        (
            "greatest",
            "    assumed = old;",
            "    assumed = old; if (old == 7) break;",
            "not in a function that only swaps",
        ),
        ("greatest", "(assumed != old)", "(assumed == old)", "not in a function that only swaps"),
        ("add", " + value", " - value", "not in a function that only swaps"),
        ("add", "seen, __float", "old, __float", "not in a function that only swaps"),
    ],
)
def test_other_swaps_stay(mark: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    program = PROGRAM.replace(old, new, 1).replace("    values[i] + greatest", "    h = values[i] + greatest")
    program = program.replace("  if (i < n) {", "  double h;\n  if (i < n) {", 1)
    assert words in Bench(tmp_path, {"app.hip": program}).declined("wave_aggregate_swaps", AccessKind.ATOMIC, mark=mark)
