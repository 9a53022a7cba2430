"""Sums, differences and products of signed numbers from memory, which the language leaves undefined beyond their range.

What the original makes of one promises nothing. The rewritten operation wraps as before, unless the runtime asks (as in
`rankings`): then the sign of what wrapped and is compared is the other one, so that all that depends on it shows.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from intelliperf.emulator.ir.module import Function
from intelliperf.emulator.ir.rankings import ASKED
from intelliperf.emulator.ir.text import NAME, without_attachments

OVERFLOWING = frozenset(("add", "sub", "mul"))
_SIGNED = re.compile(r"(add|sub|mul) (?:nuw )?nsw (i32|i64) ([^,]+), ([^,]+)$")
_VALUE = re.compile(rf"%{NAME}")
_COMPARING = re.compile(r"^(?:%\S+ = )?(?:icmp |(?:tail )?call .*@llvm\.[su](?:min|max)\.)")
_MADE_OF = frozenset(
    ("phi", "select", "freeze", "add", "sub", "mul", "sext", "zext", "trunc", "shl", "call", "and", "or", "xor")
)
_CALLED = re.compile(r"@(llvm\.s(?:add|sub|mul)\.with\.overflow\.(i32|i64))\(")
_SIGN = {"i32": -(1 << 31), "i64": -(1 << 63)}


class Overflows:
    """Of one function: the results of such operations."""

    def __init__(self, function: Function) -> None:
        self._made_of: dict[str, list[str]] = {}
        loaded: list[str] = []
        signed: list[str] = []
        compared: set[str] = set()  # sums that are only stored are alike in any order, wrapped or not
        for one in (one for block in function.blocks for one in block.instructions if one.result is not None):
            text = without_attachments(one.text).strip()
            if _COMPARING.match(text):
                compared |= set(_VALUE.findall(text))
            if one.opcode == "load":
                loaded.append(one.result or "")
            elif one.opcode in _MADE_OF:
                for name in set(_VALUE.findall(text)) - {one.result}:
                    self._made_of.setdefault(name, []).append(one.result or "")
                if _SIGNED.search(text) and '"' not in text:
                    signed.append(one.result or "")
        reached = self._reached(loaded)
        self.found = frozenset(name for name in signed if name in reached and name in compared)

    def _reached(self, names: list[str]) -> set[str]:
        """What these go into; an operation of a loop's own counter alone is none of it."""
        seen = set(names)
        pending = list(names)
        while pending:
            for user in self._made_of.get(pending.pop(), ()):
                if user not in seen:
                    seen.add(user)
                    pending.append(user)
        return seen

    @property
    def beginning(self) -> list[str]:
        """What the function begins with."""
        if not self.found:
            return []
        return [
            f"  %simt.overflow = load i8, ptr {ASKED}, align 1",
            "  %simt.overflows = icmp ne i8 %simt.overflow, 0",
        ]

    def rewritten(self, result: str | None, text: str) -> list[str]:
        """In place of the operation."""
        operation = _SIGNED.search(text.strip())
        if operation is None or result not in self.found:
            return [text]
        name, kind, first, second = operation.groups()
        made, wrapped, beyond, asked, other = (
            f"%simt.{word}{len(result)}.{result[1:]}" for word in ("made", "wrapped", "beyond", "asked", "other")
        )
        return [
            f"  {made} = call {{ {kind}, i1 }} @llvm.s{name}.with.overflow.{kind}({kind} {first}, {kind} {second})",
            f"  {wrapped} = extractvalue {{ {kind}, i1 }} {made}, 0",
            f"  {beyond} = extractvalue {{ {kind}, i1 }} {made}, 1",
            f"  {asked} = and i1 {beyond}, %simt.overflows",
            f"  {other} = xor {kind} {wrapped}, {_SIGN[kind]}",
            f"  {result} = select i1 {asked}, {kind} {other}, {kind} {wrapped}",
        ]


def declarations(bodies: Iterable[str], declared: Container[str]) -> list[str]:
    """Of what the rewritten operations call, but for what the module declares itself."""
    called = {match[1]: match[2] for line in bodies if (match := _CALLED.search(line)) is not None}
    return [
        f"declare {{ {kind}, i1 }} @{name}({kind}, {kind})" for name, kind in called.items() if name not in declared
    ]
