"""What accesses to arrays of a thread's own cost where the target's code does not tell.

On a GPU such an array stays in local memory where an index is not known to the compiler. One that follows from the
turns of loops is known to nvcc, which unrolls nests of them whole that clang leaves: 128 sums of a product of matrices
are in registers on an H200 (80 us; 822 were modelled with the sums in local memory). The lanes of a wave have
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
from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.text import NAME, split_top, type_of

_LANES, _WORD, _SECTOR, _LINE = 32, 4, 32, 128
_ALLOCA = re.compile(r"= alloca ")
_MOST_HELD = 255 * _WORD  # registers of a thread
_VALUE = re.compile(rf"%{NAME}")
_PHI = re.compile(r"= phi i\d+ (.*)")
_STARTS = re.compile(r"\[ -?\d+, ")
_STEP = re.compile(rf"= add (?:n[us]w )*i\d+ (%{NAME}), -?\d+(?:,|$)")
_ENDS = re.compile(rf"= icmp \w+ (?:samesign )?i\d+ (%{NAME}), -?\d+(?:,|$)")
_FOLLOWS = frozenset(("add", "sub", "mul", "shl", "or", "zext", "sext"))
_ACCESSED = re.compile(rf", ptr (%{NAME})")
_NO_ACCESS = ("@llvm.lifetime.", "@llvm.memset.")


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
        arrays = {
            instruction.result: layout.size(type_of(split_top(instruction.text[found.end() :])[0]))
            for block in function.blocks
            for instruction in block.instructions
            if instruction.result is not None and (found := _ALLOCA.search(instruction.text)) is not None
        }
        small = {name for name, size in arrays.items() if size <= _MOST_HELD}
        self._held = _held(function, small) if small else {}
        self._bytes = {name: size for name, size in arrays.items() if name not in self._held}

    def in_registers(self, instruction: Instruction) -> bool:
        """Whether it only moves what a register holds."""
        pointer = _ACCESSED.search(instruction.text) if instruction.opcode in ("load", "store") else None
        return pointer is not None and pointer[1] in self._held

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


def _held(function: Function, arrays: set[str]) -> dict[str, str]:
    """Pointers into those of the arrays, by array, whose every index follows from the turns of loops that end after a
    known number of them."""
    known = _turns(function)
    array_of = {name: name for name in arrays}
    for block in function.blocks:
        for one in block.instructions:
            used = [name for name in _VALUE.findall(one.text) if name in array_of and name != one.result]
            if not used:
                continue
            others = set(_VALUE.findall(one.text)) - {one.result, used[0]}
            if one.opcode == "getelementptr" and one.result is not None and others <= known:
                array_of[one.result] = array_of[used[0]]
            elif one.opcode in ("load", "store") and (to := _ACCESSED.search(one.text)) is not None and [to[1]] == used:
                continue
            elif not (one.opcode == "call" and any(name in one.text for name in _NO_ACCESS)):
                arrays = arrays - {array_of[name] for name in used}
    return {pointer: array for pointer, array in array_of.items() if array in arrays}


def _turns(function: Function) -> set[str]:
    """Numbers that only depend on how many turns loops have made that end by a constant."""
    every = [one for block in function.blocks for one in block.instructions if one.result is not None]
    steps = {step[1]: one.result for one in every if (step := _STEP.search(one.text)) is not None}
    ended = {end[1] for one in every if (end := _ENDS.search(one.text)) is not None}
    known: set[str] = set()
    for one in every:
        phi = _PHI.search(one.text) if one.opcode == "phi" else None
        if phi is None or one.result is None or _STARTS.search(phi[1]) is None:
            continue
        after = steps.get(one.result)
        if after in _VALUE.findall(phi[1]) and {one.result, after} & ended:
            known.add(one.result)
    for _ in range(2):  # a value may stand before what it is made from
        for one in every:
            made_from = set(_VALUE.findall(one.text)) - {one.result}
            if one.result is not None and one.opcode in _FOLLOWS and made_from <= known:
                known.add(one.result)
    return known


def _touched(rows: int, lanes: int) -> float:
    """How many of the rows that many lanes come to, each to any."""
    return rows * (1 - (1 - 1 / rows) ** lanes)
