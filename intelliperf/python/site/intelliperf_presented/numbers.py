"""What a kernel does with the plain numbers that it is handed, from the IR that Triton's front end makes (TTIR).

Whoever runs a launch once more with other numbers has to know: what is divided or stepped through by a constant may be
promised to be a multiple, and a mask or a bound says that any value is meant. See `emulator/ir/quantities.py` for the
same of compiled code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAME = r"%[\w.$-]+"
_ARGUMENT = re.compile(rf"({_NAME}): ([!\w.]+(?:<[^{{}}()]*?>(?=[ ,)]|$))?)(?: \{{([^}}]*)\}})?")
_OPERATION = re.compile(rf'\s*(?:({_NAME})(?::\d+)?(?:, {_NAME}(?::\d+)?)* = )?"?([a-z]\w*\.[\w.]+)"?(.*)')
_CONSTANT = re.compile(r"(?:dense<)?(-?\d+|true|false)>?(?: \{[^}]*\})? : ")
_LOOP = re.compile(rf"{_NAME} = ({_NAME}) to ({_NAME}) step ({_NAME})")
_TENSOR = re.compile(r"tensor<((?:\d+x)+)")
_DIVISIBILITY = re.compile(r"tt\.divisibility = (\d+)")
_SAME = _words(
    "tt.splat tt.expand_dims tt.broadcast tt.reshape tt.unsplat tt.trans arith.extsi arith.extui arith.trunci "
    "arith.index_cast arith.index_castui arith.minsi arith.minui arith.maxsi arith.maxui arith.select"
)
_OTHER = frozenset(("arith.subi", "arith.muli", "arith.shli", "arith.xori", "arith.ori"))
_DIVIDING = _words(
    "arith.divsi arith.divui arith.remsi arith.remui arith.shrsi arith.shrui arith.andi arith.ceildivsi "
    "arith.floordivsi"
)
_BOUNDED = frozenset(("tt.make_tensor_descriptor", "tt.make_tensor_ptr"))  # they mask by the shape
_OPEN = _words("tt.call cf.br cf.cond_br scf.yield scf.while scf.condition tt.return")
# Of a pointer's operations, those that only lead to others, and those that only read.
_LEADING = _words(
    "tt.addptr tt.splat tt.expand_dims tt.broadcast tt.reshape tt.trans ttg.convert_layout scf.for scf.yield"
)
_READING = frozenset(("tt.load",))
_CHOOSING = _words("scf.if scf.while scf.index_switch cf.br cf.cond_br arith.select")
_RESULTS = re.compile(rf"\s*{_NAME}(?::\d+)?(?:, {_NAME}(?::\d+)?)* = ")
_BLOCK_ARGUMENT = re.compile(rf"({_NAME}): ")
_CARRIED = re.compile(rf"({_NAME}) = ({_NAME})")
_INTEGERS = {"i8": 1, "i16": 2, "i32": 4, "i64": 8}
_FLOATS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
_GRID_SIZE = "tt.get_num_programs"
_PLACES = frozenset(("tt.get_program_id", "scf.for"))  # what differs between programs, or turns of a loop
_FREE_FORM = _words("scf.while cf.br cf.cond_br tt.call")


@dataclass
class Uses:
    divisors: set[int] = field(default_factory=set)
    open: bool = False  # it may be promised to be a multiple of something that is not known
    compared: bool = False
    constants: set[int] = field(default_factory=set)  # that it is compared with
    steps: set[int] = field(default_factory=set)  # of loops that it ends
    masks: bool = False

    def facts(self) -> dict[str, Any]:
        # Without a mask nothing tells what a last, partial step would do.
        promised = self.divisors | (set() if self.masks else self.steps)
        return {
            "divisors": sorted(promised),
            "open": self.open,
            "compared": self.compared,
            "constants": sorted(self.constants),
        }


@dataclass(frozen=True)
class _Operation:
    result: str | None
    name: str
    text: str
    operands: tuple[str, ...]


def largest_tensor(text: str) -> int:
    """Elements of the largest tensor in a module's text, at least 1; 0 where there is no text.

    Where a program has more threads, Triton lets them repeat each other.
    """
    shapes = [shape.split("x")[:-1] for shape in _TENSOR.findall(text)]
    return max((math.prod(map(int, shape)) for shape in shapes), default=1) if text else 0


class Function:
    """One `tt.func` of a module's text."""

    def __init__(self, text: str, symbol: str) -> None:
        begins = text.find(f"@{symbol}(")
        head, _, body = text[begins:].partition("\n") if begins >= 0 else ("", "", "")
        self.arguments = [(name, kind, more or "") for name, kind, more in _ARGUMENT.findall(head)]
        self.constants: dict[str, int] = {}
        self.reads_grid = False
        self.chooses_pointers = False  # on a way that is not followed
        self.compared: set[int] = set()  # with these, or divided by them: where it may do something else
        self._users: dict[str, list[_Operation]] = {}
        self._moving: set[str] = set()
        self._is_free_form = False
        for operation in _operations(body):
            self._is_free_form |= operation.name in _FREE_FORM
            if operation.name in _PLACES or not self._moving.isdisjoint(operation.operands):
                self._moving |= {operation.result} if operation.result else set()
            if operation.name == "scf.for":
                self._moving |= {name for name, _ in _CARRIED.findall(operation.text)}
            self.reads_grid |= operation.name == _GRID_SIZE
            self.chooses_pointers |= operation.name in _CHOOSING and "!tt.ptr" in operation.text
            found = _CONSTANT.search(operation.text) if operation.name == "arith.constant" else None
            if found and operation.result:
                self.constants[operation.result] = int(found[1]) if found[1].lstrip("-").isdigit() else 0
            if operation.name == "arith.cmpi" or operation.name in _DIVIDING:
                self.compared |= {self.constants[one] for one in operation.operands if one in self.constants}
            for operand in set(operation.operands):
                self._users.setdefault(operand, []).append(operation)

    def uses(self, argument: str) -> Uses:
        uses, counts = Uses(), Uses()
        pending: list[tuple[str, int | None, Uses]] = [(argument, 0, uses)]
        seen = {argument}
        while pending:
            name, added, found = pending.pop()
            for operation in self._users.get(name, ()):
                passed, now = self._pass(operation, name, added, found)
                if passed and operation.result and operation.result not in seen:
                    seen.add(operation.result)
                    behind = counts if self._rounds_up(operation, name, added) else found
                    pending.append((operation.result, now, behind))
        # Any number has a last, partial step where steps are counted by rounding up: where that count leads tells
        # nothing of the number, but for what it is divided by.
        uses.divisors |= counts.divisors
        uses.constants |= counts.constants
        uses.compared |= counts.compared
        return uses

    def covers(self, argument: str) -> int:
        """How far a kernel gets that masks the same offsets with a number everywhere: the rest of it is nobody's work.

        0 where programs or loops advance, or that cannot be told.
        """
        if self._is_free_form:
            return 0
        pending, seen, widest = [argument], {argument}, 0
        while pending:
            name = pending.pop()
            for operation in self._users.get(name, ()):
                if operation.name in ("scf.for", "scf.yield") or operation.name in _BOUNDED:
                    return 0
                if operation.name == "arith.cmpi":
                    if not self._moving.isdisjoint(operation.operands):
                        return 0
                    shape = _TENSOR.search(operation.text)
                    widest = max(widest, *map(int, shape[1].split("x")[:-1])) if shape else widest
                elif operation.result and operation.result not in seen and operation.name in _SAME | _OTHER:
                    seen.add(operation.result)
                    pending.append(operation.result)
        return widest

    def only_reads(self, argument: str) -> bool:
        """Whether nothing is stored through a pointer, as far as the IR shows where it leads."""
        if self.chooses_pointers:
            return False
        pending, seen = [argument], {argument}
        while pending:
            name = pending.pop()
            for operation in self._users.get(name, ()):
                if operation.name not in _LEADING | _READING:
                    return False
                if operation.name in _READING:
                    continue
                carried = {inside for inside, outside in _CARRIED.findall(operation.text) if outside == name}
                fresh = (carried | {operation.result} if operation.result else carried) - seen
                seen |= fresh
                pending.extend(one for one in fresh if one)
        return True

    def _pass(self, operation: _Operation, name: str, added: int | None, uses: Uses) -> tuple[bool, int | None]:
        """Whether the result is made of the number, and what was added to it; None: it is another one."""
        kind = operation.name
        if kind in _SAME:
            return True, added
        if kind == "arith.addi":
            constants = self._known(operation, name)
            return True, added + constants[0] if added is not None and constants else None
        if kind in _OTHER:
            return True, None
        if kind in _DIVIDING:
            self._divide(operation, name, added, uses)
            return True, None
        if kind == "arith.cmpi":
            uses.compared = uses.masks = True
            uses.constants |= set(self._known(operation, name))
        elif kind in _BOUNDED:
            uses.compared = uses.masks = True
        elif kind == "scf.for":
            self._end(operation, name, uses)
        elif kind in _OPEN:
            uses.open = True
        return False, None

    def _known(self, operation: _Operation, name: str) -> list[int]:
        return [self.constants[one] for one in operation.operands if one != name and one in self.constants]

    def _divide(self, operation: _Operation, name: str, added: int | None, uses: Uses) -> None:
        first, *rest = operation.operands
        if first != name and operation.name != "arith.andi":
            return  # it divides something else
        other = rest[0] if rest and first == name else first
        constant = self.constants.get(other)
        if constant is None or other == name:
            uses.open = True
            return
        if operation.name in ("arith.shrsi", "arith.shrui"):
            constant = 1 << constant if 0 <= constant < 31 else 1
        elif operation.name == "arith.andi":
            constant = constant + 1 if constant >= 0 else -constant
        if constant > 1 and added != constant - 1:  # rounded up, nothing is left out
            uses.divisors.add(constant)

    def _rounds_up(self, operation: _Operation, name: str, added: int | None) -> bool:
        if operation.name not in ("arith.divsi", "arith.divui", "arith.ceildivsi") or operation.operands[0] != name:
            return False
        constants = self._known(operation, name)
        return bool(constants) and (operation.name == "arith.ceildivsi" or added == constants[0] - 1)

    def _end(self, operation: _Operation, name: str, uses: Uses) -> None:
        loop = _LOOP.search(operation.text)
        if loop is None or name not in loop.groups():
            uses.open = True  # it is carried through the loop
            return
        uses.compared = True
        step = self.constants.get(loop[3])
        if name == loop[2] and step is not None and step > 1:
            uses.steps.add(step)
        elif step is None:
            uses.open = True


