"""The product on a real NVIDIA GPU: what its instruments cost, and what the examples gain.

    python benchmarks/nvidia.py

Prints a table in Markdown. Overheads are ratios of the application's wall time with and without the instrument,
medians of interleaved runs; gains are the product's own measurements with their 99.5 % intervals.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from intelliperf.cuda import driver_api, native, toolchain
from intelliperf.cuda.probe import device_record

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
REPEATS = 9
CASES = (
    ("reduction", "atomicContention", "make app-cuda", "./app-cuda"),
    ("histogram", "atomicContention", "./build.sh", "./histogram"),
    ("transpose", "bankConflict", "cmake -S . -B build -DGPU=CUDA && cmake --build build", "build/transpose"),
    ("scan", "bankConflict", "make", "./scan"),
    ("particles", "memoryAccess", "make particles-cuda", "./particles-cuda"),
    ("ten million atomics", "atomicContention", "nvcc -O3 -o sum sum.cu", "./sum"),
)
# The sum of ten million ones: exact in float, so that no order of adding makes a difference.
SUM = r"""
#include <cstdio>
#include <vector>
__global__ void add(const float* in, float* sum, size_t count) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(sum, in[i]);
}
int main() {
  const size_t n = 10000000;
  std::vector<float> host(n, 1.0f);
  float *in, *sum, result = 0;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, sizeof(float));
  add<<<(n + 255) / 256, 256>>>(in, sum, n);
  cudaMemcpy(&result, sum, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%.0f\n", result);
  return result == n ? 0 : 1;
}
"""


def project(root: Path, name: str) -> Path:
    directory = root / name.replace(" ", "-")
    if (EXAMPLES / name).is_dir():
        shutil.copytree(EXAMPLES / name, directory, ignore=shutil.ignore_patterns(".intelliperf"))
    else:
        directory.mkdir()
        (directory / "sum.cu").write_text(SUM)
    return directory


def seconds(program: str, directory: Path, environment: Mapping[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run([program], cwd=directory, env={**os.environ, **environment}, check=True, capture_output=True)
    return time.perf_counter() - started


def overheads(root: Path) -> None:
    directory = project(root / "overhead", "scan")
    environment = {**os.environ, **toolchain.build_environment(device_record("", driver_api.attributes()).architecture)}
    subprocess.run(["make"], cwd=directory, env=environment, check=True, capture_output=True)
    plain, traced = [], []
    for _ in range(REPEATS):
        plain.append(seconds("./scan", directory, {}))
        traced.append(seconds("./scan", directory, native.trace_environment(root / "records")))
    ratio = statistics.median(t / p for t, p in zip(traced, plain, strict=True))
    print(f"| activity records, whole process of `scan` | {ratio:.2f} × the plain run's wall time |")


def gains(root: Path) -> None:
    for name, formula, build, program in CASES:
        directory = project(root, name)
        argv = [sys.executable, "-m", "intelliperf", "--backend", "cuda", "-f", formula, "-b", build, "--", program]
        started = time.perf_counter()
        subprocess.run(argv, cwd=directory, check=False, capture_output=True)
        spent = time.perf_counter() - started
        (path,) = directory.glob(".intelliperf/runs/*/report.json")
        report = json.loads(path.read_text())
        kernel = next((m for m in report["measurements"] if m["scope"] == "kernel"), None)
        told = report["ending"]
        if kernel is not None:
            told = f"{kernel['ratio']:.3g} × ({kernel['low']:.3g} to {kernel['high']:.3g}), "
            told += f"{kernel['baseline_ns'] / 1e3:.3g} → {kernel['candidate_ns'] / 1e3:.3g} µs"
        print(f"| {name}, `{formula}` | {told}; run of {spent:.0f} s |")


def main() -> None:
    device = device_record(driver_api.device_name(), driver_api.attributes())
    print(f"| {device.name}, driver for CUDA {'.'.join(map(str, driver_api.driver_version()))} | |")
    print("|---|---|")
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "overhead").mkdir()
        overheads(Path(name))
        gains(Path(name))


if __name__ == "__main__":
    main()
