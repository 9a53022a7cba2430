"""Device memory of a child that shares it by descriptor: what `Backend.open_memory` returns.

The child is not trusted. A file that can be shortened would kill the reader of a mapping with
SIGBUS, so the file is sealed against shrinking first; where that fails it is read by `pread`,
which can only come back short. Only ranges inside the arena can be read.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import stat
import struct
from collections.abc import Mapping, Sequence

from intelliperf.errors import ProtocolError
from intelliperf.protocols import Difference, Numbers, Opened, ShadowPart, ShadowState, SharedBuffer

# Linux; missing from the fcntl module of some Python builds.
_F_ADD_SEALS = 1033
_F_GET_SEALS = 1034
_F_SEAL_SHRINK = 0x0002
_ADDRESS_LIMIT = 1 << 64
# runtime/shadow.h and shadow.cpp of the emulator.
_SHADOW_MAGIC = 0x31574F4441485350
_SHADOW_HEADER = struct.Struct("<7Q")
_SHADOW_HEADER_BYTES = 4096
_SHADOW_RECORD_BYTES = 32
_SHADOW_NARROW_AT = _SHADOW_RECORD_BYTES << 37
_SHADOW_MARKS_AT = 3 * _SHADOW_NARROW_AT
_SHADOW_MARKED_BYTES = 4096
_SPOIL_BYTES = 1 << 20
_SPOILT = bytes([0, *([0xD3] * 255)])  # what becomes of each byte: as a float large, as an integer negative


class SharedArena:
    """One arena. Addresses are the child's; file offset 0 is `base`."""

    def __init__(self, descriptor: int, base: int, size: int, shadow: int | None = None) -> None:
        """Takes ownership of `descriptor`, also when it raises `ProtocolError`.

        `shadow`: where the file has the shadows of the arena's numbers.
        """
        self._descriptor = descriptor
        self._shadow = shadow
        self._base = base
        self._size = size
        self._map: mmap.mmap | None = None
        try:
            self._check()
            if _sealed_against_shrinking(descriptor):
                with contextlib.suppress(OSError):  # no address space for it: `pread` does
                    self._map = mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ)
        except (OSError, ValueError, OverflowError) as error:
            os.close(descriptor)
            raise ProtocolError(f"the child's arena cannot be opened: {error}") from error
        except ProtocolError:
            os.close(descriptor)
            raise

    def _check(self) -> None:
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ProtocolError("the child's arena is not a memory file")
        if self._base < 0 or self._size <= 0 or self._base + self._size > _ADDRESS_LIMIT:
            raise ProtocolError(f"no arena can lie at {self._base:#x} with {self._size} bytes")
        if status.st_size < self._size:
            raise ProtocolError(f"the child's arena has {status.st_size} bytes, it announced {self._size}")

    def read(self, base: int, size: int) -> memoryview:
        """See `protocols.Memory.read`. A view of live memory, not a copy, where it is mapped."""
        offset = self._offset(base, size)
        if self._map is not None:
            return memoryview(self._map)[offset : offset + size]
        return memoryview(self._copy(offset, size))

    def open(self, shared: SharedBuffer, size: int) -> Opened:
        """See `protocols.Memory.open`: here all buffers lie in the arena."""
        return Opened(None, "handles are not opened here")

    def differing(
        self, mine: SharedBuffer, theirs: SharedBuffer, size: int, chunk: int, numbers: Numbers
    ) -> tuple[Difference, ...] | None:
        """See `protocols.Memory.differing`: here buffers are compared on the host."""
        return None

    def shadow_state(self) -> ShadowState | None:
        """See `protocols.ShadowedMemory`."""
        if self._shadow is None:
            return None
        fields = _SHADOW_HEADER.unpack(self._copy(self._shadow, _SHADOW_HEADER.size))
        if fields[0] != _SHADOW_MAGIC:
            raise ProtocolError("the child's shadow has another layout than this release's")
        return ShadowState(*fields[1:])

    def shaded(self, base: int, size: int) -> bool:
        """See `protocols.ShadowedMemory`."""
        if self._shadow is None or size == 0:
            return False
        offset = self._offset(base, size)
        first, last = offset // _SHADOW_MARKED_BYTES, (offset + size - 1) // _SHADOW_MARKED_BYTES
        marks = self._copy(self._shadow + _SHADOW_HEADER_BYTES + _SHADOW_MARKS_AT + first, last + 1 - first)
        return 1 in marks or 3 in marks

    def shadows(self, base: int, size: int, unit: int) -> tuple[ShadowPart, ...]:
        """See `protocols.ShadowedMemory`. Reading a hole of the file would fill it: only data is read."""
        if self._shadow is None:
            return ()
        times = _SHADOW_RECORD_BYTES // unit
        first = self._shadow + _SHADOW_HEADER_BYTES + (0 if unit == 4 else _SHADOW_NARROW_AT)
        offset = self._offset(base, size) // unit * unit
        begin, end = first + offset * times, first + (offset + size + unit - 1) // unit * unit * times
        parts = []
        at = begin
        while at < end:
            try:
                at = os.lseek(self._descriptor, at, os.SEEK_DATA)
                hole = min(end, os.lseek(self._descriptor, at, os.SEEK_HOLE))
            except OSError:  # no data behind
                break
            if at < end:
                start = (at - first) // times - (base - self._base)
                parts.append(ShadowPart(start, self._copy(at, hole - at)))
            at = hole
        return tuple(parts)

    def spoil(self, base: int, size: int) -> None:
        """See `protocols.Memory.spoil`. Holes of the file, which read as zeros, stay holes."""
        offset = self._offset(base, size)
        try:
            for start in range(offset, offset + size, _SPOIL_BYTES):
                part = os.pread(self._descriptor, min(_SPOIL_BYTES, offset + size - start), start)
                if part.count(0) != len(part):
                    os.pwrite(self._descriptor, part.translate(_SPOILT), start)
        except OSError as error:
            raise ProtocolError(f"the child's arena cannot be written: {error.strerror}") from error

    def write(self, base: int, content: memoryview) -> None:
        """See `protocols.Memory.write`."""
        offset = self._offset(base, content.nbytes)
        try:
            for start in range(0, content.nbytes, _SPOIL_BYTES):
                os.pwrite(self._descriptor, content[start : start + _SPOIL_BYTES], offset + start)
        except OSError as error:
            raise ProtocolError(f"the child's arena cannot be written: {error.strerror}") from error

    def _offset(self, base: int, size: int) -> int:
        offset = base - self._base
        if size < 0 or offset < 0 or offset + size > self._size:
            raise ProtocolError(f"{size} bytes at {base:#x} lie outside the child's arena")
        return offset

    def _copy(self, offset: int, size: int) -> bytes:
        parts = []
        while size:
            try:
                part = os.pread(self._descriptor, size, offset)
            except OSError as error:
                raise ProtocolError(f"the child's arena cannot be read: {error.strerror}") from error
            if not part:
                raise ProtocolError("the child's arena became shorter")
            parts.append(part)
            offset += len(part)
            size -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Views handed out earlier stay valid until they are dropped."""
        if self._map is not None:
            with contextlib.suppress(BufferError):
                self._map.close()
            self._map = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def open_shared_arena(hello: Mapping[str, object], descriptors: Sequence[int]) -> SharedArena:
    """The arena that a `hello` message announces. Closes descriptors that it has no use for."""
    base, size = hello.get("arena_base"), hello.get("arena_bytes")
    valid = isinstance(base, int) and isinstance(size, int) and len(descriptors) == 1
    if not valid or not isinstance(base, int) or not isinstance(size, int):
        for descriptor in descriptors:
            os.close(descriptor)
        raise ProtocolError("the hello message must announce one arena with its base, size and descriptor")
    shadow = hello.get("shadow_offset")
    return SharedArena(descriptors[0], base, size, shadow if isinstance(shadow, int) else None)


def _sealed_against_shrinking(descriptor: int) -> bool:
    with contextlib.suppress(OSError):
        if fcntl.fcntl(descriptor, _F_GET_SEALS) & _F_SEAL_SHRINK:
            return True
        fcntl.fcntl(descriptor, _F_ADD_SEALS, _F_SEAL_SHRINK)
        return True
    return False
