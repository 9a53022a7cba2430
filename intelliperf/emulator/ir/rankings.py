"""Compares by which a function finds the largest or the smallest of several numbers, or puts them in order.

With NaN among them such a compare is false, and what comes of it depends on the order in which they meet. The rewritten
compare is as before, unless the runtime asks for NaN to win, or to lose, every time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cached_property

from intelliperf.emulator.ir.addresses import Addresses
from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.text import NAME, pointer_operand, split_top, without_attachments

ASKED = "@__simt_nan_rank"
_COMPARE = re.compile(r"fcmp (?:[a-z]+ )*?(ogt|oge|olt|ole) (float|double|half|bfloat) ([^,]+), ([^,]+)$")
_ANY_COMPARE = re.compile(r"fcmp (?:[a-z]+ )*?[ou](?:g|l)[te] \w+ ([^,]+), ([^,]+)$")
_VALUE = re.compile(rf"%{NAME}")
_SELECT = re.compile(rf"select (?:[a-z]+ )*?i1 (%{NAME}), (\w+) ([^,]+), \w+ ([^,]+)$")
_BRANCH = re.compile(rf"br i1 (%{NAME}), label %({NAME}), label %({NAME})")
_INCOMING = re.compile(rf"\[ ([^,]+), %({NAME}) \]")
_CONDITIONS = frozenset(("and", "or", "xor", "freeze"))
# What a number passes through on its way from memory, also to other lanes and back.
_PASSING = frozenset(("phi", "select", "freeze", "bitcast", "zext", "trunc", "shl", "lshr", "or", "call"))
_CALCULATING = frozenset(("fneg", "fadd", "fsub", "fmul", "fdiv", "fpext", "fptrunc", "extractelement"))
_STORING = frozenset(("store", "atomicrmw", "cmpxchg"))
_RUNNING = frozenset(("phi", "select"))
_NEAR = 2  # branches away from the compare


class Rankings:
    """Of one function: the results of such compares, each with whether the first of the two is taken if it holds."""

    def __init__(self, function: Function, addresses: Addresses, following: Sequence[Sequence[int]]) -> None:
        self._blocks = function.blocks
        self._addresses = addresses
        self._following = following
        self._texts = {
            one.result or "": without_attachments(one.text).strip()
            for block in function.blocks
            for one in block.instructions
        }
        self._opcodes = {one.result or "": one.opcode for block in function.blocks for one in block.instructions}
        self.found: dict[str, bool] = {}
        for index, block in enumerate(function.blocks):
            for one in block.instructions:
                compare = _COMPARE.search(self._texts.get(one.result or "", "")) if one.opcode == "fcmp" else None
                if compare and one.result is not None:
                    taken = self._taken(one.result, compare[3], compare[4], index)
                    if taken is not None and self._ranks(compare[3], compare[4]):
                        self.found[one.result] = taken

    def _ranks(self, first: str, second: str) -> bool:
        """Numbers of one origin, neither of which was let in only by comparing it before."""
        if not (first.startswith("%") and second.startswith("%")):
            return False
        if self._walks(first, second) or self._walks(second, first):
            return False
        return bool(self._origins(first) & self._origins(second)) and not any(map(self._guarded, (first, second)))

    def _walks(self, running: str, other: str) -> bool:
        """Does one thread go through numbers that nobody writes here, one after another?

        It meets them in the program's own order, and what it makes of NaN after the first is its answer.
        """
        if self._opcodes.get(running) not in _RUNNING or self._opcodes.get(other) in _RUNNING:
            return False
        passed = self._before(other, lambda opcode: opcode in _PASSING | _CALCULATING)
        if any(self._opcodes.get(name) == "call" for name in passed):
            return False
        origins = self._origins(other)
        return bool(origins) and not origins & self._written

    def _taken(self, result: str, first: str, second: str, index: int) -> bool | None:
        """Does what follows keep the first number where the compare holds? None: it keeps neither of them."""
        told = self._texts[result].split()
        greater = any(word in ("ogt", "oge") for word in told)
        for name in self._conditions(result):
            for user in self._users.get(name, ()):
                text = without_attachments(user.text)
                select = _SELECT.search(text)
                if select and select[1] == name:
                    if first == select[3] or second == select[4]:
                        return True
                    if second == select[3] or first == select[4]:
                        return False
                    if self._leads_to(user.result, first, second):
                        return greater
                branch = _BRANCH.search(text)
                if branch and branch[1] == name:
                    stored = self._kept(branch[2], first, second, index)
                    if stored:
                        return stored[0] == first
        return None

    def _conditions(self, result: str) -> list[str]:
        """The compare and conditions that are made of it."""
        found = [result]
        for name in found:
            for user in self._users.get(name, ()):
                select = _SELECT.search(without_attachments(user.text))
                condition = user.opcode in _CONDITIONS or (select is not None and select[2] == "i1")
                if condition and user.result is not None and user.result not in found:
                    found.append(user.result)
        return found

    def _kept(self, target: str, first: str, second: str, index: int) -> list[str]:
        """Which of the two the branch has stored, or makes a value from then on; best where it is taken."""
        near = [n for n in self._following[index] if self._blocks[n].label == target]
        near += [n for n in self._following[index] if n not in near]
        for _ in range(_NEAR - 1):
            near += [n for at in list(near) for n in self._following[at] if n not in near]
        ways = {self._blocks[n].label for n in (index, *near)}
        found: list[str] = []
        for number in near:
            for one in self._blocks[number].instructions:
                if one.opcode == "phi":
                    found += self._merges(one, first, second, ways)
                elif one.opcode == "store" and self._may_pass_by(index, number):
                    value = split_top(without_attachments(one.text).strip().removeprefix("store "))[0].split()[-1]
                    found += [value] if value in (first, second) else []
        return found

    def _merges(self, phi: Instruction, first: str, second: str, ways: Container[str | None]) -> list[str]:
        """As `_kept`, of a value that differs by the way that was taken."""
        values = {value for value, label in _INCOMING.findall(phi.text) if label in ways}
        if len(values) < 2:
            return []
        kept = [value for value in (first, second) if value in values]
        return kept or ([first] if self._leads_to(phi.result, first, second) else [])

    def _may_pass_by(self, index: int, number: int) -> bool:
        """Does a way lead from the branch to the end, or back to the branch, without that block?"""
        seen = [n for n in dict.fromkeys(self._following[index]) if n != number]
        for at in seen:
            seen += [n for n in self._following[at] if n not in seen and n != number]
        return index in seen or any(not self._following[n] for n in seen)

    def _leads_to(self, result: str | None, first: str, second: str) -> bool:
        """Does it say where one of the two is loaded from?"""
        loaded = [name for name in (first, second) if self._opcodes.get(name) == "load"]
        return any(result in self._before(name, lambda _: True) for name in loaded)

    def _guarded(self, value: str) -> bool:
        """Does it begin as a constant, and become what it was compared with, each time?"""
        inner = self._before(value, lambda opcode: opcode in ("phi", "select"))
        web = {name for name in inner if self._opcodes.get(name) in ("phi", "select")}
        leaves = {leaf for name in web for leaf in self._merged(name)} - web
        constants = {leaf for leaf in leaves if not leaf.startswith("%")}
        others = leaves - constants
        return bool(constants) and all(self._partners.get(leaf, set()) & (web | constants) for leaf in others)

    def _merged(self, name: str) -> Iterable[str]:
        text = self._texts[name]
        if self._opcodes[name] == "phi":
            return [value for value, _ in _INCOMING.findall(text)]
        select = _SELECT.search(text)
        return select.groups()[2:] if select else ()

    def _origins(self, value: str) -> set[str]:
        """Where in memory its numbers come from."""
        passed = self._before(value, lambda opcode: opcode in _PASSING | _CALCULATING)
        loads = [self._texts[name] for name in passed if self._opcodes.get(name) == "load"]
        pointers = [pointer_operand(next(p for p in split_top(text) if p.startswith("ptr"))) for text in loads]
        return {self._addresses.base(self._addresses.resolve(pointer)[0]) for pointer in pointers}

    def _before(self, value: str, through: Callable[[str], bool]) -> set[str]:
        """What it is made of, through such instructions."""
        seen = {value}
        pending = [value]
        while pending:
            name = pending.pop()
            opcode = self._opcodes.get(name)
            if opcode is None or not through(opcode):
                continue
            for other in set(_VALUE.findall(self._texts[name])) - seen:
                seen.add(other)
                pending.append(other)
        return seen

    @cached_property
    def _users(self) -> dict[str, list[Instruction]]:
        users: dict[str, list[Instruction]] = {}
        for block in self._blocks:
            for one in block.instructions:
                for name in set(_VALUE.findall(one.text)) - {one.result}:
                    users.setdefault(name, []).append(one)
        return users

    @cached_property
    def _written(self) -> set[str]:
        """Where in memory the function stores."""
        known = []
        for one in (one for block in self._blocks for one in block.instructions if one.opcode in _STORING):
            parts = split_top(without_attachments(one.text).strip())
            part = parts[1] if one.opcode == "store" else parts[0]
            known.append(pointer_operand(part[part.index("ptr ") :]))
        return {self._addresses.base(self._addresses.resolve(pointer)[0]) for pointer in known}

    @cached_property
    def _partners(self) -> dict[str, set[str]]:
        """By number what it is compared with."""
        partners: dict[str, set[str]] = {}
        for text in self._texts.values():
            compare = _ANY_COMPARE.search(text)
            if compare:
                partners.setdefault(compare[1], set()).add(compare[2])
                partners.setdefault(compare[2], set()).add(compare[1])
        return partners

    @property
    def beginning(self) -> list[str]:
        """What the function begins with."""
        if not self.found:
            return []
        return [
            f"  %simt.rank = load i8, ptr {ASKED}, align 1",
            "  %simt.ranked = icmp ne i8 %simt.rank, 0",
            "  %simt.wins = icmp eq i8 %simt.rank, 1",
        ]

    def rewritten(self, result: str, text: str) -> list[str]:
        """In place of the compare: where exactly one is NaN, that one is taken, or the other."""
        compare = _COMPARE.search(text.strip())
        if compare is None or result not in self.found:
            return [text]
        kind, first, second = compare.groups()[1:]
        names = {word: f"%simt.{word}{len(result)}.{result[1:]}" for word in ("plain", "one", "two", "nan", "side")}
        if '"' in result:
            return [text]
        mine, other = (names["one"], names["two"]) if self.found[result] else (names["two"], names["one"])
        return [
            text.replace(f"{result} =", f"{names['plain']} =", 1),
            f"  {names['one']} = fcmp uno {kind} {first}, {first}",
            f"  {names['two']} = fcmp uno {kind} {second}, {second}",
            f"  {names['side']} = select i1 %simt.wins, i1 {mine}, i1 {other}",
            f"  {names['nan']} = xor i1 {names['one']}, {names['two']}",
            f"  {names['nan']}.asked = and i1 {names['nan']}, %simt.ranked",
            f"  {result} = select i1 {names['nan']}.asked, i1 {names['side']}, i1 {names['plain']}",
        ]


def definition() -> str:
    """Of what the runtime asks for: 0 nothing, 1 NaN wins, 2 it loses."""
    return f"{ASKED} = global i8 0"
