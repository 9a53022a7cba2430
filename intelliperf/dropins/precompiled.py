"""The headers that a source begins with, precompiled: what the builds of one project parse again and again.

Only the leading run of `#include <…>` lines counts, and only headers of the machine and our own: a header of the
project, or one that the project puts before the machine's, ends the run. Our prelude alone is precompiled sooner: it
serves a source whatever that includes. What is made is kept by all that decides how it is parsed, and made when it has
been asked for often enough. Where anything is unusual, none is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.dropins.frontend import PRELUDE
from intelliperf.dropins.headers import header_directories
from intelliperf.dropins.shelf import Entry, Shelf, making, through_driver
from intelliperf.dropins.toolchain import find_toolchain, include_directory, standins_directory, tool_environment
from intelliperf.processes.process import Completed, output_of
from intelliperf.processes.storage import cache_directory

SIGHTINGS = 4  # so often is a run of headers parsed before it is worth a file
OF_PRELUDE = 2  # and the prelude alone, which serves every source that is compiled alike
LIMIT_BYTES = 768 * 1024**2
_FORMAT = 2
_INCLUDE = re.compile(r"#[ \t]*include[ \t]*<([^<>\n]+)>[ \t]*")
_PRAGMA_ONCE = re.compile(r"#[ \t]*pragma[ \t]+once[ \t]*")
_COMMENTS = re.compile(r"//(?:[^\n\\]|\\(?!\n))*(?=\n|\Z)|/\*.*?\*/", re.DOTALL)
_ASKED_FOR = re.compile(r"__has_include(?:_next)?[ \t]*\([ \t]*[<\"]([^>\"\n]+)[>\"]")
_MACHINE = tuple(map(Path, ("/usr/include", "/usr/lib", "/usr/local/include", "/usr/local/cuda", "/opt/rocm")))
_CACHED = ("openmp", "libraries", "rtc/headers")  # links to the machine's headers, and copies of our own
_DIRECTORIES = ("-I", "-iquote", "-isystem", "-idirafter", "-c-isystem", "-cxx-isystem")
_INTERNAL = ("-internal-isystem", "-internal-externc-isystem", "-resource-dir")
_DROPPED_WITH_VALUE = frozenset(
    {"-o", "-dependency-file", "-MT", "-MF", "-MQ", "-main-file-name", "-fcuda-include-gpubinary", "-dumpdir"}
)
_DROPPED_PREFIXES = ("-fdebug-compilation-dir=", "-fcoverage-compilation-dir=", "-cuid=")
_FROM_HERE = "-working-directory="
_OUTPUTS = frozenset({"-S", "-emit-llvm", "-emit-obj", "-MD", "-MMD", "-MP"})
# What is said of a header's names, to a debugger or in bitcode, is not what is said of a precompiled one's.
_DESCRIBED_TYPES = frozenset(
    f"-debug-info-kind={kind}" for kind in ("constructor", "limited", "standalone", "unused-types")
)
_BITCODE = "-emit-llvm-bc"
_REFUSED = ("-include-p", "-imacros", "-fmodule", "-iwithprefix", "-iprefix", "-I-", "-F")
_DIRECTORY_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")


@dataclass(frozen=True)
class Call:
    """One call of clang's front end, or of its driver, for one source."""

    argv: tuple[str, ...]
    source: str  # as it stands in `argv`, where it stands last
    directory: Path

    @property
    def before(self) -> tuple[str, ...]:
        """The words before the source."""
        return self.argv[: self._place]

    @property
    def after(self) -> tuple[str, ...]:
        return self.argv[self._place + 1 :]

    @property
    def _place(self) -> int:
        return len(self.argv) - 1 - self.argv[::-1].index(self.source)

    @property
    def is_driver(self) -> bool:
        return "-cc1" not in self.argv


@dataclass(frozen=True)
class _Reading:
    """How the headers of a call are read: words without its own files, and the project's directories apart."""

    words: tuple[str, ...]
    machine: tuple[Path, ...]
    project: tuple[Path, ...]


class KeptHeaders:
    """For readers of sources that ask many times: made as soon as one is asked for, kept below `directory`.

    `limit_bytes` of them are kept; `deadline_s` is for making one.
    """

    def __init__(self, directory: Path, limit_bytes: int, deadline_s: float) -> None:
        self._shelf = Shelf(directory, limit_bytes, tool_environment(), deadline_s)

    def header(self, argv: tuple[str, ...], source: Path, directory: Path) -> Path | None:
        """What serves this call for the text on disk; to be read before all else. None where nothing does."""
        return _header_for(Call(argv, str(source), directory), self._shelf, once=True)

    def discard(self, header: Path) -> None:
        """To be called for one that clang refuses: what it was made of has changed."""
        with contextlib.suppress(OSError):
            self._shelf.discard(header)


