"""Does a compilation yield the same code? What only debuggers read, lines and columns, makes no difference."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ATTACHED = re.compile(r",? !([\w.]+) !(\d+)")
_NODE = re.compile(r"^!(\d+) = (.*)$")
_REFERENCE = re.compile(r"!(\d+)")
_DEBUGGERS = re.compile(r"(?:distinct )?!DI\w+\(")
_IDENTITY = re.compile(r"\b__(?:hip|cuda)_cuid_\w+")  # a hash of the file
_IGNORED = ("!", ";", "source_filename", "    #dbg_")
_DEEPEST = 6


def same_code(old: str, new: str) -> bool:
    """Two modules of LLVM assembly, instruction by instruction, attributes and pragmas included."""
    return old == new or list(_code(old)) == list(_code(new))


def _code(text: str) -> Iterator[str]:
    rows = text.split("\n")
    notes = {match[1]: match[2] for row in rows if (match := _NODE.match(row)) is not None}

    def attached(match: re.Match[str]) -> str:
        return "" if match[1] == "dbg" else f" !{match[1]} {_spelled(notes, match[2])}"

    for row in rows:
        if row and not row.startswith(_IGNORED):
            yield _IDENTITY.sub("", _ATTACHED.sub(attached, row))


def _spelled(notes: dict[str, str], number: str, depth: int = 0) -> str:
    """A node with those that it refers to, but for the places of source code."""
    node = notes.get(number, "")
    if depth >= _DEEPEST or _DEBUGGERS.match(node):
        return ""
    return _REFERENCE.sub(lambda match: "" if match[1] == number else _spelled(notes, match[1], depth + 1), node)
