"""What accesses to arrays of a thread's own cost where the target's code does not tell.

On a GPU such an array stays in local memory where an index is not known to the compiler. The lanes of a wave have
their elements side by side: with one index for all of them an access is as wide as their elements together; where
indices differ, each lane is in a row of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields

from intelliperf.emulator.ir.addresses import Addresses
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.memory import Access
from intelliperf.emulator.ir.module import Function
from intelliperf.emulator.ir.text import NAME, split_top, type_of

_LANES, _WORD, _SECTOR, _LINE = 32, 4, 32, 128
_ALLOCA = re.compile(r"= alloca ")
_VALUE = re.compile(rf"%{NAME}")


@dataclass
class LocalCosts:
    """Of one execution of a block by a wave; `array_bytes` of the largest array that it uses."""

    loads: int = 0
    stores: int = 0
    load_sectors: int = 0
    store_sectors: int = 0
    lines: int = 0
    array_bytes: int = 0

    def row(self) -> dict[str, int]:
        return {one.name: getattr(self, one.name) for one in fields(self)}


class LocalArrays:
    """The arrays of one function."""

    def __init__(
        self, function: Function, addresses: Addresses, layout: Layout, is_uniform: Callable[[str], bool]
    ) -> None:
        self._addresses = addresses
        self._is_uniform = is_uniform
        self._bytes = {
            instruction.result: layout.size(type_of(split_top(instruction.text[found.end() :])[0]))
            for block in function.blocks
            for instruction in block.instructions
            if instruction.result is not None and (found := _ALLOCA.search(instruction.text)) is not None
        }

    def add(self, access: Access, costs: LocalCosts) -> None:
        """Nothing where the access is not to one of the arrays."""
        root, _ = self._addresses.resolve(access.pointer)
        array = self._addresses.base(root)
        if array not in self._bytes:
            return
        rows = max(1, self._bytes[array] // _WORD)
        words = max(1, access.bytes // _WORD)
        indices = set(_VALUE.findall(root)) - {array}
        if all(self._is_uniform(name) for name in indices):
            rows = 1
        sectors = round(words * _touched(rows, _SECTOR // _WORD) * _LINE / _SECTOR)
        lines = round(words * _touched(rows, _LANES))
        costs.loads += access.kind == "load"
        costs.stores += access.kind == "store"
        costs.load_sectors += sectors * (access.kind == "load")
        costs.store_sectors += sectors * (access.kind == "store")
        costs.lines += lines
        costs.array_bytes = max(costs.array_bytes, self._bytes[array])


def _touched(rows: int, lanes: int) -> float:
    """How many of the rows that many lanes come to, each to any."""
    return rows * (1 - (1 - 1 / rows) ** lanes)