def front_end(call: Call, deadline_s: float) -> tuple[Completed, str]:
    """Run it, with precompiled headers where that changes nothing of what it writes and says: how it ended, and that.

    Whatever it refuses, or says of a header, it is asked again about without.
    """
    environment = tool_environment()
    shelf = Shelf(kept_directory(), LIMIT_BYTES, environment, deadline_s)
    found = None if os.environ.get("INTELLIPERF_NO_CACHE") else _header_for(call, shelf)
    if found is not None:
        words = ("-include-pch", str(found))
        argv = (*call.before, *(through_driver(words) if call.is_driver else words), call.source, *call.after)
        done, _, said = output_of(argv, deadline_s, environment, call.directory)
        if done.ok and str(found.with_suffix("")) not in said and "<built-in>" not in said:
            return done, said
        if not done.ok and str(found) in said:  # its headers or the compiler have changed since
            shelf.discard(found)
    done, _, said = output_of(call.argv, deadline_s, environment, call.directory)
    return done, said


def kept_directory() -> Path:
    return cache_directory() / "precompiled"


def without_kept(files: Iterable[str]) -> list[str]:
    """Prerequisites of the user's, without precompiled headers and what these are made of."""
    kept = f"{kept_directory()}{os.sep}"
    return [file for file in files if not os.path.normpath(file).startswith(kept)]


def leading_includes(text: str) -> tuple[str, ...]:
    """Names in the `#include <…>` lines before all else but comments and `#pragma once`."""
    bare = _COMMENTS.sub(lambda match: "\n" * match[0].count("\n") or " ", text[: 1 << 20])
    names: list[str] = []
    for line in map(str.strip, bare.splitlines()):
        include = _INCLUDE.fullmatch(line)
        if include:
            names.append(include[1])
        elif line and not _PRAGMA_ONCE.fullmatch(line):
            break
    return tuple(names)


def _header_for(call: Call, shelf: Shelf, once: bool = False) -> Path | None:
    """A precompiled header that serves the call; None where none does, or it is not worth one yet.

    `once`: it is worth one at the first sight.
    """
    reading = _reading(call)
    if reading is None:
        return None
    try:
        text = (call.directory / call.source).read_text("utf-8", "surrogateescape")
        names = _of_the_machine(leading_includes(text), reading.project)
        for some, often in {names: SIGHTINGS, **_prelude_alone(reading)}.items():
            entry = _entry(call, reading, some, shelf, 1 if once else often)
            if entry is not None and not _shadowed(entry.facts, reading.project):
                return entry.header
    except OSError:  # no room or no right to keep one, or no such source
        pass
    return None


def _prelude_alone(reading: _Reading) -> Mapping[tuple[str, ...], int]:
    return {(): OF_PRELUDE} if str(include_directory() / PRELUDE) in reading.words else {}


def _entry(call: Call, reading: _Reading, names: tuple[str, ...], shelf: Shelf, often: int) -> Entry | None:
    """What is kept for these names, made now if that is worth it."""
    key = _key(call, reading, names)
    entry = shelf.entry(key)
    if entry is None and shelf.sighted(key, often):
        entry = _make(call, reading, names, shelf, key)
    return entry


