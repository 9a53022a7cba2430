"""Speed of the emulator: processor time per thread and per traced access, and against plain host loops.

    python benchmarks/emulator_speed.py [--repeats N] [--other PROGRAM [--other-traced NAME=VALUE ...]]

Builds programs/emulator_speed.hip and runs it fast and traced, alternating. Ratios are to a host loop of the same
run (element-wise kernels to an element-wise sum, products to a naive product), so that they are comparable between
machines; the nanoseconds are this machine's. Medians over all launches but the first of each run.

PROGRAM is the same source built for another emulator (or by another version of this one), run in turn with it; the
NAMEs are the environment in which it traces all launches, {directory} standing for an empty directory. The last
column is then this emulator's time over the other's.
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
TRACED = {"INTELLIPERF_TRACE_EVENTS": "1000000000", "INTELLIPERF_TRACE_LAUNCHES": str(LAUNCHES)}
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


Timed = dict[str, Timings]  # by kernel


def main() -> None:
    """Print one line per kernel and mode."""
    parser = argparse.ArgumentParser(description="Speed of the emulator.")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each mode (default 3)")
    parser.add_argument("--other", type=Path, help="the same program on another emulator")
    parser.add_argument("--other-traced", nargs="*", default=[], metavar="NAME=VALUE", help="how it traces")
    options = parser.parse_args()
    fast, traced, other_fast, other_traced = Timed(), Timed(), Timed(), Timed()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        program = build(directory)
        for repeat in range(options.repeats):
            measure(program, FAST_SIZE, {}, fast)
            if options.other:
                measure(options.other, FAST_SIZE, {}, other_fast)
            measure(program, TRACED_SIZE, {**TRACED, "INTELLIPERF_TRACE_DIR": str(directory / f"own-{repeat}")}, traced)
            if options.other:
                records = directory / f"other-{repeat}"
                words = (word.replace("{directory}", str(records)).partition("=") for word in options.other_traced)
                measure(options.other, TRACED_SIZE, {name: value for name, _, value in words}, other_traced)
    print("fast", "ns per thread", "against the host loop", "against the other", sep="\t")
    for kernel, timings in kernels(fast).items():
        share = timings.median_ns / timings.threads
        print(
            kernel, f"{share:.1f}", f"{against_host(kernel, fast):.1f}", against(other_fast, kernel, timings), sep="\t"
        )
    print("traced", "ns per access", "against the host loop", "against the other", sep="\t")
    for kernel, timings in kernels(traced).items():
        share = timings.median_ns / timings.accesses
        ratio = against(other_traced, kernel, timings)
        print(kernel, f"{share:.1f}", f"{against_host(kernel, traced):.0f}", ratio, sep="\t")


def against(others: Timed, kernel: str, timings: Timings) -> str:
    """Ratio of the medians to another emulator's, and of the best launches, which other work disturbs less."""
    if kernel not in others:
        return "-"
    other = others[kernel]
    return f"{timings.median_ns / other.median_ns:.2f} (best {min(timings.launches_ns) / min(other.launches_ns):.2f})"


def build(directory: Path) -> Path:
    """The program under test, through the compiler drop-in."""
    program = directory / "emulator_speed"
    driver = [sys.executable, "-m", "intelliperf.emulator.driver", "hipcc"]
    subprocess.run([*driver, "-O2", str(SOURCE), "-o", str(program)], check=True, timeout=DEADLINE_S)
    return program


def measure(program: Path, size: tuple[str, str], environment: Mapping[str, str], into: Timed) -> None:
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
