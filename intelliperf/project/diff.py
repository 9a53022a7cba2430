"""Unified diffs that `git apply` and `patch -p1` take."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from intelliperf.records import FileEdit


def unified_diff(before: Mapping[str, str], edits: Iterable[FileEdit]) -> str:
    """A patch that `git apply` and `patch -p1` take in the project directory.

    No `diff --git` line: git then reads the names relative to the directory that it runs in, so
    that a project in a subdirectory of a repository works too.
    """
    parts: list[str] = []
    for edit in sorted(edits, key=lambda e: e.path):
        old, new = before[edit.path], edit.text
        if old == new:
            continue
        lines = difflib.unified_diff(
            _lines(old), _lines(new), _quoted(f"a/{edit.path}"), _quoted(f"b/{edit.path}"), n=3
        )
        for line in lines:
            parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Lines by \\n alone: other separators are content."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _quoted(name: str) -> str:
    if not re.search(r'[\x00-\x1f"\\\x7f]', name):
        return f"{name}\t" if " " in name else name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n")
    return f'"{escaped}"'
