"""Tables of which hardly a place is free: who looks for something goes a long way."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_altered_launches import Variants

from intelliperf.records import Interception

SOURCE = """#include <hip/hip_runtime.h>
#include <vector>
__global__ void probe(const unsigned* wanted, const unsigned* keys, const unsigned* numbers, unsigned* found, int n,
                      unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = wanted[i] * 0x9E3779B1u >> 8 & mask, number = ~0u;
  for (int turn = 0; (VARIANT != 1 || turn < 16) && keys[at] != ~0u; ++turn) {
    if (VARIANT == 3 ? static_cast<unsigned short>(keys[at]) == static_cast<unsigned short>(wanted[i])
                     : keys[at] == wanted[i]) {
      number = numbers[at];
      break;
    }
    at = at + 1 & mask;
  }
  found[i] = VARIANT == 2 && number == 0 ? ~0u : number;
}
unsigned* sent(const std::vector<unsigned>& host) {
  unsigned* at = nullptr;
  if (hipMalloc(&at, host.size() * 4) || hipMemcpy(at, host.data(), host.size() * 4, hipMemcpyHostToDevice)) exit(1);
  return at;
}
int main() {
  const unsigned slots = 1024;
  const int n = 2048;
  std::vector<unsigned> wanted(n), keys(slots, ~0u), numbers(slots);
  for (unsigned k = 1; k < 400; ++k) {
    unsigned at = k * 0x9E3779B1u >> 8 & slots - 1;
    while (keys[at] != ~0u) at = at + 1 & slots - 1;
    keys[at] = k, numbers[at] = 1 + k % 97;
  }
  for (int i = 0; i < n; ++i) wanted[i] = (i * 37) % 600;
  unsigned *w = sent(wanted), *k = sent(keys), *v = sent(numbers), *f = sent(std::vector<unsigned>(n));
  probe<<<n / 128, 128>>>(w, k, v, f, n, slots - 1);
  return hipDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(Path(tmp_path_factory.mktemp("probes")), SOURCE)


@pytest.mark.parametrize(
    "variant", [pytest.param(1, id="sixteen places at most"), pytest.param(2, id="zero for nothing")]
)
def test_a_table_that_is_nearly_full_shows_what_a_search_leaves_out(variants: Variants, variant: int) -> None:
    altered = Interception(other_numbers=(2,), other_kept=(2, 3))
    assert "variant" in variants.followed(variant, altered).divergences


def test_what_marks_a_free_place_stays_where_keys_are_raised_beyond_a_narrower_type(variants: Variants) -> None:
    altered = Interception(other_numbers=(6,), other_kept=(2, 3), other_widths=(16,))
    assert "variant" in variants.followed(3, altered).divergences
