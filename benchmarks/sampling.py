"""Default runs of the emulator against whole traces: are exact figures exact, and truths inside their error bars?

    python benchmarks/sampling.py [--target TARGET] [--events N] [--verbose] [CASE ...]

Builds tests/emulator/programs/sampling.hip and runs each of its cases twice, as by default and with every request
analysed. Of every line it compares each counted figure. One row per case: figures in all; those said to be exact;
those of them that are not; those with an error bar; those of them whose truth lies outside; the largest error bar
and the largest deviation, relative; the modelled times' ratio; and the processor seconds of both runs.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.processes.process import run
from intelliperf.records import Application, Metric, Provenance, SourceEvidence

SOURCE = Path(__file__).resolve().parent.parent / "tests" / "emulator" / "programs" / "sampling.hip"
WHOLE = (("INTELLIPERF_TRACE_EVENTS", "1000000000000"), ("INTELLIPERF_TRACE_LAUNCHES", "100000"))
DEADLINE_S = 600.0
TOLERANCE = 1e-6  # relative: counts that are means over dispatches are not whole numbers


@dataclass
class Comparison:
    """Of one case; names of the figures that are wrong."""

    figures: int = 0
    exact: int = 0
    inexact: list[str] = field(default_factory=list)
    estimated: int = 0
    outside: list[str] = field(default_factory=list)
    widest: float = 0.0
    farthest: float = 0.0
    times: dict[str, tuple[float, float]] = field(default_factory=dict)  # by kernel: default, whole

    def add(self, name: str, told: float, error: float | None, truth: float) -> None:
        self.figures += 1
        off = abs(told - truth)
        if error is None:
            self.exact += 1
            if off > TOLERANCE * abs(truth):
                self.inexact.append(f"{name}: {told:,.6g}, whole {truth:,.6g}")
            return
        self.estimated += 1
        self.widest = max(self.widest, error / truth if truth else 0.0)
        self.farthest = max(self.farthest, off / truth if truth else 0.0)
        if off > error + 0.5:
            self.outside.append(f"{name}: {told:,.6g} ± {error:,.3g}, whole {truth:,.6g}")


def cases() -> tuple[str, ...]:
    return tuple(re.findall(r'if \(is\("(\w+)"\)\)', SOURCE.read_text()))


def build(directory: Path, target: str) -> Path:
    backend = EmulatorBackend(directory / "build", target)
    done = run(
        ["hipcc", "-O2", "-g", str(SOURCE), "-o", "sampling"],
        directory, DEADLINE_S, directory / "logs", "build", backend.build_environment(),
    )  # fmt: skip
    if not done.ok:
        raise SystemExit(done.tail())
    return directory / "sampling"


def compare(directory: Path, target: str, case: str, default: Mapping[str, str] | None = None) -> Comparison:
    """`directory` holds the built program; `default` is the environment of the run that samples."""
    found = Comparison()
    sampled = _lines(directory / f"{case}-default", directory, target, case, tuple((default or {}).items()), found, 0)
    whole = _lines(directory / f"{case}-whole", directory, target, case, WHOLE, found, 1)
    for key, truths in whole.items():
        for metric, truth in truths.items():
            if truth[1] is not None:
                raise AssertionError(f"{case}: the whole trace is not whole: {key} {metric.value} ± {truth[1]}")
            told = sampled.get(key, {}).get(metric, (0.0, None))
            found.add(f"{key} {metric.value}", told[0], told[1], truth[0])
    return found


Figures = dict[str, dict[Metric, tuple[float, float | None]]]


def _lines(
    records: Path, directory: Path, target: str, case: str, environment: Sequence[tuple[str, str]],
    found: Comparison, side: int,
) -> Figures:  # fmt: skip
    backend = EmulatorBackend(records, target)
    application = Application(("./sampling", case), SOURCE.parent, directory, environment=tuple(environment))
    figures: Figures = {}
    for profile in backend.profile(application, DEADLINE_S).kernels:
        before = found.times.get(profile.kernel.name, (0.0, 0.0))
        time_ns = profile.quantity(Metric.DEVICE_TIME_NS).value
        found.times[profile.kernel.name] = (time_ns, before[1]) if side == 0 else (before[0], time_ns)
        for metric, quantity in profile.quantities.items():
            if quantity.provenance is Provenance.MEASURED or metric in _OF_BLOCKS:
                figures.setdefault(profile.kernel.name, {})[metric] = (quantity.value, quantity.error)
        for line in backend.lines(application, profile.kernel, DEADLINE_S):
            figures.update(_figures(line))
    backend.forget()
    return figures


_OF_BLOCKS = (Metric.INSTRUCTIONS, Metric.LANE_INSTRUCTIONS)  # of the emulated program, so modelled, but counted


def _figures(line: SourceEvidence) -> Iterator[tuple[str, dict[Metric, tuple[float, float | None]]]]:
    counted = {
        metric: (quantity.value, quantity.error)
        for metric, quantity in line.quantities.items()
        if quantity.provenance is Provenance.MEASURED
    }
    if counted:
        place = f"{line.kernel.name.partition('(')[0]}:{line.line}:{line.column} {line.space.value} {line.operation}"
        yield f"{place} {line.element_bytes}B", counted


def main() -> None:
    """Print a row per case, and what is wrong."""
    parser = argparse.ArgumentParser(description="Default runs of the emulator against whole traces.")
    parser.add_argument("cases", nargs="*", default=cases())
    parser.add_argument("--target", default="mi300x")
    parser.add_argument("--events", type=int, help="accesses analysed by default (default: the product's)")
    parser.add_argument("--verbose", action="store_true", help="name every figure that is wrong")
    options = parser.parse_args()
    environment = {"INTELLIPERF_TRACE_EVENTS": str(options.events)} if options.events else {}
    print("case", "figures", "exact", "not", "with ±", "outside", "widest", "farthest", "time", "user s", sep="\t")
    sums = Comparison()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        build(directory, options.target)
        for case in options.cases:
            begun = os.times().children_user
            found = compare(directory, options.target, case, environment)
            spent = os.times().children_user - begun
            ratio = sum(times[0] for times in found.times.values()) / sum(times[1] for times in found.times.values())
            print(
                case, found.figures, found.exact, len(found.inexact), found.estimated, len(found.outside),
                f"{found.widest:.1%}", f"{found.farthest:.1%}", f"{ratio:.3f}", f"{spent:.2f}", sep="\t", flush=True,
            )  # fmt: skip
            for wrong in (*found.inexact, *found.outside) if options.verbose else ():
                print("   ", wrong)
            sums.figures, sums.exact, sums.estimated = (
                sums.figures + found.figures, sums.exact + found.exact, sums.estimated + found.estimated
            )  # fmt: skip
            sums.inexact += found.inexact
            sums.outside += found.outside
    print("all", sums.figures, sums.exact, len(sums.inexact), sums.estimated, len(sums.outside), sep="\t")


if __name__ == "__main__":
    main()
