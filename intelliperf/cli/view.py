"""What the user sees while a run goes on: a live line on a terminal, plain lines in a pipe, or JSON events."""

from __future__ import annotations

import json
import os
import sys
import time
from types import TracebackType
from typing import Any, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from intelliperf.report.wording import command_line

STAGES = ("build", "profile", "diagnose", "locate", "propose", "validate", "time", "report")


class JsonView:
    """One event per line on standard output."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout

    def __call__(self, event: dict[str, Any]) -> None:
        self._out.write(json.dumps(event) + "\n")
        self._out.flush()

    def __enter__(self) -> JsonView:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.flush()


class PlainView:
    """A line when something is known; on standard error, so that reports can be piped."""

    def __init__(self, out: TextIO | None = None, verbose: bool = False) -> None:
        self._out = out or sys.stderr
        self._verbose = verbose

    def __call__(self, event: dict[str, Any]) -> None:
        line = describe(event, self._verbose)
        if line:
            self._out.write(line + "\n")
            self._out.flush()

    def __enter__(self) -> PlainView:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.flush()


class LiveView:
    """The stages on one line with elapsed time and the budget left; finished findings scroll above."""

    def __init__(self, budget_minutes: float | None, verbose: bool = False) -> None:
        self._console = Console(stderr=True)
        self._live = Live(self, console=self._console, refresh_per_second=4, transient=True)
        self._started = time.monotonic()
        self._budget_s = budget_minutes * 60 if budget_minutes is not None else None
        self._stage = ""
        self._attempt: int | None = None
        self._verbose = verbose

    def __call__(self, event: dict[str, Any]) -> None:
        if event["event"] == "stage" and event["state"] == "begin":
            self._stage = event["stage"]
            self._attempt = event.get("attempt", self._attempt)
        elif line := describe(event, self._verbose):
            self._console.print(Text(line))

    def __rich__(self) -> Text:
        text = Text()
        for stage in STAGES:
            name = f"propose {self._attempt}" if stage == "propose" and self._attempt else stage
            text.append(f" {name} ", "reverse" if stage == self._stage else "dim")
            text.append("▸" if stage != STAGES[-1] else "", "dim")
        elapsed = time.monotonic() - self._started
        text.append(f"  {elapsed:.0f} s")
        if self._budget_s is not None:
            text.append(f", {max(0.0, self._budget_s - elapsed) / 60:.1f} min left")
        return text

    def __enter__(self) -> LiveView:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)


def describe(event: dict[str, Any], verbose: bool) -> str:
    """One line for a person, or nothing."""
    name = event["event"]
    if name == "stage":
        return _stage_line(event, verbose)
    if name == "note":
        return str(event["text"])
    if name == "finding":
        return f"finding: {event['sentence']}" if event["sentence"] else "finding: none"
    if name == "attempt":
        return f"attempt {event['index']} ({event['origin']}): {event['outcome']}: {event['detail']}"
    return ""


def _stage_line(event: dict[str, Any], verbose: bool) -> str:
    if event["state"] == "end":
        return f"{event['stage']}: {event['seconds']:.1f} s" if verbose else ""
    if event["stage"] == "build":
        return "build: " + "; ".join(command_line(command) for command in event.get("commands", []))
    suffix = f" {event['attempt']}" if "attempt" in event else ""
    return f"{event['stage']}{suffix}"


def view_for(json_events: bool, verbose: bool, budget_minutes: float | None) -> JsonView | PlainView | LiveView:
    if json_events:
        return JsonView()
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown"):
        return LiveView(budget_minutes, verbose)
    return PlainView(verbose=verbose)
