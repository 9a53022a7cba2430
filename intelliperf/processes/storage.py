"""Writing to disk: whole files or none, and a full or forbidden one in clear words."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from intelliperf.errors import StorageFull, ToolchainError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_ROOT = "--run-root (nightly: --nights)"
_LEAST_FREE_BYTES = 1 << 20


def storage_error(error: OSError, where: Path) -> StorageFull | None:
    """The error in the user's words, where it is one of the disk."""
    if error.errno in _FULL:
        return StorageFull(f"no space left for {where}: free some, or move {_ROOT}, XDG_CACHE_HOME or TMPDIR")
    if error.errno in _FORBIDDEN:
        return StorageFull(f"cannot write {where}: {error.strerror}; name another directory with {_ROOT}")
    return None


@contextlib.contextmanager
def storage_errors(where: Path) -> Iterator[None]:
    """Turns a full disk, a quota or a missing permission into `StorageFull` with the path."""
    try:
        yield
    except OSError as error:
        known = storage_error(error, where)
        if known is None:
            raise
        raise known from error


def refuse_full_disk(*places: Path) -> None:
    """Raises `StorageFull` where nothing more can be written: whatever failed there failed for that."""
    for place in places:
        with contextlib.suppress(OSError):
            free = os.statvfs(place)
            if free.f_bavail * free.f_frsize < _LEAST_FREE_BYTES or (free.f_files and not free.f_favail):
                raise StorageFull(f"no space left on the disk of {place}: free some")


def write_atomically(path: Path, payload: bytes) -> None:
    """`payload` at `path`, whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with storage_errors(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as out:
                out.write(payload)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def cache_directory() -> Path:
    """`$XDG_CACHE_HOME/intelliperf` or `~/.cache/intelliperf`, made if absent."""
    base = os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base and Path(base).is_absolute() else _home() / ".cache"
    directory = root / "intelliperf"
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolchainError(
            f"cannot make the cache directory {directory}: {error.strerror}; set XDG_CACHE_HOME"
        ) from error
    return directory


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise ToolchainError("there is no home directory; set XDG_CACHE_HOME to a writable directory") from error
