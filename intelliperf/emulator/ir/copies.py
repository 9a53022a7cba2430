"""Parameters through which a kernel stores floats that it has loaded, as they are: a copy keeps all bits.

Signs of zeros and what a NaN holds are then part of the answer; after arithmetic they are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.text import NAME, without_attachments

_MOVING = frozenset(("phi", "select", "bitcast", "extractelement", "insertelement", "shufflevector", "freeze"))
_LEADING = frozenset(("getelementptr", "phi", "select", "addrspacecast"))
_VALUE = re.compile(rf"%{NAME}")
_POINTER = re.compile(rf"ptr (?:addrspace\(\d+\) )?([%@]{NAME})")
_STORE = re.compile(r"store (?:volatile )?(<\d+ x )?(\w+)>? (.*), ptr (?:addrspace\(\d+\) )?(.*?)(?:, align.*)?$")
_INCOMING = re.compile(rf"\[ (%{NAME}|@{NAME}|[^,\]]+), %{NAME} \]")
_HARMLESS = re.compile(r"@(?:llvm\.|__simt_)")
_FLOATS = frozenset(("float", "double", "half", "bfloat"))
_INTEGER = re.compile(r"i(?:8|16|32|64|128)")  # as which halves and vectors are moved


def copied(function: Function, parameters: Mapping[str, int]) -> list[int]:
    """Indices of parameters. `parameters`: by the name (with its %) that the function has for a pointer."""
    flow = _Flow(function, parameters)
    stored: dict[int, bool] = {}
    for instruction in flow.instructions:
        if instruction.opcode == "call" and not _HARMLESS.search(instruction.text):
            return []
        if instruction.opcode in ("atomicrmw", "cmpxchg"):
            stored.update((index, False) for index in flow.roots(instruction.text) or parameters.values())
        found = _STORE.search(without_attachments(instruction.text)) if instruction.opcode == "store" else None
        if found is None or not (found[2] in _FLOATS or _INTEGER.fullmatch(found[2])):
            continue
        moved, roots = flow.is_moved(found[3]), flow.roots(f"ptr {found[4]}")
        if not moved and not roots and found[2] in _FLOATS:
            return []  # what is loaded later may be that
        stored.update((index, moved and stored.get(index, True)) for index in roots)
    return sorted(index for index, moved in stored.items() if moved)


class _Flow:
    """Where the pointers and the values of a function come from."""

    def __init__(self, function: Function, parameters: Mapping[str, int]) -> None:
        self._parameters = parameters
        self.instructions = [one for block in function.blocks for one in block.instructions]
        self._definitions: dict[str, Instruction] = {one.result: one for one in self.instructions if one.result}

    def is_moved(self, value: str) -> bool:
        """Is it loaded, an argument or a constant, or a choice of such?"""
        pending, seen = [value], {value}
        while pending:
            defined = self._definitions.get(pending.pop())
            if defined is None or defined.opcode == "load":
                continue
            if defined.opcode not in _MOVING:
                return False
            fresh = set(_values(defined)) - seen
            seen |= fresh
            pending += fresh
        return True

    def roots(self, text: str) -> set[int]:
        """The parameters that a pointer may come from; empty where it comes from anything else."""
        pending = _POINTER.findall(without_attachments(text))[:1]
        seen, found = set(pending), set[int]()
        while pending:
            name = pending.pop()
            if name in self._parameters:
                found.add(self._parameters[name])
                continue
            defined = self._definitions.get(name)
            if defined is None or defined.opcode not in _LEADING:
                return set()
            operands = _values(defined) if defined.opcode != "getelementptr" else _POINTER.findall(defined.text)[:1]
            fresh = set(operands) - seen
            seen |= fresh
            pending += fresh
        return found


def _values(instruction: Instruction) -> list[str]:
    text = without_attachments(instruction.text).partition("= ")[2]
    if instruction.opcode == "phi":
        return [one for one in _INCOMING.findall(text) if one.startswith(("%", "@"))]
    values = _VALUE.findall(text)
    return values[1:] if instruction.opcode == "select" else values
