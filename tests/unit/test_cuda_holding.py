"""Addresses for recorded memory on a GPU, kept free before the driver is there."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

from intelliperf.cuda import holding

_PAGE = 1 << 21


def _free_place() -> int:
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *([ctypes.c_int] * 3), ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    place = int(libc.mmap(None, 8 * _PAGE, 0, 0x22, -1, 0))
    libc.munmap(place, 8 * _PAGE)
    return -(-place // _PAGE) * _PAGE


def test_what_is_held_is_taken_until_it_is_released() -> None:
    ranges = [(_free_place(), _PAGE)]
    assert holding.hold(ranges)
    assert f"{ranges[0][0]:x}-" in Path("/proc/self/maps").read_text()
    assert not holding.hold(ranges)
    holding.release(ranges)
    assert holding.hold(ranges)
    holding.release(ranges)


def test_nothing_stays_held_where_a_part_is_taken() -> None:
    free = _free_place()
    taken = [(free + 2 * _PAGE, _PAGE)]
    assert holding.hold(taken)
    assert not holding.hold([(free, _PAGE), *taken])
    assert holding.hold([(free, _PAGE)])
    holding.release([(free, _PAGE), *taken])


def test_a_process_whose_own_memory_is_in_the_way_starts_anew_a_few_times_and_then_says_so() -> None:
    code = (
        f"import os, sys; sys.path[:] = {sys.path!r}; from intelliperf.cuda import holding; "
        "stack = 0x7ff000000000, 0xffffff000; print('began', flush=True); "
        "print('held' if holding.hold_or_start_anew([stack]) else 'taken')"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["began"] * 8 + ["taken"], done.stderr
