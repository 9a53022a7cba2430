"""What is right for waves of one size alone: HIP programs run on chips with waves of 64 lanes and of 32."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import CheckStatus, Outcome

SOURCE = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void sums(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
  if (threadIdx.x % warpSize == 0) atomicAdd(out, v);
}
int main() {
  const int n = 3000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 11;
  int *in, *out;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out, 4) || hipMemset(out, 0, 4)) return 1;
  if (hipMemcpy(in, host.data(), n * 4, hipMemcpyHostToDevice)) return 2;
  sums<<<(n + 127) / 128, 128>>>(in, out, n);
  if (hipMemcpy(host.data(), out, 4, hipMemcpyDeviceToHost)) return 3;
  std::printf("%d\\n", host[0]);
}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("wave"), SOURCE, "app.hip")


@pytest.mark.slow
def test_a_kernel_for_waves_of_64_lanes_alone_is_refused(bench: Bench) -> None:
    verdict = bench.verdict(("int d = warpSize / 2", "int d = 32"))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert verdict.detail.startswith("with waves of the other size"), verdict.detail


@pytest.mark.slow
def test_a_kernel_that_asks_for_the_size_passes_with_both(bench: Bench) -> None:
    verdict = bench.verdict(("for (int d = warpSize / 2; d > 0; d /= 2)", "for (int d = warpSize >> 1; d; d >>= 1)"))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
    (waves,) = (check for check in verdict.checks if check.name == "other wave size")
    assert waves.status is CheckStatus.PASSED