def _operations(body: str) -> Iterator[_Operation]:
    names = _Names()
    for line in body.split("\n"):
        found = _OPERATION.match(names.told_apart(line).partition(" loc(")[0])
        if found:
            result, name, text = found.groups()
            yield _Operation(result, name, text, tuple(re.findall(_NAME, text)))
        if line == "  }" or line.startswith("  } loc("):
            return  # the function ends


class _Names:
    """Values by names of their own: what a region calls its values, the next one may call others."""

    def __init__(self) -> None:
        self._regions: list[dict[str, str]] = [{}]
        self._count: dict[str, int] = {}

    def told_apart(self, line: str) -> str:
        """The next line with names that stand for one value each."""
        is_block = line.lstrip().startswith("^")
        text = line if is_block else line.partition(" loc(")[0].rstrip()
        if text.lstrip().startswith("}") and len(self._regions) > 1:
            self._regions.pop()
        results = _RESULTS.match(text)
        begin, opens = results.end() if results else 0, text.endswith("{")
        given = _BLOCK_ARGUMENT if is_block else _CARRIED
        inside = {found.start(1) for found in given.finditer(text, begin)} if is_block or opens else set()
        places = [(found.span(), found[0]) for found in re.finditer(_NAME, text)]
        known = {place: self._known(name) for place, name in places if place[0] >= begin and place[0] not in inside}
        known |= {place: self._define(name) for place, name in places if place[0] < begin}
        if opens:
            self._regions.append({})
        known |= {place: self._define(name) for place, name in places if place[0] in inside}
        for (first, last), value in sorted(known.items(), reverse=True):
            text = text[:first] + value + text[last:]
        return text

    def _define(self, name: str) -> str:
        number = self._count[name] = self._count.get(name, 0) + 1
        self._regions[-1][name] = value = name if number == 1 else f"{name}${number}"
        return value

    def _known(self, name: str) -> str:
        return next((region[name] for region in reversed(self._regions) if name in region), name)


