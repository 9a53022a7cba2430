"""A fence that counts where blocks are held back: in order no block ever reads another one's mere aggregate."""

from __future__ import annotations

from pathlib import Path

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

FENCE = "__threadfence();  // before the flag\n"
SOURCE = f"""#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void scan(const unsigned* in, unsigned* out, int* ticket, volatile int* status, volatile unsigned* sums,
                     volatile unsigned* prefixes) {{
  __shared__ unsigned part[64];
  __shared__ unsigned base;
  __shared__ int tile;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  part[threadIdx.x] = 0;
  __syncthreads();
  const int i = tile * 64 + threadIdx.x;
  part[threadIdx.x] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) {{
    unsigned before = 0;
    for (int k = 1; k < 64; ++k) part[k] += part[k - 1];
    if (tile > 0) {{
      sums[tile] = part[63];
      {FENCE}
      status[tile] = 1;
      for (int look = tile - 1; true;) {{
        const int seen = status[look];
        if (seen == 0) continue;
        __threadfence();
        if (seen == 2) {{
          before += prefixes[look];
          break;
        }}
        before += sums[look];
        --look;
      }}
    }}
    prefixes[tile] = before + part[63];
    __threadfence();
    status[tile] = 2;
    base = before;
  }}
  __syncthreads();
  out[i] = base + part[threadIdx.x];
}}
int main() {{
  const int tiles = 12, n = tiles * 64;
  std::vector<unsigned> host(n, 3);
  unsigned *in, *out, *sums;
  int* status;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out, n * 4) || hipMalloc(&sums, tiles * 8)) return 1;
  if (hipMalloc(&status, (tiles + 1) * 4) || hipMemset(status, 0, (tiles + 1) * 4)) return 2;
  if (hipMemcpy(in, host.data(), n * 4, hipMemcpyHostToDevice)) return 3;
  scan<<<tiles, 64>>>(in, out, status + tiles, status, sums, sums + tiles);
  if (hipMemcpy(host.data(), out, n * 4, hipMemcpyDeviceToHost)) return 4;
  std::printf("%u\\n", host[n - 1]);
}}
"""


@pytest.mark.slow
def test_a_missing_fence_shows_where_blocks_get_on_by_chance(tmp_path: Path) -> None:
    verdict = Bench(tmp_path, SOURCE, "app.hip").verdict((FENCE, "\n"))
    assert verdict.outcome is Outcome.RACE, verdict.detail
    assert "no release fence before the announcement" in verdict.detail
    assert "sums[tile] = part[63]" in verdict.detail
