"""What the time model needs to know of each load: whether it waits for others, and whether it begins a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from intelliperf.emulator.ir.addresses import Addresses
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.memory import CHAINED, FOLLOWS, JOINS, WAITS, access_of
from intelliperf.emulator.ir.module import Block, Instruction
from intelliperf.emulator.ir.runs import END, LOAD, LoadRuns
from intelliperf.emulator.ir.text import CALLEE
from intelliperf.emulator.ir.updates import Updates
from intelliperf.emulator.ir.waits import WaitingLoads
from intelliperf.errors import ToolchainError


class LoadOrder:
    """Of one function; `nests` and `successors` are those of `order.nested_order`."""

    def __init__(
        self,
        blocks: Sequence[Block],
        nests: Sequence[tuple[int, ...]],
        successors: Sequence[Sequence[int]],
        is_private: Callable[[str], bool],
        layout: Layout,
        shared: tuple[Addresses, Collection[str]],
        updates: Updates,
        barriers: Collection[str],
    ) -> None:
        """`shared`: names of variables in LDS, and what tells whether a pointer leads to one."""
        self._is_private = is_private
        self._layout = layout
        self._addresses, self._shared = shared
        self._updates = updates
        self._barriers = barriers
        self._waiting = WaitingLoads(blocks, nests, successors, self._reads_own)
        self._runs = LoadRuns(blocks, nests, successors, self._kind)

    def flags(self, load: Instruction, block: int) -> int:
        waits, depends = self._waiting.waits(load, block), self._waiting.depends(load, block)
        begins = self._runs.begins(load, block, lambda: depends)
        joins = not (waits or begins or depends) and self._runs.joins(load, block)
        chained = CHAINED if waits and self._waiting.chained(load, block) else 0
        return chained | (WAITS if waits else 0) | (FOLLOWS if begins else 0) | (JOINS if joins else 0)

    def _reads_own(self, load: Instruction) -> bool:
        return self._is_private(access_of(load, self._layout, True).pointer)

    def _kind(self, instruction: Instruction) -> str | None:
        """What an instruction is to runs of loads; stores in LDS end none, since loads of memory may pass them."""
        if instruction.opcode in ("load", "store"):
            try:
                pointer = access_of(instruction, self._layout, True).pointer
            except (ToolchainError, ValueError, IndexError):
                return None  # told where it is rewritten
            if self._is_private(pointer):
                return None
            if instruction.opcode == "load":
                return LOAD
            root, _ = self._addresses.resolve(pointer)
            in_lds = self._addresses.base(root) in self._shared
            return END if not in_lds or self._updates.completes(instruction) else None
        if instruction.opcode not in ("call", "invoke"):
            return None
        found = CALLEE.search(instruction.text)
        return END if found and found[1] in self._barriers else None
