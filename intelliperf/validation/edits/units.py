"""The compilations of a build, read from the drop-ins' log, and the compiler that repeats them for a reader."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from intelliperf.processes import process

_DEADLINE_S = 120.0
_OUTPUT_LIMIT_BYTES = 192 << 20
_KEPT_ON_THE_HOST = "-target-sdk-version="
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_STALE = re.compile(r"precompiled|\bpch\b", re.IGNORECASE)  # its headers have changed since
_MOST_NESTING = 256  # clang's own default


class Unreadable(Exception):
    """The compiler does not take the text, takes too long, or makes too much of it; the message is one line."""


@dataclass(frozen=True)
class Unit:
    """One compilation. `flags` read its device side, as the drop-ins log them; `source` is absolute."""

    source: Path
    language: str
    directory: Path
    flags: tuple[str, ...]

    @property
    def host_flags(self) -> tuple[str, ...]:
        """Without what turns the reader to the device side: the words behind -Xclang, up to the language."""
        end = self.flags.index("-x") if "-x" in self.flags else len(self.flags)
        kept: list[str] = []
        words = iter(self.flags[:end])
        for word in words:
            if word != "-Xclang":
                kept.append(word)
            elif (following := next(words, "")).startswith(_KEPT_ON_THE_HOST):
                kept += [word, following]
        return (*kept, *self.flags[end:])


def logged_units(log: Path) -> tuple[Unit, ...]:
    """Each distinct compilation in the log; none where there is no log.

    A build system's trials are left out: their directory is gone, and their source with it or, as CMake's own, outside
    of the scratch copy that `log` lies in, where no patch reaches.
    """
    if not log.is_file():
        return ()
    found: dict[Unit, None] = {}
    for line in log.read_text("utf-8", "surrogateescape").splitlines():
        entry = json.loads(line)
        directory = Path(entry["directory"])
        source = (directory / entry["source"]).resolve()
        if not directory.is_dir() and not (source.exists() and source.is_relative_to(log.parent.resolve())):
            continue
        found[Unit(source, entry["language"], directory, tuple(entry["reader_flags"]))] = None
    return tuple(found)


class Headers(Protocol):
    """Precompiled headers for the calls of a compiler."""

    def header(self, argv: tuple[str, ...], source: Path, directory: Path) -> Path | None:
        """What the source includes first; None where there is none for it."""

    def discard(self, header: Path) -> None:
        """Of one that the compiler refuses."""


class Compiler:
    """clang as a reader. `driver` is the start of its command line; `texts` stand in for files, by absolute path."""

    def __init__(
        self, driver: tuple[str, ...], environment: Mapping[str, str], scratch: Path, headers: Headers | None = None
    ) -> None:
        self._driver = driver
        self._environment = dict(environment)
        self._scratch = scratch
        self._headers = headers

    def run(self, words: tuple[str, ...], directory: Path, limit: int = _OUTPUT_LIMIT_BYTES) -> str:
        """What it writes to standard output. Raises `Unreadable`."""
        argv = (*self._driver, *words)
        if not directory.is_dir():
            raise Unreadable(f"the directory of a compilation is gone: {directory}")
        with process.scratch_logs() as logs:
            done = process.run(argv, directory, _DEADLINE_S, logs, "read", self._environment, limit)
            if not done.ok:
                lines = done.tail().splitlines()
                told = next((line for line in lines if "error:" in line), lines[0] if lines else done.describe())
                raise Unreadable(told if not (done.timed_out or done.output_exceeded) else done.describe())
            return done.stdout.read_bytes().decode("utf-8", "surrogateescape")

    def errors_of(self, words: tuple[str, ...], directory: Path) -> str:
        """What it writes to standard error. Raises `Unreadable`."""
        with process.scratch_logs() as logs:
            done = process.run(
                (*self._driver, *words), directory, _DEADLINE_S, logs, "read", self._environment, _OUTPUT_LIMIT_BYTES
            )
            if not done.ok:
                lines = done.tail().splitlines()
                raise Unreadable(lines[-1] if lines and not done.timed_out else done.describe())
            return done.stderr.read_bytes().decode("utf-8", "surrogateescape")

    def overlay(self, texts: Mapping[Path, str]) -> tuple[str, ...]:
        """Flags under which the compiler reads these texts where the files of these names stand."""
        if not texts:
            return ()
        self._scratch.mkdir(parents=True, exist_ok=True)
        root = Path(tempfile.mkdtemp(prefix="reading-", dir=self._scratch))
        roots = []
        for number, (path, text) in enumerate(sorted(texts.items())):
            content = root / f"{number}{path.suffix}"
            content.write_bytes(text.encode("utf-8", "surrogateescape"))
            roots.append({"type": "file", "name": str(path), "external-contents": str(content)})
        listing = root / "overlay.json"
        listing.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}), encoding="utf-8")
        return ("-ivfsoverlay", str(listing))

    def host_ir(self, unit: Unit, texts: Mapping[Path, str]) -> str:
        """The host side as the front end makes it. Lines have no numbers, so that `__LINE__` tells nothing apart."""
        return self._assembly(unit, (*unit.host_flags, *_PLAIN, *_HOST), texts)

    def device_ir(self, unit: Unit, texts: Mapping[Path, str]) -> str:
        """The device side as the front end makes it: every call and access that the text asks for."""
        return self._assembly(unit, (*unit.flags, *_PLAIN, *_DEVICE), texts)

    def _assembly(self, unit: Unit, flags: tuple[str, ...], texts: Mapping[Path, str]) -> str:
        header = self._header(unit, flags, texts)
        if header is not None and self._headers is not None:
            words = ("-Xclang", "-include-pch", "-Xclang", str(header))
            try:
                return self.run((*flags, *words, *self.overlay(texts), *_to_stdout(unit)), unit.directory)
            except Unreadable as error:
                if _STALE.search(str(error)) is None:
                    raise
                self._headers.discard(header)
        return self.run((*flags, *self.overlay(texts), *_to_stdout(unit)), unit.directory)

    def _header(self, unit: Unit, flags: tuple[str, ...], texts: Mapping[Path, str]) -> Path | None:
        """The original's first headers, where neither they nor what stands before and between them is edited."""
        if self._headers is None or not texts.keys() <= {unit.source}:
            return None
        original = unit.source.read_bytes().decode("utf-8", "surrogateescape")
        end = max((found.end() for found in _INCLUDE.finditer(original)), default=0)
        if texts.get(unit.source, original)[:end] != original[:end]:
            return None
        argv = (*self._driver, *flags, *_to_stdout(unit))
        return self._headers.header(argv, unit.source, unit.directory)

    def optimised(self, ir: str, directory: Path, further: tuple[str, ...] = ()) -> str:
        """The module after light optimisation, with these further words for the compiler.

        Raises `Unreadable`, also for a module that is not well formed; clang leaves no report of a crash then.
        """
        self._scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(suffix=".ll", dir=self._scratch) as module:
            module.write(ir.encode("utf-8", "surrogateescape"))
            module.flush()
            return self.run(
                ("-x", "ir", "-O1", *further, *_QUIET, "-S", "-emit-llvm", "-o", "-", module.name), directory
            )

    def preprocessed(self, unit: Unit, texts: Mapping[Path, str]) -> str:
        """The host side's text without directives. Raises `Unreadable`."""
        return self.run((*unit.host_flags, "-w", "-E", "-P", *self.overlay(texts), str(unit.source)), unit.directory)

    def files_read(self, unit: Unit) -> frozenset[Path]:
        """Absolute paths of all files that the host side's compilation reads."""
        told = self.run((*unit.host_flags, "-w", "-M", str(unit.source)), unit.directory)
        words = told.replace("\\\n", " ").partition(": ")[2]
        names = [word.replace("\0", " ") for word in words.replace("\\ ", "\0").split()]
        return frozenset((unit.directory / name).resolve() for name in names)


_QUIET = ("-w", "-fPIC", "-fno-crash-diagnostics")
_PLAIN = ("-w", "-Wno-builtin-macro-redefined", "-ferror-limit=1", f"-fbracket-depth={_MOST_NESTING}")
_HOST = (
    "-D__LINE__=1", '-D__TIME__="00:00:00"', '-D__DATE__="Jan  1 1970"', '-D__TIMESTAMP__=""', "-gline-tables-only",
    "-O1", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-lifetime-markers", "-finline-hint-functions",
    "-fwrapv",
    "-fno-strict-aliasing", "-fPIC", "-fuse-cuid=none",
)  # fmt: skip
_DEVICE = ("-gline-tables-only", "-O1", "-Xclang", "-disable-llvm-passes")


def _to_stdout(unit: Unit) -> tuple[str, ...]:
    return ("-S", "-emit-llvm", str(unit.source), "-o", "-")
