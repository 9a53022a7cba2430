"""Calls of one module's functions: which of them synchronise lanes, and what the runtime's own are called."""

from __future__ import annotations

import re

from intelliperf.emulator.ir.module import Function
from intelliperf.emulator.ir.text import CALLEE

SYNCHRONISERS = {
    "__simt_barrier": ("barrier", "barrier"),
    "__simt_barrier_reduce": ("barrier", "barrier with reduction"),
    "__simt_grid_barrier": ("barrier", "grid barrier"),
    "__simt_named_barrier": ("barrier", "named barrier"),
    "__simt_ptx_mma": ("collective", "matrix product"),
    "__simt_collective": ("collective", "collective"),
}
STOPS = frozenset(("__simt_trap", "__simt_assert_fail"))
BARRIERS = SYNCHRONISERS.keys() - {"__simt_collective"}
_COLLECTIVES = (
    "shuffle", "shuffle up", "shuffle down", "shuffle xor", "ballot", "wave barrier", "match any", "match all",
    "active mask", "yield", "matrix product",
)  # fmt: skip
_COLLECTIVE_OPERATION = re.compile(r"@__simt_collective\(i32 (?:noundef )?(\d+)")


def collective_name(text: str) -> str:
    """What the runtime's collective does that a call names by its code."""
    found = _COLLECTIVE_OPERATION.search(text)
    return _COLLECTIVES[int(found[1])] if found and int(found[1]) < len(_COLLECTIVES) else "collective"


def called_functions(function: Function) -> tuple[set[str], bool]:
    """Names of directly called functions, and whether there is an indirect call."""
    names: set[str] = set()
    indirect = False
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode in ("call", "invoke") and " asm " not in instruction.text:
                found = CALLEE.search(instruction.text)
                if found and found[1] is not None:
                    names.add(found[1])
                elif found:
                    indirect = True
    return names, indirect


def synchronising_functions(functions: list[Function]) -> set[str]:
    """Defined functions from which a barrier, a collective or an unknown function may be reached."""
    callers: dict[str, list[str]] = {}
    reached: list[str] = []
    for function in functions:
        names, indirect = called_functions(function)
        if indirect or names & SYNCHRONISERS.keys():
            reached.append(function.name)
        for name in names:
            callers.setdefault(name, []).append(function.name)
    found: set[str] = set()
    while reached:
        name = reached.pop()
        if name not in found:
            found.add(name)
            reached.extend(callers.get(name, ()))
    return found
