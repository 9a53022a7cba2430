"""NaN among numbers of which the largest is wanted: where the order in which they meet decides, nothing follows."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

CLAMP = "own > 0.0f ? own : 0.0f"
TREE = """  for (int half = 64; half > 0; half >>= 1) {
    if (t < half) {
      const float other = value[t + half];
      if (other > value[t] || (other == value[t] && index[t + half] < index[t])) {
        value[t] = other;
        index[t] = index[t + half];
      }
    }
    __syncthreads();
  }
"""
SOURCE = f"""#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void row_argmax(float* best, int* where, float* above, const float* in, int columns) {{
  __shared__ float value[128];
  __shared__ int index[128];
  const int t = threadIdx.x, row = blockIdx.x;
  const float own = t < columns ? in[row * columns + t] : -1e30f;
  value[t] = own;
  index[t] = t;
  __syncthreads();
{TREE}  if (t == 0) best[row] = value[0], where[row] = index[0];
  if (t < columns) above[row * columns + t] = {CLAMP};
}}
int main() {{
  const int rows = 24, columns = 100;
  std::vector<float> host(rows * columns);
  for (int i = 0; i < rows * columns; ++i) host[i] = 0.1f * ((i * 7919) % 1009) - 30.0f;
  float *in, *best, *above;
  int* where;
  hipMalloc(&in, host.size() * 4);
  hipMalloc(&above, host.size() * 4);
  hipMalloc(&best, rows * 4);
  hipMalloc(&where, rows * 4);
  hipMemcpy(in, host.data(), host.size() * 4, hipMemcpyHostToDevice);
  row_argmax<<<rows, 128>>>(best, where, above, in, columns);
  std::vector<int> found(rows);
  hipMemcpy(found.data(), where, rows * 4, hipMemcpyDeviceToHost);
  std::printf("%d\\n", found[3]);
}}
"""
UPWARDS = TREE.replace("half = 64; half > 0; half >>= 1", "half = 1; half < 128; half *= 2").replace(
    "t < half", "t % (2 * half) == 0"
)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("largest"), SOURCE, "app.hip")


def test_a_tree_of_another_shape_is_right_whatever_it_makes_of_nan(bench: Bench) -> None:
    verdict = bench.verdict((TREE, UPWARDS))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
    told = next(check.detail + check.unseen for check in verdict.checks if check.name == "other numbers")
    assert "with NaN, what the order of comparisons decides in best" in told


@pytest.mark.parametrize("new", ["own < 0.0f ? 0.0f : own", "own != own ? 1.0f : fmaxf(own, 0.0f)"])
def test_nan_that_no_order_decides_about_has_to_come_out_as_the_originals(bench: Bench, new: str) -> None:
    verdict = bench.verdict((TREE, UPWARDS), (CLAMP, new))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert "some numbers NaN: above" in verdict.detail
