"""Submodules of a project that nobody has fetched, of which compilers only say that a header is missing."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

_FILE = ".gitmodules"
_PATH = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_SHOWN = 3


def absent_submodules(project: Path) -> str:
    """A line with the remedy where submodules of the project's repository have no files; "" where none are missing."""
    root = next((place for place in (project, *project.parents) if (place / ".git").exists()), project)
    with contextlib.suppress(OSError):
        names = _PATH.findall((root / _FILE).read_text(encoding="utf-8", errors="replace"))
        empty = [name for name in names if not _has_files(root / name)]
        if empty:
            named = ", ".join(empty[:_SHOWN]) + (f" and {len(empty) - _SHOWN} more" if len(empty) > _SHOWN else "")
            return f"submodules without files: {named}; run git submodule update --init --recursive"
    return ""


def _has_files(place: Path) -> bool:
    with contextlib.suppress(OSError):
        return next(place.iterdir(), None) is not None
    return False
