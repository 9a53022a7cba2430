"""Which loads a wave cannot have under way together with those before them.

In a loop: where the address comes from what an earlier turn has loaded (a list, a binary search), or where a loaded
value decides whether there is another turn, so that no compiler can load ahead; and the first load of each turn where
nothing advances by a constant, or up by a signed number that stays the same, for no other loop is unrolled. nvcc 13.0
unrolls four times where such a number is added (88 cycles a turn on an H200 with the data in the L2; 81 for 64 bits),
not where it is unsigned, as `gridDim.x * blockDim.x` is, or subtracted (315 cycles), nor, by its SASS, where the loop
has an atomic operation. Elsewhere: where the address comes from another load. A load by an index that the same turn
loads is not among them: several turns can do so at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from intelliperf.emulator.ir.module import Block, Instruction
from intelliperf.emulator.ir.text import NAME

_VALUE = re.compile(rf"%{NAME}")
_FROM_MEMORY = frozenset(("load", "atomicrmw", "cmpxchg"))
_NO_OVERFLOW = re.compile(r"\s*%\S+ = add (?:nuw )?nsw ")
_NOWHERE = -1  # the loop of what is in none


class WaitingLoads:
    """`nests` and `successors` are those of `order.nested_order`; `is_private` of the pointer of a load."""

    def __init__(
        self,
        blocks: Sequence[Block],
        nests: Sequence[tuple[int, ...]],
        successors: Sequence[Sequence[int]],
        is_private: Callable[[Instruction], bool],
    ) -> None:
        self._blocks = blocks
        self._successors = successors
        self._is_private = is_private
        # A block that follows itself is a loop without being in a nest.
        self._nests = [(*nest, at) if at in successors[at] else nest for at, nest in enumerate(nests)]
        self._decided: dict[int, bool] = {}

    def waits(self, load: Instruction, block: int) -> bool:
        loop = self._nests[block][-1] if self._nests[block] else _NOWHERE
        operands = self._operands(load)
        if loop == _NOWHERE:
            return self._from_memory(operands, loop, turn_before=False)
        if self._from_memory(operands, loop, turn_before=True) or self._decides(loop):
            return True
        return not self._advances(loop) and load is self._first_load(loop)

    def chained(self, load: Instruction, block: int) -> bool:
        """Whether its address comes from what an earlier turn of the outermost loop around it has loaded.

        A chain that begins anew in each turn of another loop can be shared out by those turns.
        """
        loop = self._nests[block][0] if self._nests[block] else _NOWHERE
        return loop != _NOWHERE and self._from_memory(self._operands(load), loop, turn_before=True)

    def depends(self, load: Instruction, block: int) -> bool:
        """Whether its address comes from another load, in a loop from one of the same turn."""
        loop = self._nests[block][-1] if self._nests[block] else _NOWHERE
        return self._from_memory(self._operands(load), loop, turn_before=False)

    @cached_property
    def _defined(self) -> dict[str, tuple[int, Instruction]]:
        return {
            instruction.result: (at, instruction)
            for at, block in enumerate(self._blocks)
            for instruction in block.instructions
            if instruction.result is not None
        }

    def _operands(self, instruction: Instruction) -> set[str]:
        return set(_VALUE.findall(instruction.text)) - {instruction.result}

    def _inside(self, block: int, loop: int) -> bool:
        return loop == _NOWHERE or loop in self._nests[block]

    def _from_memory(self, names: Collection[str], loop: int, turn_before: bool) -> bool:
        """Whether one of the values comes from a load in the loop; with `turn_before` only from an earlier turn's."""
        pending = [(name, not turn_before) for name in names]
        seen: set[tuple[str, bool]] = set()
        while pending:
            name, counts = pending.pop()
            if (name, counts) in seen or name not in self._defined:
                continue
            seen.add((name, counts))
            block, instruction = self._defined[name]
            if not self._inside(block, loop):
                continue
            if instruction.opcode in _FROM_MEMORY:
                if self._is_private(instruction):
                    continue
                if counts:
                    return True
            counts = counts or (instruction.opcode == "phi" and block == loop)
            pending += [(operand, counts) for operand in self._operands(instruction)]
        return False

    def _advances(self, loop: int) -> bool:
        """Whether something at the loop's head changes by the same in each turn, in a way that compilers unroll."""
        for phi in self._blocks[loop].instructions:
            if phi.opcode != "phi":
                break
            for name in self._operands(phi):
                block, step = self._defined.get(name, (_NOWHERE, phi))
                if not self._inside(block, loop) or step.opcode not in ("add", "sub", "getelementptr"):
                    continue
                steps = self._operands(step) - {phi.result}
                if phi.result in self._operands(step) and (not steps or self._is_signed(step, steps, loop)):
                    return True
        return False

    def _is_signed(self, step: Instruction, by: Collection[str], loop: int) -> bool:
        """Whether the step cannot overflow, as C has it of signed numbers, and is by what the loop leaves as it is.

        Not where the loop has atomic operations: see above.
        """
        if self._has_atomics(loop):
            return False
        within = [name for name in by if name in self._defined and self._inside(self._defined[name][0], loop)]
        return bool(_NO_OVERFLOW.match(step.text)) and not within

    def _has_atomics(self, loop: int) -> bool:
        return any(
            instruction.opcode in ("atomicrmw", "cmpxchg")
            for at, block in enumerate(self._blocks)
            if self._inside(at, loop)
            for instruction in block.instructions
        )

    def _first_load(self, loop: int) -> Instruction | None:
        for at, block in enumerate(self._blocks):
            if not self._nests[at] or self._nests[at][-1] != loop:
                continue
            for instruction in block.instructions:
                if instruction.opcode == "load" and not self._is_private(instruction):
                    return instruction
        return None

    def _decides(self, loop: int) -> bool:
        """Whether a branch out of the loop depends on a value that is loaded in it."""
        if loop not in self._decided:
            self._decided[loop] = any(
                self._from_memory(self._operands(block.instructions[-1]), loop, turn_before=False)
                for at, block in enumerate(self._blocks)
                if self._inside(at, loop)
                and block.instructions
                and any(not self._inside(target, loop) for target in self._successors[at])
            )
        return self._decided[loop]
