"""Which loads in loops may wait for another thread: their value decides, or they read one place again and again.

A load that goes to another place in every turn, and whose value no comparison of the loop depends on, reads data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from intelliperf.emulator.ir.module import Block, Instruction
from intelliperf.emulator.ir.text import NAME

_VALUE = re.compile(rf"%{NAME}")
_DECIDING = frozenset(("icmp", "fcmp", "switch", "br"))
_ELSEWHERE = frozenset(("store", "call", "invoke", "atomicrmw", "cmpxchg", "load"))  # what leaves the registers


class Polls:
    """`nests` and `successors` are those of `order.nested_order`."""

    def __init__(
        self, blocks: Sequence[Block], nests: Sequence[tuple[int, ...]], successors: Sequence[Sequence[int]]
    ) -> None:
        self._blocks = blocks
        # A block that follows itself is a loop without being in a nest.
        self._nests = [(*nest, at) if at in successors[at] else nest for at, nest in enumerate(nests)]

    def may_wait(self, access: Instruction, block: int, is_load: bool) -> bool:
        """Anything but a load may, wherever it is in a loop; False where it is in none."""
        nest = self._nests[block]
        return bool(nest) and (not is_load or not self._moves(access, nest[-1]) or self._decides(access, nest[0]))

    @cached_property
    def _defined(self) -> dict[str, tuple[int, Instruction]]:
        return {
            one.result: (at, one)
            for at, block in enumerate(self._blocks)
            for one in block.instructions
            if one.result is not None
        }

    @cached_property
    def _uses(self) -> dict[str, list[tuple[int, Instruction]]]:
        found: dict[str, list[tuple[int, Instruction]]] = {}
        for at, block in enumerate(self._blocks):
            for one in block.instructions:
                for name in set(_VALUE.findall(one.text)) - {one.result}:
                    found.setdefault(name, []).append((at, one))
        return found

    def _moves(self, load: Instruction, loop: int) -> bool:
        """Does its address come from what another turn has other values of?"""
        pending = set(_VALUE.findall(load.text)) - {load.result}
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name in seen or name not in self._defined:
                continue
            seen.add(name)
            block, instruction = self._defined[name]
            if loop not in self._nests[block]:
                continue
            if instruction.opcode == "phi" and block == loop:
                return True
            pending |= set(_VALUE.findall(instruction.text)) - {instruction.result}
        return False

    def _decides(self, load: Instruction, loop: int) -> bool:
        pending = [load.result] if load.result is not None else []
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            for block, instruction in self._uses.get(name, ()):
                if loop not in self._nests[block]:
                    continue
                if instruction.opcode in _DECIDING:
                    return True
                if instruction.opcode not in _ELSEWHERE and instruction.result is not None:
                    pending.append(instruction.result)
        return False
