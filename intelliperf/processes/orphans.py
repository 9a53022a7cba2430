"""Processes that left their group, as `setsid` and daemons do, come to us when their parent ends, and are ended.

Linux hands orphans to the nearest ancestor that asked for them (`prctl(2)`, PR_SET_CHILD_SUBREAPER). Which of our
children one came from is told by a variable of a name of its own, which a process inherits.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_MOST_GENERATIONS = 100


@cache
def adopt_orphans() -> None:
    """From now on, until this process ends."""
    with contextlib.suppress(OSError, AttributeError):  # not Linux: orphans stay unseen, as before
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_orphans(mark: str, first: int) -> None:
    """Kill and reap what carries the variable `mark` and is our child now, other than `first`, and what that leaves."""
    for _generation in range(_MOST_GENERATIONS):
        found = [pid for pid in _children() if pid != first and _carries(pid, mark)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _children() -> Iterator[int]:
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, task.read_text().split())


def _carries(pid: int, mark: str) -> bool:
    with contextlib.suppress(OSError):
        return f"{mark}=".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    return False
