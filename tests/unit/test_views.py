"""What a terminal shows while a run lasts and at its end."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from intelliperf.cli.eventlines import describe
from intelliperf.cli.live import LiveView
from intelliperf.cli.view import show


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_live_line_names_stage_attempt_and_gate_and_never_wraps(width: int) -> None:
    view = LiveView(3.0, console=Console(file=Terminal(), force_terminal=True, width=width))
    view({"event": "stage", "stage": "validate", "state": "begin", "attempt": 12})
    view({"event": "progress", "text": "gate 6 of 11: " + "other numbers " * 12})
    shown = view.__rich__().plain
    assert len(shown) <= min(width, 80)
    assert (
        shown.startswith(" 6/8  validate 12 ")
        and (width < 80 or "gate 6 of 11" in shown)
        and shown.endswith("min left")
    )
    view({"event": "stage", "stage": "report", "state": "begin"})
    assert "gate" not in view.__rich__().plain


def test_gates_are_lines_of_their_own_only_where_more_is_asked_for() -> None:
    event = {"event": "progress", "text": "gate 1 of 11: edit allowed"}
    assert (describe(event, False), describe(event, True)) == ("", "  gate 1 of 11: edit allowed")


def test_results_are_wrapped_below_their_indent_on_a_terminal_and_left_alone_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "\nkernel: 2×\n  not checked: " + "word " * 30 + "\nnext:    intelliperf apply\n"
    pipe = io.StringIO()
    show(text, pipe)
    assert pipe.getvalue() == text
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured, plain = Terminal(), Terminal()
    show(text, coloured)
    assert "\x1b[1m" in coloured.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    show(text, plain)
    lines = plain.getvalue().splitlines()
    assert "\x1b[3" not in plain.getvalue() and max(map(len, lines)) <= 70  # bold may stay: it is not a colour
    assert sum(line.lstrip("\x1b[0m1").startswith("    word") for line in lines) >= 2


def test_a_program_without_a_build_is_told_so() -> None:
    event = {"event": "stage", "stage": "build", "state": "start", "commands": []}
    assert "nothing to build" in describe(event, False)
    assert describe({**event, "commands": [["make", "-j4"]]}, False) == "build: make -j4"
