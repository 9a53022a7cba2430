"""From file names in debug information to the text of the user's project.

A place's inline chain is walked from the innermost frame outwards, past our headers and the system's,
to the first frame in a file of the project. A place without one is nobody's line: never a nearby one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from intelliperf.emulator.modulefacts import Location
from intelliperf.processes.storage import cache_directory
from intelliperf.records import Frame

_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Project:
    """The project's directory, and the one that its debug information may name instead.

    A scratch copy mirrors the original's whole path below its root, and its build maps file names back
    to the original; such a name is a suffix of the copy's own path.
    """

    directory: Path

    def on_disk(self, file: Path) -> Path | None:
        """Where the text of `file` lies, or None if it is not of this project."""
        if file.is_relative_to(_PACKAGE):
            return None
        parts = self.directory.parts[1:]
        for start in range(len(parts)):
            root = Path("/", *parts[start:])
            if file.is_relative_to(root) and (copy := self.directory / file.relative_to(root)).is_file():
                return copy
        return None


@dataclass(frozen=True)
class Elsewhere(Project):
    """Files that somebody other than us wrote: for a kernel without a line in the project, as one of a library."""

    def on_disk(self, file: Path) -> Path | None:
        ours = file.is_relative_to(_PACKAGE) or file.is_relative_to(run_time_sources())
        return file if not ours and file.is_file() else None


def run_time_sources() -> Path:
    """Where texts lie that programs hand to NVRTC or hipRTC and have in no file."""
    return cache_directory() / "rtc" / "sources"


def users_chain(locations: Sequence[Location], source: Path, project: Project) -> tuple[Frame, ...]:
    """The chain from the first frame in the project outwards; empty if none is.

    Relative names are relative to the directory of the translation unit.
    """
    frames = [
        Frame(_absolute(place.file, str(source.parent)), place.line, place.column, place.function)
        for place in locations
        if place.line > 0  # line 0 is the compiler's own code
    ]
    for depth, frame in enumerate(frames):
        if on_disk(project, frame.file) is not None:
            return tuple(frames[depth:])
    return ()


def chain_outside(locations: Sequence[Location], source: Path) -> tuple[Frame, ...]:
    """Of a place that no frame in the project leads to: the innermost line in the file of the kernel itself, outwards.

    What the kernel calls of a compiler's library is left out: it is the kernel that says where to look.
    """
    frames = [
        Frame(_absolute(place.file, str(source.parent)), place.line, place.column, place.function)
        for place in locations
        if place.line > 0
    ]
    if not frames or frames[-1].file.is_relative_to(_PACKAGE):
        return ()
    depth = next(depth for depth, frame in enumerate(frames) if frame.file == frames[-1].file)
    return tuple(replace(frame, file=frame.file.resolve()) for frame in frames[depth:])


def file_of(locations: Sequence[Location], source: Path) -> Path | None:
    """The innermost file of a chain that somebody other than us wrote, in a project or not.

    A scratch copy has links to what lies outside the project; the file itself is named.
    """
    files = (_absolute(place.file, str(source.parent)) for place in locations if place.line > 0)
    return next((file.resolve() for file in files if not file.is_relative_to(_PACKAGE) and file.is_file()), None)


def absent_file_of(locations: Sequence[Location], source: Path) -> Path | None:
    """The innermost file of such a chain that is not on this disk, by the name that the compiler was given."""
    names = (place.file for place in locations if place.line > 0)
    others = (name for name in names if not _absolute(name, str(source.parent)).is_relative_to(_PACKAGE))
    return next((Path(name) for name in others if not _absolute(name, str(source.parent)).is_file()), None)


@lru_cache(maxsize=4096)
def _absolute(name: str, directory: str) -> Path:
    return Path(os.path.normpath(Path(directory) / name))


@lru_cache(maxsize=4096)
def on_disk(project: Project, file: Path) -> Path | None:
    return project.on_disk(file)


@lru_cache(maxsize=64)
def _text_lines(file: Path, _changed: int) -> tuple[str, ...]:
    return tuple(file.read_bytes().decode("utf-8", "replace").splitlines())


def source_text(file: Path, line: int) -> str:
    """The line as it is on disk now, without its indentation; empty if it is not there."""
    if not file.is_file():
        return ""
    lines = _text_lines(file, file.stat().st_mtime_ns)
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
