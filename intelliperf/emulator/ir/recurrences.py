"""How long the operations of a loop wait for one another from turn to turn, whatever else could run beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from intelliperf.emulator.ir.module import Instruction
from intelliperf.emulator.ir.text import NAME

_VALUE = re.compile(rf"%{NAME}")
_STEPS = ("add", "sub", "getelementptr")
_ENDS = ("load", "atomicrmw", "cmpxchg")  # waited for otherwise
_KINDS = {"f32": 1, "int": 1, "convert": 1, "select": 1, "call": 1, "f64": 2, "special": 6, "idiv": 24}


def recurrence(instructions: Sequence[Instruction], kind_of: Callable[[Instruction], str | None]) -> int:
    """Operations of a turn that follow one another from a value at the head of a loop of one block to its next value.

    A product that is added to something is one operation with the addition. What only advances by a constant is none:
    unrolled, it is computed from its first value.
    """
    made = {one.result: one for one in instructions if one.result is not None}
    return max((_way(phi, instructions, made, kind_of) for phi in instructions if phi.opcode == "phi"), default=0)


def _way(
    phi: Instruction,
    instructions: Sequence[Instruction],
    made: dict[str, Instruction],
    kind_of: Callable[[Instruction], str | None],
) -> int:
    ends = [name for name in _operands(phi) if name in made and made[name].opcode != "phi"]
    if not ends or phi.result is None or _advances(made[ends[0]], phi.result):
        return 0
    length = {phi.result: 0}
    for one in instructions:
        before = [name for name in _operands(one) if name in length]
        if one.result is None or one.opcode in ("phi", *_ENDS) or not before:
            continue
        longest = max(before, key=lambda name: length[name])
        taken_in = one.opcode in ("fadd", "fsub") and longest in made and made[longest].opcode == "fmul"
        length[one.result] = length[longest] + (0 if taken_in else _KINDS.get(kind_of(one) or "", 0))
    return max((length[name] for name in ends if name in length), default=0)


def _advances(step: Instruction, value: str) -> bool:
    return step.opcode in _STEPS and _operands(step) == {value}


def _operands(instruction: Instruction) -> set[str]:
    return set(_VALUE.findall(instruction.text)) - {instruction.result}
