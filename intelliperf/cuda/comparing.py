"""Buffers of paused applications, opened by CUDA's IPC handles and compared on the device.

A handle is opened for one comparison or copy and closed after it, so that memory that the application frees is free.
The context is this process's own and is made when it is first needed.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from intelliperf.cuda import driver_api
from intelliperf.cuda.toolkit import find_toolkit
from intelliperf.errors import BackendUnavailable, ProtocolError, ToolchainError
from intelliperf.interception.arena import SharedArena, open_shared_arena
from intelliperf.interception.building import run_tool
from intelliperf.processes.storage import cache_directory
from intelliperf.protocols import Difference, Numbers, Opened, SharedBuffer

_SOURCE = Path(__file__).with_name("compare.cu")
_HANDLE_BYTES = 64
_LAZY_PEER_ACCESS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
_WORD_BYTES = 16  # what the kernel loads at a time
_THREADS = 256
_SLICES = 32  # blocks of a chunk
_ROOM_BYTES = 1 << 20
_ENTRY = np.dtype([(name, "<u8") for name in ("elements", "first", "beyond", "specials", "ulps")]
                  + [("absolute", "<f8"), ("relative", "<f8")])  # fmt: skip
_KINDS = {("float", 2): 4, ("bfloat", 2): 5, ("float", 4): 6, ("float", 8): 7}
_BITS = {1: 0, 2: 1, 4: 2, 8: 3}
_HOW = "opened by CUDA IPC handles and copied from the device"


class _Failed(Exception):
    """A call of the driver, in words."""


class DeviceComparer:
    """Reads and compares what handles stand for. One for all runs; `close` gives the context back."""

    def __init__(self, architecture: str) -> None:
        self._architecture = architecture
        self._broken = ""  # why nothing is compared on the device any more
        self._context: ctypes.c_void_p | None = None
        self._kernel = ctypes.c_void_p()
        self._room = 0, 0  # address and size

    def copy(self, shared: SharedBuffer, size: int) -> Opened:
        """See `protocols.Memory.open`."""
        if shared.at + size > shared.size:
            raise ProtocolError(f"{size} bytes at {shared.at} of a shared buffer that has {shared.size}")
        try:
            with self._opened(shared) as address:
                content = np.empty(size, dtype=np.uint8)
                _call("cuMemcpyDtoH_v2", ctypes.c_void_p(content.ctypes.data), _u64(address + shared.at), _u64(size))
                why = f", as the device does not compare: {self._broken}" if self._broken else ""
                return Opened(memoryview(content.data), f"{_HOW}{why}")
        except (_Failed, BackendUnavailable) as error:
            return Opened(None, str(error))

    def differing(
        self, mine: SharedBuffer, theirs: SharedBuffer, size: int, chunk: int, numbers: Numbers
    ) -> tuple[Difference, ...] | None:
        """See `protocols.Memory.differing`."""
        if self._broken or any(one.at % _WORD_BYTES for one in (mine, theirs)):
            return None
        for one in (mine, theirs):
            if one.at + size > one.size:
                raise ProtocolError(f"{size} bytes at {one.at} of a shared buffer that has {one.size}")
        try:
            self._prepare()
            with self._opened(mine) as left, self._opened(theirs) as right:
                return self._compare(left + mine.at, right + theirs.at, size, chunk, numbers)
        except (_Failed, BackendUnavailable, ToolchainError) as error:
            self._broken = str(error)
            return None

    def close(self) -> None:
        if self._context is not None:
            with contextlib.suppress(_Failed):
                _call("cuDevicePrimaryCtxRelease_v2", ctypes.c_int(0))
        self._context, self._kernel, self._room = None, ctypes.c_void_p(), (0, 0)

    def _enter(self) -> None:
        """Make the context current in this thread."""
        if self._context is None:
            driver_api.driver()
            context = ctypes.c_void_p()
            _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(0))
            self._context = context
        _call("cuCtxSetCurrent", self._context)

    def _prepare(self) -> None:
        """Load the kernel, and have it find a planted difference before anything that it says is believed."""
        self._enter()
        if self._kernel:
            return
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        _call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(_cubin(self._architecture).read_bytes()))
        _call("cuModuleGetFunction", ctypes.byref(kernel), module, ctypes.c_char_p(b"compare"))
        self._kernel = kernel
        try:
            self._positive_control()
        except _Failed:
            self._kernel = ctypes.c_void_p()
            raise

    def _positive_control(self) -> None:
        left = np.arange(1, 1003, dtype=np.float32)  # not a whole number of the kernel's words
        right = left.copy()
        right[1001] = np.nextafter(left[1001], np.float32(np.inf))
        right[700] *= 2
        numbers = Numbers("float", 4, 1e-3, 0.0)
        with _allocated(left.nbytes) as a, _allocated(right.nbytes) as b:
            for address, content in ((a, left), (b, right)):
                _call("cuMemcpyHtoD_v2", _u64(address), ctypes.c_void_p(content.ctypes.data), _u64(content.nbytes))
            found = self._compare(a, b, left.nbytes, 2048, numbers)
            equal = self._compare(a, a, left.nbytes, 2048, numbers)
        # The second chunk begins with element 512; one of its two differences is beyond the tolerance.
        seen = [(one.number, one.elements, one.beyond, one.first, one.absolute) for one in found]
        if equal or seen != [(1, 2, 1, 700 - 512, 701.0)]:
            raise _Failed(f"the comparison on the device did not find what was planted, it found {seen}")

    def _compare(self, left: int, right: int, size: int, chunk: int, numbers: Numbers) -> tuple[Difference, ...]:
        chunks = -(-size // chunk)
        kind = _KINDS.get((numbers.encoding, numbers.size), _BITS[numbers.size] if size % numbers.size == 0 else 0)
        found = np.empty(chunks, dtype=_ENTRY)
        entries = self._room_for(found.nbytes)
        _call("cuMemsetD8Async", _u64(entries), ctypes.c_ubyte(0), _u64(found.nbytes), None)
        arguments = (
            *(_u64(left), _u64(right), _u64(size), _u64(chunk), ctypes.c_int(kind)),
            *(ctypes.c_double(numbers.rtol), ctypes.c_double(numbers.atol), _u64(entries)),
        )
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(one) for one in arguments))
        shape = [ctypes.c_uint(n) for n in (_SLICES, chunks, 1, _THREADS, 1, 1, 0)]
        _call("cuLaunchKernel", self._kernel, *shape, None, pointers, None)
        _call("cuMemcpyDtoH_v2", ctypes.c_void_p(found.ctypes.data), _u64(entries), _u64(found.nbytes))
        return tuple(_difference(int(number), found[number]) for number in np.flatnonzero(found["elements"]))

    def _room_for(self, size: int) -> int:
        """Device memory for the kernel's findings, kept from one comparison to the next."""
        address, held = self._room
        if held < size:
            if held:
                _call("cuMemFree_v2", _u64(address))
            held = max(size, _ROOM_BYTES)
            fresh = ctypes.c_uint64()
            _call("cuMemAlloc_v2", ctypes.byref(fresh), _u64(held))
            address = fresh.value
            self._room = address, held
        return address

    @contextlib.contextmanager
    def _opened(self, shared: SharedBuffer) -> Iterator[int]:
        """The address, in this process, of the memory that a handle stands for."""
        self._enter()
        if len(shared.handle) != _HANDLE_BYTES:
            raise ProtocolError(f"a CUDA IPC handle of {len(shared.handle)} bytes")
        address = ctypes.c_uint64()
        handle = _Handle(*shared.handle)
        _call("cuIpcOpenMemHandle_v2", ctypes.byref(address), handle, ctypes.c_uint(_LAZY_PEER_ACCESS))
        try:
            yield address.value
        finally:
            _call("cuIpcCloseMemHandle", address)


