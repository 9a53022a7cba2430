"""The stages of a run as they begin and end: announced, timed, and with the device held where they need it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from intelliperf.project.journal import Journal

_ON_DEVICE = frozenset({"profile", "locate", "tune", "validate", "confirm", "time"})  # stages that a GPU takes part in


@dataclass
class Stages:
    """`exclusive` holds the GPU against other runs."""

    journal: Journal
    exclusive: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    seconds: dict[str, float] = field(default_factory=dict)  # wall time by stage
    notes: list[str] = field(default_factory=list)
    _started: float = field(default_factory=time.monotonic)

    @contextmanager
    def stage(self, name: str, **details: object) -> Iterator[None]:
        """Announces the stage and keeps its wall time."""
        with self.exclusive() if name in _ON_DEVICE else contextlib.nullcontext():
            self.journal.event("stage", stage=name, state="begin", **details)
            started = time.monotonic()
            try:
                yield
            finally:
                seconds = time.monotonic() - started
                self.seconds[name] = self.seconds.get(name, 0.0) + seconds
                self.journal.event("stage", stage=name, state="end", seconds=round(seconds, 3))

    def note(self, text: str) -> None:
        """For the report, and said at once."""
        self.notes.append(text)
        self.journal.event("note", text=text)

    @property
    def elapsed(self) -> float:
        """Seconds since this process began the run."""
        return time.monotonic() - self._started
