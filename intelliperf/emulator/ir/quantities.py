"""Plain numbers that a kernel is handed, and what its code does with them: may they take any value?

A number is an argument, a member of a struct that is passed by value, or a member of a device variable. One that is
divided, shifted down or masked may be promised to be a multiple, unless the division rounds up; one that a function
takes which was not inlined may be, too. The constants that it is compared with are where its meaning changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.shadow.constants import parse
from intelliperf.emulator.ir.text import NAME, split_top

_VALUE = re.compile(rf"%{NAME}")
_CONSTANT = re.compile(r"-?\d+")
_HARMLESS_CALL = re.compile(r"@llvm\.(?:[su](?:min|max)|abs|dbg|lifetime|assume)")
_CUTTING = re.compile(r"@llvm\.[su](?:min|max)\.")
_CARRYING = frozenset(("zext", "sext", "trunc", "freeze", "phi", "select"))  # the same number, or a choice
_PASSING = frozenset(("sub", "mul", "shl", "xor"))
_COMPARING = frozenset(("icmp", "udiv", "sdiv", "urem", "srem"))
_BOUND = re.compile(r"@llvm\.[su](?:min|max)\..*, i\d+ (-?\d+)\)")
_CASE = re.compile(r"^ *i\d+ (-?\d+), label", re.MULTILINE)
_CHOICE = re.compile(r"@llvm\.(?:min|max)(?:num|imum|imumnum)\.")
_FLOAT = re.compile(r"-?\d+\.\d+e[+-]\d+|\b0x[HR]?[0-9A-F]+\b")
_DIVIDING = frozenset(("udiv", "sdiv", "urem", "srem", "lshr", "ashr", "and"))
_LARGEST = 1 << 31
_LARGEST_NAMED = 1 << 53
_DATA, _MOST_NAMED = -1, 64
_SAME_NUMBER = frozenset(
    ("zext", "sext", "trunc", "freeze", "phi", "select", "fpext", "fptrunc", "extractelement", "and")
)
_RUNTIMES_OWN = re.compile(r"@__simt_")
_LANES = re.compile(r"<(?:i\d+ -?\d+(?:, )?)+>")
_LANE = re.compile(r"i\d+ (-?\d+)")
_MOST_OF_AN_ARRAY, _MOST_NESTED = 8, 8
_MEMBERS = ("DW_TAG_member", "DW_TAG_inheritance")
_OFFSET = re.compile(rf"getelementptr (?:inbounds |nuw |nusw )*\(?i8, ptr (%{NAME}|@{NAME}), i64 (\d+)\)?")
_LOAD = re.compile(r"load (?:volatile )?i\d+, ptr (.*?)(?:, |$)")
_GRID_SIZE = re.compile(r"\(i8, ptr @__simt_grid, i64 (?:32|36|40)\)")  # abi.h: struct Grid
_PART = re.compile(
    rf"(lshr|ashr|shl|and|trunc) (?:exact |nuw |nsw )*i(\d+) (%{NAME})(?:, | to i)(-?\d+)\b"
)  # a part of a register, or a shift on the way to one


@dataclass
class Uses:
    """What becomes of one number."""

    divisors: set[int] = field(default_factory=set)
    open: bool = False  # it may be promised to be a multiple of something that is not known
    compared: bool = False
    mask: bool = False  # other numbers are masked with it
    bound: bool = False  # others are cut to it
    limit: bool = False  # it is compared with something other than a constant
    constants: set[int] = field(default_factory=set)  # that it is compared with

    def facts(self) -> dict[str, Any]:
        return {
            "divisors": sorted(self.divisors),
            "open": self.open,
            "compared": self.compared,
            "mask": self.mask,
            "bound": self.bound,
            "constants": sorted(self._where_it_means_another_thing()),
        }

    def _where_it_means_another_thing(self) -> set[int]:
        """A loop asks first whether its limit is 0: no size that anybody means, and no other value of a switch."""
        return {constant or 1 for constant in self.constants} if self.limit else self.constants


class Users:
    """The instructions of a function by the values that they take."""

    def __init__(self, function: Function) -> None:
        self.of: dict[str, list[Instruction]] = {}
        self.instructions = [one for block in function.blocks for one in block.instructions]
        for instruction in self.instructions:
            for name in set(_VALUE.findall(instruction.text)):
                if name != instruction.result:
                    self.of.setdefault(name, []).append(instruction)

    def follow(self, start: Iterable[str], uses: Uses) -> None:
        pending = [(name, _Passed(0)) for name in start]
        seen = {name for name, _ in pending}
        while pending:
            name, now = pending.pop()
            for instruction in self.of.get(name, ()):
                passed = _pass(instruction, name, now, uses)
                if passed is not _ENDS and instruction.result is not None and instruction.result not in seen:
                    seen.add(instruction.result)
                    pending.append((instruction.result, passed))


@dataclass(frozen=True)
class _Passed:
    added: int | None  # what was added to the number; None: it is another one
    summed: bool = False  # it is that and something that may be anything, of which no remainder is promised


_ENDS = _Passed(-1)


def _pass(instruction: Instruction, name: str, now: _Passed, uses: Uses) -> _Passed:
    opcode, text = instruction.opcode, instruction.text
    if opcode == "icmp":
        uses.compared = True
        constants = _constants(text)
        uses.limit |= not constants
        uses.constants |= set(constants)
        return _ENDS
    if opcode in ("call", "invoke"):
        if not _HARMLESS_CALL.search(text):
            uses.open = True
            return _ENDS
        uses.bound |= _CUTTING.search(text) is not None
        return now
    if opcode in _CARRYING:
        return now
    if opcode == "add" or opcode == "or" and " disjoint " in text:
        constants = _constants(text)
        if len(constants) != 1:
            return _Passed(None, summed=True)
        return _Passed(None if now.added is None else now.added + constants[0], now.summed)
    if opcode in _DIVIDING:
        return _divide(instruction, name, now, uses)
    summed = now.summed or opcode == "sub" and not _constants(text)
    return _Passed(None, summed) if opcode in _PASSING or opcode == "or" else _ENDS


def _divide(instruction: Instruction, name: str, now: _Passed, uses: Uses) -> _Passed:
    operands = [part.split()[-1] for part in split_top(_without_attachments(instruction.text))]
    if instruction.opcode != "and" and operands[0] != name:
        return _ENDS  # it divides something else, which may leave any remainder
    other = operands[1] if operands[0] == name else operands[0]
    divisor = _divisor(instruction.opcode, int(other)) if _CONSTANT.fullmatch(other) else None
    if divisor is None:
        masks = instruction.opcode == "and"
        uses.open |= masks or not now.summed
        uses.mask |= masks
    elif divisor not in (1, _LARGEST) and now.added != divisor - 1:  # rounded up, nothing is left out
        uses.divisors.add(divisor)
    return _Passed(None)


def _divisor(opcode: str, constant: int) -> int | None:
    if opcode in ("lshr", "ashr"):
        return 1 if constant >= 31 else 1 << constant  # 31: its sign
    if opcode == "and":
        low = constant + 1 if constant >= 0 else -constant
        return low if low & (low - 1) == 0 else None
    return abs(constant) or None


def _without_attachments(text: str) -> str:
    return text.partition(", !")[0]


def _constants(text: str) -> list[int]:
    parts = split_top(_without_attachments(text))
    return [int(last) for part in parts if _CONSTANT.fullmatch(last := part.split()[-1])]


@dataclass(frozen=True)
class PlainNumber:
    """A number of a basic type at so many bytes from where its parameter or variable begins."""

    offset: int
    bytes: int
    encoding: str

    def facts(self) -> dict[str, Any]:
        return {"offset": self.offset, "bytes": self.bytes, "encoding": self.encoding}


def plain_numbers(debug: DebugInfo, kind: int | None, offset: int = 0, depth: int = 0) -> Iterator[PlainNumber]:
    """The numbers that a type consists of, but for those of large arrays, which are data."""
    node = debug.resolved(kind)
    if node.kind == "DIBasicType":
        number = debug.number(kind) or {}
        yield PlainNumber(offset, debug.size(kind), str(number.get("encoding")))
    elif node.text("tag") == "DW_TAG_array_type":
        base = node.reference("baseType")
        each = debug.size(base)
        count = node.number("size") // 8 // each if each else 0
        for index in range(count if count <= _MOST_OF_AN_ARRAY else 0):
            yield from plain_numbers(debug, base, offset + index * each, depth + 1)
    elif debug.is_aggregate(kind) and node.text("tag") != "DW_TAG_union_type" and depth < _MOST_NESTED:
        for operand in debug.node(node.reference("elements")).operands:
            member = debug.node(operand)
            if member.text("tag") in _MEMBERS and "DIFlagStaticMember" not in member.text("flags"):
                at = offset + member.number("offset") // 8
                yield from plain_numbers(debug, member.reference("baseType"), at, depth + 1)


@dataclass(frozen=True)
class ParameterPlace:
    """Where the IR has a parameter, or eight bytes of one."""

    type: str  # in the IR
    name: str
    offset: int  # bytes of the parameter that lie before
    by_address: bool


def of_parameters(
    users: Users, places: Mapping[int, Sequence[ParameterPlace]], types: Sequence[int | None], debug: DebugInfo
) -> list[dict[str, Any]]:
    """All numbers among the parameters of a kernel. `places`: by index of the source's parameter."""
    found = []
    for index, kind in enumerate(types):
        for number in plain_numbers(debug, kind):
            uses = Uses()
            users.follow([name for place in places.get(index, ()) for name in _names(users, place, number)], uses)
            found.append({"parameter": index, **number.facts(), **uses.facts()})
    return found


