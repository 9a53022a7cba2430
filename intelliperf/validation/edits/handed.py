"""Which numbers a launch hands to its kernel: whole parameters, and members of structs by where they stand in these.

A kernel's stub takes what the platform's calling convention makes of the parameters: a struct of up to 16 bytes
arrives as one or two integers that hold several members, a larger one as the address of a copy. What the stub stores
where tells which parameter each operand is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from intelliperf.validation.edits.launches import call_operands

LABEL = re.compile(r"([-\w.$]+|\"[^\"]*\"):(?: +; preds = (.*))?$")
DEFINED = re.compile(r"\s+(%\S+) = (.*?)(?:, ![\w.]+ ![\w()]+)*$")
_NAME = r"%[-\w.$]+"
_HEADER = re.compile(r"define [^@]*@([-\w.$]*__device_stub__[-\w.$]*)\((.*)\)")
_STORE = re.compile(rf"\s+store (\w+|<[^>]*>) (\S+), ptr ({_NAME})(?:, |$)")
_LOAD = re.compile(rf"\s+({_NAME}) = load (\w+|<[^>]*>), ptr ({_NAME})(?:, |$)")
_ALLOCA = re.compile(rf"\s+({_NAME}) = alloca (\[\d+ x ptr\]|ptr)(?:, |$)")
_STEP = re.compile(rf"\s+({_NAME}) = getelementptr (?:inbounds |nuw |nusw )*i8, ptr ({_NAME}), i64 (\d+)(?:, |$)")
_COPY = re.compile(rf"@llvm\.memcpy\.[\w.]+\(ptr [^,]*?({_NAME}), ptr [^,]*?({_NAME}), i64 (\d+),")
_BOTH = re.compile(r"or disjoint i64 (\S+), (\S+)$")
_HIGH = re.compile(r"shl (?:nuw |nsw )*i64 (\S+), 32$")
_WIDER = re.compile(r"[sz]ext (?:nneg )?i32 (\S+) to i64$")
_LAUNCHES = re.compile(r"(?:cuda|hip)LaunchKernel")
_BYVAL = re.compile(r"\bbyval\(")
_CONSTANT = re.compile(r"-?\d+")
_WORD = 4  # bytes
_MOST_COPIES = 3  # of copies of a struct

Place = tuple[int, int]  # a parameter of the kernel, and bytes from its beginning


@dataclass(frozen=True)
class Stub:
    """`places`: of each operand, where the kernel has it."""

    parameters: int
    places: Mapping[int, Place]


@dataclass(frozen=True)
class Handed:
    """`numbers`: how a formula calls what the host knows under a name; `@2+8.4` are four bytes of a struct.

    `constants`: some are constants, of which the compiler may have made something else as well. `unseen`: so may the
    host have of members that are not among the numbers.
    """

    parameters: int
    numbers: Mapping[str, str]
    constants: bool
    unseen: bool


def stubs(ir: str) -> dict[str, Stub]:
    """Of the module's stubs by name; one that reads otherwise is left out, its operands then are the parameters."""
    found: dict[str, Stub] = {}
    lines = ir.split("\n")
    for number, line in enumerate(lines):
        header = _HEADER.match(line) if "__device_stub__" in line else None
        if header is None:
            continue
        stub = _stub(re.findall(rf"({_NAME})(?:,|$)", header[2]), lines[number + 1 : lines.index("}", number)])
        if stub is not None:
            found[header[1]] = stub
    return found


def handed(body: list[str], call: int, operands: list[str], stub: Stub | None) -> Handed:
    """What the call of a stub in that line of the function's body hands over."""
    stub = stub or Stub(len(operands), {at: (at, 0) for at in range(len(operands))})
    values = {match[1]: match[2] for line in body if (match := DEFINED.match(line)) is not None}
    held = Held(body, call)
    numbers: dict[str, str] = {}
    constants = unseen = False
    for at, text in enumerate(operands):
        kind, name = text.split()[0], text.split()[-1]
        parameter, offset = stub.places.get(at, (at, 0))
        if _BYVAL.search(text):
            members = held.at(name)
            unseen |= _has_gaps(members)
            constants |= any(_CONSTANT.fullmatch(one.value) for one in members)
            numbers |= {
                one.value: f"@{parameter}+{one.offset}.{one.bytes}" for one in members if one.value.startswith("%")
            }
        elif kind in ("i32", "i64"):
            constants |= _CONSTANT.fullmatch(name) is not None
            parts = _packed(name, values) if kind == "i64" else {}
            numbers |= {one: f"@{parameter}+{offset + inside}.{_WORD}" for inside, one in parts.items()}
            if [place[0] for place in stub.places.values()].count(parameter) == 1:
                numbers[name] = f"@{parameter}"
    return Handed(stub.parameters, numbers, constants, unseen)


def _has_gaps(members: Collection[Member]) -> bool:
    """Is one of them missing, as far as the others tell? Padding stands before what is aligned to eight bytes."""
    end = 0
    for one in sorted(members, key=lambda member: member.offset):
        if one.offset - end >= _WORD and (one.bytes < 8 or one.offset - end >= 8):
            return True
        end = max(end, one.offset + one.bytes)
    return end == 0


