"""Altered launches in which only a candidate divides, by a number that is 0 there and in no run of the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_altered_launches import Variants

from intelliperf.records import Interception

# 0: goes through all taps. 1: begins with the first that is inside. 2: so does this, but the result tells.
TAPS = """#include <hip/hip_runtime.h>
__global__ void taps(const int* in, int* out, int n, int taps, TYPE wide, int away) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const TYPE from = i - away;
  const TYPE first = VARIANT && from < 0 ? (-from + wide - 1) / wide : 0;
  int most = 0;
  for (TYPE tap = first; tap < taps; ++tap) {
    const TYPE at = from + tap * wide;
    if (at >= 0 && at < n) most = max(most, in[at]);
  }
  out[i] = VARIANT == 2 && (first < 0 || first > n) ? 1 : most;
}
int main() {
  const int n = 100;
  int host[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = 2 + i * 7 % 31;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out, n * 4) || hipMemcpy(in, host, n * 4, hipMemcpyHostToDevice)) return 1;
  taps<<<2, 64>>>(in, out, n, 5, 1, 2);
  return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize("kind", ["int", "long"])
def test_a_division_by_a_size_that_is_zero_for_once_stops_no_candidate(tmp_path: Path, kind: str) -> None:
    variants = Variants(tmp_path, TAPS.replace("TYPE", kind))
    followed = variants.followed(1, Interception(other_numbers=(3,)))
    assert followed.syncs > 3 and not followed.divergences
    assert variants.followed(2, Interception(other_numbers=(3,))).divergences  # what comes of it is compared


def test_nothing_is_asked_of_a_candidate_where_the_original_divides_by_zero(tmp_path: Path) -> None:
    dividing = TAPS.replace("VARIANT &&", "").replace(
        "VARIANT == 2 && (first < 0 || first > n)", "!VARIANT && wide == 0"
    )
    dividing = dividing.replace("TYPE", "int")
    assert not Variants(tmp_path, dividing).followed(1, Interception(other_numbers=(3,))).divergences