def of_variable(name: str, kind: int | None, debug: DebugInfo, functions: Sequence[Users]) -> list[dict[str, Any]]:
    """All numbers of a device variable (its name with the @)."""
    found = []
    for number in plain_numbers(debug, kind):
        uses = Uses()
        for users in functions:
            users.follow(_loaded(users, name, number.offset), uses)
        found.append({**number.facts(), **uses.facts()})
    return found


def only_loaded(name: str, functions: Sequence[Users]) -> bool:
    """Does every instruction that names the variable load from it, at once?"""
    named = re.compile(rf"{re.escape(name)}(?![-\w.$])")
    return all(one.opcode == "load" for users in functions for one in users.instructions if named.search(one.text))


def _names(users: Users, place: ParameterPlace, number: PlainNumber) -> list[str]:
    """The values that are this number: loaded from its address, or taken out of the register that holds two."""
    if place.by_address:
        return list(_loaded(users, place.name, number.offset))
    within = number.offset - place.offset
    if place.type != "i64" or number.bytes == 8:
        return [place.name] if within == 0 else []
    return _taken(users, place.name, 8 * within, 8 * number.bytes) if 0 <= within < 8 else []


def _taken(users: Users, register: str, first: int, width: int) -> list[str]:
    """The values that hold `width` bits of a register of 64 bits, from bit `first` on, and no others.

    Where the code never parts them from those above, the values that begin with them.
    """
    pending, seen = [(register, 0)], {register}
    exact: list[str] = []
    others: list[str] = []
    while pending:
        name, begins = pending.pop()
        for one in users.of.get(name, ()):
            part = _part(one, name, begins)
            if part is None or one.result is None or one.result in seen:
                continue
            seen.add(one.result)
            begins_at, bits = part
            if begins_at == first and bits <= width:
                exact.append(one.result)
                continue
            if begins_at == first:
                others.append(one.result)
            pending.append((one.result, begins_at))
    return exact or others


