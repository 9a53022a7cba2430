"""A project in a repository, a run of it with an accepted patch, and the site that shows it."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

from reported import accepted_report

from intelliperf.history.opening import open_history
from intelliperf.history.store import History
from intelliperf.project.journal import to_json
from intelliperf.records import Report
from intelliperf.review.adding import add_run

BEFORE = "int a;\nint b;\n"
AFTER = "int a;\nint c = 1 < 2;\n"
RUN = "20260101-000000-atomicContention"


def git(directory: Path, *words: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    done = subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_project(root: Path) -> Path:
    """A project in a subdirectory of a repository."""
    place = root / "repository" / "app"
    place.mkdir(parents=True)
    (place / "k.hip").write_text(BEFORE)
    git(place, "init", "--quiet", "-b", "main", "..")
    git(place, "config", "user.name", "Ann")
    git(place, "config", "user.email", "ann@example.com")
    git(place, "add", ".")
    git(place, "commit", "--quiet", "-m", "start")
    return place


def make_run(root: Path, project: Path) -> Path:
    place = root / "runs" / RUN
    place.mkdir(parents=True)
    (place / "report.json").write_bytes(to_json(accepted_report(project, "k.hip", BEFORE, AFTER)))
    return place


def make_history(root: Path, run: Path) -> History:
    opened = open_history(str(root / "history.db"))
    add_run(opened, run)
    return opened


def with_runs(history: History, root: Path, project: Path, count: int) -> None:
    """So many more runs, each with a patch of its own."""
    for number in range(count):
        place = root / "runs" / f"2026010{number + 2}-000000-memoryAccess"
        place.mkdir(parents=True)
        report: Report = accepted_report(project, "k.hip", BEFORE, AFTER.replace("c", f"c{number}"))
        (place / "report.json").write_bytes(to_json(dataclasses.replace(report, run_id=place.name)))
        add_run(history, place)
