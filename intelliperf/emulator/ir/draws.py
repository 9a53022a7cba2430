"""Which atomics hand out work: what they return ends a loop, as in `while ((i = atomicAdd(&next, 1)) < n)`.

A wave that draws takes from all others of the launch, so that it matters which of them is done first. A compare and
swap is made again until it succeeds: of that only what an outer loop makes of it counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from intelliperf.emulator.ir.module import Block, Instruction
from intelliperf.emulator.ir.uniform import UniformValues


class Draws:
    """Answers for one function. `nests`: with loops of one block; `successors` are those of `order.nested_order`."""

    def __init__(
        self, blocks: Sequence[Block], nests: Sequence[tuple[int, ...]], successors: Sequence[Sequence[int]]
    ) -> None:
        self._blocks = blocks
        self._nests = nests
        self._successors = successors
        self._ends: dict[int, bool] = {}

    def work(self, atomic: Instruction, block: int, by_order: UniformValues | None) -> bool:
        """`by_order`: the values that depend on which thread comes first are not uniform in it."""
        if by_order is None:
            return False
        retries = atomic.opcode == "cmpxchg" or "atomicrmw xchg" in atomic.text
        loops = self._nests[block][:-1] if retries else self._nests[block]
        return any(self._ends_by(loop, by_order) for loop in loops)

    def _ends_by(self, loop: int, by_order: UniformValues) -> bool:
        if loop not in self._ends:
            self._ends[loop] = any(
                not by_order.holds(block.instructions[-1].text)
                for at, block in enumerate(self._blocks)
                if loop in self._nests[at]
                and block.instructions
                and any(loop not in self._nests[target] for target in self._successors[at])
            )
        return self._ends[loop]
