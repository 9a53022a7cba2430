"""What is wrong with a program as it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from intelliperf.records.kernels import Geometry


class DefectLevel(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class SourcePoint:
    """A line that takes part in a defect; `file` is relative to the project where it lies in it."""

    file: str
    line: int
    column: int
    text: str
    does: str  # reads, writes, updates, waits

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Defect:
    """Something wrong with a program as it is, seen in a run. `rule` is a stable name for tools."""

    rule: str
    level: DefectLevel
    what: str
    remedy: str
    kernel: str
    point: SourcePoint | None = None
    other: SourcePoint | None = None
    thread: str | None = None
    other_thread: str | None = None
    memory: str | None = None
    launch: int | None = None  # of the process's kernels, from 1
    geometry: Geometry | None = None
    schedule: str = ""  # in which order it shows
    count: int = 1
    also: tuple[str, ...] = ()  # further kernels of the same template that show it
    pairs: int = 1  # of accesses of these lines

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        """What it is about, whichever of the accesses there are named."""
        return frozenset((point.file, point.line) for point in (self.point, self.other) if point is not None)
