"""Which integers of a function may hold the bits of floating-point numbers: copies, swaps, shuffles."""

from __future__ import annotations

import re

from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.shadow.memory import FLOATS
from intelliperf.emulator.ir.text import NAME, split_top, type_of, without_attachments

_REFERENCE = re.compile(rf"%{NAME}")
_LOAD = re.compile(r"load (?:atomic |volatile )*i(?:16|32|64),")
_STORE = re.compile(r"store (?:atomic |volatile )*i(?:16|32|64) ")
_REPLACING = re.compile(r"atomicrmw (?:volatile )?(?:xchg|u?max|u?min) ")
_PASSING = frozenset({"zext", "trunc", "phi", "select", "freeze", "extractvalue"})
_MASK = re.compile(r", (65535|4294967295|-65536|-4294967296)$")
_SHIFT = re.compile(r", (16|32|48)$")
COLLECTIVE = "@__simt_collective("


def body_of(instruction: Instruction) -> str:
    text = without_attachments(instruction.text).strip()
    return text.split(" = ", 1)[1] if instruction.result else text


def moved_by(i: Instruction) -> int | None:
    """By how many bits an instruction moves a number within an integer up, where it does nothing else to it."""
    if i.opcode == "or":
        return 0 if " disjoint " in i.text else None
    if i.opcode == "and":
        return 0 if _MASK.search(body_of(i)) else None
    found = _SHIFT.search(body_of(i)) if i.opcode in ("shl", "lshr") else None
    return (int(found[1]) if i.opcode == "shl" else -int(found[1])) if found else None


def find_carriers(function: Function) -> set[str]:
    """Integers that come from where such bits may be and go where they may be needed."""
    forward: set[str] = set()
    backward: set[str] = set()
    edges: list[tuple[str, str]] = []
    for block in function.blocks:
        for instruction in block.instructions:
            _look(instruction, forward, backward, edges)
    _spread(forward, edges)
    _spread(backward, [(target, source) for source, target in edges])
    return forward & backward


def _look(i: Instruction, forward: set[str], backward: set[str], edges: list[tuple[str, str]]) -> None:
    body = body_of(i)
    names = _REFERENCE.findall(body)
    result = i.result or ""
    if i.opcode == "bitcast":
        source, _, target = body[8:].partition(" to ")
        if type_of(source) in FLOATS:
            forward.add(result)
        elif target.strip() in FLOATS:
            backward.update(names)
    elif i.opcode == "load" and _LOAD.match(body):
        forward.add(result)
    elif i.opcode == "store" and _STORE.match(body):
        backward.update(_REFERENCE.findall(split_top(body)[0]))
    elif i.opcode == "cmpxchg" or i.opcode == "atomicrmw" and _REPLACING.match(body):
        forward.add(result)
        backward.update(_REFERENCE.findall(",".join(split_top(body)[1:])))  # the pointer may be a constant
    elif i.opcode in _PASSING or moved_by(i) is not None or (i.opcode == "call" and COLLECTIVE in body):
        edges += [(name, result) for name in names]


def _spread(known: set[str], edges: list[tuple[str, str]]) -> None:
    after: dict[str, list[str]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    pending = list(known)
    while pending:
        for name in after.get(pending.pop(), ()):
            if name not in known:
                known.add(name)
                pending.append(name)
