"""Speed of the emulator: processor time per thread and per traced access, and against plain host loops.

    python benchmarks/emulator_speed.py [--repeats N]

Builds programs/emulator_speed.hip and runs it fast and traced, alternating. Ratios are to a host loop of the same
run (element-wise kernels to an element-wise sum, products to a naive product), so that they are comparable between
machines; the nanoseconds are this machine's. Medians over all launches but the first of each run.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "programs" / "emulator_speed.hip"
LAUNCHES = 4
FAST_SIZE = ("256", "1048576")  # rows of the square matrices, elements
TRACED_SIZE = ("128", "262144")
DEADLINE_S = 600


@dataclass
class Timings:
    """Of one kernel: how much it does, and the processor time of each launch."""

    threads: float
    accesses: float
    launches_ns: list[float] = field(default_factory=list)

    @property
    def median_ns(self) -> float:
        return statistics.median(self.launches_ns)


def main() -> None:
    """Print one line per kernel and mode."""
    parser = argparse.ArgumentParser(description="Speed of the emulator.")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each mode (default 3)")
    repeats = parser.parse_args().repeats
    fast: dict[str, Timings] = {}
    traced: dict[str, Timings] = {}
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        program = build(directory)
        for repeat in range(repeats):
            measure(program, FAST_SIZE, {}, fast)
            records = {"INTELLIPERF_TRACE_DIR": str(directory / f"records-{repeat}")}
            budget = {"INTELLIPERF_TRACE_EVENTS": "1000000000", "INTELLIPERF_TRACE_LAUNCHES": str(LAUNCHES)}
            measure(program, TRACED_SIZE, {**records, **budget}, traced)
    print("fast", "ns per thread", "against the host loop", sep="\t")
    for kernel, timings in kernels(fast).items():
        share = timings.median_ns / timings.threads
        print(kernel, f"{share:.1f}", f"{against_host(kernel, fast):.1f}", sep="\t")
    print("traced", "ns per access", "against the host loop", sep="\t")
    for kernel, timings in kernels(traced).items():
        share = timings.median_ns / timings.accesses
        print(kernel, f"{share:.1f}", f"{against_host(kernel, traced):.0f}", sep="\t")


def build(directory: Path) -> Path:
    """The program under test, through the compiler drop-in."""
    program = directory / "emulator_speed"
    driver = [sys.executable, "-m", "intelliperf.emulator.driver", "hipcc"]
    subprocess.run([*driver, "-O2", str(SOURCE), "-o", str(program)], check=True, timeout=DEADLINE_S)
    return program


def measure(program: Path, size: tuple[str, str], environment: Mapping[str, str], into: dict[str, Timings]) -> None:
    """Run once and add the launches of every kernel to `into`."""
    argv = [str(program), str(LAUNCHES), *size]
    done = subprocess.run(argv, check=True, timeout=DEADLINE_S, env=environment, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        name, threads, accesses, *launches = line.split()
        timings = into.setdefault(name, Timings(float(threads), float(accesses)))
        timings.launches_ns += map(float, launches)


def kernels(timings: Mapping[str, Timings]) -> dict[str, Timings]:
    """Without the host loops."""
    return {name: of for name, of in timings.items() if not name.startswith("host.")}


def against_host(kernel: str, timings: Mapping[str, Timings]) -> float:
    """Time per access over that of the host loop."""
    host = timings["host.product" if kernel.startswith("product") else "host.vector_add"]
    of = timings[kernel]
    return of.median_ns / of.accesses / (host.median_ns / host.accesses)


if __name__ == "__main__":
    main()
