"""Opens the device memory of other processes by HSA's IPC handles and copies it, for `ipc.py`.

A program of its own, so that a handle that crashes or hangs the runtime takes nothing with it and so that it can be put
under a launcher. It connects to the Unix socket named on its command line, tries the ways named behind it ("hip",
"hsa"), and answers each line of JSON with one, beside which a memory file with the copy comes. Copies are made by HIP
through hip-python where HIP opens the handle, else by HSA. Enumerators as in hsa.h and hsa_ext_amd.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import mmap
import os
import socket
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any

_NAMES = ("libhsa-runtime64.so.1", "/opt/rocm/lib/libhsa-runtime64.so.1", "libhsa-runtime64.so")
_HANDLE = struct.Struct("<QQi")  # what HIP puts behind HSA's 32 bytes: size, offset, exporting process
_HIP_HANDLE_BYTES = 64
_PEER_ACCESS = (1, 0)  # hipIpcMemLazyEnablePeerAccess of newer releases and of HIP 5
_UNIX_SOCKETS = Path("/proc/net/unix")
_UNKNOWN = 0  # HSA_EXT_POINTER_TYPE_UNKNOWN
_STALE = "the handle leads nowhere: its process is gone, has freed the memory, or cannot be reached from here"


class _Info(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32),
        ("type", c_uint32),
        ("agent_base", c_void_p),
        ("host_base", c_void_p),
        ("bytes", c_size_t),
        ("user_data", c_void_p),
        ("owner", ctypes.c_uint64),
        ("flags", c_uint32),
    )


class Refused(Exception):
    """The handle does not open, or not to what was announced."""


class TooSmall(Refused):
    """What the handle leads to is smaller than the buffer is said to be."""


def exporter_is_here(handle: bytes, listed: str) -> bool:
    """Whether a dmabuf handle's process listens in our network namespace; `listed`: /proc/net/unix.

    ROCr 6.3 and later ask it by the abstract socket "hsa<pid>" for the file, and ask again for ten seconds where it
    does not answer. The name is padded with zeros, which the kernel lists as @.
    """
    (process,) = struct.unpack_from("<I", handle, 8)
    return any(line.split()[-1].rstrip("@") == f"@hsa{process}" for line in listed.splitlines() if " @" in line)


class Hsa:
    """ROCr itself."""

    name = "HSA IPC"

    def __init__(self) -> None:
        self._rocr = next((found for found in map(_loaded, _NAMES) if found is not None), None)
        if self._rocr is None:
            raise Refused("libhsa-runtime64.so.1 is not installed")
        status = self._rocr.hsa_init()
        if status:
            raise Refused(f"hsa_init fails with {status:#x}")

    @contextlib.contextmanager
    def opened(self, handle: bytes, size: int) -> Iterator[int]:
        assert self._rocr is not None
        mapped = c_void_p()
        words = (c_uint32 * 8).from_buffer_copy(handle)
        status = self._rocr.hsa_amd_ipc_memory_attach(words, c_size_t(size), 0, None, byref(mapped))
        if status or not mapped.value:
            raise Refused(f"{_STALE} (hsa_amd_ipc_memory_attach: {status:#x})")
        try:
            yield mapped.value
        finally:
            self._rocr.hsa_amd_ipc_memory_detach(mapped)

    def bytes_at(self, address: int) -> int:
        """At most so many can be read there. The runtime tells what was announced, so the mapping is looked at, too."""
        assert self._rocr is not None
        info = _Info(size=ctypes.sizeof(_Info))
        status = self._rocr.hsa_amd_pointer_info(c_void_p(address), byref(info), None, None, None)
        if status or info.type == _UNKNOWN:
            raise Refused(f"the runtime does not know the memory that it opened ({status:#x})")
        told = int(info.bytes) - (address - (info.agent_base or 0))
        return min(told, mapped_from(address, Path("/proc/self/maps").read_text()) or told)

    def copy(self, into: int, address: int, size: int) -> None:
        assert self._rocr is not None
        status = self._rocr.hsa_memory_copy(c_void_p(into), c_void_p(address), c_size_t(size))
        if status:
            raise Refused(f"hsa_memory_copy fails with {status:#x}")


class Hip:
    """HIP through hip-python."""

    name = "HIP IPC (hip-python)"

    def __init__(self) -> None:
        try:
            self.hip: Any = importlib.import_module("hip").hip
            error, count = self.hip.hipGetDeviceCount()
        except (ImportError, AttributeError, RuntimeError) as problem:
            raise Refused(f"hip-python: {problem}") from problem
        if int(error) or not count:
            raise Refused(f"hip-python: {error.name}")
        self._flag: int | None = None

    @contextlib.contextmanager
    def opened(self, handle: bytes, size: int) -> Iterator[int]:
        wrapped = self.hip.hipIpcMemHandle_t()
        content = (handle + _HANDLE.pack(size, 0, 0)).ljust(_HIP_HANDLE_BYTES, b"\0")
        ctypes.memmove(wrapped.as_c_void_p().value, content, _HIP_HANDLE_BYTES)
        told = None
        for flag in _PEER_ACCESS if self._flag is None else (self._flag,):
            told, pointer = self.hip.hipIpcOpenMemHandle(wrapped, flag)
            if not int(told):
                self._flag = flag
                break
        else:
            raise Refused(f"{_STALE} (hipIpcOpenMemHandle: {told.name if told else ''})")
        try:
            yield int(pointer.as_c_void_p().value)
        finally:
            self.hip.hipIpcCloseMemHandle(pointer)

    def copy(self, into: int, address: int, size: int) -> None:
        (error,) = self.hip.hipMemcpy(into, address, size, self.hip.hipMemcpyKind.hipMemcpyDeviceToHost)
        if int(error):
            raise Refused(f"hipMemcpy: {error.name}")


def _loaded(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def mapped_from(address: int, maps: str) -> int:
    """Bytes from there to the end of the file that is mapped there; 0 where none is, as for bare address space."""
    end, file, offset = 0, "", 0
    for line in maps.splitlines():
        fields = line.split(maxsplit=5)
        start, stop = (int(number, 16) for number in fields[0].split("-"))
        here = (" ".join(fields[3:5]), int(fields[2], 16))
        if start <= address < stop and fields[4] == "0":
            return 0
        if start <= address < stop or (end == start and here == (file, offset)):
            end, file, offset = stop, here[0], here[1] + stop - start
        elif end:
            break
    return end - address if end else 0


class Reader:
    """Both ways; HIP first, as long as it works. HSA alone knows how large the opened memory is."""

    def __init__(self, ways: Sequence[str]) -> None:
        self.hsa = Hsa()
        self.hip: Hip | None = None
        self.without_hip = "not asked for"
        try:
            self.hip = Hip() if "hip" in ways else None
        except Refused as why:
            self.without_hip = str(why)

    def read(self, asked: dict[str, Any]) -> tuple[int, str]:
        """A memory file with the copy, and the way in which it was made."""
        handle, size, at, length = bytes.fromhex(asked["handle"]), asked["bytes"], asked["at"], asked["size"]
        if asked["style"] == "dmabuf" and not exporter_is_here(handle, _UNIX_SOCKETS.read_text("ascii", "replace")):
            raise Refused("the process of a dmabuf handle does not listen in this network namespace")
        if self.hip is not None:
            try:
                return self._copied(self.hip, handle, size, at, length), self.hip.name
            except TooSmall:
                raise
            except Refused as why:
                descriptor = self._copied(self.hsa, handle, size, at, length)
                self.hip, self.without_hip = None, str(why)
                return descriptor, self.hsa.name
        return self._copied(self.hsa, handle, size, at, length), self.hsa.name

    def _copied(self, way: Hip | Hsa, handle: bytes, size: int, at: int, length: int) -> int:
        with way.opened(handle, size) as address:
            there = self.hsa.bytes_at(address)
            if at + length > there:
                raise TooSmall(f"the handle leads to {there} bytes, a buffer of {length} at {at} was announced")
            return _file(length, lambda into: way.copy(into, address + at, length))


def _file(length: int, fill: Callable[[int], None]) -> int:
    descriptor = os.memfd_create("intelliperf-buffer", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, length)
        with mmap.mmap(descriptor, length) as mapping:
            start = (ctypes.c_char * length).from_buffer(mapping)
            try:
                fill(ctypes.addressof(start))
            finally:
                del start
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _serve(connection: socket.socket) -> None:
    def say(answer: dict[str, object], *descriptors: int) -> None:
        socket.send_fds(connection, [json.dumps(answer).encode() + b"\n"], descriptors)

    try:
        reader = Reader(sys.argv[2:])
    except Refused as why:
        return say({"ready": False, "why": str(why)})
    say({"ready": True, "without_hip": reader.without_hip})
    for line in connection.makefile("rb"):
        try:
            descriptor, way = reader.read(json.loads(line))
        except Refused as why:
            say({"ok": False, "why": str(why), "too_small": isinstance(why, TooSmall)})
            continue
        say({"ok": True, "way": way}, descriptor)
        os.close(descriptor)


if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.connect(sys.argv[1])
        _serve(made)
