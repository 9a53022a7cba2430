"""Addresses that recorded memory is to lie at, kept free while the driver starts and takes addresses of its own.

Where a process has its libraries is left to chance. One that has them in the way starts anew, some times.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence

_STARTED = "INTELLIPERF_PLAYER_STARTS"
_MOST_STARTS = 8
_PRIVATE, _ANONYMOUS, _NORESERVE, _FIXED_NOREPLACE = 0x2, 0x20, 0x4000, 0x100000  # MAP_…, linux/mman.h
Ranges = Sequence[tuple[int, int]]  # base and size, in whole pages


def hold(ranges: Ranges) -> bool:
    """Whether all of them were free; nothing else is put there until `release`."""
    libc = _libc()
    for number, (base, size) in enumerate(ranges):
        flags = _PRIVATE | _ANONYMOUS | _NORESERVE | _FIXED_NOREPLACE
        got = libc.mmap(ctypes.c_void_p(base), size, 0, flags, -1, 0)
        if got != base:
            if got not in (None, ctypes.c_void_p(-1).value):  # an old kernel, which takes the address as a wish
                libc.munmap(ctypes.c_void_p(got), size)
            release(ranges[:number])
            return False
    return True


def release(ranges: Ranges) -> None:
    for base, size in ranges:
        _libc().munmap(ctypes.c_void_p(base), size)


def hold_or_start_anew(ranges: Ranges) -> bool:
    """As `hold`, in a new process in place of this one if need be; False after some of them."""
    started = int(os.environ.get(_STARTED, "1"))
    if hold(ranges):
        return True
    if started >= _MOST_STARTS:
        return False
    os.environ[_STARTED] = str(started + 1)
    os.execv(sys.executable, sys.orig_argv)


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *([ctypes.c_int] * 3), ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc
