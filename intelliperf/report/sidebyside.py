"""A unified diff side by side, bounded: what is left out is counted and can be downloaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from intelliperf.report.plaintext import visible

MOST_ROWS = 1_200
MOST_CHARACTERS = 120_000  # of all rows together: escaped and with markup, a page stays below 500 KB
_LONGEST_LINE = 400
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")


@dataclass(frozen=True)
class Heat:
    """What one line did: `share` of all lines' counts, in words `told`."""

    share: float  # 0..1
    told: str


@dataclass(frozen=True)
class Side:
    number: int
    text: str
    changed: bool
    heat: Heat | None = None


@dataclass(frozen=True)
class Row:
    """One line before and after; `heading` instead of both at the start of a file or hunk."""

    before: Side | None = None
    after: Side | None = None
    heading: str = ""
    is_file: bool = False


@dataclass(frozen=True)
class SideBySide:
    rows: tuple[Row, ...]
    added: int
    removed: int
    left_out: int  # lines of the diff that are not among the rows


Heats = Mapping[tuple[str, int], Heat]  # by path in the project and line number
NO_HEAT: Heats = MappingProxyType({})


def side_by_side(diff: str, heat: Heats = NO_HEAT, after: Heats = NO_HEAT) -> SideBySide:
    """`heat` is that of the original's lines, `after` that of the new ones."""
    lines = diff.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    rows: list[Row] = []
    used = 0
    shown = 0
    for row, count, size in _rows(lines, heat, after):
        used += size
        if len(rows) >= MOST_ROWS or used > MOST_CHARACTERS:
            break
        rows.append(row)
        shown += count
    added, removed = _changed(lines)
    return SideBySide(tuple(rows), added, removed, len(lines) - shown)


def _changed(lines: list[str]) -> tuple[int, int]:
    """Lines added and removed; a removed "-- x" inside a hunk is not mistaken for a file's head."""
    added = removed = 0
    in_hunk = False
    for number, line in enumerate(lines):
        in_hunk = line.startswith("@@") or (in_hunk and not _starts_file(lines, number))
        if in_hunk:
            added += line.startswith("+")
            removed += line.startswith("-")
    return added, removed


def _starts_file(lines: list[str], number: int) -> bool:
    head = lines[number : number + 3]
    return len(head) == 3 and head[0].startswith("--- ") and head[1].startswith("+++ ") and head[2].startswith("@@")


def _rows(lines: list[str], heat: Heats, after: Heats) -> Iterator[tuple[Row, int, int]]:
    """Each row with the number of the diff's lines that it stands for, and its characters."""
    path, old, new, at = "", 0, 0, 0
    while at < len(lines):
        line = lines[at]
        hunk = _HUNK.match(line)
        if _starts_file(lines, at):
            path = lines[at + 1][4:].partition("\t")[0].removeprefix("b/")
            text = visible(path, _LONGEST_LINE)
            yield Row(heading=text, is_file=True), 2, len(text)
            at += 2
        elif hunk:
            old, new = int(hunk[1]), int(hunk[2])
            text = visible(line, _LONGEST_LINE)
            yield Row(heading=text), 1, len(text)
            at += 1
        elif line.startswith(("-", "+")):
            gone, come = _run(lines, at, "-"), 0
            come = _run(lines, at + gone, "+")
            for number in range(max(gone, come)):
                left = right = None
                if number < gone:
                    left = _side(lines[at + number], old + number, True, heat.get((path, old + number)))
                if number < come:
                    right = _side(lines[at + gone + number], new + number, True, after.get((path, new + number)))
                yield Row(left, right), (number < gone) + (number < come), _size(left) + _size(right)
            old, new, at = old + gone, new + come, at + gone + come
        else:
            if line.startswith("\\"):
                yield Row(heading=visible(line, _LONGEST_LINE)), 1, len(line)
            else:
                left = _side(line, old, False, heat.get((path, old)))
                yield Row(left, _side(line, new, False, after.get((path, new)))), 1, 2 * _size(left)
                old, new = old + 1, new + 1
            at += 1


def _run(lines: list[str], start: int, sign: str) -> int:
    end = start
    while end < len(lines) and lines[end].startswith(sign) and not _starts_file(lines, end):
        end += 1
    return end - start


def _side(line: str, number: int, changed: bool, heat: Heat | None = None) -> Side:
    return Side(number, visible(line[1:], _LONGEST_LINE), changed, heat)


def _size(side: Side | None) -> int:
    return 0 if side is None else len(side.text) + 40  # markup of a cell weighs as much as a short line
