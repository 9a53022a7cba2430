"""Reads what the linker needs to know of ELF objects and ar archives: sections by name, symbols used."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from intelliperf.errors import ToolchainError

_AR_MAGIC = b"!<arch>\n"
_ELF_MAGIC = b"\x7fELF\x02\x01"
_SECTION = struct.Struct("<IIQQQQIIQQ")
_REGISTRATIONS = (b"__hipRegisterFatBinary", b"__cudaRegisterFatBinary", b"hipLaunchKernel", b"cudaLaunchKernel")


def objects_in(path: Path) -> Iterator[tuple[str, bytes]]:
    """The ELF objects in a file: itself, or the members of an archive, each with a name."""
    content = path.read_bytes()
    if content.startswith(_ELF_MAGIC):
        yield str(path), content
    elif content.startswith(_AR_MAGIC):
        yield from _members(path, content)


def _members(path: Path, content: bytes) -> Iterator[tuple[str, bytes]]:
    position = len(_AR_MAGIC)
    while position + 60 <= len(content):
        header = content[position : position + 60]
        if header[58:60] != b"`\n":
            raise ToolchainError(f"{path} is a damaged archive")
        size = int(header[48:58])
        body = content[position + 60 : position + 60 + size]
        if body.startswith(_ELF_MAGIC):
            yield f"{path}({header[:16].decode('ascii', 'replace').strip()})", body
        position += 60 + size + (size & 1)


def section(content: bytes, name: str) -> list[bytes]:
    """The contents of all sections of this name in a 64-bit little-endian ELF object."""
    if not content.startswith(_ELF_MAGIC) or len(content) < 64:
        return []
    (table,) = struct.unpack_from("<Q", content, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", content, 0x3A)
    headers = [_SECTION.unpack_from(content, table + entry_size * i) for i in range(count)]
    if not headers:
        return []
    names = headers[names_index]
    found = []
    for header in headers:
        start = names[4] + header[0]
        if content[start : content.index(b"\0", start)].decode("ascii", "replace") == name:
            found.append(content[header[4] : header[4] + header[5]])
    return found


def uses_gpu_runtime(path: Path) -> bool:
    """Whether an object or archive registers or launches kernels."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return content.startswith((_ELF_MAGIC, _AR_MAGIC)) and any(name in content for name in _REGISTRATIONS)
