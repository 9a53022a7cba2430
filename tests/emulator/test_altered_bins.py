"""Integers that say which bin: limits that only a candidate has show where both a size and integers go beyond them."""

from __future__ import annotations

import pytest
from test_altered_launches import Variants

from intelliperf.records import Interception

SOURCE = """#include <vector>
#include <hip/hip_runtime.h>
__global__ void count(const int* keys, int* counts, int n, int bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i];
  if (key < bins && !(VARIANT == 1 && key >= 256)) atomicAdd(&counts[key], 1);
}
int main() {
  const int n = 320, bins = 48;
  std::vector<int> keys(n);
  for (int i = 0; i < n; ++i) keys[i] = i * 7 % bins;
  int *k, *counts;
  if (hipMalloc(&k, n * 4) || hipMalloc(&counts, bins * 4)) return 1;
  if (hipMemcpy(k, keys.data(), n * 4, hipMemcpyHostToDevice) || hipMemset(counts, 0, bins * 4)) return 2;
  count<<<n / 64, 64>>>(k, counts, n, bins);
  return hipDeviceSynchronize();
}
"""
NAMED = (12, 17, 129, 256, 257)  # as of 256 integers in LDS, which are compared with 256


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("bins"), SOURCE)


@pytest.mark.parametrize(("variant", "differs"), [(0, False), (1, True)])
def test_bins_beyond_a_limit_are_filled_where_there_are_more_of_them(variants, variant, differs):
    followed = variants.followed(variant, Interception(other_numbers=(3,), other_constants=NAMED))
    assert ("variant" in followed.divergences) is differs
