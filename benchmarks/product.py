"""The product's own figures: start-up, time of a run on each example, and the tool's part of it.

    python benchmarks/product.py [EXAMPLE ...]

The tool's own part is the CPU time of its process over the wall time of the run; builds, the application and its
emulation happen in child processes and are not in it. Medians of three runs; ratios only are comparable between
machines.
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
import sys, time
from intelliperf.cli import main
started = time.monotonic()
status = main(sys.argv[1:])
print(f"{time.process_time()} {time.monotonic() - started} {status}", file=sys.stderr)
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
    """Wall seconds, the tool's own CPU seconds and exit status of one run in a fresh copy."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / case.directory
        shutil.copytree(EXAMPLES / case.directory, project, ignore=shutil.ignore_patterns(".intelliperf"))
        build = ["-b", case.build] if case.build else []
        argv = [sys.executable, "-c", _RUNNER, "-f", case.formula, *build, "--", case.program]
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
