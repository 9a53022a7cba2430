"""Third-party programs through the product: python benchmarks/applications/survey.py LIST.toml --results DIR

Each program of the list is fetched at its commit, built with its own files by `intelliperf emulate`, run on the
emulator and held against its own check. Writes `outcomes.jsonl`, one line per program, and `table.md`. Fails below
90 % built or 85 % right, or where one is wrong. README.md says what a list looks like.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LEAST_BUILT, _LEAST_RIGHT = 0.90, 0.85
_BUILD_FAILED = ("the build fails", "the build timed out", "no such project directory")
_LONGEST_FETCH_S = 900


class Outcome(Enum):
    RIGHT = "right"  # its own check passed
    WRONG = "wrong"  # it ran, and its own check did not pass
    STOPPED = "stopped"  # it was built and did not come to its check
    NOT_BUILT = "not built"
    NOT_FETCHED = "not fetched"


@dataclass(frozen=True)
class Program:
    """One entry of a list."""

    name: str
    git: str
    commit: str
    build: str
    command: tuple[str, ...]
    directory: str = "."  # where it is built and run, below the checkout
    check: str = ""  # a pattern that its output must have; without one its exit status is its check
    target: str = "h100"
    timeout_s: float = 300.0
    reason: str = ""  # why it is expected not to be right, where that is known


@dataclass(frozen=True)
class Result:
    program: str
    commit: str
    outcome: Outcome
    seconds: float
    said: str  # the last line of the error, or of the program's output
    reason: str


def programs(file: Path) -> Iterator[Program]:
    """Raises `TypeError` for an entry with a missing or an unknown key."""
    for entry in tomllib.loads(file.read_text(encoding="utf-8"))["program"]:
        yield Program(**{**entry, "command": tuple(entry["command"])})


def fetched(program: Program, sources: Path) -> Path | None:
    """The checkout at the program's commit; None where it cannot be fetched."""
    place = sources / f"{program.name}-{program.commit[:12]}"
    if (place / ".git").is_dir() and _git(place, "rev-parse", "HEAD") == program.commit:
        return place
    place.mkdir(parents=True, exist_ok=True)
    steps = (
        ("init", "--quiet"),
        ("fetch", "--quiet", "--depth", "1", program.git, program.commit),
        ("checkout", "--quiet", "--force", "FETCH_HEAD"),
        ("submodule", "--quiet", "update", "--init", "--recursive", "--depth", "1"),
    )
    for step in steps:
        if _git(place, *step) is None:
            return None
    return place if _git(place, "rev-parse", "HEAD") == program.commit else None


def _git(place: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=place, capture_output=True, text=True, timeout=_LONGEST_FETCH_S)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def tried(program: Program, checkout: Path) -> Result:
    """Built, run and checked by the product's own command."""
    words = ["intelliperf", "emulate", "--verbose", "--json", "--target", program.target, "-p", str(checkout)]
    words += ["--run-timeout", str(program.timeout_s), "-b", f"cd {program.directory} && {program.build}", "--"]
    started = time.monotonic()
    done = subprocess.run(
        [*words, *program.command], cwd=checkout / program.directory, capture_output=True, text=True, errors="replace"
    )
    outcome, said = _judged(program, done)
    return Result(program.name, program.commit, outcome, round(time.monotonic() - started, 1), said, program.reason)


def _judged(program: Program, done: subprocess.CompletedProcess[str]) -> tuple[Outcome, str]:
    printed = done.stderr  # the program's own output among what the product says
    lines = [line for line in printed.splitlines() if line.strip()] or [""]
    found = re.search(program.check, printed)
    if done.returncode == 0:
        return (Outcome.RIGHT, found[0][:120]) if found else (Outcome.WRONG, lines[-1][:120])
    error = next((line for line in reversed(lines) if line.startswith("intelliperf")), lines[-1])
    if any(mark in printed for mark in _BUILD_FAILED):
        return Outcome.NOT_BUILT, error[:200]
    return Outcome.STOPPED, error[:200]


def table(results: list[Result], version: str) -> str:
    """Markdown, with the shares that the exit status is about."""
    fetched = [one for one in results if one.outcome is not Outcome.NOT_FETCHED]
    counts = {outcome: sum(one.outcome is outcome for one in results) for outcome in Outcome}
    built = len(fetched) - counts[Outcome.NOT_BUILT]
    head = (
        f"{datetime.date.today()}, {version}: {len(fetched)} programs, {built} built, "
        f"{counts[Outcome.RIGHT]} right by their own check, {counts[Outcome.WRONG]} wrong."
    )
    rows = [
        f"| {one.program} | {one.commit[:12]} | {one.outcome.value} | {one.seconds:.0f} | {one.reason or one.said} |"
        for one in results
    ]
    return "\n".join([head, "", "| program | commit | outcome | s | why |", "|---|---|---|---|---|", *rows, ""])


def good_enough(results: list[Result]) -> bool:
    fetched = [one for one in results if one.outcome is not Outcome.NOT_FETCHED]
    built = [one for one in fetched if one.outcome is not Outcome.NOT_BUILT]
    right = [one for one in built if one.outcome is Outcome.RIGHT]
    wrong = any(one.outcome is Outcome.WRONG and not one.reason for one in built)
    enough = len(built) >= _LEAST_BUILT * len(fetched) and len(right) >= _LEAST_RIGHT * len(fetched)
    return bool(fetched) and enough and not wrong


def _line(result: Result) -> str:
    return json.dumps({**asdict(result), "outcome": result.outcome.value})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path)
    parser.add_argument("--only", default="", help="programs whose name has this pattern")
    parser.add_argument("--sources", type=Path, default=Path("build/applications"))
    parser.add_argument("--results", type=Path, required=True)
    options: Any = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    results = []
    with (options.results / "outcomes.jsonl").open("a", encoding="utf-8") as log:
        for program in programs(options.list):
            if not re.search(options.only, program.name):
                continue
            checkout = fetched(program, options.sources.resolve())
            result = (
                tried(program, checkout)
                if checkout
                else Result(program.name, program.commit, Outcome.NOT_FETCHED, 0, program.git, program.reason)
            )
            results.append(result)
            print(_line(result), file=log, flush=True)
            print(f"{result.outcome.value:12} {program.name}: {result.said}", flush=True)
    version = subprocess.run(["intelliperf", "--version"], capture_output=True, text=True).stdout.strip()
    (options.results / "table.md").write_text(table(results, version), encoding="utf-8")
    return 0 if good_enough(results) else 1


if __name__ == "__main__":
    sys.exit(main())
