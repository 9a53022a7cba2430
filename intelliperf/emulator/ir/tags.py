"""Where an access stands in the source, kept through the optimiser.

LLVM drops the debug location of what it moves to another block (hoisted loads, sunk stores) or makes of
two (merged branches). Scoped alias metadata survives all of that: it is united where accesses are, handed
on to the parts of a copy, and kept by promotion out of loops. So every access of the unoptimised module is
given an alias scope that nothing else names (alias analysis looks at scopes only where a `noalias` list has
their domain) and that tells its place; `!annotation` stands in where an instruction is speculated, which
drops alias metadata but not that. Afterwards accesses without a line get it back.

The inliner clones scopes, so that a tag tells the place within its own function; where that was inlined to
is read from the function's other instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.module import Function, Instruction, Module
from intelliperf.emulator.ir.text import DEBUG_LOCATION, without_debug_location

Frames = list[dict[str, Any]]  # file, line, column, function; innermost first

_PREFIX = "simt.at."
_ACCESS = re.compile(r"  (?:%\S+ = )?(?:load|store|atomicrmw|cmpxchg|(?:tail )?call void @llvm\.mem\w+\.)")
_OWN_TAGS = re.compile(r", !(?:alias\.scope|annotation) !")
_NODE = re.compile(r"^!(\d+) = (?:distinct )?(.*)$", re.MULTILINE)
_TAG = re.compile(rf'"{re.escape(_PREFIX)}(\d+)"')
_SCOPES = re.compile(r", !alias\.scope !(\d+)")
_ANNOTATION = re.compile(r", !annotation !(\d+)")
_REFERENCE = re.compile(r"!(\d+)")
_OF_CALLER = 0  # the tag of an atomic in a header without debug information: it has the place of the call
# By the optimiser: one that has lost its tag is two merged from different calls.
_NEVER_MADE = re.compile(r"  (?:%\S+ = )?(?:atomicrmw|cmpxchg) ")
_OPCODES = frozenset(("load", "store", "atomicrmw", "cmpxchg"))


@dataclass(frozen=True)
class Tagged:
    """A module whose accesses tell their places, and the places by tag."""

    text: str
    places: Mapping[int, Frames]


def tag_accesses(ir: str) -> Tagged:
    """Tags the accesses of an unoptimised module that have a debug location."""
    metadata = {int(number): body for number, body in _NODE.findall(ir)}
    debug = DebugInfo(metadata)
    domain = max(metadata, default=0) + 1
    nodes = [f'!{domain} = distinct !{{!{domain}, !"simt"}}']
    tags: dict[int, int] = {}  # by location: the number of the scope
    lines = ir.split("\n")
    for index, line in enumerate(lines):
        if not _ACCESS.match(line):
            continue
        found = DEBUG_LOCATION.search(line)
        if _OWN_TAGS.search(line) or (found is None and not _NEVER_MADE.match(line)):
            continue
        location = int(found[1]) if found else _OF_CALLER
        scope = tags.get(location)
        if scope is None:
            scope = tags[location] = domain + 1 + 3 * len(tags)
            name = f'!"{_PREFIX}{location}"'
            nodes += [
                f"!{scope} = distinct !{{!{scope}, !{domain}, {name}}}",
                f"!{scope + 1} = !{{!{scope}}}",
                f"!{scope + 2} = !{{{name}}}",
            ]
        lines[index] = f"{line}, !alias.scope !{scope + 1}, !annotation !{scope + 2}"
    if not tags:
        return Tagged(ir, {})
    return Tagged("\n".join([*lines, *nodes, ""]), {location: debug.locations(location) for location in tags})


@dataclass
class Restored:
    """The locations that accesses got back, and those that share one access with others.

    `also[number]`: further places of the accesses with the location `number`; empty if it is one of several
    places and the others are not known.
    """

    also: dict[int | None, list[Frames]] = field(default_factory=dict)


def restore_locations(module: Module, debug: DebugInfo, places: Mapping[int, Frames]) -> Restored:
    """Gives accesses without a line the location that their tags tell. Changes the module's instructions."""
    restored = Restored()
    if places:
        for function in module.functions:
            _Restoration(function, module, debug, places, restored).run()
    return restored


