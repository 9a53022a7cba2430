"""Indices, counts and totals in fewer bits than the original's, and what only larger launches or ties show."""

from __future__ import annotations

from pathlib import Path

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

HEAD = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
template <class T> T* sent(const std::vector<T>& host) {
  T* at = nullptr;
  if (hipMalloc(&at, host.size() * sizeof(T))) std::printf("no memory\\n");
  if (hipMemcpy(at, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice)) std::printf("no copy\\n");
  return at;
}
template <class T> int told(const T* at, size_t count) {
  std::vector<T> host(count);
  if (hipMemcpy(host.data(), at, count * sizeof(T), hipMemcpyDeviceToHost)) return 1;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += host[i] * double(i % 13 + 1);
  std::printf("%.3f\\n", sum);
  return 0;
}
"""
GATHER = """__global__ void gather(const int* first, const int* from, const float* x, float* y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int at = first[r]; at < first[r + 1]; ++at) sum += x[from[at]];
  y[r] = sum;
}
int main() {
  const int rows = 512;
  std::vector<int> first(rows + 1), from(rows * 4);
  std::vector<float> x(rows);
  for (int r = 0; r <= rows; ++r) first[r] = 4 * r;
  for (int i = 0; i < rows * 4; ++i) from[i] = i * 37 % rows;
  for (int i = 0; i < rows; ++i) x[i] = 0.5f + i % 31;
  float* y = sent(std::vector<float>(rows));
  gather<<<rows / 128, 128>>>(sent(first), sent(from), sent(x), y, rows);
  return told(y, rows);
}
"""
COUNT = """__global__ void count(const int* keys, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[keys[i] & 63], 1u);
}
int main() {
  const int n = 20000;
  std::vector<int> keys(n);
  for (int i = 0; i < n; ++i) keys[i] = i * 7919 % 1000;
  unsigned* bins = sent(std::vector<unsigned>(64));
  count<<<8, 256>>>(sent(keys), bins, n);
  return told(bins, 64);
}
"""
QUANTISE = """__global__ void quantise(const float* in, int* out, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (int)rintf(in[i] * scale);
}
int main() {
  const int n = 4000;
  std::vector<float> in(n);
  for (int i = 0; i < n; ++i) in[i] = (i * 37 % 977) * 0.013f - 4.0f;
  int* out = sent(std::vector<int>(n));
  quantise<<<(n + 255) / 256, 256>>>(sent(in), out, n, 12.7f);
  return told(out, n);
}
"""
IN_LDS = """  __shared__ unsigned own[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx"""
FLUSHED = """    atomicAdd(&own[keys[i] & 63], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&bins[b], WHOLE);
"""
PLAIN = "    atomicAdd(&bins[keys[i] & 63], 1u);\n"


def bench(tmp_path: Path, program: str) -> Bench:
    return Bench(tmp_path, HEAD + program, "app.hip")


@pytest.mark.slow
def test_indices_of_sixteen_bits_are_refused(tmp_path: Path) -> None:
    verdict = bench(tmp_path, GATHER).verdict(("x[from[at]]", "x[(short)from[at]]"))
    assert verdict.outcome in (Outcome.WRONG_OUTPUT, Outcome.MEMORY_ERROR), verdict.detail
    assert "a type of the candidate holds" in verdict.detail or "of one list" in verdict.detail


@pytest.mark.slow
def test_counts_of_sixteen_bits_are_refused_and_those_of_all_bits_are_not(tmp_path: Path) -> None:
    program = bench(tmp_path, COUNT)
    start = ("  for (int i = blockIdx", IN_LDS)
    narrow = program.verdict(start, (PLAIN, FLUSHED.replace("WHOLE", "(unsigned short)own[b]")))
    assert narrow.outcome is Outcome.WRONG_OUTPUT, narrow.detail
    assert "a type of the candidate holds" in narrow.detail, narrow.detail
    whole = program.verdict(start, (PLAIN, FLUSHED.replace("WHOLE", "(own[b] >> 16 << 16) + (own[b] & 65535)")))
    assert whole.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), whole.detail


@pytest.mark.slow
def test_halves_that_are_rounded_otherwise_are_refused(tmp_path: Path) -> None:
    verdict = bench(tmp_path, QUANTISE).verdict(("rintf(in[i] * scale)", "floorf(in[i] * scale + 0.5f)"))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
