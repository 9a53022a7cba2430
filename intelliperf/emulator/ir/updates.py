"""Stores of what was computed from a load of the same place: updates that are not atomic, `x = x + 1`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.text import NAME, pointer_operand, split_top

_DEPTH = 8  # operations between the load and the store
# Not what does the same again when it is done twice with one value: `x |= 4`.
_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "shl", "lshr", "ashr", "xor", "fadd", "fsub", "fmul", "fdiv", "fneg", "zext", "sext")
    + ("trunc", "bitcast", "freeze", "sitofp", "uitofp", "fptosi", "fptoui", "fpext", "fptrunc")
    + ("call", "extractelement", "insertelement")
)
_VALUE = re.compile(rf"%{NAME}")
_STORE = re.compile(r"store (?:atomic |volatile )*")
_LOAD = re.compile(r"load (?:atomic |volatile )*")


class Updates:
    """Of one function: which of its stores complete an update.

    Not where a value of that place is compared with something: it may be waited for, or whose turn it is.
    """

    def __init__(self, function: Function) -> None:
        self._made: Mapping[str, Instruction] = {
            instruction.result: instruction
            for block in function.blocks
            for instruction in block.instructions
            if instruction.result is not None
        }

        compared = (
            name
            for block in function.blocks
            for instruction in block.instructions
            if instruction.opcode in ("icmp", "fcmp", "switch")
            for name in _VALUE.findall(instruction.text)
        )
        self._compared = {place for name in compared if (place := self._read_from(name)) is not None}

    def _read_from(self, name: str) -> str | None:
        made = self._made.get(name)
        if made is None or made.opcode != "load":
            return None
        parts = split_top(made.text[_end(_LOAD, made.text) :])
        return self._place(pointer_operand(parts[1])) if len(parts) > 1 else None

    def completes(self, store: Instruction) -> bool:
        parts = split_top(store.text[_end(_STORE, store.text) :])
        if len(parts) < 2:
            return False
        place = self._place(pointer_operand(parts[1]))
        if place in self._compared:
            return False
        return any(self._loaded(name, place, _DEPTH) for name in _VALUE.findall(parts[0]))

    def _loaded(self, name: str, place: str, depth: int) -> bool:
        instruction = self._made.get(name)
        if instruction is None or depth == 0:
            return False
        if instruction.opcode == "load":
            return self._read_from(name) == place
        if instruction.opcode not in _ARITHMETIC:
            return False
        operands = instruction.text.partition(" = ")[2]
        return any(self._loaded(operand, place, depth - 1) for operand in _VALUE.findall(operands))

    def _place(self, pointer: str) -> str:
        """Equal steps from equal pointers lead to one place."""
        made = self._made.get(pointer)
        if made is None or made.opcode != "getelementptr":
            return pointer
        return made.text.partition(" = ")[2].partition(", !dbg")[0]


def _end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return found.end() if found else 0
