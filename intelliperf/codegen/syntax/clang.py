"""clang as the parser: the declarations of one translation unit whose name matches.

The compiler is injected as an argument prefix, so this package knows no toolchain. The dump
is filtered by name inside clang and by file here, and kept by content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from intelliperf import process
from intelliperf.codegen.syntax.tree import Node, TreeBuilder

OUTPUT_LIMIT_BYTES = 512 * 1024 * 1024
_DUMP = ("-fsyntax-only", "-Wno-everything", "-ferror-limit=1", "-Xclang", "-ast-dump=json")


class ParseFailed(Exception):
    """The unit does not parse, or its tree is too large; a rule declines with this text."""


@dataclass(frozen=True)
class Unit:
    """One compiler invocation: relative paths in `arguments` count from `directory`."""

    path: Path
    directory: Path
    arguments: tuple[str, ...]


class ClangParser:
    """`command` takes a unit's compile arguments and its path, as in (zig, "clang", "--target=…")."""

    def __init__(
        self, command: tuple[str, ...], deadline_s: float = 120.0, environment: Mapping[str, str] | None = None
    ) -> None:
        self._command = command
        self._deadline_s = deadline_s
        self._environment = dict(environment or {})
        self._kept: dict[str, tuple[Node, ...]] = {}

    def declarations(self, unit: Unit, name: str, file: Path, state: str) -> tuple[Node, ...]:
        """Declarations in `file` whose qualified name contains `name`, as compiling `unit` sees them.

        `state` identifies the content of all sources; the same state is parsed once.
        Raises `ParseFailed`.
        """
        key = hashlib.sha256(repr((unit, name, file, state)).encode()).hexdigest()
        if key not in self._kept:
            self._kept[key] = self._parse(unit, name, file)
        return self._kept[key]

    def _parse(self, unit: Unit, name: str, file: Path) -> tuple[Node, ...]:
        filtered = ("-Xclang", f"-ast-dump-filter={name}")
        argv = (*self._command, *unit.arguments, *_DUMP, *filtered, str(unit.path))
        with process.scratch_logs() as logs:
            done = process.run(
                argv, unit.directory, self._deadline_s, logs, "parse", self._environment, OUTPUT_LIMIT_BYTES
            )
            if not done.ok:
                first = next((line for line in done.tail().splitlines() if "error:" in line), done.describe())
                raise ParseFailed(f"{unit.path.name} does not parse: {first}")
            with done.stdout.open(encoding="utf-8", errors="surrogateescape") as dump:
                return tuple(_declarations(dump, unit.directory, file))


def _declarations(dump: Iterator[str], directory: Path, file: Path) -> Iterator[Node]:
    """Nodes of the objects that lie in `file`; the others are dropped before they are decoded."""
    wanted = file.resolve()
    for text in _objects(dump):
        if file.name not in text:
            continue
        try:
            node = TreeBuilder().build(json.loads(text))
        except RecursionError as error:
            raise ParseFailed(f"{file.name}: an expression is nested too deeply to analyse") from error
        place = node.place or node.begin
        if place is not None and (directory / place.file).resolve() == wanted:
            yield node


def _objects(dump: Iterator[str]) -> Iterator[str]:
    """The dump is a sequence of pretty-printed objects: braces in column 1 delimit them."""
    lines: list[str] = []
    for line in dump:
        if line.startswith("{"):
            lines = []
        lines.append(line)
        if line.startswith("}"):
            yield "".join(lines)
