"""The run directory: events as they happen, stage results, prompts, replies, attempts, the report.

Everything is written before it is acted upon and renamed into place, so that a run killed at any
moment can be resumed: finished stages and attempts are read back, model calls are found by the
hash of their prompt and never paid twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TextIO, TypeVar

from intelliperf.errors import ProtocolError, StorageFull, UsageError
from intelliperf.processes.storage import storage_errors, write_atomically
from intelliperf.project.codec import decode, encode
from intelliperf.records import Attempt

T = TypeVar("T")
RUNS = Path(".intelliperf") / "runs"
RUN_DIRECTORY_MARK = frozenset({"lock", "events.jsonl"})  # by these a run directory is known wherever it lies
SCRATCH = ".intelliperf-work"  # beside run directories; see `lasting_place`
PROGRAM_OUTPUT = ("program.stdout", "program.stderr")  # of the run directory: what the original printed


def to_json(value: object) -> bytes:
    return (json.dumps(encode(value), indent=1, ensure_ascii=True) + "\n").encode()


def read_json(path: Path) -> Any:
    """Raises `ProtocolError` where the file is not JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ProtocolError(f"{path} is not JSON ({error})") from error


def _kept(kind: type[T], path: Path) -> T:
    try:
        return decode(kind, read_json(path))
    except ProtocolError as error:
        raise ProtocolError(f"{path} is damaged or of another intelliperf: {error}; start a new run") from error


def _hide_from_git(root: Path) -> None:
    """Nothing below `.intelliperf` is a source of the project's."""
    for directory in (root, *root.parents):
        mark = directory / ".gitignore"
        if directory.name == RUNS.parts[0] and not mark.exists():
            mark.write_text("*\n")


@contextlib.contextmanager
def lasting_place(run: Path) -> Iterator[Path]:
    """A directory for a run's scratch copies, empty, which nobody else has meanwhile; it goes in the end.

    The next run gets it again, and the compile cache, whose keys have paths in them, knows what lies there. A run that
    is resumed gets the one that it had, for its stages name files in it. Raises `UsageError` where another run has that
    one now, `StorageFull` where none can be made.
    """
    kept = run / "place"
    if (run / "stages").exists() and not kept.exists():  # of a release that made none
        yield run / "work"
        return
    for number in [int(kept.read_text("ascii"))] if kept.exists() else range(1000):
        place = run.parent / SCRATCH / str(number)
        with storage_errors(place):
            lock = _only(place.with_suffix(".lock"))
        if lock is None:
            continue
        with lock:
            shutil.rmtree(place, ignore_errors=True)  # of a run that was killed
            write_atomically(kept, str(number).encode())
            try:
                with storage_errors(place):
                    place.mkdir()
                yield place
            finally:
                shutil.rmtree(place, ignore_errors=True)
                Path(lock.name).unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # others are at work
                    place.parent.rmdir()
        return
    raise UsageError(
        f"{run} needs {place} for its scratch copies, which another run has now: try again when it has ended"
    )


def _only(path: Path) -> TextIO | None:
    """The file, locked; None where another process has it or has just removed it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock.fileno()), path.stat()):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    lock.close()
    return None


class Journal:
    """One run's directory, locked against a second process for as long as it is open."""

    def __init__(self, directory: Path, listener: Callable[[dict[str, Any]], None] | None = None) -> None:
        self.directory = directory
        self.work = directory / "work"  # where scratch copies are made
        self._listener = listener
        with storage_errors(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = (directory / "lock").open("w")
            self._events = (directory / "events.jsonl").open("a", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise UsageError(f"{directory} is in use by another intelliperf") from error

    @classmethod
    def create(cls, root: Path, label: str, listener: Callable[[dict[str, Any]], None] | None = None) -> Journal:
        """A new directory `<root>/<UTC time>-<label>`, distinct also when two start in one second."""
        stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
        for attempt in range(1000):
            directory = root / (f"{stamp}-{label}" + (f"-{attempt + 1}" if attempt else ""))
            with storage_errors(directory):
                try:
                    directory.mkdir(parents=True)
                except FileExistsError:
                    continue
                _hide_from_git(root)
            return cls(directory, listener)
        raise StorageFull(f"cannot find a free name below {root}")

    @property
    def run_id(self) -> str:
        return self.directory.name

    def event(self, name: str, **details: object) -> None:
        """Write the event down and tell the listener."""
        entry = self.record(name, **details)
        if self._listener:
            self._listener(entry)

    def tell(self, text: str, name: str = "note", **details: object) -> None:
        """For the listener alone: the disk may be full, or nobody would read it later."""
        if self._listener:
            self._listener({"time": round(time.time(), 3), "event": name, "text": text, **details})

    def record(self, name: str, **details: object) -> dict[str, Any]:
        """Write the event down, and no more."""
        entry = {"time": round(time.time(), 3), "event": name, **{k: encode(v) for k, v in details.items()}}
        with storage_errors(self.directory):
            self._events.write(json.dumps(entry) + "\n")
            self._events.flush()
        return entry

    def write(self, name: str, payload: bytes) -> Path:
        path = self.directory / name
        write_atomically(path, payload)
        return path

    def stage(self, name: str, kind: type[T], compute: Callable[[], T]) -> T:
        """The stage's result: read back where an earlier process of this run finished it."""
        path = self.directory / "stages" / f"{name}.json"
        if path.exists():
            return _kept(kind, path)
        return self.stage_anew(name, compute())

    def stage_anew(self, name: str, result: T) -> T:
        """Keep the result in place of an earlier one."""
        write_atomically(self.directory / "stages" / f"{name}.json", to_json(result))
        return result

    def attempt_directory(self, index: int) -> Path:
        directory = self.directory / "attempts" / f"{index:03d}"
        with storage_errors(directory):
            directory.mkdir(parents=True, exist_ok=True)
        return directory

    def attempt(self, index: int) -> Attempt | None:
        """The finished attempt of that index, if there is one."""
        path = self.directory / "attempts" / f"{index:03d}" / "attempt.json"
        return _kept(Attempt, path) if path.exists() else None

    def accepted(self) -> int:
        """How many of the finished attempts can be read and were accepted."""
        count = 0
        for path in self.directory.glob("attempts/*/attempt.json"):
            with contextlib.suppress(ProtocolError, OSError):
                count += _kept(Attempt, path).accepted
        return count

    def keep_attempt(self, attempt: Attempt) -> None:
        directory = self.attempt_directory(attempt.index)
        if attempt.diff:
            write_atomically(directory / "candidate.diff", attempt.diff.encode("utf-8", "surrogateescape"))
        write_atomically(directory / "attempt.json", to_json(attempt))

    def exchange(self, prompt_hash: str) -> dict[str, Any] | None:
        """A model exchange that was already paid for."""
        path = self.directory / "exchanges" / f"{prompt_hash}.json"
        return read_json(path) if path.exists() else None

    def keep_exchange(self, prompt_hash: str, exchange: dict[str, Any]) -> None:
        write_atomically(self.directory / "exchanges" / f"{prompt_hash}.json", to_json(exchange))

    def close(self) -> None:
        self._events.close()
        self._lock.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
