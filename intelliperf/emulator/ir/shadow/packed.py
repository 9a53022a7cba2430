"""Integers that hold the bits of several numbers: two halves in 32 bits, two floats in 64, a float beside an index.

A piece is a number's place in such an integer: its first bit and its width. Pieces are followed through shifts,
disjoint unions, extensions and whatever hands integers on, from where numbers are put together to where memory takes
them, and from where memory gives them to where they are taken apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.shadow.carriers import COLLECTIVE, body_of, moved_by
from intelliperf.emulator.ir.shadow.values import NOTHING, Shadow
from intelliperf.emulator.ir.text import NAME, pointer_operand, split_top

if TYPE_CHECKING:
    from intelliperf.emulator.ir.shadow.state import State

Piece = tuple[int, int]  # first bit, width
_INTEGER = re.compile(r"i(32|64)$")
_KIND = r"(i\d+|half|bfloat|float|double|<\d+ x \w+>)"
_CONVERTED = re.compile(rf"(?:zext|trunc|bitcast) (?:nneg |nuw |nsw )*{_KIND} (%{NAME}) to {_KIND}$")
_VECTOR = re.compile(r"<(\d+) x (half|bfloat|float)>$")
_WIDTHS = {"half": 16, "bfloat": 16, "float": 32}
_LOAD = re.compile(r"load (?:atomic |volatile )*(i16|i32|i64), ")
_STORE = re.compile(rf"store (?:atomic |volatile )*(i32|i64) (%{NAME}), ")
_REFERENCE = re.compile(rf"%{NAME}")
_MOST_PIECES = 4
_HALVES_OF_64 = {(0, 32), (32, 32)}


@dataclass(frozen=True)
class _Edge:
    """An integer that is made from another: how a piece of one is called in the other; None where it has none there."""

    source: str
    target: str
    shift: int  # bits by which what was in the source lies further up in the target
    most: int  # bits that both have
    least: int = 0  # bits below are left out
    extends: bool = False  # then the source as a whole is a piece, whose shadow is its own
    cuts: bool = False  # likewise the target

    def up(self, piece: Piece) -> Piece | None:
        return None if self.cuts and piece == (0, self.most) else self._moved(piece, self.shift)

    def down(self, piece: Piece) -> Piece | None:
        return None if self.holds(piece) else self._moved(piece, -self.shift)

    def holds(self, piece: Piece) -> bool:
        """Is that piece of the target the source as a whole?"""
        return self.extends and piece == (0, self.most)

    def _moved(self, piece: Piece, by: int) -> Piece | None:
        at = piece[0] + by
        inside = self.least <= min(at, piece[0]) and max(at, piece[0]) + piece[1] <= self.most
        return (at, piece[1]) if inside else None


class Packed:
    """The pieces of one function: which are taken out of each integer, and which are put into it."""

    def __init__(self, function: Function, carriers: set[str]) -> None:
        instructions = [i for block in function.blocks for i in block.instructions]
        self._into: dict[str, list[_Edge]] = defaultdict(list)  # by target
        wanted: dict[str, set[Piece]] = defaultdict(set)
        given: dict[str, set[Piece]] = defaultdict(set)
        numbers: dict[str, set[Piece]] = defaultdict(set)
        conversions = [found for i in instructions if (found := _CONVERTED.match(body_of(i)))]
        self.read_as_numbers = {found[2] for found in conversions if found[3] in ("half", "bfloat", "float", "double")}
        stored: list[str] = []
        loaded: set[str] = set()
        for i in instructions:
            body = body_of(i)
            for edge in _edges(i, body):
                self._into[edge.target].append(edge)
            _seed(i, body, carriers, wanted, given)
            if i.opcode == "trunc" and i.result in self.read_as_numbers and (found := _CONVERTED.match(body)):
                numbers[found[2]].add((0, int(found[3][1:])))
            elif i.opcode == "bitcast" and (found := _CONVERTED.match(body)) and (vector := _VECTOR.match(found[3])):
                numbers[found[2]] |= _lanes(vector)
            if (found := _LOAD.match(body)) and found[1] == "i64":
                loaded.add(i.result or "")
            elif found := _STORE.match(body):
                stored.append(found[2])
        edges = [edge for listed in self._into.values() for edge in listed]
        _spread(numbers, edges, lambda e: (e.target, e.source, e.down))
        for name, pieces in [*numbers.items(), *((name, _HALVES_OF_64) for name in loaded)]:
            given[name] |= pieces
        _spread(given, edges, lambda e: (e.source, e.target, e.up))
        self._numbers: Mapping[str, set[Piece]] = numbers  # wanted as numbers, not only to be copied
        self.given: Mapping[str, set[Piece]] = given
        for name in stored:
            wanted[name] |= given.get(name, set()) if name not in loaded else set()
        _spread(wanted, edges, lambda e: (e.target, e.source, e.down))
        self.wanted: Mapping[str, set[Piece]] = {name: pieces for name, pieces in wanted.items() if pieces}
        self.known: dict[tuple[str, Piece], Shadow] = {}

    def of(self, name: str, piece: Piece) -> Shadow | None:
        """Of an integer that was met before."""
        return self.known.get((name, piece))

    def follow(self, state: State, i: Instruction) -> None:
        """Behind an instruction: the pieces of its result that somebody takes, or memory gets."""
        body, result = body_of(i), i.result or ""
        if stored := _STORE.match(body):
            self._store(state, body, stored[1], stored[2])
        whole = _LOAD.match(body)
        if whole and result in self.read_as_numbers and result in state.has:
            number = state.of_bits(whole[1])
            state.has[result] = [state.load(_place(whole, body), number, _as_number(state, whole[1], result, number))]
        for piece in sorted(self.wanted.get(result, ())):
            shadow = self._piece(state, i, body, piece)
            if shadow is not None:
                self.known[result, piece] = shadow
        found = _CONVERTED.match(body)
        if not found:
            return
        kind, source, target = found[1], found[2], found[3]
        vector = _VECTOR.match(target)
        if i.opcode == "trunc" and target in ("i16", "i32"):
            known = self.of(source, (0, int(target[1:])))
            if known is not None:
                state.has[result] = [known]
        elif i.opcode == "bitcast" and vector and _INTEGER.match(kind):
            width = _WIDTHS[vector[2]]
            lanes = [self.of(source, (n * width, width)) for n in range(int(vector[1]))]
            if any(lane is not None for lane in lanes):
                state.has[result] = [
                    known_number(state, vector[2], state.element(target, result, n), lane or NOTHING)
                    for n, lane in enumerate(lanes)
                ]

    def _piece(self, state: State, i: Instruction, body: str, piece: Piece) -> Shadow | None:
        loaded = _LOAD.match(body)
        if loaded:
            pointer = _place(loaded, body)
            at = state.emit.make(f"getelementptr i8, ptr {pointer}, i64 {piece[0] // 8}") if piece[0] else pointer
            bits = _bits(state, loaded[1], i.result or "", piece)
            if piece not in self._numbers.get(i.result or "", ()):
                return state.load_bits(at, f"i{piece[1]}", bits)
            number = state.of_bits(f"i{piece[1]}")
            return state.load(at, number, _as_number(state, f"i{piece[1]}", bits, number))
        converted = _CONVERTED.match(body)
        vector = _VECTOR.match(converted[1]) if converted else None
        if converted and vector and converted[2] in state.has:
            width = _WIDTHS[vector[2]]
            return state.has[converted[2]][piece[0] // width] if piece[1] == width else None
        if i.opcode == "select":
            return self._chosen(state, body, piece)
        for edge in self._into.get(i.result or "", ()):
            if edge.holds(piece):
                return state.has[edge.source][0] if edge.source in state.has else None
            below = edge.down(piece)
            found = self.of(edge.source, below) if below is not None else None
            if found is not None:
                return found
        return None

    def _chosen(self, state: State, body: str, piece: Piece) -> Shadow | None:
        condition, left, right = split_top(body[7:])
        how, by = condition.split()[0], condition.split()[-1]
        sides = [self.of(one.split()[-1], piece) for one in (left, right)]
        if how != "i1" or all(side is None for side in sides):
            return None
        return state.emit.choose(by, *(side or NOTHING for side in sides))

    def _store(self, state: State, body: str, kind: str, value: str) -> None:
        pointer = pointer_operand(split_top(body)[1])
        for piece in sorted(self.given.get(value, ())):
            shadow = self.of(value, piece)
            if shadow is None or piece == (0, int(kind[1:])):
                continue
            at = state.emit.make(f"getelementptr i8, ptr {pointer}, i64 {piece[0] // 8}") if piece[0] else pointer
            bits = _bits(state, kind, value, piece)
            unknown = state.emit.make(f"icmp eq i64 {shadow.a}, -1")
            state.branch_unless(unknown, partial(state.store, at, f"i{piece[1]}", bits, shadow))


def known_number(state: State, kind: str, value: str, shadow: Shadow) -> Shadow:
    """What bits stand for; where nothing is known of them, the number itself."""
    return state.call("known", f"{state.parts(shadow)}, double {state.double(kind, value)}")


def _place(loaded: re.Match[str], body: str) -> str:
    return pointer_operand(split_top(body[loaded.end() :])[0])


def _as_number(state: State, kind: str, bits: str, number: str) -> str:
    return state.emit.make(f"bitcast {kind} {bits} to {number}")


def _bits(state: State, kind: str, value: str, piece: Piece) -> str:
    low = state.emit.make(f"lshr {kind} {value}, {piece[0]}") if piece[0] else value
    return state.emit.make(f"trunc {kind} {low} to i{piece[1]}")


def _edges(i: Instruction, body: str) -> Iterator[_Edge]:
    result = i.result or ""
    if i.opcode in ("zext", "trunc"):
        found = _CONVERTED.match(body)
        if found and found[1].startswith("i") and found[3].startswith("i"):
            both = min(int(found[1][1:]), int(found[3][1:]))
            yield _Edge(found[2], result, 0, both, extends=i.opcode == "zext", cuts=i.opcode == "trunc")
        return
    kind, values = _integers(i, body)
    if kind is None:
        return
    mask = int(body.rpartition(" ")[2]) if i.opcode == "and" else -1
    least = (mask & -mask).bit_length() - 1
    most = min(kind, mask.bit_length()) if mask > 0 else kind
    for value in values:
        yield _Edge(value, result, moved_by(i) or 0, most, least)


def _integers(i: Instruction, body: str) -> tuple[int | None, Iterable[str]]:
    """The width of an integer and the integers of that width that it is, or may be."""
    if i.opcode in ("lshr", "shl", "or", "and"):
        found = re.search(r" i(32|64) (.*)$", body)
        if moved_by(i) is None or not found:
            return None, ()
        return int(found[1]), _REFERENCE.findall(found[2])
    if i.opcode in ("phi", "freeze"):
        found = re.match(r"(?:phi|freeze) i(32|64) (.*)$", body)
        listed = re.findall(rf"\[ (%{NAME}), ", found[2]) if found and i.opcode == "phi" else None
        return (int(found[1]), listed or _REFERENCE.findall(found[2])[:1]) if found else (None, ())
    if i.opcode == "select":
        found = re.match(r"i(32|64) ", split_top(body[7:])[1])
        return (int(found[1]), _REFERENCE.findall(" ".join(split_top(body[7:])[1:]))) if found else (None, ())
    return None, ()


def _seed(
    i: Instruction, body: str, carriers: set[str], wanted: dict[str, set[Piece]], given: dict[str, set[Piece]]
) -> None:
    found = _CONVERTED.match(body)
    if not found or COLLECTIVE in body:
        return
    kind, source, target = found[1], found[2], found[3]
    if i.opcode == "trunc" and target in ("i16", "i32") and i.result in carriers:
        wanted[source].add((0, int(target[1:])))
    elif i.opcode == "zext" and kind in ("i16", "i32") and source in carriers:
        given[i.result or ""].add((0, int(kind[1:])))
    elif i.opcode == "bitcast":
        inside, outside = _VECTOR.match(target), _VECTOR.match(kind)
        if inside and _INTEGER.match(kind):
            wanted[source] |= _lanes(inside)
        elif outside and _INTEGER.match(target):
            given[i.result or ""] |= _lanes(outside)


def _lanes(vector: re.Match[str]) -> set[Piece]:
    width = _WIDTHS[vector[2]]
    return {(n * width, width) for n in range(int(vector[1]))}


def _spread(
    pieces: dict[str, set[Piece]],
    edges: Iterable[_Edge],
    along: Callable[[_Edge], tuple[str, str, Callable[[Piece], Piece | None]]],
) -> None:
    after: dict[str, list[tuple[str, Callable[[Piece], Piece | None]]]] = defaultdict(list)
    for edge in edges:
        source, target, moved = along(edge)
        after[source].append((target, moved))
    pending = [(name, piece) for name, held in pieces.items() for piece in held]
    while pending:
        name, piece = pending.pop()
        for target, moved in after.get(name, ()):
            there = moved(piece)
            if there is not None and there not in pieces[target] and len(pieces[target]) < _MOST_PIECES:
                pieces[target].add(there)
                pending.append((target, there))
