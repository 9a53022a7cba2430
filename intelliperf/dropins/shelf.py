"""Precompiled headers on disk: made whole or not at all, by one process at a time, the least recently used dropped."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.dropins.depfile import prerequisites
from intelliperf.dropins.toolchain import write_atomically
from intelliperf.processes.process import run, scratch_logs

# From the header's text, where to write, and where to list what was read: a compiler's command line.
Command = Callable[[Path, Path, Path], Sequence[str]]
# From the files that were read: what to keep with it, or None where it must never be kept.
Facts = Callable[[Sequence[str]], Mapping[str, object] | None]

# Else every reader instantiates again what the headers use of their own templates, which is most of its time.
_INSTANTIATED = "-fpch-instantiate-templates"
_MOST_SIGHTINGS = 4096  # keys that are remembered before anything is made for them


@dataclass(frozen=True)
class Entry:
    """A precompiled header and what its maker keeps with it."""

    header: Path
    facts: Mapping[str, object]


def making(listed: Path, is_driver: bool) -> tuple[str, ...]:
    """Words for a header to be precompiled, and a list of all that clang reads, also where its driver makes none."""
    words = (_INSTANTIATED, "-dependency-file", str(listed), "-MT", "header", "-sys-header-deps")
    return through_driver(words) if is_driver else words


def through_driver(words: Sequence[str]) -> tuple[str, ...]:
    """Words of the front end as its driver hands them on."""
    return tuple(both for word in words for both in ("-Xclang", word))


class Shelf:
    """A directory of them, of about `limit_bytes`. All methods raise `OSError` where it cannot be read or written."""

    def __init__(self, directory: Path, limit_bytes: int, environment: Mapping[str, str], deadline_s: float) -> None:
        self.directory = directory
        self._limit_bytes = limit_bytes
        self._environment = environment
        self._deadline_s = deadline_s

    def entry(self, key: str) -> Entry | None:
        """What was made for the key. clang itself refuses one whose files have changed since: `discard` it then."""
        facts = self._facts(key)
        header = self._file(key, "pch")
        if not isinstance(facts, dict) or not header.exists():
            return None
        with contextlib.suppress(OSError):
            os.utime(header)
        return Entry(header, facts)

    def sighted(self, key: str, often: int) -> bool:
        """Count that the key was asked for; whether that is now often enough, and nothing forbids it."""
        if self._file(key, "json").exists() and self._facts(key) is None:
            return False
        self.directory.mkdir(parents=True, exist_ok=True)
        with self._file(key, "seen").open("ab") as seen:
            seen.write(b".")
            return seen.tell() >= often

    def discard(self, header: Path) -> None:
        """Forget one that is of no use."""
        for ending in (".json", ".pch", ".h"):
            header.with_suffix(ending).unlink(missing_ok=True)

    def make(self, key: str, text: str, command: Command, facts: Facts, directory: Path | None = None) -> Entry | None:
        """One for `text`. None where it does not compile, must not be kept, or another process is about to make it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with self._alone(key) as mine:
            if not mine:
                return None
            if (known := self.entry(key)) is not None:
                return known
            with tempfile.TemporaryDirectory(dir=self.directory) as name:
                return self._make(key, text, command, facts, Path(name), directory or self.directory)

    def _make(
        self, key: str, text: str, command: Command, facts: Facts, scratch: Path, directory: Path
    ) -> Entry | None:
        header, source = self._file(key, "pch"), self._file(key, "h")
        made, listed = scratch / header.name, scratch / "rule.d"
        write_atomically(source, text.encode("utf-8", "surrogateescape"))  # clang compares it whenever it reads one
        with scratch_logs() as logs:
            argv = command(source, made, listed)
            done = run(argv, directory, self._deadline_s, logs, "precompile", self._environment)
        if not (done.ok and made.exists() and listed.exists()):
            self._file(key, "seen").unlink(missing_ok=True)
            source.unlink(missing_ok=True)
            return None
        files = prerequisites(listed.read_text("utf-8", "surrogateescape"))
        kept = facts([file for file in files if Path(file) != source])
        write_atomically(self._file(key, "json"), json.dumps(kept).encode())
        if kept is None:
            source.unlink(missing_ok=True)
            return None
        made.replace(header)
        self._make_room(header)
        return Entry(header, kept)

    def _facts(self, key: str) -> object:
        try:
            return json.loads(self._file(key, "json").read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return None

    def _file(self, key: str, kind: str) -> Path:
        return self.directory / f"{key}.{kind}"

    @contextlib.contextmanager
    def _alone(self, key: str) -> Iterator[bool]:
        """Whether no other process makes this one now."""
        with self._file(key, "seen").open("ab") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def _make_room(self, newest: Path) -> None:
        total = 0
        for path in self._by_age("*.pch"):
            with contextlib.suppress(FileNotFoundError):
                total += path.stat().st_size
            if total > self._limit_bytes and path != newest:
                self.discard(path)
        for path in self._by_age("*.seen")[_MOST_SIGHTINGS:]:
            path.unlink(missing_ok=True)

    def _by_age(self, pattern: str) -> list[Path]:
        """Youngest first."""
        ages: list[tuple[float, Path]] = []
        for path in self.directory.glob(pattern):
            with contextlib.suppress(FileNotFoundError):
                ages.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(ages, reverse=True)]
