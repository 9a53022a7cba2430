"""One run at a time on a GPU: what another one launches meanwhile would be in both their times."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def lock_path(backend: str, environment: Mapping[str, str]) -> Path:
    """For the first GPU that a backend shows, by what the environment calls it; for all users of the machine."""
    named = next((environment[name] for name in _VISIBLE if environment.get(name)), "0")
    first = re.sub(r"\W+", "-", named.split(",")[0].strip()) or "none"
    return Path(tempfile.gettempdir()) / f"intelliperf-{backend}-{first}.lock"


class DeviceLock:
    """Held while `held` is entered, once or nested. A waiting process names `owner`; `tell` hears of our waits."""

    def __init__(self, path: Path, owner: str, tell: Callable[[str], None]) -> None:
        self._path = path
        self._owner = owner
        self._tell = tell
        self._depth = 0

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Waits for as long as another process holds it."""
        if self._depth:
            yield
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(self._path, flags, 0o666), "r+") as file:
            self._take(file.fileno())
            os.ftruncate(file.fileno(), 0)
            os.pwrite(file.fileno(), self._owner.encode("utf-8", "replace"), 0)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def _take(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            other = os.pread(descriptor, 4096, 0).decode("utf-8", "replace").strip() or "another intelliperf"
        self._tell(f"the GPU is in use by {other}: waiting for it")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
