"""Proposed changes of the sources, and where they come from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath


def relative_path(path: str) -> str:
    """`path` checked to be relative, normal and inside the project. POSIX separators."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path or str(pure) != path:
        raise ValueError(f"not a path inside the project: {path!r}")
    return path


NO_FILE = ""  # in place of a hash: there was no such file


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class FileEdit:
    """The whole new text of one existing file, bound to the text that it replaces.

    Texts are decoded as UTF-8 with surrogateescape and keep their line endings.
    """

    path: str
    base_hash: str  # content_hash of the text that it replaces; `NO_FILE` only in edits that are to be refused
    text: str

    def __post_init__(self) -> None:
        relative_path(self.path)


class OriginKind(str, Enum):
    RULE = "rule"
    MODEL = "model"
    REPLAY = "replay"
    USER = "user"  # `intelliperf verify PATCH`


@dataclass(frozen=True)
class Origin:
    kind: OriginKind
    name: str  # the rule's or model's name
    prompt_hash: str | None = None


@dataclass(frozen=True)
class Declaration:
    """What a candidate says that it changes on purpose beyond the kernel's body."""

    geometry: bool = False  # launches the same kernels with other grids or blocks
    kernels: bool = False  # adds, splits or renames kernels
    reason: str = ""

    def joined(self, later: Declaration) -> Declaration:
        """What both together declare."""
        return Declaration(self.geometry or later.geometry, self.kernels or later.kernels, later.reason or self.reason)


@dataclass(frozen=True)
class Tunable:
    """An integer constant that the candidate defines, and the values to choose from."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Candidate:
    edits: tuple[FileEdit, ...]
    rationale: str
    origin: Origin
    declares: Declaration = Declaration()
    tunables: tuple[Tunable, ...] = ()  # none are left once it is judged

    def __post_init__(self) -> None:
        paths = [edit.path for edit in self.edits]
        if not paths:
            raise ValueError("a candidate without edits")
        if len(set(paths)) != len(paths):
            raise ValueError("two edits of one file")


@dataclass(frozen=True)
class Declined:
    """A rewriter's reason for not proposing anything, in one sentence."""

    origin: Origin
    reason: str
