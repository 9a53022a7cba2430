"""What the user sees during a run: a live line on a terminal, plain lines in a pipe, or JSON events."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from intelliperf.cli.eventlines import describe

if TYPE_CHECKING:
    from intelliperf.cli.live import LiveView


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


def view_for(json_events: bool, verbose: bool, budget_minutes: float | None) -> JsonView | PlainView | LiveView:
    if json_events:
        return JsonView()
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown"):
        from intelliperf.cli.live import LiveView

        return LiveView(budget_minutes, verbose)
    return PlainView(verbose=verbose)


_STYLES = (("next:", "bold cyan"), ("patch:", "bold"), ("  not checked:", "yellow"), ("  shown,", "green"))


def show(text: str, out: TextIO, headline: bool = True) -> None:
    """What a command found: on a terminal in colour and wrapped below its own indent, elsewhere as it is.

    `headline`: the first line is one.
    rich leaves colour out where NO_COLOR asks for that or the terminal has none.
    """
    if not out.isatty():
        out.write(text)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=out, highlight=False)
    for line in text.splitlines():
        style = next((style for start, style in _STYLES if line.startswith(start)), "")
        if line and headline:
            style, headline = "bold", False
        for part in folded(line, console.width):
            console.print(Text(part, style), soft_wrap=True)


def folded(line: str, width: int) -> list[str]:
    """Wrapped, with a hanging indent of two columns; a long path or name stays whole."""
    import textwrap

    indent = " " * (len(line) - len(line.lstrip()) + 2)
    parts = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return parts or [""]
