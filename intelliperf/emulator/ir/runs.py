"""Which loads begin a run: what a wave has under way before them ends, since a store or a barrier stands between.

A compiler moves no load up past a store to what may be the same memory, nor past a barrier, so that only loads of one
run are under way together. In a loop the state at its head is that at the end of a turn. Where ways meet, loads of a
run that one of them has begun belong to it. A load by an index that was loaded in the same turn begins a run of its
own in a loop where something ends the runs: turns cannot overlap there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from intelliperf.emulator.ir.module import Block, Instruction

LOAD, END = "load", "end"
_PASSES = 3  # loops within loops within a loop; what is nested deeper is rare, and only a time depends on it


class LoadRuns:
    """`kind_of` tells what is a load of memory and what ends a run; `nests` are those of `order.nested_order`."""

    def __init__(
        self,
        blocks: Sequence[Block],
        nests: Sequence[tuple[int, ...]],
        successors: Sequence[Sequence[int]],
        kind_of: Callable[[Instruction], str | None],
    ) -> None:
        self._kinds = [
            [(instruction, kind) for instruction in block.instructions if (kind := kind_of(instruction)) is not None]
            for block in blocks
        ]
        self._nests = [(*nest, at) if at in successors[at] else nest for at, nest in enumerate(nests)]
        self._before: list[list[int]] = [[] for _ in blocks]
        for at, following in enumerate(successors):
            for target in following:
                self._before[target].append(at)
        self._open = self._states()
        self._ended = {nest[-1] for nest, kinds in zip(self._nests, self._kinds, strict=True) if nest and _ends(kinds)}

    def begins(self, load: Instruction, block: int, depends: Callable[[], bool]) -> bool:
        """`depends`: whether its address comes from another load of the same turn."""
        is_open = self._enters_open(block)
        for instruction, kind in self._kinds[block]:
            if instruction is load:
                break
            is_open = kind == LOAD
        if not is_open:
            return True
        nest = self._nests[block]
        return bool(nest) and nest[-1] in self._ended and depends()

    def joins(self, load: Instruction, block: int) -> bool:
        """Whether another load of the same run stands before it in the block."""
        before = None
        for instruction, kind in self._kinds[block]:
            if instruction is load:
                break
            before = kind
        return before == LOAD

    def _states(self) -> list[bool]:
        """Whether a run is open at the end of each block."""
        self._open = [False] * len(self._kinds)
        for _ in range(_PASSES):
            for at, kinds in enumerate(self._kinds):
                self._open[at] = kinds[-1][1] == LOAD if kinds else self._enters_open(at)
        return self._open

    def _enters_open(self, block: int) -> bool:
        sources = self._before[block]
        turns = [source for source in sources if block in self._nests[source]]
        return any(self._open[source] for source in turns or sources)


def _ends(kinds: Sequence[tuple[Instruction, str]]) -> bool:
    return any(kind == END for _, kind in kinds)
