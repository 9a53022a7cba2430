"""Sizes of IR types on x86-64 (System V)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from intelliperf.emulator.ir.text import split_top
from intelliperf.errors import ToolchainError

_SCALARS = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8, "x86_fp80": 16, "fp128": 16}
_INTEGER = re.compile(r"i(\d+)$")
_SEQUENCE = re.compile(r"([<\[])(\d+) x (.*)[>\]]$", re.DOTALL)


class Layout:
    """Type sizes, given the module's named structs."""

    def __init__(self, structs: Mapping[str, str]) -> None:
        self._structs = structs
        self._sizes: dict[str, tuple[int, int]] = {}

    def size(self, type_name: str) -> int:
        """Bytes that a load or store of this type touches."""
        integer = _INTEGER.match(type_name)
        if integer:
            return max(1, (int(integer[1]) + 7) // 8)
        if type_name == "x86_fp80":
            return 10
        return self._size_and_alignment(type_name)[0]

    def _size_and_alignment(self, type_name: str) -> tuple[int, int]:
        known = self._sizes.get(type_name)
        if known is None:
            known = self._compute(type_name.strip())
            self._sizes[type_name] = known
        return known

    def _compute(self, name: str) -> tuple[int, int]:
        if name in _SCALARS:
            return _SCALARS[name], _SCALARS[name]
        integer = _INTEGER.match(name)
        if integer:
            size = 1
            while size * 8 < int(integer[1]):
                size *= 2
            return size, min(size, 16)
        if name.startswith("<{"):
            return sum(self._size_and_alignment(part)[0] for part in split_top(name[2:-2])), 1
        sequence = _SEQUENCE.match(name)
        if sequence:
            return self._sequence(sequence[1], int(sequence[2]), sequence[3])
        if name.startswith("{"):
            return self._struct(split_top(name[1:-1]))
        if name in self._structs:
            return self._size_and_alignment(self._structs[name])
        raise ToolchainError(f"unknown IR type: {name[:200]}")

    def _sequence(self, bracket: str, count: int, element: str) -> tuple[int, int]:
        size, alignment = self._size_and_alignment(element)
        if bracket == "[":
            return count * size, alignment
        bits = 1 if element == "i1" else size * 8
        total = (count * bits + 7) // 8
        return total, max(1, 1 << max(0, total - 1).bit_length())

    def _struct(self, members: list[str]) -> tuple[int, int]:
        offset, largest = 0, 1
        for member in members:
            size, alignment = self._size_and_alignment(member)
            offset = -(-offset // alignment) * alignment + size
            largest = max(largest, alignment)
        return -(-offset // largest) * largest, largest
