"""The largest of more numbers than a launch has lies behind those that it has, sorted though rows may be."""

from __future__ import annotations

import pytest
from test_altered_launches import Variants

from intelliperf.records import Interception

SOURCE = """#include <vector>
#include <hip/hip_runtime.h>
__global__ void maxima(const float* sorted, const float* mixed, float* out, int rows, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float most = sorted[c], least = mixed[c];
  for (int r = 1; r < rows; ++r) {
    if (VARIANT != 1 || r < 96) most = fmaxf(most, sorted[r * columns + c]);
    if (VARIANT != 2 || r < 96) least = fminf(least, mixed[r * columns + c]);
  }
  out[c] = most;
  out[columns + c] = least;
}
int main() {
  const int rows = 24, columns = 48;
  std::vector<float> one(rows * columns), two(rows * columns);
  for (int i = 0; i < rows * columns; ++i) one[i] = 0.5f * (i * 5 % 211) - 20, two[i] = 0.25f * (i * 7919 % 1009);
  float *a, *b, *out;
  if (hipMalloc(&a, one.size() * 4) || hipMalloc(&b, two.size() * 4) || hipMalloc(&out, columns * 8)) return 1;
  if (hipMemcpy(a, one.data(), one.size() * 4, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpy(b, two.data(), two.size() * 4, hipMemcpyHostToDevice)) return 2;
  maxima<<<1, 64>>>(a, b, out, rows, columns);
  return hipDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("maxima"), SOURCE)


@pytest.mark.parametrize("variant", [1, 2])
def test_numbers_beyond_a_limit_hold_a_maximum_of_their_own(variants: Variants, variant: int) -> None:
    followed = variants.followed(variant, Interception(other_numbers=(3,), other_constants=(96,)))
    assert "variant" in followed.divergences
