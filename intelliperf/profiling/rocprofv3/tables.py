"""Rows of a CSV file by header name, with errors that name file, row and column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from intelliperf.errors import ProtocolError
from intelliperf.profiling.rocprofv3.recordings import Extent

_DIGITS_OF_A_COUNT = 15  # a double keeps no more


@dataclass(frozen=True)
class Row:
    """One row; names are tried in the given order, because versions differ in them."""

    source: str  # the file, for messages
    line: int
    cells: Mapping[str, str]

    def has(self, *names: str) -> bool:
        return any(self.cells.get(name) not in (None, "") for name in names)

    def text(self, *names: str) -> str:
        """Raises `ProtocolError` where none of the columns is there; an empty cell is a text."""
        for name in names:
            if name in self.cells:
                return self.cells[name]
        raise ProtocolError(f"{self.source}: no column {' or '.join(names)}; it has {', '.join(self.cells)}")

    def number(self, *names: str) -> float:
        text = self.text(*names)
        try:
            return float(text)
        except ValueError as error:
            raise ProtocolError(
                f"{self.source}, line {self.line}: {' or '.join(names)} is not a number: {text!r}"
            ) from error

    def integer(self, *names: str) -> int:
        """A whole number in any spelling: "12", "12.0", "1.2e+01"."""
        text = self.text(*names)
        return int(text) if text.lstrip("-").isdigit() else round(self.number(*names))

    def optional(self, *names: str) -> int | None:
        return self.integer(*names) if self.has(*names) else None

    def extent(self, prefix: str) -> Extent:
        return self.integer(f"{prefix}_X"), self.integer(f"{prefix}_Y"), self.integer(f"{prefix}_Z")

    def trailing_number(self, *names: str) -> int:
        """Of "Agent 4", "GPU-4" or "4"."""
        text = self.text(*names)
        digits = text[len(text.rstrip("0123456789")) :]
        if not digits:
            raise ProtocolError(f"{self.source}, line {self.line}: no number in {' or '.join(names)}: {text!r}")
        return int(digits)

    def time(self, *names: str) -> int | None:
        """None where the spelling has lost digits (1.2345e+15), so that a difference of two would be noise."""
        text = self.text(*names)
        mantissa, exponent, _ = text.lower().partition("e")
        if exponent and sum(character.isdigit() for character in mantissa) < _DIGITS_OF_A_COUNT:
            return None
        return self.integer(*names)


def rows(text: str, source: str) -> Iterator[Row]:
    """Raises `ProtocolError` for an empty file or a row of another length than the header."""
    table = Table(text, source)
    return (table.row(line, cells) for line, cells in table)


class Table:
    """A file's rows as lists, for files that are long; iterating raises as `rows`. Raises `ProtocolError` if empty."""

    def __init__(self, text: str, source: str) -> None:
        self._reader = csv.reader(io.StringIO(text))
        self._source = source
        header: list[str] | None = next(self._reader, None)
        if not header:
            raise ProtocolError(f"{source} is empty: it has no header")
        self.header = header

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Each with the number of its line."""
        width = len(self.header)
        for cells in self._reader:
            if len(cells) == width:
                yield self._reader.line_num, cells
            elif cells:
                raise ProtocolError(
                    f"{self._source}, line {self._reader.line_num}: {len(cells)} cells under {width} columns; "
                    "was it cut off?"
                )

    def row(self, line: int, cells: Sequence[str]) -> Row:
        return Row(self._source, line, dict(zip(self.header, cells, strict=True)))
