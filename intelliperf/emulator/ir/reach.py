"""Which code of a module is executed: a byte for each block, and one for each way of a choice.

The fast and the traced version mark the same bytes: small launches are traced as a whole, even where nobody asks.
Only builds that are judged have them; what no run of a candidate executed is named in its report.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.text import NAME

_CHOICE = re.compile(rf"= select (?:[a-z]+ )*?i1 (%{NAME}),")
# Two conditions in one, and a branch: a limit that no run meets is one of these, and has no code of its own.
_BOTH = re.compile(
    rf"= (?:select (?:[a-z]+ )*?i1 %{NAME}, i1 (%{NAME}), i1 (?:false|true)|(?:and|or) i1 %{NAME}, (%{NAME}))$"
)
_BRANCH = re.compile(rf"br i1 (%{NAME}),")
_REACHED = "@__simt_reached"
_MOST = 1 << 16  # entries of one module: they travel in the first message of every judged run


@dataclass
class Reach:
    """Entries in the order of their bytes: those of a choice (not taken, taken) follow each other."""

    debug: DebugInfo
    entries: list[tuple[bool, list[int]]] = field(default_factory=list)  # is it a choice; file, line, file, line, …
    files: dict[str, int] = field(default_factory=dict)
    _bytes: int = 0

    def block(self, places: tuple[int, ...]) -> list[str]:
        """What a block with instructions at these debug locations begins with."""
        at = self._add(False, places)
        return [f"  store i8 1, ptr getelementptr (i8, ptr {_REACHED}, i64 {at}), align 1"] if at is not None else []

    def choice(self, text: str, place: int | None) -> list[str]:
        """What precedes a select between two values, two conditions in one, or a branch."""
        found = [match for pattern in (_CHOICE, _BOTH, _BRANCH) if (match := pattern.search(text))]
        conditions = [name for match in found for name in match.groups() if name]
        return [line for name in conditions for line in self._way(name, place)]

    def _way(self, condition: str, place: int | None) -> list[str]:
        at = self._add(True, (place,)) if place is not None else None
        if at is None:
            return []
        taken, cell = f"%simt.taken{at}", f"%simt.cell{at}"
        return [
            f"  {taken} = zext i1 {condition} to i64",
            f"  {cell} = getelementptr i8, ptr getelementptr (i8, ptr {_REACHED}, i64 {at}), i64 {taken}",
            f"  store i8 1, ptr {cell}, align 1",
        ]

    def _add(self, choice: bool, places: tuple[int, ...]) -> int | None:
        frames = [frame for place in places for frame in self.debug.locations(place) if frame["line"] > 0]
        lines = list(dict.fromkeys((frame["file"], frame["line"]) for frame in frames))
        if not lines or len(self.entries) >= _MOST:
            return None
        numbers = [n for file, line in lines for n in (self.files.setdefault(file, len(self.files)), line)]
        self.entries.append((choice, numbers))
        at = self._bytes
        self._bytes += 2 if choice else 1
        return at

    def definitions(self) -> list[str]:
        return [
            f"{_REACHED} = global [{max(1, self._bytes)} x i8] zeroinitializer",
            f"{_REACHED}_count = constant i32 {self._bytes}",
        ]

    def described(self) -> dict[str, Any]:
        """For `validation.runs.reached`."""
        return {"files": list(self.files), "entries": [[int(choice), *numbers] for choice, numbers in self.entries]}
