"""From the accesses that the plugin numbered to the machine instructions that they become.

The plugin writes two files per compilation: a table of the accesses as they are in LLVM IR just before instructions are
selected, and the machine code of the same functions without records, in which the line of an access is its number plus
one. Selection still merges neighbouring accesses, splits wide ones and lets scalar instructions load what is the same
for all lanes; all of this is read from that machine code, never guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.errors import ToolchainError
from intelliperf.records import AccessKind, Frame, MemorySpace
from intelliperf.rocm.instructions import Operation, addressed_by, offsets, operation
from intelliperf.rocm.symbols import plain

_VERSION = 1
_SPACES = {
    0: MemorySpace.MIXED,
    1: MemorySpace.GLOBAL,
    3: MemorySpace.SHARED,
    4: MemorySpace.GLOBAL,
    5: MemorySpace.LOCAL,
}
_KINDS = {"load": (AccessKind.LOAD,), "store": (AccessKind.STORE,), "atomic": (AccessKind.ATOMIC, AccessKind.REDUCTION)}
_LABEL = re.compile(r"^(?P<name>[\w$.]+):")
_LOCATION = re.compile(r"^\s+\.loc\s+\d+\s+(?P<line>\d+)")
_INSTRUCTION = re.compile(r"^\s+(?P<name>[a-z]\w+)(?P<operands>[^;]*)")
_SPILL = "Folded"  # the remark on a register that is stored or loaded again; its line is its neighbour's
_SCALAR_LOAD = re.compile(r"^s_(?:buffer_)?load_")
_RETURNS = re.compile(r"\b(?:glc|sc0|th:TH_ATOMIC_RETURN)\b")


@dataclass(frozen=True)
class Site:
    """An access in LLVM IR. `base` numbers what its address is computed from, `offset` is the constant rest."""

    number: int
    function: str
    kind: str
    operation: str
    space: MemorySpace
    width: int
    base: int
    offset: int
    written_as: int  # the number that it has in the machine code
    moved: bool  # out of a loop or branch, so that the program's line table does not know it
    chain: tuple[Frame, ...]  # line 0: of several lines, or the compiler's own


@dataclass(frozen=True)
class Part:
    displacement: int  # bytes from the address that `MachineAccess.site` records
    width: int


@dataclass(frozen=True)
class MachineAccess:
    """One machine instruction that accesses memory, and whose records tell of it."""

    site: Site
    operation: Operation
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Module:
    """One compilation in which kernels record."""

    identity: str
    kernels: tuple[str, ...]
    sites: tuple[Site, ...]
    accesses: tuple[MachineAccess, ...]
    order: Mapping[str, tuple[str, ...]]  # by function, the names of its memory instructions in order
    unresolved: tuple[Site, ...]  # accesses whose instructions are not known
    unrecorded: tuple[str, ...]  # operations on memory for which there are no records
    indirect_calls: int


@dataclass
class _Instruction:
    operation: Operation
    offsets: tuple[int, ...]
    base: tuple[str, ...]


@dataclass
class _Code:
    """The numbered machine code, by the number of an access."""

    vector: dict[int, list[_Instruction]] = field(default_factory=dict)
    unnumbered: dict[str, list[_Instruction]] = field(default_factory=dict)  # by function
    scalar: set[int] = field(default_factory=set)
    order: dict[str, list[str]] = field(default_factory=dict)


def read_module(table: Path) -> Module:
    """Of a table and the machine code beside it. Raises `ToolchainError`."""
    told = json.loads(table.read_text())
    if told.get("version") != _VERSION:
        raise ToolchainError(f"{table.name} is a table of accesses of version {told.get('version')}")
    sites = tuple(_site(number, entry) for number, entry in enumerate(told["sites"]))
    code = _parse(table.with_suffix(".s").read_text())
    accesses, unresolved = _resolve(sites, code)
    return Module(
        identity=told["module"],
        kernels=tuple(plain(name) for name in told["kernels"]),
        sites=sites,
        accesses=tuple(accesses),
        order={plain(name): tuple(names) for name, names in code.order.items()},
        unresolved=tuple(unresolved),
        unrecorded=tuple(told["unknown"]),
        indirect_calls=told["indirect_calls"],
    )


def _site(number: int, entry: Mapping[str, object]) -> Site:
    def whole(name: str) -> int:
        value = entry[name]
        assert isinstance(value, int)
        return value

    chain = entry["chain"]
    assert isinstance(chain, list)
    return Site(
        number=number,
        function=plain(str(entry["function"])),
        kind=str(entry["kind"]),
        operation=str(entry["operation"]),
        space=_SPACES[whole("space")],
        width=whole("bytes"),
        base=whole("base"),
        offset=whole("offset"),
        written_as=whole("written_as"),
        moved=bool(entry["moved"]),
        chain=tuple(Frame(Path(at["file"]), int(at["line"]), int(at["column"]), at["function"]) for at in chain),
    )


def _parse(assembly: str) -> _Code:
    code = _Code()
    function, number = "", 0
    for line in assembly.splitlines():
        if label := _LABEL.match(line):
            if not label["name"].startswith("."):
                function, number = label["name"], 0
        elif location := _LOCATION.match(line):
            number = int(location["line"])
        elif (found := _INSTRUCTION.match(line)) and _SPILL not in line:
            _take(code, function, number - 1, found["name"], found["operands"])
    return code


def _take(code: _Code, function: str, number: int, name: str, operands: str) -> None:
    if _SCALAR_LOAD.match(name) and number >= 0:
        code.scalar.add(number)
    known = operation(name, bool(_RETURNS.search(operands)))
    if known is None:
        return
    code.order.setdefault(function, []).append(name)
    instruction = _Instruction(known, offsets(operands, known), addressed_by(operands, known))
    if number >= 0:
        code.vector.setdefault(number, []).append(instruction)
    else:
        code.unnumbered.setdefault(plain(function), []).append(instruction)


def _resolve(sites: Sequence[Site], code: _Code) -> tuple[list[MachineAccess], list[Site]]:
    accesses: list[MachineAccess] = []
    own = {site.number: _own(site, code) for site in sites}
    waiting = [site for site in sites if not own[site.number] and site.written_as not in code.scalar]
    unresolved: list[Site] = []
    for site in sites:
        instructions = own[site.number]
        if not instructions:
            continue
        width = sum(one.operation.width_in_all for one in instructions)
        if width == site.width or site.kind == "atomic":
            found = _divided(site, instructions)
        elif width > site.width and len(instructions) == 1:
            found = _merged(site, instructions[0], waiting)
        else:
            found = None
        if found is None:
            unresolved.append(site)
        else:
            accesses += found
    accesses += _of_no_number(waiting, code)
    return accesses, [*unresolved, *waiting]


def _own(site: Site, code: _Code) -> list[_Instruction]:
    """Instructions of the site's number, kind and memory; a flat access may have become a narrower one."""
    spaces = tuple(MemorySpace) if site.space is MemorySpace.MIXED else (site.space, MemorySpace.MIXED)
    found = code.vector.get(site.written_as, ())
    return [one for one in found if one.operation.access in _KINDS[site.kind] and one.operation.space in spaces]


