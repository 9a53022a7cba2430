"""Which integer arguments of a kernel may take any value, as far as its code tells.

One that is divided, shifted down or masked, itself or with something added, may be promised to be a multiple; one that
a function takes which was not inlined may be, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from intelliperf.emulator.ir.module import Function
from intelliperf.emulator.ir.text import NAME

_DIVIDING = frozenset(("udiv", "sdiv", "urem", "srem", "lshr", "ashr", "and", "or"))
_PASSING = frozenset(("add", "sub", "mul", "shl", "zext", "sext", "trunc", "phi", "select", "freeze", "xor"))
_VALUE = re.compile(rf"%{NAME}")
_HARMLESS_CALL = re.compile(r"@llvm\.(?:[su](?:min|max)|abs|dbg|lifetime|assume)")
_INTEGER = re.compile(r"i(?:32|64)\b")


def undivided(function: Function, sources: Sequence[tuple[str, int]]) -> list[int]:
    """Of the parameters (IR text, number in the source) those that are integers and never divided."""
    users: dict[str, list[tuple[str, str | None, str]]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            for name in set(_VALUE.findall(instruction.text)):
                if name != instruction.result:
                    users.setdefault(name, []).append((instruction.opcode, instruction.result, instruction.text))
    integers = [(text, source) for text, source in sources if _INTEGER.match(text)]
    return [source for text, source in integers if not _is_divided(_VALUE.findall(text)[-1], users)]


def _is_divided(name: str, users: Mapping[str, Sequence[tuple[str, str | None, str]]]) -> bool:
    pending, seen = [name], {name}
    while pending:
        for opcode, result, text in users.get(pending.pop(), ()):
            if opcode in _DIVIDING and " disjoint " not in text:
                return True
            called = opcode in ("call", "invoke")
            if called and not _HARMLESS_CALL.search(text):
                return True
            if result is not None and (called or opcode in _PASSING) and result not in seen:
                seen.add(result)
                pending.append(result)
    return False