def _key(call: Call, reading: _Reading, names: Sequence[str]) -> str:
    compiler = Path(call.argv[0]).stat()
    prelude = (include_directory() / PRELUDE).stat().st_mtime_ns
    variables = [os.environ.get(name, "") for name in _DIRECTORY_VARIABLES] if call.is_driver else []
    what = (_FORMAT, reading.words, tuple(names), variables, compiler.st_mtime_ns, compiler.st_size, prelude)
    return hashlib.sha256(repr(what).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _of_the_machine(names: Iterable[str], project: Sequence[Path]) -> tuple[str, ...]:
    """Those up to the first that the project has a file for, or that is named by its place."""
    kept: list[str] = []
    for name in names:
        if name.startswith(("/", ".")) or any((place / name).exists() for place in project):
            break
        kept.append(name)
    return tuple(kept)


def _reading(call: Call) -> _Reading | None:
    """None where the call reads something that would have to be looked into first."""
    described = _DESCRIBED_TYPES.intersection(call.argv) and "-fcuda-is-device" not in call.argv
    if described or _BITCODE in call.argv:
        return None
    prelude = str(include_directory() / PRELUDE)
    roots = _roots(call.argv)
    words: list[str] = []
    directory = _directory(call)
    project: list[Path] = _named_in_the_environment(roots) if call.is_driver else []
    machine = list(roots)
    pending = iter((*call.before, *call.after))
    for word in pending:
        flag = next((flag for flag in _DIRECTORIES if word.startswith(flag)), "")
        if word in _OUTPUTS or word.startswith((*_DROPPED_PREFIXES, _FROM_HERE)):
            continue
        if word in _DROPPED_WITH_VALUE:
            next(pending, None)
        elif word in ("-include", "-ivfsoverlay"):
            value = next(pending, "")
            kept = value == prelude if word == "-include" else _shows_headers_of(Path(value), roots)
            if kept is None or (word == "-include" and not kept):
                return None
            words += [word, value] if kept else []
        elif word.startswith(_REFUSED):
            return None
        elif flag:
            place = directory / (word[len(flag) :] or next(pending, ""))
            if _is_below(place, roots):
                machine.append(Path(os.path.normpath(place)))
                words += [flag, str(place)]
            else:
                project.append(place)
        else:
            words.append(word)
    return _Reading(tuple(words), tuple(dict.fromkeys(machine)), tuple(dict.fromkeys(project)))


def _directory(call: Call) -> Path:
    """Where relative directories of headers count from."""
    named = [word[len(_FROM_HERE) :] for word in call.argv if word.startswith(_FROM_HERE)]
    return call.directory / named[-1] if named else call.directory


def _roots(argv: Sequence[str]) -> tuple[Path, ...]:
    """Directories of headers that are the machine's, the compiler's or ours, by their plain and their real paths."""
    named = [Path(value) for word, value in zip(argv, argv[1:], strict=False) if word in _INTERNAL]
    named += [Path(word) for word in find_toolchain().header_flags if word.startswith("/")]
    ours = [include_directory(), standins_directory(), *(cache_directory() / name for name in _CACHED)]
    libraries = [place for language in ("cuda", "hip") for place in header_directories(language)]
    places = [*_MACHINE, *named, *ours, *libraries]
    plain = [Path(os.path.normpath(place)) for place in places]
    return tuple(dict.fromkeys([*plain, *(place.resolve() for place in plain)]))


def _named_in_the_environment(roots: Sequence[Path]) -> list[Path]:
    variables = tool_environment()
    values = [variables.get(name, os.environ.get(name, "")) for name in _DIRECTORY_VARIABLES]
    places = [Path(place or ".") for value in values if value for place in value.split(os.pathsep)]
    return [place for place in places if not _is_below(place, roots)]


def _is_below(path: Path, roots: Sequence[Path]) -> bool:
    forms = {Path(os.path.normpath(path)), path.resolve()}
    return any(form.is_relative_to(root) for form in forms for root in roots)


def _shows_headers_of(overlay: Path, roots: Sequence[Path]) -> bool | None:
    """Whether an overlay shows other texts of the machine's headers; None where of the project's as well."""
    try:
        shown = [Path(entry["name"]) for entry in json.loads(overlay.read_text("utf-8"))["roots"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    below = {_is_below(path, roots) for path in shown}
    return below.pop() if len(below) == 1 else None


def _make(call: Call, reading: _Reading, names: Sequence[str], shelf: Shelf, key: str) -> Entry | None:
    def command(header: Path, made: Path, listed: Path) -> tuple[str, ...]:
        kind = "-emit-ast" if call.is_driver else "-emit-pch"
        return (*reading.words, kind, *making(listed, call.is_driver), "-o", str(made), str(header))

    def facts(inputs: Sequence[str]) -> Mapping[str, object] | None:
        paths = [Path(os.path.normpath(file)) for file in inputs]
        if not all(_is_below(path, reading.machine) for path in paths):
            return None
        found = {str(path.relative_to(root)) for path in paths for root in reading.machine if path.is_relative_to(root)}
        for path in paths:
            found.update(_ASKED_FOR.findall(path.read_text("utf-8", "replace")))
        return {"names": sorted({*found, *names})}

    return shelf.make(key, "".join(f"#include <{name}>\n" for name in names), command, facts)


def _shadowed(facts: Mapping[str, object], project: Sequence[Path]) -> bool:
    """Whether the project has a header of its own where one of these names is looked for."""
    names = facts.get("names")
    if not isinstance(names, list):
        return True
    by_first: dict[str, list[str]] = {}
    for name in names:
        by_first.setdefault(str(name).split("/", 1)[0], []).append(str(name))
    for place in project:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for entry in os.listdir(place):  # noqa: PTH208 - names, not paths: these are looked up in a table
                if any((place / name).exists() for name in by_first.get(entry, ())):
                    return True
    return False