def _part(instruction: Instruction, name: str, begins: int) -> tuple[int, int] | None:
    """Of a value whose bit 0 is bit `begins` of a register: where the result's is, and how many of its bits count."""
    found = _PART.search(instruction.text)
    if found is None or found[3] != name:
        return None
    opcode, bits, operand = found[1], int(found[2]), found[4]
    if opcode == "trunc":
        return begins, int(operand)
    if opcode == "and":
        mask = int(operand) & (1 << bits) - 1
        return (begins, mask.bit_length()) if mask & mask + 1 == 0 else None
    shift = int(operand)
    return (begins - shift, bits) if opcode == "shl" else (begins + shift, bits - shift)


def _loaded(users: Users, base: str, offset: int) -> Iterator[str]:
    addresses = {base} if offset == 0 else set()
    for instruction in users.instructions:
        if instruction.opcode == "getelementptr" and instruction.result is not None:
            found = _OFFSET.search(instruction.text)
            if found and found[1] == base and int(found[2]) == offset:
                addresses.add(instruction.result)
    for instruction in users.instructions:
        loaded = _LOAD.search(instruction.text) if instruction.opcode == "load" else None
        if loaded is None or instruction.result is None:
            continue
        within = _OFFSET.search(loaded[1])
        if loaded[1] in addresses or (within and within[1] == base and int(within[2]) == offset):
            yield instruction.result


