"""The headers that a translation unit begins with, parsed once and kept as a precompiled header.

clang dumps nothing of a precompiled header that it did not have to load, so that the dump of a unit that starts from
one is the unit's own text: small, and complete for every name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from intelliperf.dropins.shelf import Shelf, making

_FORMAT = 2
LIMIT_BYTES = 64 * 1024**2  # of precompiled headers on disk, about 6 MB each
_SYSTEM_INCLUDE = re.compile(r"\s*#\s*include\s*<[^>\n]+>")
# From here on, headers may mean something else than at the unit's start, or only one of two branches is read.
_RELATIVE = re.compile(r"^-(?:I|iquote|isystem|idirafter|include)(?:\n|(?=[^\n]))(?!/)", re.MULTILINE)
_OTHER_DIRECTIVE = re.compile(r"\s*#\s*(?!include\b|pragma\b)\w+")


def leading_includes(text: str) -> str:
    """The unit's `#include <…>` lines up to its first macro or condition."""
    found = []
    for line in text.splitlines():
        if _OTHER_DIRECTIVE.match(line):
            break
        if include := _SYSTEM_INCLUDE.match(line):
            found.append(f"{include[0].strip()}\n")
    return "".join(found)


class Prefixes:
    """Precompiled headers below `directory`, by what they hold and how they are compiled."""

    def __init__(
        self, directory: Path, environment: Mapping[str, str], deadline_s: float, limit_bytes: int = LIMIT_BYTES
    ) -> None:
        """About `limit_bytes` of them are kept."""
        self._shelf = Shelf(directory, limit_bytes, environment, deadline_s)

    def precompiled(self, command: tuple[str, ...], directory: Path, text: str) -> Path | None:
        """One for the headers that `text` begins with; `command` is compiler and flags. None where they do not parse.

        clang itself refuses one whose headers have changed since: `discard` it then.
        """
        includes = leading_includes(text)
        flags = tuple(word for word in command if not word.startswith("-working-directory="))
        if _RELATIVE.search("\n".join(flags)):  # headers of this project, of which another has its own
            flags = (*command, str(directory))
        key = hashlib.sha256(repr((_FORMAT, flags, includes)).encode("utf-8", "surrogateescape")).hexdigest()[:32]

        def emitting(header: Path, made: Path, listed: Path) -> tuple[str, ...]:
            return (*command, "-emit-ast", *making(listed, is_driver=True), "-o", str(made), str(header))

        try:
            known = self._shelf.entry(key) or self._shelf.make(key, includes, emitting, lambda files: {}, directory)
        except OSError:  # no room or no right to keep it: the unit is parsed without
            return None
        return known.header if known else None

    def discard(self, path: Path) -> None:
        self._shelf.discard(path)
