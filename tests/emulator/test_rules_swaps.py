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


EARLY = """\
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
__device__ void highest(float* address, float value) {
  int* bits = (int*)address;
  int old = *bits;
  while (value > __int_as_float(old)) {
    int assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(value));  //@ highest
    if (old == assumed) break;
  }
}
__device__ double lowest(double* address, double value) {
  unsigned long long* bits = (unsigned long long*)address;
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    if (__longlong_as_double(assumed) <= value) break;
    old = atomicCAS(bits, assumed, __double_as_longlong(value));  //@ lowest
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void ends(const float* values, float* high, double* low, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    highest(high + i % 3, values[i]);  //^ highest
    lowest(low, values[i]);  //^ lowest
  }
}
int main() {
  const int n = 300;
  float h[n], *values, *high, top[3] = {-5e9f, -5e9f, -5e9f}; double *low, least = 5e9;
  for (int i = 0; i < n; ++i) h[i] = i % 50 == 7 ? NAN : i * 7919 % 1013 - 900.5f;
  hipMalloc(&values, sizeof h); hipMalloc(&high, 12); hipMalloc(&low, 8);
  hipMemcpy(high, top, 12, hipMemcpyHostToDevice); hipMemcpy(low, &least, 8, hipMemcpyHostToDevice);
  for (int k = 0; k < 2; ++k) {  // without NaN first, which the second function lets in
    hipMemcpy(values, h, sizeof h, hipMemcpyHostToDevice);
    ends<<<5, 64>>>(values, high, low, k ? n : 7);
    hipMemcpy(top, high, 12, hipMemcpyDeviceToHost); hipMemcpy(&least, low, 8, hipMemcpyDeviceToHost);
    printf("%g %g %g %g\\n", top[0], top[1], top[2], k ? 0 : least);
  }
}
"""


def test_a_value_is_swapped_in_as_long_as_it_is_an_extreme(tmp_path: Path) -> None:
    files = {"app.hip": EARLY}
    for mark in ("highest", "lowest"):
        bench = Bench(tmp_path / mark, files)
        files = bench.rewritten("wave_aggregate_swaps", AccessKind.ATOMIC, mark=mark)
    assert "      total = total != total || other > total ? other : total;" in files["app.hip"]
    assert "      total = other != other || other < total ? other : total;" in files["app.hip"]
    assert output(tmp_path / "after", files) == output(tmp_path / "before", {"app.hip": EARLY})


@pytest.mark.parametrize(
    ("mark", "old", "new"),
    [
        ("highest", "(value > __int", "(value != __int"),
        ("highest", "(old == assumed)", "(old != assumed)"),
        ("highest", "__float_as_int(value));", "__float_as_int(value + 1));"),
        ("highest", "int old = *bits;", "int old = bits[1];"),
        ("highest", "(bits, assumed,", "(bits + 1, assumed,"),
        ("highest", "int assumed = old;", "int assumed = 0;"),
        ("highest", "    if (old == assumed) break;", "    if (old == assumed) break; value += 1;"),
        ("lowest", "<= value) break;", "<= value) old = 0;"),
        ("lowest", "<= value) break;", "<= 3.0) break;"),
    ],
)
def test_other_early_ends_stay(mark: str, old: str, new: str, tmp_path: Path) -> None:
    assert old in EARLY
    bench = Bench(tmp_path, {"app.hip": EARLY.replace(old, new, 1)})
    declined = bench.declined("wave_aggregate_swaps", AccessKind.ATOMIC, mark=mark)
    assert "not in a function that only swaps a sum or an extreme" in declined


def test_a_block_collects_no_swaps_and_says_so(tmp_path: Path) -> None:
    declined = Bench(tmp_path, {"app.hip": EARLY}).declined("block_reduce_atomics", AccessKind.ATOMIC, mark="highest")
    assert "holds no sum or extreme that atomics put into memory" in declined