class _Handle(ctypes.Structure):
    """CUipcMemHandle, which the driver takes by value."""

    _fields_ = (("reserved", ctypes.c_ubyte * _HANDLE_BYTES),)

    def __init__(self, *content: int) -> None:
        super().__init__((ctypes.c_ubyte * _HANDLE_BYTES)(*content))


class CudaMemory:
    """Device memory of one paused application: by handles where it gives them, else what it copied to its arena."""

    def __init__(self, arena: SharedArena, comparer: DeviceComparer) -> None:
        self._arena = arena
        self._comparer = comparer

    def read(self, base: int, size: int) -> memoryview:
        return self._arena.read(base, size)

    def open(self, shared: SharedBuffer, size: int) -> Opened:
        return self._comparer.copy(shared, size)

    def differing(
        self, mine: SharedBuffer, theirs: SharedBuffer, size: int, chunk: int, numbers: Numbers
    ) -> tuple[Difference, ...] | None:
        return self._comparer.differing(mine, theirs, size, chunk, numbers)

    def spoil(self, base: int, size: int) -> None:
        raise ProtocolError("a copy of a buffer was to be written to, which the application would not see")

    def write(self, base: int, content: memoryview) -> None:
        raise ProtocolError("a copy of a buffer was to be written to, which the application would not see")

    def close(self) -> None:
        self._arena.close()


def open_memory(hello: Mapping[str, object], descriptors: Sequence[int], comparer: DeviceComparer) -> CudaMemory:
    return CudaMemory(open_shared_arena(hello, descriptors), comparer)


def _difference(number: int, entry: np.void) -> Difference:
    return Difference(
        number=number,
        elements=int(entry["elements"]),
        first=int(~entry["first"]),
        beyond=int(entry["beyond"]),
        specials=int(entry["specials"]),
        ulps=int(entry["ulps"]),
        absolute=float(entry["absolute"]),
        relative=float(entry["relative"]),
    )


def _cubin(architecture: str) -> Path:
    """The kernel for this chip, made by nvcc on first use. Raises `ToolchainError`."""
    toolkit = find_toolkit()
    key = hashlib.sha256("\0".join([architecture, toolkit.version, str(toolkit.root)]).encode() + _SOURCE.read_bytes())
    path = cache_directory() / "cuda" / key.hexdigest()[:24] / "compare.cubin"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(f".{os.getpid()}")
        run_tool([str(toolkit.nvcc), "-cubin", f"-arch={architecture}", "-O3", "-o", str(made), str(_SOURCE)])
        made.replace(path)
    return path


def _u64(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


@contextlib.contextmanager
def _allocated(size: int) -> Iterator[int]:
    address = ctypes.c_uint64()
    _call("cuMemAlloc_v2", ctypes.byref(address), _u64(size))
    try:
        yield address.value
    finally:
        _call("cuMemFree_v2", address)


def _call(name: str, *arguments: object) -> None:
    """Raises `_Failed` with the driver's own name of the error."""
    driver = driver_api.driver()
    status = getattr(driver, name)(*arguments)
    if status != 0:
        text = ctypes.c_char_p()
        driver.cuGetErrorName(status, ctypes.byref(text))
        raise _Failed(f"{name} fails with {(text.value or b'').decode() or status}")
