"""Fences and scopes that a patch gives up: its results are right where memory shows all stores at once."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

SOURCE = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void total(const int* in, int* parts, unsigned int* tickets, int* out) {
  __shared__ int sum, last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * 64 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) atomicAdd(out, parts[threadIdx.x]);
  }
}
int main() {
  std::vector<int> host(1024);
  for (int i = 0; i < 1024; ++i) host[i] = i % 100;
  int *in, *parts, *out;
  unsigned int* tickets;
  if (hipMalloc(&in, 4096) || hipMalloc(&parts, 64) || hipMalloc(&out, 4) || hipMalloc(&tickets, 4)) return 1;
  if (hipMemcpy(in, host.data(), 4096, hipMemcpyHostToDevice) || hipMemset(out, 0, 4)) return 2;
  if (hipMemset(tickets, 0, 4)) return 3;
  total<<<16, 64>>>(in, parts, tickets, out);
  if (hipMemcpy(host.data(), out, 4, hipMemcpyDeviceToHost)) return 4;
  std::printf("%d\\n", host[0]);
}
"""
FENCE = "    parts[blockIdx.x] = sum;\n    __threadfence();\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("order"), SOURCE, "app.hip")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("instead", "told"),
    [
        ("    parts[blockIdx.x] = sum;\n", "no release fence"),
        ("    parts[blockIdx.x] = sum;\n    __threadfence_block();\n", "of the block's scope"),
    ],
)
def test_a_fence_that_a_patch_drops_or_narrows_is_named(bench: Bench, instead: str, told: str) -> None:
    verdict = bench.verdict((FENCE, instead))
    assert verdict.outcome is Outcome.RACE, verdict.detail
    assert told in verdict.detail and "parts[threadIdx.x]" in verdict.detail


@pytest.mark.slow
def test_a_patch_that_keeps_its_fences_has_no_race(bench: Bench) -> None:
    add = "atomicAdd(&sum, in[blockIdx.x * 64 + threadIdx.x]);"
    verdict = bench.verdict((add, f"if (in[blockIdx.x * 64 + threadIdx.x]) {add}"))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