def _packed(name: str, values: Mapping[str, str]) -> dict[int, str]:
    """Two numbers of 32 bits in one of 64, by offset in bytes; empty where it is none of these."""
    both = _BOTH.match(values.get(name, ""))
    found: dict[int, str] = {}
    for one in (both[1], both[2]) if both is not None else ():
        shifted = _HIGH.match(values.get(one, ""))
        wider = _WIDER.match(values.get(shifted[1] if shifted else one, ""))
        if wider is not None and wider[1].startswith("%"):
            found[_WORD if shifted else 0] = wider[1]
    return found


def _stub(operands: list[str], body: list[str]) -> Stub | None:
    tables = {
        match[1]: int(size[1]) if (size := re.match(r"\[(\d+) x", match[2])) else 1
        for line in body
        if (match := _ALLOCA.match(line)) is not None
    }
    calls = (call_operands(line) for line in body)
    given = next((operands for name, operands in calls if _LAUNCHES.match(name)), [])
    table = next((one.split()[-1] for one in given if one.split()[-1] in tables), "")
    if not table:
        return None
    held = Held(body, len(body))
    places: dict[int, Place] = {}
    for slot in held.at(table):
        if slot.value in operands:  # a struct's copy itself
            places[operands.index(slot.value)] = (slot.offset // 8, 0)
            continue
        for one in held.at(slot.value):
            if one.value in operands:
                places[operands.index(one.value)] = (slot.offset // 8, one.offset)
    return Stub(tables[table], places)


@dataclass(frozen=True)
class Member:
    """What is known to stand there in memory. `offset` and `bytes` in bytes."""

    offset: int
    bytes: int
    value: str


@dataclass(frozen=True)
class _Copy:
    """A struct that is copied: into `base`, `offset` bytes from there, `bytes` of them from `source`."""

    near: bool
    base: str
    offset: int
    source: str
    bytes: int


class Held:
    """What the variables of a function hold where it calls a stub.

    What is stored in the call's own block counts, else what all stores of the function agree about, if nothing else is
    handed the variable's address; else what is loaded from there. Were that another number by then, the launch would
    not have the grid that is made of it, and `own_grids.cpp` leaves such a launch alone.
    """

    def __init__(self, body: list[str], call: int) -> None:
        self._steps = {match[1]: (match[2], int(match[3])) for line in body if (match := _STEP.match(line)) is not None}
        self._escaped = {self._base(name)[0] for line in body for name in _given_away(line)}
        self._stored: dict[str, list[Member]] = {}
        self._near: dict[str, dict[int, Member]] = {}
        self._loaded: dict[str, list[Member]] = {}
        self._copies: list[_Copy] = []
        first = next((at + 1 for at in range(call - 1, -1, -1) if LABEL.match(body[at])), 0)
        for at, line in enumerate(body):
            self._read(line, first <= at < call)

    def at(self, address: str, depth: int = _MOST_COPIES) -> list[Member]:
        base, start = self._base(address)
        found: dict[int, list[Member]] = {}
        for one in self._loaded.get(base, []):
            found.setdefault(one.offset, []).append(one)
        stored = [] if base in self._escaped else self._stored.get(base, [])
        for one in stored:
            if {other for other in stored if other.offset == one.offset} == {one}:
                found[one.offset] = [one]
        for one in self._copied(base, depth) if depth else ():
            found[one.offset] = [one]
        found |= {offset: [one] for offset, one in self._near.get(base, {}).items()}
        every = (one for there in found.values() for one in there)
        return [replace(one, offset=one.offset - start) for one in every if one.offset >= start]

    def _copied(self, base: str, depth: int) -> Iterator[Member]:
        copies = [copy for copy in self._copies if copy.base == base]
        near = [copy for copy in copies if copy.near]
        for copy in near or (copies if len(copies) == 1 else ()):
            for one in self.at(copy.source, depth - 1):
                if one.offset < copy.bytes:
                    yield replace(one, offset=copy.offset + one.offset)

    def _read(self, line: str, near: bool) -> None:
        if (store := _STORE.match(line)) is not None:
            base, offset = self._base(store[3])
            one = Member(offset, _bytes(store[1]), store[2])
            self._stored.setdefault(base, []).append(one)
            if near:
                self._near.setdefault(base, {})[offset] = one
        elif (load := _LOAD.match(line)) is not None:
            base, offset = self._base(load[3])
            self._loaded.setdefault(base, []).append(Member(offset, _bytes(load[2]), load[1]))
        elif (copy := _COPY.search(line)) is not None:
            self._copies.append(_Copy(near, *self._base(copy[1]), copy[2], int(copy[3])))

    def _base(self, address: str) -> tuple[str, int]:
        offset = 0
        while address in self._steps:
            address, more = self._steps[address]
            offset += more
        return address, offset


def _given_away(line: str) -> Iterator[str]:
    """Addresses that a call may keep or write through."""
    name, operands = call_operands(line)
    if not name.startswith("llvm.") and "__device_stub__" not in name:
        yield from (one.split()[-1] for one in operands if one.startswith("ptr "))


def _bytes(kind: str) -> int:
    return int(kind[1:]) // 8 if re.fullmatch(r"i\d+", kind) else 4 if kind == "float" else 8
