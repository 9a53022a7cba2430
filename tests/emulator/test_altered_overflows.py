"""Sums of integers that leave their range: what the original makes of them shows, when it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from inprocess import WITHOUT_FACTS
from test_altered_launches import Variants

from intelliperf.records import Interception
from intelliperf.validation.othernumbers import NAN_WINS

SCORES = """#include <hip/hip_runtime.h>
#include <climits>
__global__ void score(const int* above, const int* left, int* out, int gap, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int one = above[i] - gap, two = left[i] - gap;
  out[i] = one > two ? one : two;
}
int main() {
  const int n = 64;
  int *a, *b, *out, first[n], second[n];
  for (int i = 0; i < n; ++i) first[i] = i, second[i] = i * 7 % 64;
  first[5] = SMALLEST;
  if (hipMalloc(&a, sizeof first) || hipMalloc(&b, sizeof first) || hipMalloc(&out, sizeof first)) return 1;
  if (hipMemcpy(a, first, sizeof first, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpy(b, second, sizeof first, hipMemcpyHostToDevice)) return 2;
  score<<<1, 64>>>(a, b, out, 2, n);
  return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize(("smallest", "differs"), [("INT_MIN", True), ("INT_MIN + 2", False)])
def test_an_original_that_leaves_the_range_of_its_integers_has_no_one_answer(
    tmp_path: Path, smallest: str, differs: bool
) -> None:
    judged = {**WITHOUT_FACTS, "INTELLIPERF_SHADOWS": "1"}
    source = SCORES.replace("SMALLEST", smallest)
    found = Variants(tmp_path, source, judged).followed(1, Interception(), NAN_WINS).divergences
    assert bool(found) is differs
