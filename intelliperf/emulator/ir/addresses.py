"""Which pointers of a function are a known number of bytes apart.

A pointer is resolved to where it starts from and the constant on top: `p[i * 4 + 3]` is 12 bytes after `p[i * 4]`
whatever i is, though the optimiser computes both indices by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.module import Function
from intelliperf.emulator.ir.text import NAME, closing, pointer_operand, split_top

_GEP = re.compile(r"getelementptr (?:inbounds |nuw |nusw |inrange\([^)]*\) )*")
_CONSTANT = re.compile(r"i\d+ (-?\d+)$")
_INDEX = re.compile(rf"i(\d+) (%{NAME})$")
_WIDENED = re.compile(rf"(sext|zext)(?: nneg)? i32 (%{NAME}) to i64")
_SHIFTED = re.compile(rf"(?:add(?: nuw)?(?: nsw)?|or disjoint) i(\d+) (%{NAME}), (-?\d+)$")
_ARRAY = re.compile(r"\[\d+ x (.*)\]$")
_VALUE = re.compile(rf"%{NAME}")
_THREAD = "@__simt_thread("
_MOST_THREADS = 1023  # the last thread's number within a block
_SIGNED = 1 << 31
_OF_THREAD = re.compile(rf"= load i32, ptr (%{NAME})$")
_SCALED = re.compile(rf"= (mul|shl|add|and|lshr|zext)(?: n[us]w| nneg)* i\d+ (%{NAME})(?:, (-?\d+)$| to )")
_PLACES = re.compile(r"@__simt_(?:thread|grid)\b")
_COMPUTED = frozenset(
    ("call", "load", "getelementptr", "sext", "zext", "trunc", "add", "sub", "mul", "shl", "lshr", "and", "or")
)
_FOLLOWED = frozenset(("getelementptr", "sext", "zext", "add", "or", "mul", "shl", "lshr", "and", "load", "call"))


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
        self._same = _same_values(function)

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

    def is_fixed(self, pointer: str) -> bool:
        """Whether it is a known place of a variable."""
        root, _ = self.resolve(pointer)
        return root.startswith("@") and self.base(root) == root

    def advance(self, pointer: str, steps: Mapping[str, int]) -> int:
        """How many bytes on the pointer goes where the integers in `steps` change by so much."""
        moved = 0
        while (found := self._parts(pointer)) is not None:
            kind, below, indices = found
            element = self._element(kind, indices)
            name = self._index(indices[-1])[0].rpartition(" ")[2]
            if element is None:
                break
            moved += steps.get(name, 0) * self._layout.size(element)
            pointer = pointer_operand(below)
        return moved

    def _parts(self, pointer: str) -> tuple[str, str, list[str]] | None:
        """Of a getelementptr: its type, the pointer below and the indices."""
        text = self._definitions.get(pointer) if pointer.startswith("%") else pointer
        found = _GEP.search(text) if text else None
        if text is None or found is None:
            return None
        inside = text[found.end() :]
        if inside.startswith("("):
            inside = inside[1 : closing(inside, 0) - 1]
        kind, below, *indices = split_top(re.split(r", !", inside, maxsplit=1)[0])
        return kind, below, indices

    @staticmethod
    def _element(kind: str, indices: Sequence[str]) -> str | None:
        """What the last index counts; None in a structure."""
        for _ in indices[1:]:
            array = _ARRAY.match(kind)
            if array is None:
                return None
            kind = array[1]
        return kind

    def _step(self, pointer: str) -> tuple[str, str, int] | None:
        """The pointer below a getelementptr, its variable part in words, and its constant part in bytes."""
        parts = self._parts(pointer)
        if parts is None:
            return None
        kind, below, indices = parts
        constants = [_CONSTANT.match(index) for index in indices]
        if all(constants):
            offset = self._layout.offset(kind, [int(constant[1]) for constant in constants if constant])
            return None if offset is None else (pointer_operand(below), "", offset)
        element = self._element(kind, indices)
        if element is None:
            return None
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
        name = self._same.get(name, name)
        while shifted := _SHIFTED.search(re.split(r", !", self._definitions.get(name, ""), maxsplit=1)[0]):
            safe = shifted[1] == "64" or "nsw" in shifted[0] or "disjoint" in shifted[0]
            if not safe and self._most(shifted[2]) + abs(int(shifted[3])) >= _SIGNED:
                break
            name = self._same.get(shifted[2], shifted[2])
            constant += int(shifted[3])
        return f"{widened[1] if widened else ''} {name}", constant

    def _most(self, name: str, depth: int = 8) -> int:
        """The largest value that an integer has by its definition; at least `_SIGNED` where that is not known."""
        text = re.split(r", !|, align ", self._definitions.get(name, ""), maxsplit=1)[0]
        if (place := _OF_THREAD.search(text)) and _THREAD in self._definitions.get(place[1], ""):
            return _MOST_THREADS
        found = _SCALED.search(text)
        if found is None or depth == 0:
            return _SIGNED
        operation, below, constant = found[1], found[2], int(found[3] or 0)
        if operation == "and" and constant >= 0:
            return constant
        most = self._most(below, depth - 1)
        if most >= _SIGNED or constant < 0:
            return _SIGNED
        larger = {"mul": most * constant, "shl": most << constant, "add": most + constant, "zext": most}
        return larger.get(operation, most)


def _same_values(function: Function) -> dict[str, str]:
    """For each integer that is computed from the thread's and block's place as an earlier one is: that one's name.

    The optimiser reads these places again after each store, for it takes them to lie in memory like all else.
    """
    same: dict[str, str] = {}
    first: dict[str, str] = {}
    places: set[str] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            result, opcode = instruction.result, instruction.opcode
            if result is None or opcode not in _COMPUTED:
                continue
            right = re.split(r", !|, align ", instruction.text.partition(" = ")[2], maxsplit=1)[0]
            operands = _VALUE.findall(right)
            is_place = bool(_PLACES.search(right)) or (opcode == "getelementptr" and set(operands) <= places)
            if (
                opcode in ("call", "load")
                and not is_place
                and not (opcode == "load" and places.issuperset(operands[-1:]))
            ):
                continue
            if opcode == "load" and not operands and not is_place:
                continue
            if is_place and opcode != "load":
                places.add(result)
            key = _VALUE.sub(lambda found: same.get(found[0], found[0]), right)
            same[result] = first.setdefault(key, result)
    return same
