"""Device code of a program, loaded and launched through the CUDA driver by ctypes; memory at given addresses."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from intelliperf.cuda import driver_api
from intelliperf.recordings.places import Places

_FATBIN_SECTION = ".nv_fatbin"
_FATBIN_MAGIC = 0xBA55ED50
_FATBIN_HEADER = struct.Struct("<IHHQ")  # magic, version, size of this header, size of what follows
_SUCCESS = 0
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_STATIC_SHARED = 1  # CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
_L2_BYTES = 38  # CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
_DEFAULT_SHARED_BYTES = 48 << 10  # beyond it a kernel has to ask
_SPAN_BYTES = 32 << 20  # the driver rounds addresses that it is asked to reserve to that (seen on an H200, CUDA 13)
_PINNED, _ON_DEVICE, _READ_WRITE = (
    1,
    1,
    3,
)  # CU_MEM_ALLOCATION_TYPE_…, CU_MEM_LOCATION_TYPE_…, CU_MEM_ACCESS_FLAGS_PROT_…


class Failed(Exception):
    """The driver refuses a call, or the device fails."""


class NotHere(Failed):
    """What was recorded cannot be launched again here, or not with this program."""


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Allocation(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


def device_images(program: Path) -> Iterator[bytes]:
    """Each container of device code that nvcc put into the program."""
    try:
        with program.open("rb") as file:
            section = ELFFile(file).get_section_by_name(_FATBIN_SECTION)
            content = section.data() if section is not None else b""
    except (OSError, ELFError):
        return
    at = 0
    while at + _FATBIN_HEADER.size <= len(content):
        magic, _, header, size = _FATBIN_HEADER.unpack_from(content, at)
        if magic != _FATBIN_MAGIC:
            at += 8  # padding
            continue
        yield content[at : at + header + size]
        at += (header + size + 7) // 8 * 8


class Device:
    """The first GPU, its primary context current."""

    def __init__(self, driver: ctypes.CDLL) -> None:
        self.driver = driver
        self._ordinal = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self._ordinal), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._ordinal)
        self.call("cuCtxSetCurrent", context)

    @classmethod
    def open(cls) -> Device:
        return cls(driver_api.driver())

    def load_shared(self, path: str) -> ctypes.CDLL:
        return ctypes.CDLL(path)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.driver, name)(*arguments)
        if status != _SUCCESS:
            raise Failed(f"{name} fails with error {status}")

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")

    def occupy(self, ranges: Sequence[tuple[int, int]]) -> Places:
        """Reserves addresses for memory that lay in `ranges`: the same if they are free, else others in their order."""
        wanted = self._wanted()
        granularity = ctypes.c_size_t()
        self.call("cuMemGetAllocationGranularity", ctypes.byref(granularity), ctypes.byref(wanted), 0)
        spans = spans_of(ranges, granularity.value)
        same = self._reserved_at(spans)
        return Places(tuple(spans), tuple(same or self._reserved_together(spans)), granularity.value)

    def _reserved_at(self, spans: Sequence[tuple[int, int]]) -> list[int] | None:
        """None where some of the addresses are taken."""
        reserved: list[tuple[int, int]] = []
        for base, size in spans:
            reserved.append((self._reserved(size, base), size))
            if reserved[-1][0] != base:
                for got in reserved:
                    self.call("cuMemAddressFree", ctypes.c_uint64(got[0]), ctypes.c_size_t(got[1]))
                return None
        return [base for base, _ in reserved]

    def _reserved_together(self, spans: Sequence[tuple[int, int]]) -> list[int]:
        base = self._reserved(sum(size for _, size in spans), 0)
        return [base + sum(size for _, size in spans[:number]) for number in range(len(spans))]

    def _reserved(self, size: int, wish: int) -> int:
        got = ctypes.c_uint64()
        arguments = ctypes.byref(got), ctypes.c_size_t(size), ctypes.c_size_t(0), ctypes.c_uint64(wish)
        self.call("cuMemAddressReserve", *arguments, ctypes.c_uint64(0))
        return got.value

    def map(self, ranges: Sequence[tuple[int, int]], granularity: int) -> None:
        """Memory at reserved addresses."""
        wanted = self._wanted()
        for base, size in _joined(ranges, granularity):
            handle = ctypes.c_uint64()
            self.call(
                "cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(wanted), ctypes.c_uint64(0)
            )
            place = ctypes.c_uint64(base), ctypes.c_size_t(size)
            self.call("cuMemMap", *place, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
            access = _Access(_Location(_ON_DEVICE, self._ordinal.value), _READ_WRITE)
            self.call("cuMemSetAccess", *place, ctypes.byref(access), ctypes.c_size_t(1))

    def _wanted(self) -> _Allocation:
        return _Allocation(type=_PINNED, location=_Location(_ON_DEVICE, self._ordinal.value))

    def allocate(self, size: int) -> int:
        place = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(size))
        return place.value

    def upload(self, place: int, content: memoryview) -> None:
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(place), bytes(content), ctypes.c_size_t(len(content)))

    def page_locked(self, content: memoryview) -> int:
        """A copy in host memory that the device reads by itself."""
        place = ctypes.c_void_p()
        self.call("cuMemAllocHost_v2", ctypes.byref(place), ctypes.c_size_t(len(content)))
        ctypes.memmove(place, bytes(content), len(content))
        return int(place.value or 0)

    def upload_async(self, place: int, source: int, size: int) -> None:
        """From page-locked memory, in the order of launches."""
        there = ctypes.c_uint64(place), ctypes.c_void_p(source)
        self.call("cuMemcpyHtoDAsync_v2", *there, ctypes.c_size_t(size), None)

    def l2_bytes(self) -> int:
        size = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(size), _L2_BYTES, self._ordinal)
        return size.value

    def zero(self, place: int, size: int) -> None:
        if size > 0:
            self.call("cuMemsetD8_v2", ctypes.c_uint64(place), ctypes.c_ubyte(0), ctypes.c_size_t(size))

    def copy(self, to: int, source: int, size: int) -> None:
        """From device to device, in the order of launches."""
        places = ctypes.c_uint64(to), ctypes.c_uint64(source)
        self.call("cuMemcpyDtoDAsync_v2", *places, ctypes.c_size_t(size), None)

    def load(self, image: bytes, kernel: str) -> Code:
        """Raises `Failed` where the image is for other GPUs, or has no such kernel."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        return Code(self, module, function, image, kernel)


