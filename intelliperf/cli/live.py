"""The live line of a terminal; loaded only where there is one."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from intelliperf.cli.eventlines import describe
from intelliperf.cli.view import folded

STAGES = ("build", "profile", "diagnose", "locate", "propose", "validate", "time", "report")


class LiveView:
    """One line that never wraps: the stage, what it is doing, time spent and budget left; findings scroll above."""

    def __init__(self, budget_minutes: float | None, verbose: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._live = Live(self, console=self._console, refresh_per_second=4, transient=True)
        self._started = time.monotonic()
        self._budget_s = budget_minutes * 60 if budget_minutes is not None else None
        self._stage = "start"
        self._attempt: int | None = None
        self._doing = ""
        self._verbose = verbose

    def __call__(self, event: dict[str, Any]) -> None:
        if event["event"] == "stage" and event["state"] == "begin":
            self._stage, self._doing = event["stage"], ""
            self._attempt = event.get("attempt")
        elif event["event"] == "progress":
            self._doing = event["text"]
        else:
            for line in describe(event, self._verbose).splitlines():
                for part in folded(line, self._console.width):
                    self._console.print(Text(part), soft_wrap=True)

    def __rich__(self) -> Text:
        elapsed = time.monotonic() - self._started
        clock = f"  {elapsed:.0f} s"
        if self._budget_s is not None:
            clock += f", {max(0.0, self._budget_s - elapsed) / 60:.1f} min left"
        shown = Text(no_wrap=True, overflow="ellipsis", end="")
        if self._stage in STAGES:
            shown.append(f" {STAGES.index(self._stage) + 1}/{len(STAGES)} ", "dim")
        name = f"{self._stage} {self._attempt}" if self._attempt is not None else self._stage
        shown.append(f" {name} ", "reverse")
        if self._doing:
            shown.append(f" {self._doing}")
        shown.truncate(max(1, min(self._console.width, 80) - len(clock)), overflow="ellipsis")
        return shown.append(clock)

    def __enter__(self) -> LiveView:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)
