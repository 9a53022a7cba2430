"""The container of device code: what a host object embeds where a GPU fat binary would be (see abi.h)."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping
from typing import Any

from intelliperf.errors import ProtocolError

MAGIC = b"IPERFSIM"
ABI_VERSION = 5
TEXT_HEAD = b"// intelliperf device code"
_LINE = 96
_HEADER = struct.Struct("<8sIIQQ")


def pack_container(shared_object: bytes, metadata: Mapping[str, Any]) -> bytes:
    """Header, ELF shared object, metadata as JSON."""
    text = json.dumps(metadata, separators=(",", ":")).encode()
    return _HEADER.pack(MAGIC, ABI_VERSION, 0, len(shared_object), len(text)) + shared_object + text


def module_text(container: bytes) -> bytes:
    """The form in which text is expected, as of PTX; `device_image.cpp` reads it."""
    digits = base64.b64encode(container)
    lines = [digits[start : start + _LINE] for start in range(0, len(digits), _LINE)]
    return b"\n".join([TEXT_HEAD, *lines, b""])


def unpack_container(content: bytes) -> tuple[bytes, dict[str, Any]]:
    """The shared object and the metadata. Raises `ProtocolError` for anything else."""
    if len(content) < _HEADER.size or not content.startswith(MAGIC):
        raise ProtocolError("not a container of emulator device code")
    _, version, _, object_bytes, metadata_bytes = _HEADER.unpack_from(content)
    if version != ABI_VERSION:
        raise ProtocolError(f"container of ABI version {version}, this is version {ABI_VERSION}; rebuild the program")
    end = _HEADER.size + object_bytes
    if len(content) < end + metadata_bytes:
        raise ProtocolError("the container of device code is cut short")
    metadata: dict[str, Any] = json.loads(content[end : end + metadata_bytes])
    return content[_HEADER.size : end], metadata
