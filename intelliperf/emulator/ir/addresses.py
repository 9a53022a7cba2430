"""Which pointers of a function are a known number of bytes apart.

A pointer is resolved to where it starts from and the constant on top: `p[i * 4 + 3]` is 12 bytes after `p[i * 4]`
whatever i is, though the optimiser computes both indices by themselves.
"""

from __future__ import annotations

import re

from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.module import Function
from intelliperf.emulator.ir.text import NAME, closing, pointer_operand, split_top

_GEP = re.compile(r"getelementptr (?:inbounds |nuw |nusw |inrange\([^)]*\) )*")
_CONSTANT = re.compile(r"i\d+ (-?\d+)$")
_INDEX = re.compile(rf"i(\d+) (%{NAME})$")
_WIDENED = re.compile(rf"(sext|zext)(?: nneg)? i32 (%{NAME}) to i64")
_SHIFTED = re.compile(rf"(?:add(?: nuw)?(?: nsw)?|or disjoint) i(\d+) (%{NAME}), (-?\d+)$")
_ARRAY = re.compile(r"\[\d+ x (.*)\]$")
_FOLLOWED = frozenset(("getelementptr", "sext", "zext", "add", "or"))


class Addresses:
    """Answers for one function."""

    def __init__(self, function: Function, layout: Layout) -> None:
        self._layout = layout
        self._definitions = {
            instruction.result: instruction.text
            for block in function.blocks
            for instruction in block.instructions
            if instruction.result and instruction.opcode in _FOLLOWED
        }
        self._bases: dict[str, str] = {}

    def resolve(self, pointer: str) -> tuple[str, int]:
        """What the pointer starts from, as a name for comparing, and how many bytes it is after that."""
        offset = 0
        ways: list[str] = []
        while True:
            step = self._step(pointer)
            if step is None:
                root = "+".join([pointer, *reversed(ways)])
                self._bases[root] = pointer
                return root, offset
            pointer, way, constant = step
            offset += constant
            if way:
                ways.append(way)

    def base(self, root: str) -> str:
        """The pointer that a resolved root starts from."""
        return self._bases.get(root, root)

    def _step(self, pointer: str) -> tuple[str, str, int] | None:
        """The pointer below a getelementptr, its variable part in words, and its constant part in bytes."""
        text = self._definitions.get(pointer) if pointer.startswith("%") else pointer
        found = _GEP.search(text) if text else None
        if text is None or found is None:
            return None
        inside = text[found.end() :]
        if inside.startswith("("):
            inside = inside[1 : closing(inside, 0) - 1]
        kind, below, *indices = split_top(re.split(r", !", inside, maxsplit=1)[0])
        constants = [_CONSTANT.match(index) for index in indices]
        if all(constants):
            offset = self._layout.offset(kind, [int(constant[1]) for constant in constants if constant])
            return None if offset is None else (pointer_operand(below), "", offset)
        element = kind
        for _ in indices[1:]:
            array = _ARRAY.match(element)
            if array is None:
                return None
            element = array[1]
        size = self._layout.size(element)
        last, constant = self._index(indices[-1])
        return pointer_operand(below), f"[{kind}: {', '.join(indices[:-1])}, {last}]", constant * size

    def _index(self, index: str) -> tuple[str, int]:
        """The variable part of an index, in words, and the constant that is added to it."""
        found = _INDEX.match(index)
        if found is None:
            plain = _CONSTANT.match(index)
            return ("", int(plain[1])) if plain else (index, 0)
        name, constant = found[2], 0
        widened = _WIDENED.search(self._definitions.get(name, ""))
        if widened:
            name = widened[2]
        while shifted := _SHIFTED.search(re.split(r", !", self._definitions.get(name, ""), maxsplit=1)[0]):
            if shifted[1] != "64" and "nsw" not in shifted[0] and "disjoint" not in shifted[0]:
                break
            name = shifted[2]
            constant += int(shifted[3])
        return f"{widened[1] if widened else ''} {name}", constant
