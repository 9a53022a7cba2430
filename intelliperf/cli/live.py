"""The live line of a terminal; loaded only where there is one."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from intelliperf.cli.eventlines import describe

STAGES = ("build", "profile", "diagnose", "locate", "propose", "validate", "time", "report")


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