def quantities(function: Function, parameters: Sequence[str]) -> list[dict[str, Any]]:
    """Of the plain numbers among the arguments; `parameters`: the JIT's types. None where these are others."""
    if len(function.arguments) != len(parameters):
        return []
    found = []
    for index, (name, kind, _) in enumerate(function.arguments):
        size = _INTEGERS.get(kind) or _FLOATS.get(kind)
        if size is None:
            continue
        encoding = "float" if kind in _FLOATS else "unsigned" if parameters[index].startswith("u") else "signed"
        facts = function.uses(name).facts()
        found.append({"parameter": index, "offset": 0, "bytes": size, "encoding": encoding, **facts})
    return found


def covered(function: Function, parameters: Sequence[str]) -> list[list[int]]:
    """Of integers that only mask: index, and the values that the kernel is meant for, from 1 on."""
    if len(function.arguments) != len(parameters):
        return []
    integers = ((index, name) for index, (name, kind, _) in enumerate(function.arguments) if kind in _INTEGERS)
    found = [[index, 1, function.covers(name)] for index, name in integers]
    return [one for one in found if one[2] > 1]


def only_read(function: Function, parameters: Sequence[str]) -> list[int]:
    """Arguments that are pointers which the kernel stores nothing through."""
    if len(function.arguments) != len(parameters):
        return []
    pointers = (index for index, (_, kind, _) in enumerate(function.arguments) if kind.startswith("!tt.ptr"))
    return [index for index in pointers if function.only_reads(function.arguments[index][0])]


def multiples(function: Function) -> dict[int, int]:
    """By argument: what the JIT took plain numbers for a multiple of."""
    found = {}
    for index, (_, kind, attributes) in enumerate(function.arguments):
        known = _DIVISIBILITY.search(attributes)
        if known and kind in _INTEGERS:
            found[index] = int(known[1])
    return found
