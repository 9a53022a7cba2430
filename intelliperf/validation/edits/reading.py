"""The build of one version of the project, ready to be read again with a candidate's texts in place of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from intelliperf.validation.edits.devicecode import Device
from intelliperf.validation.edits.hostcode import Host, kernel_names
from intelliperf.validation.edits.ir import parse
from intelliperf.validation.edits.tokens import Token, tokens
from intelliperf.validation.edits.units import Compiler, Unit, Unreadable

_TRANSLATED = frozenset((".c", ".cc", ".cpp", ".cxx", ".cu", ".hip"))
_INCLUDED = frozenset((".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl", ".ipp", ".tpp"))
_HEADERS = _INCLUDED - {".inc"}  # which may be data
_MOST_FILES = 20_000
_MOST_BYTES = 4 << 20
_INCLUDE = re.compile(r'#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]')
_WORD = re.compile(r"[A-Za-z_]\w*")
_MARK = "intelliperf reads this file"
_HOST, _DEVICE = "host", "device"  # the sides of a compilation


@dataclass(frozen=True)
class Reading:
    """`tree` is where the project was built, `units` its compilations with our compilers."""

    compiler: Compiler
    tree: Path
    units: tuple[Unit, ...]
    _hosts: dict[object, Host] = field(default_factory=dict)
    _devices: dict[object, dict[Unit, Device]] = field(default_factory=dict)
    _latest_host: dict[object, Host] = field(
        default_factory=dict
    )  # of what is not kept, so that no caller reads it anew
    _latest_devices: dict[object, dict[Unit, Device]] = field(default_factory=dict)
    _readers: dict[str, tuple[Unit, ...]] = field(default_factory=dict)
    _lexed: dict[str, list[Token]] = field(default_factory=dict)
    _prepared: dict[object, str] = field(default_factory=dict)

    def affected(self, path: str) -> tuple[Unit, ...]:
        """The units that read the project's file. Raises `Unreadable` where what stands for it would not be read."""
        if path in self._readers:
            return self._readers[path]
        wanted = (self.tree / path).resolve()
        found = tuple(unit for unit in self.units if wanted in self._files[unit])
        for unit in found:
            self._refuse_deafness(unit, wanted)
        self._readers[path] = found
        return found

    def tokens(self, text: str) -> list[Token]:
        """The compiler's tokens of a text of the original's. Raises `Unreadable`."""
        if text not in self._lexed:
            self._lexed[text] = tokens(self.compiler, text)
        return self._lexed[text]

    def header(self, reader: Path, spelled: str) -> Path | None:
        """The project's own header that one of its files includes by this spelling; None for others.

        Paths from the tree. Looked for beside its reader, and where the units look.
        """
        tree, name = self.tree.resolve(), spelled[1:-1]
        places = [tree / reader.parent] if spelled.startswith('"') else []
        for unit in self.units:
            places += [unit.directory / place for place in _include_places(unit.flags)]
        for place in places:
            path = (place / name).resolve()
            if path.is_file():
                own = path.is_relative_to(tree) and path.suffix.lower() in _HEADERS
                return path.relative_to(tree) if own else None
        return None

    def text(self, path: Path) -> str:
        """Of a file of the project, as it was built. Raises `Unreadable`."""
        try:
            return (self.tree / path).read_bytes().decode("utf-8", "surrogateescape")
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror}") from None

    def _refuse_deafness(self, unit: Unit, path: Path) -> None:
        """Positive control: a text that cannot be compiled must not compile in the file's place."""
        try:
            self.compiler.preprocessed(unit, {path: f"#error {_MARK}\n"})
        except Unreadable as error:
            if _MARK in str(error):
                return
            raise
        raise Unreadable(f"{path.name} is read under another name by the compilation of {unit.source.name}")

    @cached_property
    def _files(self) -> dict[Unit, frozenset[Path]]:
        return dict(zip(self.units, _side_by_side(self.compiler.files_read, self.units), strict=True))

    def prepare(self, units: tuple[Unit, ...], *versions: Mapping[Path, str]) -> None:
        """Compile both sides of the units side by side, with each of these texts, for `host` and `devices` to take.

        What cannot be read is left for them to find out.
        """
        self._prepared.clear()
        wanted = [(_HOST, unit) for unit in units] + [(_DEVICE, unit) for unit in units if unit.language != "c++"]
        for texts in versions:  # one by one: they share precompiled headers
            if (units, _key(texts)) in self._hosts.keys() | self._latest_host.keys():
                continue

            def made(one: tuple[str, Unit], texts: Mapping[Path, str] = texts) -> str | None:
                try:
                    return self._compiled(*one, texts)
                except Unreadable:
                    return None

            for (side, unit), text in zip(wanted, _side_by_side(made, wanted), strict=True):
                if text is not None:
                    self._prepared[side, unit, _key(texts)] = text

    def _ir(self, side: str, unit: Unit, texts: Mapping[Path, str]) -> str:
        found = self._prepared.pop((side, unit, _key(texts)), None)
        return self._compiled(side, unit, texts) if found is None else found

    def _compiled(self, side: str, unit: Unit, texts: Mapping[Path, str]) -> str:
        return self.compiler.host_ir(unit, texts) if side == _HOST else self.compiler.device_ir(unit, texts)

    def host(self, units: tuple[Unit, ...], texts: Mapping[Path, str], keep: bool = False) -> Host:
        """The host sides of the units with these texts. `keep` for the next candidate. Raises `Unreadable`."""
        key = (units, _key(texts))
        known = self._hosts.get(key) or self._latest_host.get(key)
        if known is not None:
            return known
        sides = _side_by_side(lambda unit: self._ir(_HOST, unit, texts), units)
        found = Host(dict(zip(units, sides, strict=True)))
        if keep:
            self._hosts[key] = found
        else:
            self._latest_host.clear()
            self._latest_host[key] = found
        return found

    def devices(
        self, units: tuple[Unit, ...], texts: Mapping[Path, str], host: Host, keep: bool = False
    ) -> dict[Unit, Device]:
        """The device sides of those that have one. Raises `Unreadable`."""
        key = (units, _key(texts))
        known = self._devices.get(key) or self._latest_devices.get(key)
        if known is not None:
            return known
        both = tuple(unit for unit in units if unit.language != "c++")
        sides = _side_by_side(lambda unit: self._ir(_DEVICE, unit, texts), both)
        found = {
            unit: Device(parse(ir), kernel_names(host.raw[unit]), self.tree.resolve(), unit.directory, ir)
            for unit, ir in zip(both, sides, strict=True)
        }
        if keep:
            self._devices[key] = found
        else:
            self._latest_devices.clear()
            self._latest_devices[key] = found
        return found

    @cached_property
    def _others(self) -> dict[Path, str]:
        """Texts of the project's sources that no unit reads: other compilers may."""
        read = frozenset().union(*self._files.values()) if self._files else frozenset()
        found = {}
        for path in _files_below(self.tree.resolve()):
            kind = path.suffix.lower()
            if kind in _TRANSLATED and path not in read or kind in _INCLUDED:
                found[path] = path.read_bytes().decode("utf-8", "surrogateescape")
        return found

    @cached_property
    def words_elsewhere(self) -> frozenset[str]:
        """All words of the sources that are not one of our units."""
        return frozenset(
            word
            for path, text in self._others.items()
            if path.suffix.lower() in _TRANSLATED
            for word in _WORD.findall(text)
        )

    def other_readers(self, path: str) -> tuple[Unit, ...]:
        """Sources that other compilers translate and that lead to this file by names of included files."""
        wanted = {Path(path).name}
        while True:
            more = {
                file.name
                for file, text in self._others.items()
                if any(Path(name).name in wanted for name in _INCLUDE.findall(text))
            }
            if more <= wanted:
                break
            wanted |= more
        sources = [file for file in self._others if file.suffix.lower() in _TRANSLATED and file.name in wanted]
        return tuple(self._plain_unit(file) for file in sorted(sources) if file.name != Path(path).name)

    def _plain_unit(self, source: Path) -> Unit:
        """As far as the flags of one of our units can tell how it is compiled."""
        like = self.units[0]
        start = like.flags.index("-x") + 2 if "-x" in like.flags else 0
        places = tuple(word for word in like.host_flags if word.startswith("-I"))
        return Unit(source, "c++", like.directory, (*places, "-x", "c++", *like.flags[start:]))


def _include_places(flags: Iterable[str]) -> Iterable[str]:
    words = iter(flags)
    for word in words:
        if word in ("-I", "-isystem", "-iquote", "-idirafter"):
            yield next(words, "")
        elif word.startswith("-I"):
            yield word[2:]


_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def _side_by_side(work: Callable[[_Given], _Made], units: Iterable[_Given]) -> list[_Made]:
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        return list(pool.map(work, units))


def _key(texts: Mapping[Path, str]) -> tuple[tuple[Path, str], ...]:
    return tuple(sorted(texts.items()))


def _files_below(tree: Path) -> Iterable[Path]:
    count = 0
    for directory, names, files in os.walk(tree):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            path = Path(directory) / name
            if path.suffix.lower() in _TRANSLATED | _INCLUDED and path.is_file() and path.stat().st_size <= _MOST_BYTES:
                count += 1
                yield path
            if count >= _MOST_FILES:
                return
