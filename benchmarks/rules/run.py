"""What the rules alone make of planted programs, beside what an expert's version of the same program gains.

    python benchmarks/rules/run.py [--keep DIR] [--set fresh] [PROGRAM ...]

Each program in `programs/` has one fault that newcomers make, in a style of its own; those in `fresh/` were written
before any rule was tried on them. It is improved as a user would do
it, `intelliperf -- ./app` on the emulator without a model. `drawer/NAME` is the same program as an expert would write
it, which the tool never sees. Gains are those of the kernel's modelled time, for the expert's of all kernels together.
One line per finding and verdict; the last lines are the totals.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COMPILERS = {".hip": "hipcc", ".cu": "nvcc"}
TOOL = "from intelliperf.cli import main\nmain()"


@dataclass(frozen=True)
class Outcome:
    program: str
    lines: tuple[str, ...]  # formula, rule, verdict
    gain: float | None  # of the kernel, modelled; None: nothing was accepted
    found: bool
    expert: float | None  # None: no expert's version is in the drawer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="directory for the runs; default: a temporary one")
    parser.add_argument("--set", default="programs", choices=("programs", "fresh"), help="which folder of programs")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    chosen = [path for path in sorted((HERE / options.set).iterdir()) if path.suffix in COMPILERS]
    if options.programs:
        chosen = [path for path in chosen if path.stem in options.programs]
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = []
        for path in chosen:
            outcomes.append(judged(path, options.keep or Path(scratch)))
            print(described(outcomes[-1]), flush=True)
    print(totals(outcomes))


def judged(program: Path, root: Path) -> Outcome:
    report = improved(program.name, program.read_text(), root / program.stem, ())
    lines = tuple(told(report))
    accepted = [attempt for attempt in report["attempts"] if outcome_of(attempt) == "ACCEPTED"]
    before = device_ns(report["profiles"])
    gain = gained(report) if accepted else None
    twin = HERE / "drawer" / program.name
    expert = None
    if twin.is_file():
        of_expert = improved(program.name, twin.read_text(), root / f"{program.stem}-expert", ("-f", "diagnoseOnly"))
        expert = before / device_ns(of_expert["profiles"])
    return Outcome(program.stem, lines, gain, bool(report["attempts"]), expert)


def improved(
    name: str,
    text: str,
    directory: Path,
    options: tuple[str, ...],
    headers: Mapping[str, str] | None = None,
    arguments: tuple[str, ...] = (),
) -> Any:
    """The report of a run over one source file."""
    project = directory / "project"
    project.mkdir(parents=True, exist_ok=True)
    for file, content in {name: text, **(headers or {})}.items():
        (project / file).write_text(content)
    report = directory / "report.json"
    build = f"{COMPILERS[Path(name).suffix]} -O2 {name} -o app"
    argv = (sys.executable, "-c", TOOL, *options, "--backend", "emulator", "-b", build)
    places = ("-p", str(project), "--run-root", str(directory / "runs"), "-o", str(report))
    command = (*argv, *places, "--", "./app", *arguments)
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if not report.is_file():
        raise SystemExit(f"{name}: {done.stdout}{done.stderr}")
    return json.loads(report.read_text())


def told(report: Any) -> Iterator[str]:
    for attempt in report["attempts"]:
        origin = (attempt["candidate"] or attempt["declined"])["origin"]
        reason = attempt["verdict"]["detail"] if attempt["verdict"] else attempt["declined"]["reason"]
        first = reason.splitlines()[0] if reason else ""
        outcome = outcome_of(attempt)
        gained = ""
        if outcome == "ACCEPTED":
            gained = "".join(
                f" {m['baseline_ns'] / m['candidate_ns']:.2f}x of the {m['scope']}"
                for m in attempt["verdict"]["measurements"]
            )
        yield f"{attempt['formula']} {origin['name']}: {outcome}{gained or f' {first}'}"
    if not report["attempts"]:
        yield f"nothing to try: {report['ending']}"


def outcome_of(attempt: Any) -> str:
    return str(attempt["verdict"]["outcome"]) if attempt["verdict"] else "DECLINED"


def device_ns(profiles: Any) -> float:
    return float(sum(sum(profile["device_time_ns"]) for profile in profiles))


def gained(report: Any) -> float:
    """Of the kernel; accepted attempts build on one another, each told against the version before it."""
    total = 1.0
    for attempt in report["attempts"]:
        if outcome_of(attempt) == "ACCEPTED":
            for measured in attempt["verdict"]["measurements"]:
                if measured["scope"] == "kernel":
                    total *= measured["baseline_ns"] / measured["candidate_ns"]
    return total


def described(outcome: Outcome) -> str:
    gain = "nothing accepted, 1.00" if outcome.gain is None else f"{outcome.gain:.2f}"
    expert = "" if outcome.expert is None else f", expert {outcome.expert:.2f}x"
    head = f"{outcome.program}: {gain}x of the kernel's time (modelled){expert}"
    return "\n".join([head, *(f"    {re.sub(chr(10), ' ', line)}" for line in outcome.lines)])


def totals(outcomes: list[Outcome]) -> str:
    gains = [outcome.gain for outcome in outcomes if outcome.gain is not None]
    shares = [
        math.log(outcome.gain or 1.0) / math.log(outcome.expert)
        for outcome in outcomes
        if outcome.expert is not None and outcome.expert > 1.05
    ]
    lines = [f"{len(gains)} of {len(outcomes)} programs improved by rules alone"]
    if gains:
        mean = math.exp(sum(map(math.log, gains)) / len(gains))
        lines.append(f"geometric mean of their gains, modelled: {mean:.2f}x")
    if shares:
        lines.append(f"{sum(shares) / len(shares):.0%} of what the expert gains (mean of the logarithms' ratio)")
    return "\n".join(lines)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(HERE.parents[1]))
    main()