@dataclass(frozen=True)
class Code:
    """One program's kernel and the variables beside it."""

    device: Device
    module: ctypes.c_void_p
    function: ctypes.c_void_p
    image: bytes
    kernel: str

    def anew(self) -> Code:
        """Loaded once more, in place of this."""
        self.device.call("cuModuleUnload", self.module)
        return self.device.load(self.image, self.kernel)

    def parameter_sizes(self) -> list[int] | None:
        """None where the driver is too old to tell."""
        if not hasattr(self.device.driver, "cuFuncGetParamInfo"):
            return None
        found: list[int] = []
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        while True:
            index = ctypes.c_size_t(len(found))
            arguments = self.function, index, ctypes.byref(offset), ctypes.byref(size)
            if self.device.driver.cuFuncGetParamInfo(*arguments) != _SUCCESS:
                return found
            found.append(size.value)

    def place_of(self, memory: Mapping[str, Any]) -> int | None:
        """Of a variable, in this program; None where it has none of that name."""
        if "symbol" not in memory:
            return int(memory["address"])
        place, size = ctypes.c_uint64(), ctypes.c_size_t()
        arguments = ctypes.byref(place), ctypes.byref(size), self.module, memory["symbol"].encode()
        if self.device.driver.cuModuleGetGlobal_v2(*arguments) != _SUCCESS:
            return None
        if size.value != memory["bytes"]:
            raise NotHere(f"the variable {memory['symbol']} has another size than in the recording")
        return place.value

    def launch(self, dispatch: Mapping[str, Any]) -> None:
        shared = int(dispatch["dynamic_lds"])
        if shared + self._attribute(_STATIC_SHARED) > _DEFAULT_SHARED_BYTES:
            self.device.call("cuFuncSetAttribute", self.function, _MAX_DYNAMIC_SHARED, shared)
        contents = [ctypes.create_string_buffer(bytes.fromhex(argument)) for argument in dispatch["arguments"]]
        values = (ctypes.c_void_p * max(1, len(contents)))(*map(ctypes.addressof, contents))
        shape = [ctypes.c_uint(extent) for extent in (*dispatch["grid"], *dispatch["block"], shared)]
        if dispatch["cooperative"]:
            self.device.call("cuLaunchCooperativeKernel", self.function, *shape, None, values)
        else:
            self.device.call("cuLaunchKernel", self.function, *shape, None, values, None)

    def _attribute(self, which: int) -> int:
        value = ctypes.c_int()
        self.device.call("cuFuncGetAttribute", ctypes.byref(value), which, self.function)
        return value.value


def spans_of(ranges: Sequence[tuple[int, int]], granularity: int = 1) -> list[tuple[int, int]]:
    """What of the addresses is reserved for the ranges."""
    return _joined(ranges, max(_SPAN_BYTES, granularity))


def _joined(ranges: Sequence[tuple[int, int]], granularity: int) -> list[tuple[int, int]]:
    """Base and size of the whole granules that the ranges lie in."""
    joined: list[tuple[int, int]] = []
    for base, size in sorted(ranges):
        first, end = base // granularity * granularity, -(-(base + size) // granularity) * granularity
        if joined and first <= joined[-1][0] + joined[-1][1]:
            last, length = joined[-1]
            joined[-1] = last, max(length, end - last)
        else:
            joined.append((first, end - first))
    return joined
