"""The product's own figures: start-up, time of a run on each example, and the tool's part of it.

    python benchmarks/product.py [--repeats N] [EXAMPLE ...]

The tool's own part is the time in which neither a build nor the application runs, plus what the tool itself computes
while paused applications are compared, over the wall time of the run, interpreter start included. Two pieces of it
are told apart: what passes before the first build begins, and the compiler as the parser of the rules. Medians, after
one run that is left out because it may fill caches; ratios only are comparable between machines.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# What an installed package has: its byte code is kept.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
HELP = "from intelliperf.cli import main\nmain(['--help'])"
VENDORS = ("dspy", "litellm", "openai", "anthropic", "numpy", "pydantic", "rich", "tree_sitter", "elftools")


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
from intelliperf.processes import process
from intelliperf.cli import main

began = float(sys.argv.pop(1))  # when this process was asked for; the clock is that of the whole machine
lock, alive, idle, since, cpu, computed = threading.Lock(), {}, 0.0, 0.0, 0.0, 0.0
first, parsing, spawned = 0.0, 0.0, threading.local()


def now_and_used():
    return time.monotonic(), time.process_time()


def changed(child, label, at):
    # Builds and runs of the application. In a lock-step this process compares meanwhile, which is its own time.
    global idle, since, cpu, computed, first, parsing
    with lock:
        now, used = max(at, (since, cpu))
        if alive:
            idle += now - since
            if any(kept.startswith("lockstep") for kept in alive.values()):
                computed += used - cpu
        since, cpu = now, used
        if label is not None and label.startswith("build"):
            first = first or now - began
        if label == "parse":
            parses[id(child)] = now
        elif label is None and id(child) in parses:
            parsing += now - parses.pop(id(child))
        if label is None:
            alive.pop(id(child), None)
        elif label == "run" or label.startswith(("build", "lockstep")):
            alive[id(child)] = label


parses = {}
spawn, start, end = process._start, process.Child.__init__, process.Child.kill


def _start(*arguments):
    popen = spawn(*arguments)
    spawned.at = now_and_used()
    return popen


def __init__(self, argv, directory, environment, logs, label, *rest):
    start(self, argv, directory, environment, logs, label, *rest)
    changed(self, label, spawned.at)


def kill(self):
    ended = None if self.running() else now_and_used()
    end(self)
    changed(self, None, ended or now_and_used())


process._start, process.Child.__init__, process.Child.kill = _start, __init__, kill
try:
    main()  # as the installed program does
except SystemExit as ended:
    status = ended.code
wall = time.monotonic() - began
print(f"{wall - idle + computed} {wall} {first} {parsing} {status}", file=sys.stderr)
"""


@dataclass(frozen=True)
class Sample:
    """Seconds of one run."""

    own: float
    wall: float
    before_build: float
    parsing: float
    status: int


def start_up(*arguments: str) -> float:
    """Median seconds of one short command."""
    samples = []
    for _ in range(9):
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
        samples.append(time.perf_counter() - started)
    return statistics.median(samples)


def loaded(code: str) -> str:
    """Which large packages a piece of Python loads."""
    words = " ".join(VENDORS)
    code = f"import sys\n{code}\nprint(*(n for n in {words!r}.split() if n in sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return done.stderr.strip() or "none"


def run(case: Case) -> Sample:
    """One run in a fresh copy."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / case.directory
        shutil.copytree(EXAMPLES / case.directory, project, ignore=shutil.ignore_patterns(".intelliperf"))
        build = ["-b", case.build] if case.build else []
        argv = [sys.executable, "-c", _RUNNER, str(time.monotonic()), "-f", case.formula, *build, "--", case.program]
        done = subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        own, wall, before_build, parsing, status = done.stderr.strip().splitlines()[-1].split()
        return Sample(float(own), float(wall), float(before_build), float(parsing), int(status))


def main() -> None:
    parser = argparse.ArgumentParser(description="The product's own figures.")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each example (default 3)")
    parser.add_argument("examples", nargs="*", help="default: all")
    options = parser.parse_args()
    print(f"intelliperf --help      {start_up('-m', 'intelliperf', '--help'):.3f} s")
    print(f"python -c pass          {start_up('-c', 'pass'):.3f} s")
    print(f"import intelliperf      loads of the large packages: {loaded('import intelliperf')}")
    print(f"intelliperf --help      loads: {loaded(HELP)}")
    print(f"{'example':12} {'exit':>4} {'wall s':>7} {'own s':>6} {'own':>7} {'to build':>9} {'parsing':>8}")
    for case in (case for case in CASES if not options.examples or case.directory in options.examples):
        run(case)
        samples = [run(case) for _ in range(options.repeats)]
        wall, own, before, parsing = (
            statistics.median(values)
            for values in zip(*((s.wall, s.own, s.before_build, s.parsing) for s in samples), strict=True)
        )
        share = 100 * statistics.median(s.own / s.wall for s in samples)
        status = samples[0].status
        print(
            f"{case.directory:12} {status:>4} {wall:>7.1f} {own:>6.2f} {share:>5.1f} % {before:>9.2f} {parsing:>8.2f}"
        )


if __name__ == "__main__":
    main()