class _Restoration:
    def __init__(
        self, function: Function, module: Module, debug: DebugInfo, places: Mapping[int, Frames], restored: Restored
    ) -> None:
        self._function = function
        self._metadata = module.metadata
        self._debug = debug
        self._places = places
        self._restored = restored
        self._made: dict[tuple[tuple[int, ...], int | None, int | None], int] = {}
        self._instances: dict[tuple[str, str], dict[tuple[tuple[str, int, int], ...], Frames]] | None = None
        self._by_domain: dict[int, set[int]] = {}

    def run(self) -> None:
        for instruction in self._accesses():
            tags, domain = self._tags_of(instruction)
            found = DEBUG_LOCATION.search(instruction.text)
            location = int(found[1]) if found else None
            usable = location is not None and self._line(location) > 0
            places = tuple(tag for tag in tags if tag != _OF_CALLER)
            if not tags and location is not None and usable and _NEVER_MADE.match(instruction.text):
                number = self._debug.add(self._debug.locations(location))
                self._restored.also[number] = []
            elif not places or (usable and len(places) == 1):
                continue
            else:
                number = self._location(places, domain, location if usable else None)
            instruction.text = f"{without_debug_location(instruction.text)}, !dbg !{number}"

    def _accesses(self) -> Iterator[Instruction]:
        for block in self._function.blocks:
            for instruction in block.instructions:
                opcode = instruction.opcode
                if opcode in _OPCODES or (opcode == "call" and "@llvm.mem" in instruction.text):
                    yield instruction

    def _tags_of(self, instruction: Instruction) -> tuple[list[int], int | None]:
        """The places that the instruction stands for, and the domain of its scopes."""
        tags: dict[int, None] = {}
        domain = None
        found = _SCOPES.search(instruction.text)
        for scope in _REFERENCE.findall(self._metadata.get(int(found[1]), "")) if found else ():
            body = self._metadata.get(int(scope), "")
            tag = _TAG.search(body)
            if tag and int(tag[1]) in self._places:
                tags[int(tag[1])] = None
                domain = int(_REFERENCE.findall(body)[1])
        if not tags and (found := _ANNOTATION.search(instruction.text)):
            told = _TAG.findall(self._metadata.get(int(found[1]), ""))
            tags.update((int(tag), None) for tag in told if int(tag) in self._places)
        return list(tags), domain

    def _line(self, location: int) -> int:
        chain = self._debug.locations(location)
        return int(chain[0]["line"]) if chain else 0

    def _location(self, tags: tuple[int, ...], domain: int | None, known: int | None) -> int:
        """The number of a location for an access with these tags; one that exists or a new one."""
        key = (tags, domain, known)
        if key in self._made:
            return self._made[key]
        chains = [self._chain(tag, domain) for tag in tags]
        if known is not None:
            chain = self._debug.locations(known)
        else:
            chain = min(chains, key=lambda frames: (frames[0]["line"], frames[0]["column"]))
        number = self._debug.add(chain)
        lines = {(chain[0]["file"], chain[0]["line"])}
        for other in chains:
            if (place := (other[0]["file"], other[0]["line"])) not in lines:
                lines.add(place)
                self._restored.also.setdefault(number, []).append(other)
        self._made[key] = number
        return number

    def _chain(self, tag: int, domain: int | None) -> Frames:
        """The tag's place and, as far as it is certain, where its function was inlined to."""
        inner = self._places[tag][0]
        instances = self._inlined().get((inner["file"], inner["function"]), {})
        if len(instances) > 1 and domain is not None:
            near = [self._outer(number, inner) for number in self._by_domain.get(domain, ())]
            same = {_key(outer): outer for outer in near if outer is not None}
            instances = same or instances
        return [inner, *_common(list(instances.values()))]

    def _inlined(self) -> dict[tuple[str, str], dict[tuple[tuple[str, int, int], ...], Frames]]:
        """By file and function: the chains of calls through which it was inlined into this one."""
        if self._instances is None:
            self._instances = {}
            for number in self._locations():
                chain = self._debug.locations(number)
                for depth, frame in enumerate(chain):
                    outer = chain[depth + 1 :]
                    self._instances.setdefault((frame["file"], frame["function"]), {})[_key(outer)] = outer
        return self._instances

    def _locations(self) -> set[int]:
        """All debug locations of the function; notes those of accesses by the domain of their scopes."""
        numbers = set(self._function.recorded)
        for block in self._function.blocks:
            for instruction in block.instructions:
                found = DEBUG_LOCATION.search(instruction.text)
                if found:
                    numbers.add(int(found[1]))
        for instruction in self._accesses():
            found = DEBUG_LOCATION.search(instruction.text)
            _, domain = self._tags_of(instruction)
            if found and domain is not None:
                self._by_domain.setdefault(domain, set()).add(int(found[1]))
        return numbers

    def _outer(self, number: int, inner: Mapping[str, Any]) -> Frames | None:
        chain = self._debug.locations(number)
        for depth, frame in enumerate(chain):
            if (frame["file"], frame["function"]) == (inner["file"], inner["function"]):
                return chain[depth + 1 :]
        return None


def _key(frames: Frames) -> tuple[tuple[str, int, int], ...]:
    return tuple((frame["file"], frame["line"], frame["column"]) for frame in frames)


def _common(chains: Sequence[Frames]) -> Frames:
    """The frames at the outer end that all chains share."""
    if not chains:
        return []
    shared: Frames = []
    for frames in zip(*(reversed(chain) for chain in chains), strict=False):
        if any(_key([frame]) != _key([frames[0]]) for frame in frames):
            break
        shared.insert(0, frames[0])
    return shared
