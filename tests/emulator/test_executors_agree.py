"""The two executors are two instruments: what they count of one program is equal, line by line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from generated_kernels import program

from intelliperf.emulator.buildenvironment import build_environment
from intelliperf.emulator.lines import kernel_lines
from intelliperf.emulator.tracefiles import Trace
from intelliperf.records import AccessKind, Executor, Metric

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_COUNTS = (
    *(Metric.REQUESTS, Metric.LANES, Metric.SECTORS, Metric.LINES_64B, Metric.LINES_128B, Metric.L1_HIT_RATIO),
    *(Metric.LDS_REQUESTS, Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL, Metric.LOCAL_REQUESTS),
    *(Metric.ATOMIC_LANES, Metric.ATOMIC_SERIALIZATION, Metric.ACTIVE_LANE_RATIO),
)
# Tiles with conflicts, a divergent loop over gathered places, and atomics on few addresses.
_KERNELS = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
__global__ void turned(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void gathered(const int* where, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* const from = in + where[i];
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k <= i % 7; ++k) sum += from[k];
  out[i] = sum;
}
__global__ void counted(int* most, const int* where, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(most + i % 16, where[i]);
}
int main() {
  const int n = 128, all = n * n;
  std::vector<int> where(all);
  for (int i = 0; i < all; ++i) where[i] = i * 37 % (all - 8);
  float *in, *out;
  int *places, *most;
  hipMalloc(&in, all * 4), hipMalloc(&out, all * 4), hipMalloc(&places, all * 4), hipMalloc(&most, 64);
  hipMemset(in, 0, all * 4), hipMemset(most, 0, 64);
  hipMemcpy(places, where.data(), all * 4, hipMemcpyHostToDevice);
  turned<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(in, out, n);
  gathered<<<all / 256, 256>>>(places, in, out, all - 100);
  counted<<<all / 256, 256>>>(most, places, all);
  int found = 0;
  hipMemcpy(&found, most, 4, hipMemcpyDeviceToHost);
  std::printf("%d\\n", found);
  return found > 0 ? 0 : 1;
}
"""

Counts = Mapping[tuple[str, int, str, str], Mapping[str, float]]


def _counted(source: Path, executor: Executor, directory: Path) -> tuple[Counts, str]:
    """Counts of every line by both, and what the program printed."""
    directory.mkdir()
    records = directory / "records"
    records.mkdir()
    chosen = {"INTELLIPERF_TARGET": "mi300x", "INTELLIPERF_EXECUTOR": executor.value}
    environment = {**os.environ, **build_environment(), **chosen}
    built = subprocess.run(
        ["hipcc", "-O2", "-o", str(directory / "program"), str(source)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    done = subprocess.run(
        [str(directory / "program")],
        env={**os.environ, "INTELLIPERF_TRACE_DIR": str(records)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    trace = Trace(records)
    assert not trace.faults
    assert any(module.sites[0].operation.startswith(("global_", "s_load")) for module in trace.modules.values()) == (
        executor is Executor.MACHINE
    )
    found: dict[tuple[str, int, str, str], dict[str, float]] = {}
    for kernel in {launch.kernel for launch in trace.launches}:
        for line in kernel_lines(trace, kernel, source.parent):
            if line.access in (AccessKind.KERNEL, AccessKind.CODE):
                continue
            kind = "atomic" if line.access is AccessKind.REDUCTION else line.access.value
            counts = found.setdefault((kernel, line.line, kind, line.space.value), {})
            for metric in _COUNTS:
                if metric in line.quantities:
                    counts[metric.value] = counts.get(metric.value, 0) + line.quantities[metric].value
    return found, done.stdout


def _agree(source: Path, directory: Path, hits_within: float = 0) -> None:
    """`hits_within`: what gathered lines leave in the L1 depends on the order of waves, which is not the same."""
    directory.mkdir()
    compiled, printed = _counted(source, Executor.COMPILED, directory / "compiled")
    executed, again = _counted(source, Executor.MACHINE, directory / "machine")
    assert printed.split("(")[0] == again.split("(")[0]  # behind it are rates, by the modelled clock
    different = {
        place: (compiled.get(place), counts)
        for place, counts in executed.items()
        if not _alike(compiled.get(place, {}), counts, hits_within)
    }
    assert not different
    assert executed.keys() == compiled.keys()


def _alike(one: Mapping[str, float], other: Mapping[str, float], hits_within: float) -> bool:
    hits = Metric.L1_HIT_RATIO.value
    near = abs(one.get(hits, 0) - other.get(hits, 0)) <= hits_within
    rest = [{name: count for name, count in counts.items() if name != hits} for counts in (one, other)]
    return near and rest[0] == rest[1] and (hits in one) == (hits in other)


def test_tiles_gathers_and_atomics_count_alike(tmp_path: Path) -> None:
    source = tmp_path / "kernels.hip"
    source.write_text(_KERNELS)
    _agree(source, tmp_path / "runs")


@pytest.mark.parametrize("seed", [1, 2])
def test_generated_kernels_count_alike(seed: int, tmp_path: Path) -> None:
    source = tmp_path / "generated.hip"
    source.write_text(program(seed, kernels=12))
    _agree(source, tmp_path / "runs", hits_within=0.05)


@pytest.mark.parametrize("example", ["triad/triad.hip", "sides/sides.hip"])
def test_our_examples_count_alike(example: str, tmp_path: Path) -> None:
    _agree(EXAMPLES / example, tmp_path / "runs")
