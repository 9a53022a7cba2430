"""A program that launches other shapes than those recorded, with these shapes behind its last byte.

Loaders of programs leave what follows there alone, so that the file can be started as it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from intelliperf.errors import ProtocolError
from intelliperf.recordings.image import Shape

_MARK = b"intelliperf: shapes of launches\n"
_LENGTH = 8  # bytes, little-endian, ahead of the mark: of the JSON ahead of them


def with_shapes(program: bytes, shapes: Sequence[Shape]) -> bytes:
    told = json.dumps([[shape.grid, shape.block, shape.dynamic_lds, shape.code] for shape in shapes]).encode()
    return program + told + len(told).to_bytes(_LENGTH, "little") + _MARK


def own_shapes(program: Path) -> tuple[Shape, ...] | None:
    """None where the program says nothing of its launches. Raises `ProtocolError` for a damaged file."""
    content = program.read_bytes()
    if not content.endswith(_MARK):
        return None
    end = len(content) - len(_MARK) - _LENGTH
    told = int.from_bytes(content[end : end + _LENGTH], "little")
    try:
        known = json.loads(content[max(end - told, 0) : end])
        return tuple(Shape(tuple(grid), tuple(block), lds, code) for grid, block, lds, code in known)
    except (ValueError, TypeError) as error:
        raise ProtocolError(f"{program}: what it says of its launches cannot be read ({error})") from error
