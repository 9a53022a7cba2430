"""The headers that a translation unit begins with, parsed once and kept as a precompiled header.

clang dumps nothing of a precompiled header that it did not have to load, so that the dump of a unit that starts from
one is the unit's own text: small, and complete for every name.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from intelliperf.processes import process

KEPT = 8  # precompiled headers on disk, about 6 MB each
_SYSTEM_INCLUDE = re.compile(r"\s*#\s*include\s*<[^>\n]+>")
# From here on, headers may mean something else than at the unit's start, or only one of two branches is read.
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

    def __init__(self, directory: Path, environment: Mapping[str, str], deadline_s: float, most: int = KEPT) -> None:
        """At most `most` of them are kept."""
        self._directory = directory
        self._most = most
        self._environment = environment
        self._deadline_s = deadline_s

    def precompiled(self, command: tuple[str, ...], directory: Path, text: str) -> Path | None:
        """One for the headers that `text` begins with; `command` is compiler and flags. None where they do not parse.

        clang itself refuses one whose headers have changed since: `discard` it then.
        """
        includes = leading_includes(text)
        flags = tuple(word for word in command if not word.startswith("-working-directory="))
        path = self._directory / f"{hashlib.sha256(repr((flags, includes)).encode()).hexdigest()[:32]}.pch"
        if path.exists():
            with contextlib.suppress(OSError):
                path.touch()
            return path
        return path if self._compile(command, directory, includes, path) else None

    def discard(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def _compile(self, command: tuple[str, ...], directory: Path, includes: str, path: Path) -> bool:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._directory) as name, process.scratch_logs() as logs:
                header = path.with_suffix(".h")  # clang wants to see it, unchanged, whenever it reads the other
                if not header.exists():
                    header.write_text(includes, encoding="utf-8", errors="surrogateescape")
                made = Path(name) / path.name
                argv = (*command, "-emit-ast", "-o", str(made), str(header))
                done = process.run(argv, directory, self._deadline_s, logs, "parse", self._environment)
                if done.ok and made.exists():
                    made.replace(path)
            self._prune()
        except OSError:  # no room or no right to keep it: the unit is parsed without
            return False
        return path.exists()

    def _prune(self) -> None:
        """The least recently used go."""
        kept = sorted(self._directory.glob("*.pch"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in kept[self._most :]:
            path.unlink(missing_ok=True)
            path.with_suffix(".h").unlink(missing_ok=True)