def _divided(site: Site, instructions: Sequence[_Instruction]) -> list[MachineAccess] | None:
    """An access that became as many instructions as it takes, which lie side by side."""
    if len({one.base for one in instructions}) != 1:
        return None
    lowest = min(offset for one in instructions for offset in one.offsets)
    found = [
        MachineAccess(site, one.operation, tuple(Part(offset - lowest, one.operation.width) for offset in one.offsets))
        for one in instructions
    ]
    parts = sorted((part.displacement, part.width) for one in found for part in one.parts)
    tiled = all(end == begin for end, begin in zip(_ends(parts), (p[0] for p in parts[1:]), strict=False))
    return found if tiled or site.kind == "atomic" else None


def _ends(parts: Sequence[tuple[int, int]]) -> Iterator[int]:
    return (begin + width for begin, width in parts)


def _merged(site: Site, instruction: _Instruction, waiting: list[Site]) -> list[MachineAccess] | None:
    """An instruction that also does what accesses beside it did, which have none of their own; takes these away."""
    like = [one for one in waiting if _goes_with(one, site)]
    known = instruction.operation
    taken = _pair(site, instruction, like) if known.places == 2 else _row(site, known.width, like)
    if taken is None:
        return None
    for one in taken:
        waiting.remove(one)
    starts = sorted(one.offset - site.offset for one in (site, *taken))
    parts = (
        tuple(Part(start, known.width) for start in starts) if known.places == 2 else (Part(starts[0], known.width),)
    )
    return [MachineAccess(site, known, parts)]


def _of_no_number(waiting: list[Site], code: _Code) -> list[MachineAccess]:
    """Instructions into which several accesses were merged: since LLVM 22 these have the number of none.

    Takes what it finds from `waiting`, where instructions and accesses on one base come out even: from the lowest
    offset on there is one way to part the accesses.
    """
    found: list[MachineAccess] = []
    left = {function: list(instructions) for function, instructions in code.unnumbered.items()}
    groups: dict[tuple[object, ...], list[Site]] = {}
    for site in waiting:
        groups.setdefault((site.function, site.kind, site.space, site.base), []).append(site)
    for (function, *_), sites in groups.items():
        accesses: list[MachineAccess] = []
        instructions = list(left.get(str(function), ()))
        rest = sorted(sites, key=lambda site: site.offset)
        while rest:
            first = rest.pop(0)
            fitting = ((one, _merged(first, one, rest)) for one in instructions if _may_be(first, one))
            instruction, merged = next(((one, to) for one, to in fitting if to is not None), (None, None))
            if instruction is None or merged is None:
                break
            instructions.remove(instruction)
            accesses += merged
        else:
            left[str(function)] = instructions
            found += accesses
            waiting[:] = [site for site in waiting if site not in sites]
    return found


def _may_be(site: Site, instruction: _Instruction) -> bool:
    known = instruction.operation
    return (
        known.access in _KINDS[site.kind]
        and known.space in (site.space, MemorySpace.MIXED)
        and known.width_in_all > site.width
    )


def _goes_with(one: Site, site: Site) -> bool:
    return (one.function, one.kind, one.space, one.base) == (site.function, site.kind, site.space, site.base)


def _pair(site: Site, instruction: _Instruction, like: Sequence[Site]) -> list[Site] | None:
    if site.width != instruction.operation.width:
        return None
    distance = abs(instruction.offsets[1] - instruction.offsets[0])
    for one in like:
        if one.width == site.width and abs(one.offset - site.offset) == distance:
            return [one]
    return None


def _row(site: Site, width: int, like: Sequence[Site]) -> list[Site] | None:
    """The accesses that, with this one, lie side by side and fill `width`."""
    taken: list[Site] = []
    begin, end = site.offset, site.offset + site.width
    while end - begin < width:
        after = next((one for one in like if one.offset == end and one not in taken), None)
        before = next((one for one in like if one.offset + one.width == begin and one not in taken), None)
        one = after or before
        if one is None:
            return None
        taken.append(one)
        begin, end = min(begin, one.offset), max(end, one.offset + one.width)
    return taken if end - begin == width else None
