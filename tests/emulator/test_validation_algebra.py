"""A sum by atomics and its block reduction through all gates: the same real numbers, and what only comes close."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import CheckStatus, Outcome, Strength

SOURCE = """#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
extern "C" __global__ void total(const float* x, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}
int main() {
  const int n = 1 << 18;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = 1.0f + 0.001f * (i % 7);
  float *dx, *sum, found;
  cudaMalloc(&dx, 4 * n);
  cudaMalloc(&sum, 4);
  cudaMemcpy(dx, x.data(), 4 * n, cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, 4);
  total<<<n / 256, 256>>>(dx, sum, n);
  cudaMemcpy(&found, sum, 4, cudaMemcpyDeviceToHost);
  std::puts(found > 260000.0f ? "PASS" : "FAIL");
}
"""
ATOMIC = "  if (i < n) atomicAdd(sum, x[i]);\n"
BLOCK = """  __shared__ float part[256];
  part[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = 128; d; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("algebra"), SOURCE, "app.cu")


def test_a_block_reduction_is_the_same_real_number_and_errs_less(bench):
    verdict = bench.verdict((ATOMIC, BLOCK))
    assert verdict.outcome is Outcome.ACCEPTED, verdict.detail
    (algebra,) = (check for check in verdict.checks if check.name == "algebraic equality")
    assert algebra.status is CheckStatus.PASSED
    assert "the same real numbers in its one output" in algebra.detail
    assert "a number off by a thousandth in each of" in algebra.control
    assert verdict.strength is Strength.SAME_NUMBERS
    assert "the same real numbers in its one output (checked in a secret field, no tolerance)" in verdict.proof
    assert not any("tolerance" in item for item in verdict.left_open), verdict.left_open
    (function,) = (check for check in verdict.checks if check.name == "same arithmetic on unknowns")
    assert function.status is CheckStatus.PASSED


def test_a_factor_far_within_the_rounding_error_of_the_original_is_refused(bench):
    verdict = bench.verdict((ATOMIC, BLOCK.replace("part[0])", "part[0] * 1.000001f)")))
    assert verdict.outcome is Outcome.WRONG_OUTPUT
    assert "computes something else: element 0" in verdict.detail
    assert "of their size apart" in verdict.detail
