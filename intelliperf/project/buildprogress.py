"""What a build that takes long has done so far: its compile log's entries and the last line that it printed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.records import SHELL

_LOOK_EVERY_S = 1.0
_FIRST_NOTE_S = 30.0
_NOTED_AGAIN = 2.0  # each note at so many times the age of the one before
_TAIL_BYTES = 4096
_SERIAL_MAKE = re.compile(r"g?make(?: (?!-j|--jobs)[\w./=+-]+)*$")


@dataclass
class BuildProgress:
    """`show` gets each step for a live line, `note` a sentence now and then, for whoever reads a log."""

    commands: Sequence[Sequence[str]]
    compile_log: Path
    logs: Path
    show: Callable[[str], None]
    note: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _begun_s: float = field(init=False)
    _looked_s: float = field(init=False)
    _next_note_s: float = field(default=_FIRST_NOTE_S, init=False)
    _compiled: int = field(default=0, init=False)
    _read: int = field(default=0, init=False)  # bytes of the compile log
    _shown: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._begun_s = self._looked_s = self.clock()

    def look(self) -> None:
        """To be called often."""
        now_s = self.clock()
        if now_s - self._looked_s < _LOOK_EVERY_S:
            return
        self._looked_s = now_s
        text = "; ".join(filter(None, (self._sources(), self._last_line())))
        if text and text != self._shown:
            self._shown = text
            self.show(text)
        age_s = now_s - self._begun_s
        if age_s >= self._next_note_s:
            self._next_note_s = age_s * _NOTED_AGAIN
            self.note(f"still building after {age_s:.0f} s: {text or 'nothing printed yet'}{self._remedy()}")

    def _sources(self) -> str:
        if self.compile_log.is_file():
            with self.compile_log.open("rb") as log:
                log.seek(self._read)
                new = log.read()
            self._read += len(new)
            self._compiled += new.count(b"\n")
        if not self._compiled:
            return ""
        return f"{self._compiled} GPU source{'s' if self._compiled > 1 else ''} compiled"

    def _last_line(self) -> str:
        """Of the command that runs, as of CMake and Ninja "[12/300] Building …"."""
        logs = [self.logs / f"build-{number}.stdout" for number in range(len(self.commands))]
        started = [log for log in logs if log.is_file()]
        if not started:
            return ""
        with started[-1].open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").replace("\r", "\n").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _remedy(self) -> str:
        cores = os.cpu_count() or 1
        texts = [command[-1] if tuple(command[:2]) == SHELL else " ".join(command) for command in self.commands]
        found = next(filter(None, map(_SERIAL_MAKE.match, texts)), None)
        if found is None or cores == 1 or "MAKEFLAGS" in os.environ:
            return ""
        return f" (-b '{found[0]} -j{cores}' builds in parallel)"
