"""Counters packed into as few runs of the application as the hardware's slots allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from intelliperf.errors import UsageError
from intelliperf.profiling.rocprofv3.blocks import ACCUMULATORS, base_name, block_of, is_level, slots


@dataclass
class _Pass:
    counters: list[str] = field(default_factory=list)
    bases: set[str] = field(default_factory=set)
    used: dict[str, int] = field(default_factory=dict)
    level: bool = False

    def takes(self, group: Sequence[str], limits: Mapping[str, int]) -> bool:
        if self.level and any(is_level(counter) for counter in group):
            return False
        cost = self._cost(group)
        return all(self.used.get(block, 0) + count <= limits[block] for block, count in cost.items())

    def add(self, group: Sequence[str]) -> None:
        for block, count in self._cost(group).items():
            self.used[block] = self.used.get(block, 0) + count
        self.bases.update(base_name(counter) for counter in group)
        self.level = self.level or any(is_level(counter) for counter in group)
        self.counters.extend(counter for counter in group if counter not in self.counters)

    def _cost(self, group: Sequence[str]) -> dict[str, int]:
        cost: dict[str, int] = {}
        for base in dict.fromkeys(base_name(counter) for counter in group):
            if base not in self.bases:
                cost[block_of(base)] = cost.get(block_of(base), 0) + 1
        return cost


def pack(counters: Sequence[str], architecture: str) -> tuple[tuple[str, ...], ...]:
    """Passes in which every counter is exactly once, each by itself within the slots of its block.

    A level counter keeps its accumulator right behind it, and a pass has one such pair at most, because the
    accumulator adds up whatever was named before it. Raises `UsageError` for an unknown architecture or block, or an
    accumulator without a level counter before it.
    """
    limits = slots(architecture)
    passes: list[_Pass] = []
    for group in groups(counters):
        for counter in group:
            if block_of(counter) not in limits:
                raise UsageError(
                    f"{counter}: no block {block_of(counter)} on {architecture}; it has {', '.join(limits)}"
                )
        fitting = next((one for one in passes if one.takes(group, limits)), None)
        if fitting is None:
            fitting = _Pass()
            if not fitting.takes(group, limits):
                raise UsageError(f"{' '.join(group)} do not fit into one pass on {architecture}")
            passes.append(fitting)
        fitting.add(group)
    return tuple(tuple(one.counters) for one in passes)


def groups(counters: Sequence[str]) -> list[tuple[str, ...]]:
    """Counters that must stay together: a level counter and the accumulator after it; others alone."""
    found: list[tuple[str, ...]] = []
    for counter in counters:
        if base_name(counter) in ACCUMULATORS:
            if not found or not is_level(found[-1][-1]):
                raise UsageError(f"{counter} accumulates the level counter before it, and there is none")
            found[-1] = (*found[-1], counter)
        elif (counter,) not in found:
            found.append((counter,))
    return found


def halves(counters: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """One pass as two, with a level counter and its accumulator in the same one; as it is where it cannot be cut."""
    whole = groups(counters)
    middle = len(whole) // 2
    parts = (whole[:middle], whole[middle:])
    return tuple(tuple(counter for group in part for counter in group) for part in parts if part)
