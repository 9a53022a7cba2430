"""The emulator's runtime library by its HIP names, through ctypes."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import lru_cache
from typing import Any

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3  # hipMemcpyKind

_LOCAL_BYTES, _REGISTERS = 3, 4  # hipFunction_attribute

_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "hipModuleLoadData": (c_void_p, c_char_p),
    "hipModuleUnload": (c_void_p,),
    "hipModuleGetFunction": (c_void_p, c_void_p, c_char_p),
    "hipFuncGetAttribute": (c_void_p, c_int, c_void_p),
    "hipModuleLaunchKernel": (c_void_p, *(7 * (c_uint,)), c_void_p, c_void_p, c_void_p),
    "hipModuleLaunchCooperativeKernel": (c_void_p, *(7 * (c_uint,)), c_void_p, c_void_p),
    "hipMalloc": (c_void_p, c_size_t),
    "hipFree": (c_void_p,),
    "hipMemcpy": (c_void_p, c_void_p, c_size_t, c_int),
    "hipMemGetInfo": (c_void_p, c_void_p),
    "hipMemGetAddressRange": (c_void_p, c_void_p, c_void_p),
    "hipDeviceSynchronize": (),
    "hipStreamCreate": (c_void_p,),
    "hipStreamSynchronize": (c_void_p,),
    "hipStreamWaitEvent": (c_void_p, c_void_p, c_uint),
    "hipEventCreate": (c_void_p,),
    "hipEventRecord": (c_void_p, c_void_p),
    "hipEventSynchronize": (c_void_p,),
    "hipEventElapsedTime": (c_void_p, c_void_p, c_void_p),
}


class DeviceError(RuntimeError):
    """A call that the runtime library refused."""


class Runtime:
    """Every method raises `DeviceError` with the library's words where it refuses."""

    def __init__(self, path: str) -> None:
        self.native = ctypes.CDLL(path)
        for name, arguments in _SIGNATURES.items():
            function = getattr(self.native, name)
            function.argtypes, function.restype = arguments, c_int
        self.native.hipGetErrorString.argtypes = (c_int,)
        self.native.hipGetErrorString.restype = c_char_p
        # How a forked child ends: the library has to write its records first, and was not there at the start.
        self.native._exit.argtypes = (c_int,)
        os._exit = self.native._exit
        self._in_use_by = 0  # the process of the first launch

    def _call(self, name: str, *arguments: object) -> None:
        error = getattr(self.native, name)(*arguments)
        if error:
            words = self.native.hipGetErrorString(error)
            raise DeviceError(f"{name}: {words.decode() if words else error}")

    def load(self, image: bytes, described: dict[str, object]) -> int:
        """The handle of a code object. `described`: what it cannot tell of itself, see the emulator's metadata."""
        describe = getattr(self.native, "__simt_describe_module", None)
        if describe is not None:
            describe(c_char_p(json.dumps(described).encode()))
        module = c_void_p()
        self._call("hipModuleLoadData", byref(module), image)
        return module.value or 0

    def unload(self, module: int) -> None:
        self._call("hipModuleUnload", module)

    def function(self, module: int, name: str) -> int:
        function = c_void_p()
        self._call("hipModuleGetFunction", byref(function), module, name.encode())
        return function.value or 0

    def registers(self, function: int) -> int:
        """Vector registers of a lane."""
        return self._attribute(_REGISTERS, function)

    def spilled_words(self, function: int) -> int:
        """Private memory of a lane, in words of four bytes, as Triton's drivers take it for spills."""
        return self._attribute(_LOCAL_BYTES, function) // 4

    def _attribute(self, attribute: int, function: int) -> int:
        value = c_int()
        self._call("hipFuncGetAttribute", byref(value), attribute, function)
        return value.value

    def launch(
        self, function: int, grid: tuple[int, int, int], threads: int, lds: int, stream: int, arguments: Sequence[bytes]
    ) -> None:
        """Each argument by its bytes, in the order of the kernel's own; hidden ones are the runtime's."""
        self._in_use_by = self._in_use_by or os.getpid()
        if self._in_use_by != os.getpid():
            raise DeviceError("a forked child cannot use the GPU that its parent has used; start it by 'spawn'")
        kept = [ctypes.create_string_buffer(value, max(8, len(value))) for value in arguments]
        pointers = (c_void_p * max(1, len(kept)))(*(ctypes.addressof(value) for value in kept))
        self._call("hipModuleLaunchKernel", function, *grid, threads, 1, 1, lds, stream, pointers, None)

    def malloc(self, size: int) -> int:
        pointer = c_void_p()
        self._call("hipMalloc", byref(pointer), size)
        return pointer.value or 0

    def free(self, pointer: int) -> None:
        self._call("hipFree", pointer)

    def copy(self, to: int, source: int, size: int, kind: int) -> None:
        self._call("hipMemcpy", to, source, size, kind)

    def on_device(self, pointer: int) -> bool:
        """Does it lead into a live allocation?"""
        return self.native.hipMemGetAddressRange(None, None, pointer) == 0

    def memory(self) -> tuple[int, int]:
        """Free and total bytes of the device."""
        free, total = c_size_t(), c_size_t()
        self._call("hipMemGetInfo", byref(free), byref(total))
        return free.value, total.value

    def synchronize(self) -> None:
        self._call("hipDeviceSynchronize")

    def stream(self) -> int:
        made = c_void_p()
        self._call("hipStreamCreate", byref(made))
        return made.value or 0

    def wait_for_stream(self, stream: int) -> None:
        self._call("hipStreamSynchronize", stream)

    def event(self) -> int:
        made = c_void_p()
        self._call("hipEventCreate", byref(made))
        return made.value or 0

    def record(self, event: int, stream: int) -> None:
        self._call("hipEventRecord", event, stream)

    def wait_for_event(self, event: int) -> None:
        self._call("hipEventSynchronize", event)

    def elapsed_ms(self, start: int, end: int) -> float:
        """Milliseconds on the modelled clock."""
        found = c_float()
        self._call("hipEventElapsedTime", byref(found), start, end)
        return found.value

    def general(self, special: int, general: int, lds: int) -> None:
        """Two functions of one kernel; the second knows nothing of the numbers that it is handed."""
        tell = getattr(self.native, "__simt_general", None)
        if tell is not None:
            tell(c_void_p(special), c_void_p(general), c_uint(lds))

    def with_other_constants(self, function: int, how: str, other: int, lds: int) -> None:
        """Two functions of one kernel, the second compiled for other constants. `how` they differ."""
        tell = getattr(self.native, "__simt_other_constants", None)
        if tell is not None:
            tell(c_void_p(function), c_char_p(how.encode()), c_void_p(other), c_uint(lds))

    def trial(self, begins: bool) -> None:
        """Launches from here on are tried for their time: not recorded, not compared."""
        mark = getattr(self.native, "__simt_trial", None)
        if mark is not None:
            mark(c_int(begins))


@lru_cache(maxsize=1)
def runtime() -> Runtime:
    return Runtime(os.environ["INTELLIPERF_RUNTIME"])


MEMORY_CLOCK_KHZ = 1_000_000


@lru_cache(maxsize=1)
def chip() -> dict[str, str | int | float]:
    """The chip that is presented: the keys of the emulator's device file."""
    return {str(name): value for name, value in json.loads(os.environ["INTELLIPERF_CHIP"]).items()}


def bus_bits() -> int:
    """Of a bus to the device's memory that moves two words a clock, whatever the real one is made of."""
    return int(float(chip()["dram_bytes_per_s"]) * 8 / (2000 * MEMORY_CLOCK_KHZ))


def word(value: int) -> bytes:
    """An address as a kernel takes it."""
    return bytes(c_uint64(value))
