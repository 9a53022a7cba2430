"""Sizes of IR types on x86-64 (System V)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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

    def offset(self, type_name: str, indices: Sequence[int]) -> int | None:
        """Bytes that getelementptr adds for constant indices; None for a type that it cannot go into."""
        if not indices:
            return 0
        total, current = indices[0] * self._size_and_alignment(type_name)[0], type_name
        for index in indices[1:]:
            current = self._structs.get(current, current).strip()
            sequence = _SEQUENCE.match(current)
            if sequence:
                current = sequence[3]
                total += index * self._size_and_alignment(current)[0]
                continue
            packed = current.startswith("<{")
            if not packed and not current.startswith("{"):
                return None
            members = split_top(current[2:-2] if packed else current[1:-1])
            if index >= len(members):
                return None
            current = members[index]
            if packed:
                total += sum(self._size_and_alignment(member)[0] for member in members[:index])
            else:
                total += _rounded(self._filled(members[:index])[0], self._size_and_alignment(current)[1])
        return total

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
        end, largest = self._filled(members)
        return _rounded(end, largest), largest

    def _filled(self, members: list[str]) -> tuple[int, int]:
        """Where the last member ends, and the largest alignment."""
        end, largest = 0, 1
        for member in members:
            size, alignment = self._size_and_alignment(member)
            end = _rounded(end, alignment) + size
            largest = max(largest, alignment)
        return end, largest


def _rounded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
