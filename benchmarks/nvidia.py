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
from intelliperf.cuda.backend import CudaBackend
from intelliperf.cuda.comparing import DeviceComparer
from intelliperf.cuda.probe import device_record
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.protocols import Numbers, SharedBuffer
from intelliperf.records import Application, Interception, Kernel
from intelliperf.validation.buffers.compare import CHUNK_BYTES
from intelliperf.validation.runs.lockstep import Setting, record
from intelliperf.validation.runs.side import SideRun

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
REPEATS = 9
COMPARED_BYTES = 1 << 30
# Two equal buffers and their handles; then, for each line of input, the seconds of a copy on the device.
HOLDER = """
import ctypes, sys, time
from intelliperf.cuda.driver_api import driver
driver, context, size = driver(), ctypes.c_void_p(), ctypes.c_uint64(int(sys.argv[1]))
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)
buffers = [ctypes.c_uint64() for _ in range(2)]
for buffer in buffers:
    handle = (ctypes.c_ubyte * 64)()
    assert driver.cuMemAlloc_v2(ctypes.byref(buffer), size) == 0
    assert driver.cuMemsetD32_v2(buffer, 0x3f800000, ctypes.c_uint64(size.value // 4)) == 0
    assert driver.cuCtxSynchronize() == 0
    assert driver.cuIpcGetMemHandle(handle, buffer) == 0
    print(bytes(handle).hex(), flush=True)
for _ in sys.stdin:
    started = time.perf_counter()
    assert driver.cuMemcpyDtoD_v2(buffers[0], buffers[1], size) == 0
    assert driver.cuCtxSynchronize() == 0
    print(time.perf_counter() - started, flush=True)
"""
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


def interception(root: Path) -> None:
    """Paused after each of its dispatches, all buffers shown by handle or copy, and resumed at once."""
    directory = project(root / "interception", "scan")
    backend = CudaBackend(root / "device")
    environment = {**os.environ, **backend.build_environment()}
    subprocess.run(["make"], cwd=directory, env=environment, check=True, capture_output=True)
    setting = Setting(backend, Kernel("", "all"), UNCONFINED, root / "logs", 120.0)
    run = SideRun("scan", Application(("./scan",), directory, directory), Interception(kernels=("*",)))
    plain, paused, events = [], [], 0
    for _ in range(REPEATS):
        plain.append(seconds("./scan", directory, {}))
        seen, done = record(setting, run)
        paused.append(done.seconds)
        events = len(seen)
    ratio = statistics.median(p / q for p, q in zip(paused, plain, strict=True))
    what = f"interception, whole process of `scan`, {events} dispatches and transfers"
    print(f"| {what} | {ratio:.2f} × the plain run's wall time |")


def comparison() -> None:
    """Rates by the traffic: what a comparison reads, what a copy reads and writes."""
    comparer = DeviceComparer(device_record("", driver_api.attributes()).architecture)
    argv = [sys.executable, "-c", HOLDER, str(COMPARED_BYTES)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        left, right = (
            SharedBuffer(bytes.fromhex(holder.stdout.readline()), COMPARED_BYTES, 0, "CUDA") for _ in range(2)
        )
        numbers = Numbers("float", 4, 0.0, 0.0)
        compared = []
        for _ in range(REPEATS):
            started = time.perf_counter()
            if comparer.differing(left, right, COMPARED_BYTES, CHUNK_BYTES, numbers) != ():
                raise SystemExit("equal buffers are said to differ")
            compared.append(time.perf_counter() - started)
        holder.stdin.write("copy\n" * REPEATS)
        holder.stdin.close()
        copied = [float(holder.stdout.readline()) for _ in range(REPEATS)]
    comparer.close()
    rates = [2 * COMPARED_BYTES / statistics.median(samples) / 1e12 for samples in (compared, copied)]
    told = f"{rates[0]:.2f} TB/s, {rates[0] / rates[1]:.2f} × the device's own copy ({rates[1]:.2f} TB/s)"
    print(f"| comparison of two buffers of 1 GiB of another process, handles opened and closed | {told} |")


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
        (Path(name) / "interception").mkdir()
        overheads(Path(name))
        interception(Path(name))
        comparison()
        gains(Path(name))


if __name__ == "__main__":
    main()
