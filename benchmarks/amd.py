"""Figures of the AMD path on the software gfx90a: how long a user waits, and what interception costs.

    python benchmarks/amd.py [diagnose] [verdict] [handles] [interception]

`diagnose`: a whole run on each HIP example, with the stand-in for rocprofv3. `verdict`: `verify` of a block-wise sum in
examples/reduction. `handles`: `doctor --amd`, and what it says of the slowest buffer that another process opens in the
sandbox (at most 0.5 s). `interception`: a program of many launches, none of which is looked at, with and without the
tools library, in turn until the ratio's 95 % interval is two percent wide to each side, or forty times. Wall time says
what a user waits on this machine under its load, which is printed; processor time, of the whole tree of processes, is
what the work takes. The device computes kernels on a processor: times of the application's own runs are the device's,
not a card's.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
sys.path[:0] = [str(TESTS / "rocm"), str(ROOT)]

from rocmdevice import LAUNCHER, build_device, compile_hip  # noqa: E402  of the tests

from intelliperf.counting.sampling import t95  # noqa: E402
from intelliperf.processes.process import run  # noqa: E402
from intelliperf.processes.sandbox import UNCONFINED  # noqa: E402
from intelliperf.records import Application, Interception, Kernel  # noqa: E402
from intelliperf.rocm.backend import RocmBackend  # noqa: E402
from intelliperf.validation.runs.lockstep import Setting, record  # noqa: E402
from intelliperf.validation.runs.side import SideRun  # noqa: E402

FEWEST_PAIRS, MOST_PAIRS = 8, 40
WANTED_HALF_WIDTH = 0.02
BUILDS = {"transpose": ("cmake -S . -B build", "cmake --build build")}
PROGRAMS = {"reduction": "./app", "transpose": "build/transpose"}  # of the others as the example is called
EXAMPLES = ("reduction", "transpose", "particles", "mixing", "sides", "triad")
CONTENDED = "    float s = samples[i];\n    atomicAdd(energy, s * s);\n  }\n}"
BLOCKWISE = """    float s = samples[i];
    square = s * s;
  }
  __shared__ float parts[256];
  parts[threadIdx.x] = square;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(energy, parts[0]);
}"""
LAUNCHES = """
#include <hip/hip_runtime.h>
__global__ void step(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) for (int k = 0; k < 8; ++k) a[i] = a[i] * 0.5f + 1.0f;
}
int main() {
  float* a;
  if (hipMalloc(&a, 4 << 14) != hipSuccess) return 1;
  for (int n = 0; n < 1000; ++n) step<<<64, 256>>>(a, 1 << 14);
  return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
"""


@dataclass(frozen=True)
class Spent:
    """Seconds; `load` is the machine's before."""

    wall: float
    cpu: float
    load: float
    status: int
    said: str

    def row(self, name: str) -> str:
        return f"{name:14} {self.wall:>8.1f} {self.cpu:>8.1f} {self.load:>6.1f} {self.status:>5}"


def spend(argv: Sequence[str], place: Path) -> Spent:
    path = os.pathsep.join([str(Path(sys.executable).parent), str(TESTS / "rocprofv3"), os.environ["PATH"]])
    environment = {**{n: v for n, v in os.environ.items() if not n.endswith("_API_KEY")}, "PATH": path}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    load, before, begun = os.getloadavg()[0], resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(argv, cwd=place, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(time.monotonic() - begun, cpu, load, done.returncode, done.stdout + done.stderr)


def command(name: str, *words: str) -> list[str]:
    builds = [word for build in BUILDS.get(name, ("make",)) for word in ("-b", build)]
    common = ("--backend", "rocm", "--launcher", shlex.join(LAUNCHER.words), *builds)
    return [sys.executable, "-m", "intelliperf", *words[:1], *common, *words[1:], "--", PROGRAMS.get(name, f"./{name}")]


def diagnose(place: Path) -> None:
    for name in EXAMPLES:
        project = place / name
        shutil.copytree(
            ROOT / "examples" / name, project, ignore=shutil.ignore_patterns(".intelliperf", "build", "app")
        )
        print(spend(command(name, "diagnose"), project).row(name), flush=True)


def verdict(place: Path) -> None:
    project = place / "verdict"
    shutil.copytree(ROOT / "examples" / "reduction", project, ignore=shutil.ignore_patterns(".intelliperf", "app"))
    source = project / "signal_energy.hip"
    before = source.read_text()
    after = before.replace(CONTENDED, BLOCKWISE).replace(
        "  if (i < count) {", "  float square = 0.0f;\n  if (i < count) {"
    )
    changed = place / "signal_energy.hip"
    changed.write_text(after)
    diff = subprocess.run(
        ["diff", "-u", "--label", "a/signal_energy.hip", "--label", "b/signal_energy.hip", source, changed],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    (place / "change.diff").write_text(diff.stdout)
    spent = spend(command("reduction", "verify", "-f", "atomicContention", str(place / "change.diff")), project)
    print(spent.row("verdict"), flush=True)
    for report in project.glob(".intelliperf/runs/*/report.json"):
        (attempt,) = json.loads(report.read_text())["attempts"]
        print("  ", attempt["verdict"]["outcome"], attempt["verdict"].get("detail", ""))


def handles(place: Path) -> None:
    words = ("doctor", "--amd", "--launcher", shlex.join(LAUNCHER.words))
    spent = spend([sys.executable, "-m", "intelliperf", *words], place)
    print(spent.row("doctor"), flush=True)
    print(*[line for line in spent.said.splitlines() if line[5:].startswith("buffers:")], sep="\n")


def interception(place: Path) -> None:
    """Processor seconds of the application alone; the listening process is this one."""
    (place / "launches.hip").write_text(LAUNCHES)
    compile_hip(place / "launches.hip", place / "app")
    application = Application(("./app",), place, place, launcher=LAUNCHER)
    backend = RocmBackend(place / "device", None, UNCONFINED, LAUNCHER)
    setting = Setting(backend, Kernel("none", "none"), UNCONFINED, place / "logs", 300.0)

    def used(work: Callable[[], object]) -> tuple[float, float]:
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        work()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return cpu, time.monotonic() - begun

    argv = [*LAUNCHER.words, "./app"]
    ways = {
        "alone": lambda: run(argv, place, 300.0, place / "logs", "alone"),
        "seen": lambda: record(setting, SideRun("seen", application, Interception(kernels=("none",)))),
    }
    ways["seen"]()  # builds the library
    rows: list[dict[str, tuple[float, float]]] = []
    while len(rows) < FEWEST_PAIRS or (len(rows) < MOST_PAIRS and half_width(ratios_of(rows, 0)) > WANTED_HALF_WIDTH):
        order = list(ways) if len(rows) % 2 else list(reversed(ways))
        rows.append({name: used(ways[name]) for name in order})
    for at, what in enumerate(("processor", "wall")):
        ratios = ratios_of(rows, at)
        middle, half = geometric_mean(ratios), half_width(ratios)
        alone = statistics.median(row["alone"][at] for row in rows)
        print(f"interception, {what} time: {alone:.2f} s alone, ratio {middle:.3f} (95 %: {middle / (1 + half):.3f} to "
              f"{middle * (1 + half):.3f}, {len(rows)} pairs), load {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip


def ratios_of(rows: Sequence[Mapping[str, tuple[float, float]]], at: int) -> list[float]:
    return [row["seen"][at] / row["alone"][at] for row in rows]


def geometric_mean(ratios: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def half_width(ratios: Sequence[float]) -> float:
    """Of the mean's 95 % interval, as a share of it: ratios are near one, and their logarithms are averaged."""
    return math.expm1(t95(len(ratios) - 1) * statistics.stdev(map(math.log, ratios)) / math.sqrt(len(ratios)))


WORK = {"diagnose": diagnose, "verdict": verdict, "handles": handles, "interception": interception}


def main() -> None:
    parser = argparse.ArgumentParser(description="Figures of the AMD path on the software gfx90a.")
    parser.add_argument("what", nargs="*", choices=[*WORK, []], help="default: all")
    build_device()  # once per change of its sources, and no part of any figure
    print(f"{'':14} {'wall s':>8} {'cpu s':>8} {'load':>6} {'exit':>5}")
    for what in parser.parse_args().what or WORK:
        with tempfile.TemporaryDirectory() as name:
            WORK[what](Path(name))


if __name__ == "__main__":
    main()
