"""What replays on an NVIDIA GPU say, beside whole runs of the application, and how often they see a gain in nothing.

    python benchmarks/replayed.py [--repeats N] SOURCE=PATCH ...

Each source file is a program of its own, built with nvcc; its patch is judged as a user would have it judged. One line
each: how long that took, the verdict, the kernel's ratio by replay and by whole runs with their intervals. Then the
program's kernel is timed against itself, built anew: every one of `N` such comparisons that calls one of them faster is
a false win. The last lines are the totals.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intelliperf.backends import open_backend
from intelliperf.cuda import replaying
from intelliperf.processes.sandbox import Sandbox
from intelliperf.profiling.pairs import Decision
from intelliperf.recordings.export import unpack
from intelliperf.recordings.file import SUFFIX, RecordingFile
from intelliperf.recordings.image import make_ready
from intelliperf.records import Application

TOOL = "from intelliperf.cli import main\nmain()"
NEAR = 1.05  # ratios by replay and by whole runs agree within this factor
REPLAYED = "recorded dispatches"
RATIO = re.compile(r"measured ([\d.,]+)× \(95 %: ([\d.,]+) to ([\d.,]+)\)")
TIMED_S = 300.0


@dataclass(frozen=True)
class Ratio:
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--keep", type=Path, help="directory for the runs; default: a temporary one")
    parser.add_argument("programs", nargs="+", metavar="SOURCE=PATCH")
    options = parser.parse_args()
    both, wins, compared = [], 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for given in options.programs:
            source, patch = (Path(part).resolve() for part in given.split("="))
            home = (options.keep or Path(scratch)).resolve() / source.stem
            ratios = judged(source, patch, home)
            if ratios is not None:
                both.append(ratios)
            for recording in sorted(home.glob(f"runs/*/recordings/*{SUFFIX}")):
                decisions = list(against_itself(recording, home, options.repeats))
                wins += sum(decision is not Decision.NO_CHANGE for decision in decisions)
                compared += len(decisions)
    near = sum(1 / NEAR <= replayed.value / whole.value <= NEAR for replayed, whole in both)
    print(f"{near} of {len(both)} ratios by replay are within 5 % of those by whole runs")
    print(f"{wins} false wins in {compared} comparisons of a kernel with itself")


def judged(source: Path, patch: Path, home: Path) -> tuple[Ratio, Ratio] | None:
    """The kernel's ratio by replay and by whole runs; None where one of them is missing."""
    project = home / "project"
    project.mkdir(parents=True)
    (project / source.name).write_text(source.read_text())
    words = ["verify", str(patch), "--backend", "cuda", "--allow-geometry", "-b", build(source)]
    words += ["-p", str(project), "--run-root", str(home / "runs"), "-o", str(home / "report.json"), "--", "./app"]
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", TOOL, *words], cwd=project, capture_output=True, text=True)
    took = time.monotonic() - begun
    (home / "said").write_text(done.stdout + done.stderr)
    report = json.loads((home / "report.json").read_text()) if (home / "report.json").is_file() else {"attempts": []}
    for attempt in report["attempts"]:
        verdict = attempt["verdict"] or {"outcome": "none", "checks": [], "measurements": []}
        replayed, whole = by_replay(verdict), by_whole_runs(report)
        print(f"{source.stem}: {took:.1f} s, {verdict['outcome']}; replayed {replayed}, whole runs {whole}", flush=True)
        for check in verdict["checks"]:
            if check["name"] == REPLAYED:
                print(f"    {check['detail']}", flush=True)
        if replayed and whole:
            return replayed, whole
    if not report["attempts"]:
        print(f"{source.stem}: {took:.1f} s, {(done.stdout + done.stderr).strip().splitlines()[-1:]}", flush=True)
    return None


def by_replay(verdict: Any) -> Ratio | None:
    for check in verdict["checks"]:
        if check["name"] == REPLAYED and (found := RATIO.search(check["detail"])):
            return Ratio(*(float(part.replace(",", "")) for part in found.groups()))
    return None


def by_whole_runs(report: Any) -> Ratio | None:
    """As measured at the end; a verdict on recordings holds what the replays measured."""
    for measured in report.get("measurements", []):
        if measured["scope"] == "kernel":
            return Ratio(measured["ratio"], measured["low"], measured["high"])
    return None


def build(source: Path) -> str:
    return f"nvcc -O3 -arch=native -x cu {source.name} -o app"


def against_itself(recording: Path, home: Path, repeats: int) -> Iterator[Decision]:
    """Of the original's kernel against another build of the same source."""
    with ExitStack() as stack:
        file = stack.enter_context(RecordingFile(recording))
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (program,) = file.recording.code
        first = unpack(file, program, scratch / "first")
        (source,) = (home / "project").glob("*.[ch][ui]*")
        second = scratch / "second" / "app"
        second.parent.mkdir()
        (second.parent / source.name).write_text("// the same, built anew\n" + source.read_text())
        subprocess.run(shlex.split(build(source)), cwd=second.parent, check=True)
        sandbox = Sandbox.probe(scratch)
        application = Application((str(first),), first.parent, first.parent)
        open_backend("cuda", scratch / "device", None, sandbox, application)
        logs = scratch / "logs"
        logs.mkdir()
        plan = make_ready(file, scratch / "image")
        for one in replaying.timed(
            application, (first, second), (plan, plan), logs, sandbox, None, TIMED_S, repeats=repeats
        ):
            yield one.decision


if __name__ == "__main__":
    main()