def constants(function: Function) -> list[int]:
    """What the function compares with, divides by and masks with: where it may do something else."""
    found: set[int] = set()
    moved: dict[str, int] = {}  # a number → what was added to it, as compilers make one comparison of two
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode in _COMPARING:
                bounds = set(_constants(instruction.text))
                names = _VALUE.findall(_without_attachments(instruction.text))
                found |= bounds | {c - moved[name] for name in names if name in moved for c in (0, *bounds)}
            elif instruction.opcode == "add" and instruction.result is not None:
                if len(added := _constants(instruction.text)) == 1:
                    moved[instruction.result] = added[0]
            elif instruction.opcode == "call":
                found |= {int(bound[1]) for bound in _BOUND.finditer(instruction.text)}
            elif instruction.opcode == "switch":
                found |= set(map(int, _CASE.findall(instruction.text)))
            elif instruction.opcode in ("and", "lshr", "ashr"):
                last = split_top(_without_attachments(instruction.text))[-1]  # of a shift, what it shifts by
                found |= {d for c in _constants(last) if (d := _divisor(instruction.opcode, c)) is not None}
    return sorted(c for c in found if 1 < abs(c) < _LARGEST)


def limits(function: Function) -> list[float]:
    """What the function compares floats with, or limits them to: zero is not told."""
    found: set[float] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode == "fcmp" or instruction.opcode == "call" and _CHOICE.search(instruction.text):
                found |= set(map(parse, _FLOAT.findall(_without_attachments(instruction.text))))
    return sorted(limit for limit in found if limit and math.isfinite(limit))


def named(
    function: Function, places: Mapping[int, Sequence[ParameterPlace]], types: Sequence[int | None], debug: DebugInfo
) -> list[list[int | float]]:
    """What the function compares its plain numbers and its data with: one row each.

    Parameter (-1: data), offset, bytes, whether it is a float, and the value.
    """
    users = Users(function)
    rows: set[tuple[int, int, int, int, float]] = set()
    for index, kind in enumerate(types):
        for number in plain_numbers(debug, kind):
            names = [name for place in places.get(index, ()) for name in _names(users, place, number)]
            rows |= {(index, number.offset, number.bytes, *value) for value in _compared_with(users, names)}
    data = [
        one.result
        for one in users.instructions
        if one.opcode == "load" and one.result is not None and not _RUNTIMES_OWN.search(one.text)
    ]
    own = [place.name for of in places.values() for place in of if place.by_address]
    copied = {name for base in own for name in _all_loaded(users, base)}
    rows |= {(_DATA, 0, 0, *value) for value in _compared_with(users, [name for name in data if name not in copied])}
    return [list(row) for row in sorted(rows)[:_MOST_NAMED]]


def _all_loaded(users: Users, base: str) -> Iterator[str]:
    """Results of all loads from a structure that was passed by value."""
    addresses = {base}
    for one in users.instructions:
        if one.opcode == "getelementptr" and one.result is not None and addresses & set(_VALUE.findall(one.text)):
            addresses.add(one.result)
        elif one.opcode == "load" and one.result is not None and addresses & set(_VALUE.findall(one.text)):
            yield one.result


def _compared_with(users: Users, start: Iterable[str]) -> set[tuple[int, float]]:
    """Whether it is a float, and the constant, of all comparisons of these values, moved, converted or chosen."""
    found: set[tuple[int, float]] = set()
    pending: list[tuple[str, int | None]] = [(name, 0) for name in start]
    seen = {name for name, _ in pending}
    while pending:
        name, added = pending.pop()
        for one in users.of.get(name, ()):
            opcode, constants = one.opcode, _lane_constants(one.text)
            if opcode == "fcmp":
                limits = map(parse, _FLOAT.findall(_without_attachments(one.text)))
                found |= {(1, limit) for limit in limits if math.isfinite(limit)}
            elif opcode in ("icmp", "switch"):
                cases = map(int, _CASE.findall(one.text)) if opcode == "switch" else constants
                moved = added or 0
                found |= {(0, value - moved) for value in (*cases, *((0,) if moved else ()))}
            elif opcode == "xor" and constants:
                found |= {(0, value) for value in constants}
            if one.result is None or one.result in seen:
                continue
            if opcode == "add" and len(set(constants)) == 1:
                added = added + constants[0] if added is not None else None
            elif opcode not in _SAME_NUMBER:
                continue
            seen.add(one.result)
            pending.append((one.result, added))
    return {(floating, value) for floating, value in found if abs(value) < _LARGEST_NAMED}


def _lane_constants(text: str) -> list[int]:
    """As `_constants`, and those of all lanes of a vector."""
    lanes = _LANES.search(_without_attachments(text))
    return [int(value) for value in _LANE.findall(lanes[0])] if lanes else _constants(text)


def reads_grid(function: Function) -> bool:
    """Does it ask how many blocks there are?"""
    texts = (instruction.text for block in function.blocks for instruction in block.instructions)
    return any(_GRID_SIZE.search(text) for text in texts if "@__simt_grid" in text)
