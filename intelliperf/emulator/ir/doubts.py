"""Which accesses a GPU may make otherwise than they are counted, by what a function's code shows.

Counts are of the program as it stands, in one order of its threads. What hardware or ptxas decide otherwise:

* which thread comes first, so that what atomics return differs from run to run;
* at which copy of a loop's body the lanes of a wave meet again that leave the loop at different turns;
* whether neighbours of consecutive turns become one access of the LDS;
* whether a load is made once before its loop, where the loop's stores all go to the other memory;
* how a wide access of the LDS is split where lanes are missing.

What is counted of such accesses is an estimate and never told as exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from intelliperf.emulator.ir.addresses import Addresses
from intelliperf.emulator.ir.draws import Draws
from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.text import NAME
from intelliperf.emulator.ir.uniform import UniformValues

ORDER, TURNS, NEIGHBOURS, HOISTED, WIDE = "order", "turns", "neighbours", "hoisted", "wide"
_STORE = re.compile(rf"store (?:atomic |volatile )*\S.*? (\S+), ptr (%{NAME}|@{NAME})")
_LOAD = re.compile(rf"\bload (?:atomic |volatile )*.*?, ptr (%{NAME}|@{NAME})")
_VALUE = re.compile(rf"%{NAME}")
_PURE_CALL = re.compile(r"@llvm\.(?!masked|vp|mem)|@__simt_thread\b")
_WORD = 4
_LARGEST = 8  # bytes; of a wider access nothing is joined
_TOO_LARGE = 500  # blocks of a function in which all is doubted: looking closer takes time with their square
_ROUNDS = 4  # through memory; a value that is handed on more often than that is rare


class Doubts:
    """Answers for one function. `nests` are those of `order.nested_order`."""

    def __init__(
        self,
        function: Function,
        nests: Sequence[tuple[int, ...]],
        successors: Sequence[Sequence[int]],
        addresses: Addresses,
        shared: Collection[str],
        uniform: Callable[[], UniformValues],
        is_kernel: bool,
    ) -> None:
        self._function = function
        self._nests = [(*nest, at) if at in successors[at] else nest for at, nest in enumerate(nests)]
        self._successors = successors
        self._draws = Draws(function.blocks, self._nests, successors)
        self._addresses = addresses
        self._shared = shared
        self._uniform = uniform
        parameters = {part[part.rindex(" ") + 1 :] for part in function.parameters if " " in part}
        self._global = parameters if is_kernel else set()  # no argument of a kernel leads to LDS
        self._parting: dict[int, bool] = {}

    def of(self, instruction: Instruction, pointer: str, size: int, block: int, nvidia: bool) -> list[str]:
        found = []
        if self._too_contended or (
            self._order is not None and (block in self._order_blocks or not self._order.holds(pointer))
        ):
            found.append(ORDER)
        if nvidia and any(self._lanes_part(loop) for loop in self._nests[block]):
            found.append(TURNS)
        if nvidia and size <= _LARGEST and self._nests[block] and self._is_neighbour(instruction, pointer, size, block):
            found.append(NEIGHBOURS)
        if nvidia and self._nests[block] and self._is_invariant(instruction, pointer, self._nests[block][-1]):
            found.append(HOISTED)
        if nvidia and size > _WORD and self._base(pointer) in self._shared:
            found.append(WIDE)
        return found

    def hands_out(self, atomic: Instruction, block: int) -> bool:
        return self._draws.work(atomic, block, self._order)

    # -- which thread comes first -------------------------------------------------------------------

    @cached_property
    def _contended(self) -> bool:
        return any(_is_contended(one) for block in self._function.blocks for one in block.instructions)

    @cached_property
    def _too_contended(self) -> bool:
        return self._contended and len(self._function.blocks) > _TOO_LARGE

    @cached_property
    def _order(self) -> UniformValues | None:
        """Whose "divergent" values are those that depend on the order of threads; None where nothing does."""
        if not self._contended:
            return None
        tainted: set[str] = set()
        for _ in range(_ROUNDS):
            known = frozenset(tainted)

            def is_root(one: Instruction, known: Collection[str] = known) -> bool:
                return _is_contended(one) or self._reads(one, known)

            values = UniformValues(self._function, True, is_root)
            written = {
                base
                for block in self._function.blocks
                for one in block.instructions
                if (base := self._written(one, values)) is not None
            }
            if written <= tainted:
                break
            tainted |= written
        return values

    @cached_property
    def _order_blocks(self) -> set[int]:
        """Blocks that run or not by the order of threads."""
        return self._order.decided() if self._order is not None else set()

    def _base(self, pointer: str) -> str:
        return self._addresses.base(self._addresses.resolve(pointer)[0])

    def _reads(self, one: Instruction, tainted: Collection[str]) -> bool:
        found = _LOAD.search(one.text) if tainted and one.opcode == "load" else None
        return found is not None and self._base(found[1]) in tainted

    def _written(self, one: Instruction, values: UniformValues) -> str | None:
        found = _STORE.search(one.text) if one.opcode == "store" else None
        if found is None or values.holds(found[1]):
            return None
        return self._base(found[2])

    # -- loops that lanes leave at different turns ----------------------------------------------------

    def _lanes_part(self, loop: int) -> bool:
        if loop not in self._parting:
            self._parting[loop] = len(self._function.blocks) > _TOO_LARGE or any(
                not self._uniform().holds(block.instructions[-1].text)
                for at, block in enumerate(self._function.blocks)
                if loop in self._nests[at]
                and block.instructions
                and any(loop not in self._nests[target] for target in self._successors[at])
            )
        return self._parting[loop]

    # -- loads before their loop ------------------------------------------------------------------------

    def _is_invariant(self, instruction: Instruction, pointer: str, loop: int) -> bool:
        """Whether every turn loads from one place, and stores only to the other memory."""
        if instruction.opcode != "load" or " volatile " in instruction.text or " atomic " in instruction.text:
            return False
        inside = [
            one for at, nest in enumerate(self._nests) if loop in nest for one in self._function.blocks[at].instructions
        ]
        made = {one.result for one in inside}
        if made & set(_VALUE.findall(pointer)):
            return False
        own = self._memory(pointer)
        return own is not None and all(self._leaves_alone(one, own) for one in inside)

    def _memory(self, pointer: str) -> str | None:
        base = self._base(pointer)
        return "shared" if base in self._shared else "global" if base in self._global else None

    def _leaves_alone(self, one: Instruction, memory: str) -> bool:
        if one.opcode == "store":
            found = _STORE.search(one.text)
            return found is not None and self._memory(found[2]) not in (None, memory)
        if one.opcode in ("call", "invoke"):
            return bool(_PURE_CALL.search(one.text))
        return one.opcode not in ("atomicrmw", "cmpxchg", "fence")

    # -- neighbours of consecutive turns -----------------------------------------------------------------

    def _is_neighbour(self, instruction: Instruction, pointer: str, size: int, block: int) -> bool:
        """Whether the next turn goes to what lies right behind in the LDS."""
        if instruction.opcode not in ("load", "store") or self._base(pointer) not in self._shared:
            return False
        return self._addresses.advance(pointer, self._steps(self._nests[block][-1])) == size

    def _steps(self, loop: int) -> dict[str, int]:
        """By how much integers at the loop's head change per turn."""
        found = {}
        for phi in self._function.blocks[loop].instructions:
            if phi.opcode != "phi":
                break
            pattern = re.compile(rf"= add (?:n[us]w )*i\d+ {re.escape(phi.result or '')}, (-?\d+)")
            for block in self._function.blocks:
                for one in block.instructions:
                    step = pattern.search(one.text) if one.opcode == "add" else None
                    if step is not None and phi.result and re.search(rf"{re.escape(one.result or '')},", phi.text):
                        found[phi.result] = int(step[1])
        return found


def _is_contended(one: Instruction) -> bool:
    """What another thread decides: the results of atomics, and loads of what others write meanwhile."""
    if one.opcode in ("atomicrmw", "cmpxchg"):
        return True
    return one.opcode == "load" and (" volatile " in one.text or " atomic " in one.text)
