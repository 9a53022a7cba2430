"""Registered host memory, and code that no gate's run executed."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import CheckStatus, Outcome

SOURCE = """#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
__global__ void halve(const float* x, float* out, int* ends, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = x[i] / 2;
    atomicAdd(&ends[1], 1);
  }
}
int main() {
  const int n = 1 << 14;
  std::vector<float> x(n), out(n);
  std::vector<int> ends(2);
  for (int i = 0; i < n; ++i) x[i] = 0.5f * i;
  if (cudaHostRegister(out.data(), n * sizeof(float), cudaHostRegisterMapped)) return 9;
  if (cudaHostRegister(ends.data(), 2 * sizeof(int), cudaHostRegisterMapped)) return 9;
  float *dx, *dout;
  int* dends;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  if (cudaHostGetDevicePointer((void**)&dout, out.data(), 0)) return 9;
  if (cudaHostGetDevicePointer((void**)&dends, ends.data(), 0)) return 9;
  halve<<<(n + 255) / 256, 256>>>(dx, dout, dends, n);
  cudaDeviceSynchronize();
  cudaHostUnregister(out.data());
  cudaHostUnregister(ends.data());
  std::puts(out[10] == 2.5f ? "PASS" : "FAIL");
}
"""
BODY = """  if (i < n) {
    out[i] = x[i] / 2;
    atomicAdd(&ends[1], 1);
  }
"""
FASTER = """  if (i < n) out[i] = 0.5f * x[i];
  const int first = blockIdx.x * blockDim.x;
  if (threadIdx.x == 0 && first < n) atomicAdd(&ends[1], min(int(blockDim.x), n - first));
"""
RARE = """  if (i > 40000000) {
    ends[0] = 7;
  }
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("reach"), SOURCE, "app.cu")


@pytest.mark.slow
def test_a_wrong_number_in_registered_host_memory_is_refused(bench):
    verdict = bench.verdict((BODY, FASTER.replace("0.5f * x[i]", "i == 600 ? 0.0f : 0.5f * x[i]")))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert "out (registered allocation 1 of 65536 bytes)" in verdict.detail


@pytest.mark.slow
def test_code_that_no_gate_executed_is_named_under_not_checked(bench):
    verdict = bench.verdict((BODY, FASTER + RARE))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
    (executed,) = (check for check in verdict.checks if check.name == "executed code")
    assert executed.status is CheckStatus.PASSED
    assert "no run executed: app.cu:10: `ends[0] = 7;`" in executed.unseen
    assert any("app.cu:10" in item for item in verdict.left_open)
