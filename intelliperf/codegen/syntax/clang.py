"""clang as the parser: the declarations of one translation unit whose name matches.

The compiler is injected as an argument prefix, so this package knows no toolchain. A unit is dumped whole, and once
for all names, where its headers can be precompiled (`prefix`); else, and where that dump does not hold the name, clang
filters by name, one run for each. Both are filtered by file here, and kept by content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from intelliperf.codegen.syntax.aliases import resolve_aliases
from intelliperf.codegen.syntax.dump import Dump
from intelliperf.codegen.syntax.narrowing import narrow
from intelliperf.codegen.syntax.prefix import Prefixes
from intelliperf.codegen.syntax.tree import Node, TreeBuilder
from intelliperf.processes import process

OUTPUT_LIMIT_BYTES = 512 * 1024 * 1024
WHOLE_LIMIT_BYTES = 32 * 1024 * 1024  # beyond it, a dump for each name is less work
_CHECKED = ("-Wno-everything", "-ferror-limit=1")
_DUMP = ("-fsyntax-only", *_CHECKED, "-Xclang", "-ast-dump=json")


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
        self,
        command: tuple[str, ...],
        deadline_s: float = 120.0,
        environment: Mapping[str, str] | None = None,
        kept_headers: Path | None = None,
    ) -> None:
        """`kept_headers` is a directory for precompiled headers; without one none are made."""
        self._command = command
        self._deadline_s = deadline_s
        self._environment = dict(environment or {})
        self._prefixes = Prefixes(kept_headers, self._environment, deadline_s) if kept_headers else None
        self._whole: dict[tuple[Unit, str], Dump | None] = {}
        self._dumping = Lock()
        self._kept: dict[str, tuple[Node, ...]] = {}

    def declarations(self, unit: Unit, name: str, file: Path, state: str) -> tuple[Node, ...]:
        """Declarations in `file` whose qualified name contains `name`, as compiling `unit` sees them.

        `state` identifies the content of all sources; the same state is parsed once.
        Raises `ParseFailed`.
        """
        key = hashlib.sha256(repr((unit, name, file, state)).encode()).hexdigest()
        if key not in self._kept:
            self._kept[key] = self._from_whole(unit, name, file, state) or self._parse(unit, name, file)
        return self._kept[key]

    def read_ahead(self, unit: Unit, state: str) -> None:
        """Parse a unit that will be asked for. For another thread; a caller that asks meanwhile waits for it."""
        self._whole_dump(unit, state)

    def _whole_dump(self, unit: Unit, state: str) -> Dump | None:
        with self._dumping:
            if (unit, state) not in self._whole:
                self._whole[unit, state] = self._dump_whole(unit)
            return self._whole[unit, state]

    def _from_whole(self, unit: Unit, name: str, file: Path, state: str) -> tuple[Node, ...]:
        dump = self._whole_dump(unit, state)
        return tuple(_in_file(dump.matching(name), unit.directory, file)) if dump is not None else ()

    def _dump_whole(self, unit: Unit) -> Dump | None:
        """None where the headers cannot be precompiled, or the unit does not parse after them."""
        if self._prefixes is None or not unit.path.is_file():
            return None
        command = (*self._command, *unit.arguments)
        text = unit.path.read_text("utf-8", "surrogateescape")
        header = self._prefixes.precompiled((*command, *_CHECKED), unit.directory, text)
        if header is None:
            return None
        argv = (*command, *_DUMP, "-Xclang", "-include-pch", "-Xclang", str(header), str(unit.path))
        with process.scratch_logs() as logs:
            done = process.run(
                argv, unit.directory, self._deadline_s, logs, "parse", self._environment, WHOLE_LIMIT_BYTES
            )
            if not done.ok:
                if not done.output_exceeded:
                    self._prefixes.discard(header)
                return None
            try:
                raw = json.loads(done.stdout.read_text("utf-8", "surrogateescape"))
                TreeBuilder().resolve(raw)
                return Dump(raw)
            except RecursionError:
                return None

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
                return tuple(_in_file(_decoded(dump, file.name), unit.directory, file))


def _decoded(dump: Iterator[str], mentioned: str) -> Iterator[dict[str, Any]]:
    """The objects that mention a file name; the others are dropped before they are decoded."""
    for text in _objects(dump):
        if mentioned not in text:
            continue
        try:
            raw: dict[str, Any] = json.loads(text)
            TreeBuilder().resolve(raw)
        except RecursionError as error:
            raise _too_deep(mentioned) from error
        yield raw


def _too_deep(name: str) -> ParseFailed:
    return ParseFailed(f"{name}: an expression is nested too deeply to analyse")


def _in_file(found: Iterator[dict[str, Any]], directory: Path, file: Path) -> Iterator[Node]:
    """Nodes of those that lie in `file`."""
    wanted = file.resolve()
    for raw in found:
        try:
            node = TreeBuilder().build(raw)
        except RecursionError as error:
            raise _too_deep(file.name) from error
        place = node.place or node.begin
        if place is not None and (directory / place.file).resolve() == wanted:
            resolve_aliases(node)
            narrow(node)
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
