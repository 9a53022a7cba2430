"""Blocks that look back at others: in altered launches there are more of them, which wait for the first one."""

from __future__ import annotations

import pytest
from test_altered_launches import Variants

from intelliperf.interception.messages import Dispatch
from intelliperf.records import Interception
from intelliperf.validation.othernumbers import LARGER

SOURCE = """#include <vector>
#include <hip/hip_runtime.h>
__global__ void scan(const unsigned* in, unsigned* out, int* ticket, volatile int* status, volatile unsigned* sums,
                     volatile unsigned* prefixes, int n) {
  __shared__ int tile;
  __shared__ unsigned base;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  const int i = tile * 32 + threadIdx.x;
  unsigned own = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up(own, d, 32);
    if (int(threadIdx.x) >= d) own += other;
  }
  if (threadIdx.x == 31) {
    unsigned before = 0;
    if (tile > 0) {
      sums[tile] = own;
      __threadfence();
      status[tile] = 1;
      for (int look = tile - 1; look >= 0;) {
        const int seen = status[look];
        if (seen == 0) continue;
        __threadfence();
        before += seen == 2 ? prefixes[look] : sums[look];
        if (seen == 2 || VARIANT == 1 && tile - look == 32) break;
        --look;
      }
    }
    prefixes[tile] = before + own;
    __threadfence();
    status[tile] = 2;
    base = before;
  }
  __syncthreads();
  if (i < n) out[i] = VARIANT == 2 ? own + base : base + own;
}
template <class T>
T* sent(const std::vector<T>& host) {
  T* at = nullptr;
  if (hipMalloc(&at, host.size() * 4) || hipMemcpy(at, host.data(), host.size() * 4, hipMemcpyHostToDevice)) exit(1);
  return at;
}
int main() {
  const int tiles = 24, n = tiles * 32 - 5;
  std::vector<unsigned> in(n), none(tiles);
  for (int i = 0; i < n; ++i) in[i] = 3 + i % 7;
  scan<<<(n + 31) / 32, 32>>>(sent(in), sent(in), sent(std::vector<int>(1)), sent(std::vector<int>(tiles)), sent(none),
                              sent(none), n);
  return hipDeviceSynchronize();
}
"""
_SIZES = Interception(other_numbers=(3,))


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("lookback"), SOURCE)


def test_looking_back_as_far_as_the_launch_has_blocks_shows_where_there_are_more(variants: Variants) -> None:
    assert "variant" in variants.followed(1, _SIZES).divergences


def test_blocks_that_look_back_get_on_where_the_first_one_is_late(variants: Variants) -> None:
    followed = variants.followed(2, _SIZES)
    larger = [e for e in followed.events if isinstance(e, Dispatch) and e.target and e.alteration.startswith(LARGER)]
    assert any(event.status == 0 for event in larger)
    assert not followed.divergences
