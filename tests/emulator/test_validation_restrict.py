"""__restrict__ may be added where nothing that is written through one pointer is accessed through another."""

from __future__ import annotations

from pathlib import Path

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

SOURCE = """#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void add(const int* low, const int* high, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[i] = low[i] + high[i];
}
int main() {
  const int n = 512;
  int *pool, host[4 * n];
  for (int i = 0; i < 4 * n; ++i) host[i] = i * 37 % 101;
  if (hipMalloc(&pool, sizeof host) || hipMemcpy(pool, host, sizeof host, hipMemcpyHostToDevice)) return 1;
  add<<<n / 128, 128>>>(pool, pool + n, pool + SUMS, n);
  if (hipMemcpy(host, pool, sizeof host, hipMemcpyDeviceToHost)) return 2;
  std::printf("%d\\n", host[3 * n - 1]);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("sums", "allowed"), [("2 * n", True), ("n", False)])
def test_restrict_is_judged_by_what_each_pointer_accesses(tmp_path: Path, sums: str, allowed: bool) -> None:
    bench = Bench(tmp_path, SOURCE.replace("SUMS", sums), "app.hip")
    verdict = bench.verdict(("const int* high, int* sums", "const int* __restrict__ high, int* __restrict__ sums"))
    assert (verdict.outcome is Outcome.NOT_FASTER) is allowed, verdict.detail
    if not allowed:
        assert verdict.outcome is Outcome.FORBIDDEN_EDIT
        assert "high and sums" in verdict.detail or "low and high" in verdict.detail
