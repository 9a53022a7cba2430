"""Which values of a function are the same in all lanes of a wave that compute them together.

Kernel arguments, constants, the block's and the grid's coordinates, and what is computed or loaded from these.
A value that depends on the way a lane came (a phi where paths of a branch on another value join, or what a
loop leaves that lanes leave at different turns) is not. Vendors' compilers find more in places, never less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from intelliperf.emulator.ir.module import Block, Function, Instruction
from intelliperf.emulator.ir.text import NAME

_VALUE = re.compile(rf"%{NAME}")
_LABEL = re.compile(rf"label %({NAME})")
_DIFFERS = frozenset(("alloca", "atomicrmw", "cmpxchg", "invoke", "callbr", "landingpad", "va_arg"))
_PURE_CALL = re.compile(r"@llvm\.(?!masked|vp|mem)|@__simt_grid")
_LANES_OWN = re.compile(r"@__simt_thread\b")


class UniformValues:
    """Asked of operands as the IR writes them. `is_root`: what differs by itself, if not from lane to lane."""

    def __init__(
        self, function: Function, is_kernel: bool, is_root: Callable[[Instruction], bool] | None = None
    ) -> None:
        self._blocks = function.blocks
        self._is_root = is_root or _is_root
        self._branches: set[int] = set()  # blocks that end in a branch on a value that is not uniform
        parameters = {part[part.rindex(" ") + 1 :] for part in function.parameters if " " in part}
        self._divergent: set[str] = set() if is_kernel else parameters
        index = {block.label: number for number, block in enumerate(function.blocks) if block.label is not None}
        self._next = [_targets(block, index) for block in function.blocks]
        self._close()

    def holds(self, operand: str) -> bool:
        return not any(name in self._divergent for name in _VALUE.findall(operand))

    def decided(self) -> set[int]:
        """Blocks that run or not by values that are not uniform."""
        found: set[int] = set()
        for branch in self._branches:
            end = self._post_dominator(branch)
            for target in self._next[branch]:
                found |= self._reach(target, {end}) - {end} if target != end else set()
        return found

    def _close(self) -> None:
        """Adds to the divergent values until nothing changes."""
        uses: dict[str, list[tuple[int, Instruction]]] = {}
        pending: list[str] = list(self._divergent)
        home = {i.result: number for number, block in enumerate(self._blocks) for i in block.instructions if i.result}
        for number, block in enumerate(self._blocks):
            for instruction in block.instructions:
                if instruction.result and self._is_root(instruction):
                    pending.append(instruction.result)
                for name in set(_VALUE.findall(_right_side(instruction))):
                    uses.setdefault(name, []).append((number, instruction))
        self._divergent = set()
        while pending:
            value = pending.pop()
            if value in self._divergent:
                continue
            self._divergent.add(value)
            for number, user in uses.get(value, ()):
                if user.result:
                    pending.append(user.result)
                elif user.opcode in ("br", "switch") and len(self._next[number]) > 1:
                    self._branches.add(number)
                    pending += self._joined_after(number)
                    pending += self._left_behind(number, home, uses)

    def _joined_after(self, branch: int) -> list[str]:
        """Results of the phis where ways from the branch's targets meet."""
        end = self._post_dominator(branch)
        reached = [self._reach(target, {branch, end}) for target in self._next[branch]]
        joins = {end} | {at for i, one in enumerate(reached) for other in reached[:i] for at in one & other}
        return [
            instruction.result
            for at in joins
            if at is not None
            for instruction in self._blocks[at].instructions
            if instruction.opcode == "phi" and instruction.result and not _one_value(instruction)
        ]

    def _left_behind(
        self, branch: int, home: Mapping[str, int], uses: Mapping[str, list[tuple[int, Instruction]]]
    ) -> list[str]:
        """Results outside a loop that the branch may leave, of operands from inside."""
        after = self._successors_of(branch)
        loop = {at for at in after if branch in self._reach(at, set())} if branch in after else set()
        if not loop or all(target in loop for target in self._next[branch]):
            return []
        return [
            user.result
            for value, where in home.items()
            if where in loop
            for at, user in uses.get(value, ())
            if at not in loop and user.result
        ]

    def _successors_of(self, block: int) -> set[int]:
        found: set[int] = set()
        for target in self._next[block]:
            found |= self._reach(target, set())
        return found

    def _reach(self, start: int, stops: set[int | None]) -> set[int]:
        """Blocks on ways from `start`; a way ends at a stop, which is reached."""
        found: set[int] = set()
        pending = [start]
        while pending:
            at = pending.pop()
            if at in found:
                continue
            found.add(at)
            if at not in stops:
                pending += self._next[at]
        return found

    def _post_dominator(self, branch: int) -> int | None:
        """The nearest block that all ways from the branch to the function's end go through."""
        ends = [number for number, targets in enumerate(self._next) if not targets]
        candidates = sorted(self._successors_of(branch) - {branch})
        through = [at for at in candidates if not self._escapes(branch, at, ends)]
        # The nearest is the one from which all others are still to come.
        return next((at for at in through if all(o == at or o in self._reach(at, set()) for o in through)), None)

    def _escapes(self, branch: int, without: int, ends: Iterable[int]) -> bool:
        reached = {at for target in self._next[branch] if target != without for at in self._reach(target, {without})}
        return any(end in reached and end != without for end in ends)


def _targets(block: Block, index: Mapping[str, int]) -> list[int]:
    last = block.instructions[-1].text if block.instructions else ""
    return list(dict.fromkeys(index[name] for name in _LABEL.findall(last) if name in index))


def _right_side(instruction: Instruction) -> str:
    text = instruction.text
    return text.partition(" = ")[2] if instruction.result else text


def _is_root(instruction: Instruction) -> bool:
    if instruction.opcode in _DIFFERS:
        return True
    if instruction.opcode == "load" and (" volatile " in instruction.text or " atomic " in instruction.text):
        return True
    if instruction.opcode == "call":
        return not _PURE_CALL.search(instruction.text) or bool(_LANES_OWN.search(instruction.text))
    return False


def _one_value(phi: Instruction) -> bool:
    values = re.findall(r"\[ ([^,\]]+), %", phi.text)
    return len(set(values)) == 1
