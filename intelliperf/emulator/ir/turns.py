"""Where a traced function tells the runtime that a lane begins another turn of a loop, or is out of it.

A wave on hardware comes together again before it begins a loop's next turn, so lanes stand at one place only
if they are in the same turn of every loop around it. The runtime is told at each loop's head how many turns
the lane has made, and wherever a lane comes out of a loop how deep it still is. Loops of one basic block need
none of this: their lanes never part but at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from intelliperf.emulator.ir.module import Block
from intelliperf.emulator.ir.text import NAME

LABEL_USE = re.compile(rf"label %({NAME})")


@dataclass(frozen=True)
class Hooks:
    """Lines for the beginning of one block: a phi, and what follows all of them."""

    phi: str = ""
    calls: tuple[str, ...] = ()


def hooks(blocks: Sequence[Block], nests: Sequence[tuple[int, ...]], first_id: int) -> dict[int, Hooks]:
    """By the blocks' numbers; none where a loop is entered elsewhere than at its head. `first_id`: of the first head
    in the module, so that heads of different functions differ."""
    index = {block.label: number for number, block in enumerate(blocks) if block.label is not None}
    came_from: list[list[int]] = [[] for _ in blocks]  # as often as there are edges
    for number, block in enumerate(blocks):
        last = block.instructions[-1].text if block.instructions else ""
        for label in LABEL_USE.findall(last):
            if label in index:
                came_from[index[label]].append(number)
    found: dict[int, Hooks] = {}
    for number, nest in enumerate(nests):
        is_head = bool(nest) and nest[-1] == number
        outside = nest[:-1] if is_head else nest
        if any(nests[source][: len(outside)] != outside for source in came_from[number]):
            return {}
        if is_head:
            if any(blocks[source].label is None for source in came_from[number]):
                return {}
            found[number] = _head(number, len(nest), first_id + number, blocks, came_from[number], nests)
        elif any(nests[source] != nest for source in came_from[number]):
            found[number] = Hooks(calls=(f"  call void @__simt_leave(i32 {len(nest)})",))
    return found


def _head(
    number: int, depth: int, id: int, blocks: Sequence[Block], sources: Sequence[int], nests: Sequence[tuple[int, ...]]
) -> Hooks:
    turn, following = f"%simt.turn{number}", f"%simt.following{number}"
    ways = ", ".join(
        f"[ {following if number in nests[source] else '0'}, %{blocks[source].label} ]" for source in sources
    )
    return Hooks(
        f"  {turn} = phi i32 {ways}",
        (
            f"  {following} = add i32 {turn}, 1",
            f"  call void @__simt_turn(i32 {id}, i32 {depth}, i32 {turn})",
        ),
    )
