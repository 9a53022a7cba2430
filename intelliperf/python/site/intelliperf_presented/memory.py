"""PyTorch's memory on the presented device: what is allocated for device tensors lies in the emulator's arena."""

from __future__ import annotations

import atexit
import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from .runtime import runtime


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(os.environ["INTELLIPERF_TORCH_MEMORY"], mode=ctypes.RTLD_GLOBAL)


def stand_before_torch() -> None:
    """Must run before libc10.so is loaded, whose calls for memory then lead here."""
    library, device = _library(), runtime().native
    allocate = ctypes.cast(device.hipMalloc, ctypes.c_void_p)
    release = ctypes.cast(device.hipFree, ctypes.c_void_p)
    library.intelliperf_memory_begin.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    library.intelliperf_memory_begin(allocate, release)
    library.intelliperf_memory_on_device.argtypes = (ctypes.c_int,)
    library.intelliperf_memory_holds.argtypes = (ctypes.c_void_p,)
    library.intelliperf_memory_bytes.argtypes = (ctypes.c_int,)
    library.intelliperf_memory_bytes.restype = ctypes.c_uint64
    atexit.register(library.intelliperf_memory_end)


def set_on_device(wanted: int) -> int:
    """Where this thread allocates from now on; returns where it did."""
    return int(_library().intelliperf_memory_on_device(wanted))


@contextmanager
def on_device(wanted: bool = True) -> Iterator[None]:
    before = set_on_device(int(wanted))
    try:
        yield
    finally:
        set_on_device(before)


def tensor_bytes(which: int) -> int:
    """Bytes of device tensors: 0 now, 1 the most so far, 2 the same and the count begins anew."""
    return int(_library().intelliperf_memory_bytes(which))


def holds(pointer: int) -> bool:
    """Is this address in memory that was allocated on the device?"""
    return bool(_library().intelliperf_memory_holds(pointer))
