"""Integers that say which of several numbers is the least, where two of these are apart by rounding alone."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

NEARER = "if (sum < best)"
SUM = """    float sum = 0.0f;
    for (int j = 0; j < d; ++j) {
      const float t = points[i * d + j] - centres[c * d + j];
      sum += t * t;
    }
"""
SOURCE = f"""#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void assign(const float* points, const float* centres, int* label, float* distance, int n, int k, int d) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float best = 3.0e38f;
  int which = 0;
  for (int c = 0; c < k; ++c) {{
{SUM}    {NEARER} {{ best = sum; which = c; }}
  }}
  label[i] = which;
  distance[i] = best;
}}
int main() {{
  const int n = 300, k = 7, d = 5;
  std::vector<float> p(n * d), c(k * d), dist(n);
  for (int i = 0; i < n * d; ++i) p[i] = ((i * 7919) % 1013) * 0.01f;
  for (int i = 0; i < k * d; ++i) c[i] = ((i * 104729) % 997) * 0.01f;
  float *dp, *dc, *dd; int* dl;
  hipMalloc(&dp, n * d * 4); hipMalloc(&dc, k * d * 4); hipMalloc(&dd, n * 4); hipMalloc(&dl, n * 4);
  hipMemcpy(dp, p.data(), n * d * 4, hipMemcpyHostToDevice);
  hipMemcpy(dc, c.data(), k * d * 4, hipMemcpyHostToDevice);
  assign<<<(n + 63) / 64, 64>>>(dp, dc, dl, dd, n, k, d);
  std::vector<int> l(n);
  hipMemcpy(l.data(), dl, n * 4, hipMemcpyDeviceToHost);
  int s = 0; for (int i = 0; i < n; ++i) s += l[i] * (i % 5);
  std::printf("%d\\n", s);
}}
"""
IN_PAIRS = """    float s0 = 0.0f, s1 = 0.0f;
    int j = 0;
    for (; j + 1 < d; j += 2) {
      const float t = points[i * d + j] - centres[c * d + j], u = points[i * d + j + 1] - centres[c * d + j + 1];
      s0 += t * t;
      s1 += u * u;
    }
    if (j < d) {
      const float t = points[i * d + j] - centres[c * d + j];
      s0 += t * t;
    }
    const float sum = s0 + s1;
"""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("decided"), SOURCE, "app.hip")


def test_a_sum_in_another_order_may_find_another_that_is_as_near(bench: Bench) -> None:
    verdict = bench.verdict((SUM, IN_PAIRS))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER, Outcome.SLOWER_OVERALL), verdict.detail


@pytest.mark.parametrize("new", ["if (sum <= best)", "if (sum + 64.0f < best + 64.0f)"])
def test_what_is_nearer_is_not_taken_for_as_near(bench: Bench, new: str) -> None:
    verdict = bench.verdict((NEARER, new))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
