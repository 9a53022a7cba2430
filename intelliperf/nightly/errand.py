"""One `intelliperf` command in a process of its own: how a night and a coding agent have their work done.

Nothing that a program under test does to its process can harm the night, and a command is what a person would type to
see the same.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intelliperf.processes.process import Child
from intelliperf.processes.secrets import secrets_of

_POLL_S = 0.05
_GRACE_S = 20.0  # beyond its own deadlines, to end in order


@dataclass(frozen=True)
class Errand:
    """`words` follow `intelliperf`. `keys`: may it see the keys of model providers?"""

    words: tuple[str, ...]
    directory: Path
    deadline_s: float
    environment: tuple[tuple[str, str], ...] = ()
    keys: bool = False

    @property
    def shown(self) -> str:
        """As a person would type it."""
        return shlex.join(("intelliperf", *self.words))


@dataclass(frozen=True)
class Ended:
    """How it ended. `error` is its own last word, empty where there was none."""

    exit_status: int | None
    signal_name: str | None
    timed_out: bool
    cancelled: bool
    error: str
    seconds: float

    @property
    def lost(self) -> bool:
        """Something else ended it: the machine's memory, an operator, a crash of our own native code."""
        return self.signal_name is not None and not self.cancelled and not self.timed_out

    @property
    def complaint(self) -> str:
        if self.cancelled:
            return "cancelled"
        if self.timed_out:
            return f"timed out after {self.seconds:.0f} s"
        if self.signal_name:
            return f"killed by {self.signal_name}"
        return self.error or f"exit status {self.exit_status}"


def run_errand(
    errand: Errand,
    logs: Path,
    tell: Callable[[Mapping[str, Any]], None] = lambda event: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ended:
    """Run to the end; `tell` hears each event as it happens, where the words hold --json."""
    environment = {**dict(errand.environment), **(_keys() if errand.keys else {})}
    argv = [sys.executable, "-m", "intelliperf", *errand.words]
    listener = _Listener(logs / "errand.stdout", tell)
    stopped = False
    with Child(argv, errand.directory, environment, logs, "errand") as child:
        while child.running() and child.age_s < errand.deadline_s + _GRACE_S:
            listener.listen()
            if cancelled():
                stopped = True
                child.kill()
                break
            time.sleep(_POLL_S)
        done = child.wait(errand.deadline_s + _GRACE_S)
    listener.listen()
    error = listener.error or _last_line(done.tail(limit=4096))
    return Ended(
        exit_status=done.exit_status,
        signal_name=done.signal_name,
        timed_out=done.timed_out,
        cancelled=stopped,
        error=error if done.exit_status not in (0, 3) else "",
        seconds=done.seconds,
    )


def _keys() -> dict[str, str]:
    return secrets_of(os.environ)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("intelliperf: ")] or text.splitlines()
    return lines[-1].removeprefix("intelliperf: ").removeprefix("error: ") if lines else ""


class _Listener:
    """Reads events from a log that still grows."""

    def __init__(self, path: Path, tell: Callable[[Mapping[str, Any]], None]) -> None:
        self._path = path
        self._tell = tell
        self._at = 0
        self.error = ""

    def listen(self) -> None:
        if not self._path.exists():
            return
        with self._path.open("rb") as log:
            log.seek(self._at)
            new = log.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.splitlines():
            event = _event(line)
            if event is not None:
                self.error = str(event.get("text", "")) if event["event"] == "error" else self.error
                self._tell(event)


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "event" in value else None
