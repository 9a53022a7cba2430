"""A source text as bytes, with the edits that a rewrite makes to it."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from intelliperf.codegen.syntax.outline import encoded

# A literal is matched so that what looks like a comment in it stays.
_COMMENT_OR_LITERAL = re.compile(
    r"""//(?:\\\r?\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


_WORD = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s"'])+|["']""")


def without_comments(code: str) -> str:
    """`code` with each comment as one space, for questions about what it does."""
    return _COMMENT_OR_LITERAL.sub(lambda match: " " if match[0].startswith("/") else match[0], code)


def blanked(code: str) -> str:
    """`code` with spaces for its comments and literals, as many as these have bytes."""
    return _COMMENT_OR_LITERAL.sub(lambda match: " " * len(encoded(match[0])), code)


def same_code(before: str, after: str) -> bool:
    """Do two texts differ in comments and in the amount of white space alone? False where that is not certain."""
    return _words(before) == _words(after)


def _words(code: str) -> list[str]:
    """What white space parts; literals and the lines of preprocessor directives stay as they are."""
    plain = without_comments(code.replace("\r\n", "\n").replace("\\\n", " "))
    found: list[str] = []
    for line in plain.split("\n"):
        found += [line.strip()] if line.lstrip().startswith("#") else _WORD.findall(line)
    return found


@dataclass(frozen=True)
class Splice:
    """Bytes [start, end) of the old text become `text`."""

    start: int
    end: int
    text: str


@dataclass
class Source:
    """One file. Offsets are bytes; `\\n` in inserted text becomes the file's own line ending."""

    path: str
    text: str
    splices: list[Splice] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.data = encoded(self.text)

    @property
    def newline(self) -> str:
        return "\r\n" if b"\r\n" in self.data else "\n"

    def slice(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "surrogateescape")

    def code(self, start: int, end: int) -> str:
        """The bytes [start, end) without comments."""
        return without_comments(self.slice(start, end))

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its ending."""
        return self.data.split(b"\n")[number - 1].decode("utf-8", "surrogateescape").rstrip("\r")

    def indentation(self, offset: int) -> str:
        """The white space that the line of `offset` starts with."""
        start = self.data.rfind(b"\n", 0, offset) + 1
        end = start
        while end < len(self.data) and self.data[end : end + 1] in (b" ", b"\t"):
            end += 1
        return self.slice(start, end)

    def replace(self, start: int, end: int, text: str) -> None:
        splice = Splice(start, end, text)
        if splice not in self.splices:
            self.splices.append(splice)

    def insert(self, offset: int, text: str) -> None:
        self.replace(offset, offset, text)

    def insert_declaration(self, offset: int, text: str) -> None:
        """Insert a declaration that ends with a newline, with an empty line on either side."""
        above = self.data[:offset].replace(b"\r\n", b"\n")
        lead = "" if not above or above.endswith((b"\n\n", b"{\n")) else "\n"
        self.insert(offset, f"{lead}{text}\n")

    def overlaps(self) -> bool:
        """Do edits touch the same text, as they do where a rule takes a kernel on a second time?"""
        ordered = sorted(self.splices, key=lambda item: (item.start, item.end))
        return any(after.start < before.end for before, after in itertools.pairwise(ordered))

    def edited(self) -> str:
        """The new text. Overlapping splices are a bug of the rule and raise `ValueError`."""
        data = bytearray()
        at = 0
        for splice in sorted(self.splices, key=lambda item: (item.start, item.end)):
            if splice.start < at:
                raise ValueError(f"{self.path}: overlapping edits at byte {splice.start}")
            data += self.data[at : splice.start]
            data += encoded(splice.text.replace("\n", self.newline))
            at = splice.end
        data += self.data[at:]
        return data.decode("utf-8", "surrogateescape")
