"""Altered launches in which every access is followed: what races on other numbers alone."""

from __future__ import annotations

import pytest
from test_altered_launches import Variants

from intelliperf.records import Interception, Outcome

# Nothing is above the limit in the program's own run.
COUNTED = """#include <hip/hip_runtime.h>
__global__ void counted(const int* in, int* above, int n, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > limit) VARIANT ? void(*above += 1) : void(atomicAdd(above, 1));
}
int main() {
  const int n = 192;
  int host[n], *in, *above;
  for (int i = 0; i < n; ++i) host[i] = i % 7;
  if (hipMalloc(&in, n * 4) || hipMalloc(&above, 4) || hipMemset(above, 0, 4)) return 1;
  if (hipMemcpy(in, host, n * 4, hipMemcpyHostToDevice)) return 2;
  counted<<<3, 64>>>(in, above, n, 6);
  return hipDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("races"), COUNTED)


@pytest.mark.parametrize(("variant", "told"), [(1, "an update of global memory that is not atomic"), (0, "")])
def test_an_update_that_is_lost_on_other_numbers_alone_is_a_race(variants: Variants, variant: int, told: str) -> None:
    followed = variants.followed(variant, Interception(other_numbers=(2,), other_races=True)).divergences
    assert bool(told) == bool(followed)
    if told:
        assert followed["variant"].outcome is Outcome.RACE and told in followed["variant"].detail
