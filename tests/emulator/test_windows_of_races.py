"""Blocks that are looked at in windows: what lies between two of them orders accesses although nobody saw it."""

from __future__ import annotations

from pathlib import Path

import pytest
from inprocess import build_here

from intelliperf.emulator.schedules import seeded
from intelliperf.emulator.tracefiles import Trace
from intelliperf.processes.process import output_of

SOURCE = """#include <hip/hip_runtime.h>
__global__ void sweep(const int* in, int* out, int steps) {
  __shared__ int row[2][128];
  const int t = threadIdx.x;
  row[0][t] = in[t];
  for (int s = 0; s < steps; ++s) {
    __syncthreads();
    row[1 - s % 2][t] = row[s % 2][(t + s) % 128] + 1;
  }
  __syncthreads();
  row[0][127 - t] = row[1][t] + t;
  __syncthreads();
  out[blockIdx.x * 128 + t] = row[0][t];
}
int main() {
  int *in, *out;
  if (hipMalloc(&in, 512) || hipMalloc(&out, 24 * 512) || hipMemset(in, 0, 512)) return 1;
  sweep<<<24, 128>>>(in, out, 201);
  return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_barriers_that_were_not_seen_are_no_races(tmp_path: Path, seed: int) -> None:
    (tmp_path / "app.hip").write_text(SOURCE)
    build_here("hipcc", "-O2", "app.hip", "-o", "app", directory=tmp_path)
    records = tmp_path / "records"
    records.mkdir()
    few = {"INTELLIPERF_TRACE_DIR": str(records), "INTELLIPERF_TRACE_EVENTS": "100000"}
    done, _, errors = output_of([str(tmp_path / "app")], 120, {**few, **seeded(seed).environment})
    assert done.ok, errors
    (trace,) = (Trace(path.parent, cut_off=True) for path in records.rglob("launches.jsonl"))
    assert sum(launch.analyzed_lanes for launch in trace.launches) < sum(launch.lanes for launch in trace.launches)
    assert trace.faults == ()
