"""The edit gate's reader for programs that a test writes: a tree of texts, and how each unit of it is compiled."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from intelliperf.cli.judging import compiler_for
from intelliperf.dropins.arguments import parse
from intelliperf.dropins.compilelog import unit_of
from intelliperf.dropins.frontend import device_reader_flags
from intelliperf.dropins.toolchain import Toolchain, find_toolchain
from intelliperf.records import Candidate, Declaration, FileEdit, Origin, OriginKind, content_hash
from intelliperf.validation.edits.gate import StaticVerdict, examine
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.edits.units import Unit


@cache
def _toolchain() -> Toolchain:
    return find_toolchain()


def reading_of(tree: Path, texts: Mapping[str, str], *flags: str) -> Reading:
    """A build of the texts, written below `tree`; each .hip and .cu that is not only included is a unit."""
    tree.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(text.encode("utf-8", "surrogateescape"))
    included = [name for name in texts if any(f'"{Path(name).name}"' in text for text in texts.values())]
    units = [unit for path in texts if path not in included for unit in units_of(tree, path, *flags)]
    return Reading(compiler_for(tree.parent / f"{tree.name}-reading"), tree, tuple(units))


def units_of(tree: Path, path: str, *flags: str) -> list[Unit]:
    """How the drop-ins would compile the file."""
    if not path.endswith((".hip", ".cu")):
        return []
    command = parse("hipcc" if path.endswith(".hip") else "nvcc", ["-c", *flags, path], None)
    units = [unit_of(command, source, tree, os.environ, _toolchain()) for source in command.sources]
    return [
        Unit((tree / path).resolve(), unit.language, tree, tuple(device_reader_flags(unit, _toolchain())))
        for unit in units
    ]


class Gate:
    """The edit gate over one program, for many candidates."""

    def __init__(self, root: Path, texts: Mapping[str, str], kernel: str, *flags: str) -> None:
        self.texts, self._kernel = dict(texts), kernel
        self.reading = reading_of(root / "sources", texts, *flags)

    def examine(
        self, changed: Mapping[str, str], declares: Declaration | None = None, symbol: str = ""
    ) -> StaticVerdict:
        """Of a candidate that gives these files these texts. `symbol`: the template's instance that is judged."""
        edits = tuple(FileEdit(path, content_hash(self.texts[path]), text) for path, text in changed.items())
        candidate = Candidate(edits, "", Origin(OriginKind.USER, "test"), declares or Declaration())
        return examine(candidate, self.texts, set(self.texts), self._kernel, self.reading, symbol=symbol)

    def replaced(
        self, *replacements: tuple[str, str], declares: Declaration | None = None, path: str = ""
    ) -> StaticVerdict:
        """Of a candidate that replaces texts that occur once."""
        file = path or next(iter(self.texts))
        text = self.texts[file]
        for old, new in replacements:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return self.examine({file: text}, declares)
