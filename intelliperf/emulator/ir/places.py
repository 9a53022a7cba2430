"""Which basic blocks hold the code of a source position: how often it runs follows from theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.sites import SiteTable

Position = tuple[str, int, int]  # file, line, column


def name_locations(table: SiteTable, debug: DebugInfo) -> list[list[dict[str, Any]]]:
    """Gives each block of operations the location that most of its instructions have; returns all that are named."""
    numbers: dict[int, int] = {}
    named: list[list[dict[str, Any]]] = []
    for block, places in zip(table.blocks, table.places, strict=True):
        if not places or not any(block["mix"].values()):
            continue
        ((commonest, _),) = Counter(places).most_common(1)
        if commonest not in numbers:
            numbers[commonest] = len(named)
            named.append(debug.locations(commonest))
        block["location"] = numbers[commonest]
    return named


class Places:
    """Answers for one instrumented module; looked up on demand, since few modules ask."""

    def __init__(self, table: SiteTable, debug: DebugInfo) -> None:
        self._table = table
        self._debug = debug
        self._by_line: dict[tuple[str, int], dict[int, set[int]]] | None = None  # block → columns

    def blocks_of(self, chain: Sequence[Position]) -> tuple[int, ...]:
        """Blocks with code of the innermost position that any block has; those of its very column if there are any.

        Files are told apart by their last name only: two compilers spell directories differently.
        """
        if self._by_line is None:
            self._by_line = self._read()
        for file, line, column in chain:
            found = self._by_line.get((PurePath(file).name, line), {})
            exact = tuple(block for block, columns in found.items() if column in columns)
            if exact or found:
                return exact or tuple(found)
        return ()

    def _read(self) -> dict[tuple[str, int], dict[int, set[int]]]:
        by_line: dict[tuple[str, int], dict[int, set[int]]] = {}
        for number, places in enumerate(self._table.places):
            for place in set(places):
                for frame in self._debug.locations(place):
                    at = (PurePath(frame["file"]).name, frame["line"])
                    by_line.setdefault(at, {}).setdefault(number, set()).add(frame["column"])
        return by_line
