"""The product's own figures: start-up, time of a run on each example, and the tool's part of it.

    python benchmarks/product.py [EXAMPLE ...]

The tool's own part is the time in which neither a build nor the application runs, plus what the tool itself
computes while paused applications are compared, over the wall time of the run, interpreter start included.
Medians of three runs; ratios only are comparable between machines.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
REPEATS = 3


@dataclass(frozen=True)
class Case:
    """An example, what to look for in it, and how it is called."""

    directory: str
    formula: str
    program: str
    build: str | None = None


CASES = (
    Case("reduction", "atomicContention", "./app"),
    Case("histogram", "atomicContention", "./histogram", "./build.sh"),
    Case("transpose", "bankConflict", "build/transpose"),
    Case("scan", "bankConflict", "./scan"),
    Case("triad", "memoryAccess", "./triad"),
    Case("dotproduct", "atomicContention", "./dot"),
)

_RUNNER = """
import sys, threading, time
from intelliperf import process
from intelliperf.cli import main

began = float(sys.argv.pop(1))  # when this process was asked for; the clock is that of the whole machine
lock, alive, idle, since, cpu, computed = threading.Lock(), {}, 0.0, 0.0, 0.0, 0.0


def changed(child, label):
    # Builds and runs of the application. In a lock-step this process compares meanwhile, which is its own time.
    global idle, since, cpu, computed
    with lock:
        now, used = time.monotonic(), time.process_time()
        if alive:
            idle += now - since
            if any(kept.startswith("lockstep") for kept in alive.values()):
                computed += used - cpu
        since, cpu = now, used
        if label is None:
            alive.pop(id(child), None)
        elif label == "run" or label.startswith(("build", "lockstep")):
            alive[id(child)] = label


start, end = process.Child.__init__, process.Child.kill


def __init__(self, argv, directory, environment, logs, label, *rest):
    start(self, argv, directory, environment, logs, label, *rest)
    changed(self, label)


def kill(self):
    end(self)
    changed(self, None)


process.Child.__init__, process.Child.kill = __init__, kill
status = main(sys.argv[1:])
wall = time.monotonic() - began
print(f"{wall - idle + computed} {wall} {status}", file=sys.stderr)
"""


def start_up(*arguments: str) -> float:
    """Median seconds of one short command."""
    samples = []
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        samples.append(time.perf_counter() - started)
    return statistics.median(samples)


def run(case: Case) -> tuple[float, float, int]:
    """Wall seconds, the tool's own seconds and exit status of one run in a fresh copy."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / case.directory
        shutil.copytree(EXAMPLES / case.directory, project, ignore=shutil.ignore_patterns(".intelliperf"))
        build = ["-b", case.build] if case.build else []
        argv = [sys.executable, "-c", _RUNNER, str(time.monotonic()), "-f", case.formula, *build, "--", case.program]
        done = subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False)
        own, wall, status = done.stderr.strip().splitlines()[-1].split()
        return float(wall), float(own), int(status)


def main() -> None:
    print(f"intelliperf --help      {start_up('-m', 'intelliperf', '--help'):.3f} s")
    print(f"python -c pass          {start_up('-c', 'pass'):.3f} s")
    wanted = set(sys.argv[1:]) or {case.directory for case in CASES}
    print(f"{'example':12} {'exit':>4} {'wall s':>8} {'own part':>9}")
    for case in (case for case in CASES if case.directory in wanted):
        samples = [run(case) for _ in range(REPEATS)]
        wall = statistics.median(s[0] for s in samples)
        own = statistics.median(s[1] / s[0] for s in samples)
        print(f"{case.directory:12} {samples[0][2]:>4} {wall:>8.1f} {100 * own:>7.1f} %")


if __name__ == "__main__":
    main()
