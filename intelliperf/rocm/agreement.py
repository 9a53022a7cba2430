"""Whether the code that recorded is the code that the user built: its memory instructions by line, its counts by kind.

The recording program may come from another compiler, and a sample of its work-groups may not be like the others. So
its instructions are compared with those of the program as it is, and its counts with the counters of that program.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from intelliperf.records import AccessKind, Frame, MemorySpace, Metric, Quantity
from intelliperf.rocm.instructions import Operation
from intelliperf.rocm.lines import Code, chains, in_project
from intelliperf.rocm.machinesites import MachineAccess
from intelliperf.sentences import counted

SourceLine = tuple[Path, int]
_Shape = tuple[AccessKind, MemorySpace, int]  # of an instruction: what it does, where, bytes per lane
_EQUAL = 0.01  # of a counter: recorded dispatches are some of those that were counted
_ATOMICS = (AccessKind.ATOMIC, AccessKind.REDUCTION)


class Kind(Enum):
    """Instructions that one counter of requests covers."""

    MOVES = "loads and stores"
    ATOMICS = "atomics"
    LDS = "LDS accesses"


_COUNTERS = {Kind.MOVES: Metric.REQUESTS, Kind.ATOMICS: Metric.ATOMIC_REQUESTS, Kind.LDS: Metric.LDS_REQUESTS}


def kind_of(access: AccessKind, space: MemorySpace) -> Kind:
    if space is MemorySpace.SHARED:
        return Kind.LDS
    return Kind.ATOMICS if access in _ATOMICS else Kind.MOVES


@dataclass(frozen=True)
class Agreement:
    """`different` says by line what the program's own code has there; `compared` counts the lines of both."""

    compared: int
    different: Mapping[SourceLine, str]
    kinds: frozenset[Kind]  # of instructions that differ somewhere

    def describe(self) -> str:
        same = f"{self.compared - len(self.different)} of " if self.different else ""
        return f"its memory instructions are those of the program as it is on {same}{counted(self.compared, 'line')}"


def agreement(code: Code, recorded: Iterable[tuple[MachineAccess, tuple[Frame, ...]]], project: Path) -> Agreement:
    """`recorded`: the kernel's accesses in the recording code, with the chains as the user has them."""
    ours, theirs = _by_line(_own(code, project)), _by_line(_recorded(recorded, project))
    different, kinds = {}, set()
    for place in {*ours, *theirs}:
        more, less = ours[place] - theirs[place], theirs[place] - ours[place]
        if more or less:
            different[place] = f"the program's own code has {_told(ours[place])} here, not {_told(theirs[place])}"
            kinds |= {kind_of(access, space) for access, space, _ in (*more, *less)}
    return Agreement(len({*ours, *theirs}), different, frozenset(kinds))


def _own(code: Code, project: Path) -> Iterable[tuple[SourceLine, Operation]]:
    found = chains(code.path, [item.address for item in code.items])
    for item in code.items:
        chain = in_project(found.get(item.address, ()), project)
        if chain:
            yield (chain[0].file, chain[0].line), item.operation


def _recorded(
    accesses: Iterable[tuple[MachineAccess, tuple[Frame, ...]]], project: Path
) -> Iterable[tuple[SourceLine, Operation]]:
    """Without what the optimizer moved, which has no line in a program's own line table."""
    for access, frames in accesses:
        chain = in_project(frames, project)
        if chain and not access.site.moved:
            yield (chain[0].file, chain[0].line), access.operation


def _by_line(items: Iterable[tuple[SourceLine, Operation]]) -> defaultdict[SourceLine, Counter[_Shape]]:
    found: defaultdict[SourceLine, Counter[_Shape]] = defaultdict(Counter)
    for place, one in items:
        if one.space is not MemorySpace.LOCAL:  # spills and private arrays are the allocator's affair
            access = AccessKind.ATOMIC if one.access in _ATOMICS else one.access
            space = MemorySpace.SHARED if one.space is MemorySpace.SHARED else MemorySpace.GLOBAL
            found[place][access, space, one.width_in_all] += 1
    return found


def _told(shapes: Counter[_Shape]) -> str:
    parts = [
        f"{count} {'LDS ' * (space is MemorySpace.SHARED)}{access.value}{'s' * (count > 1)} of {width} bytes"
        for (access, space, width), count in sorted(shapes.items(), key=lambda item: repr(item[0]))
    ]
    return " and ".join(parts) or "none"


@dataclass(frozen=True)
class Held:
    """`factor` makes the figures of a kind add up to its counter; None: they are not the program's and are left out."""

    factor: float | None = 1.0
    remark: str = ""


def hold(
    requests: Mapping[Kind, Sequence[tuple[float, float]]],
    whole: Mapping[Metric, Quantity],
    sampled: bool,
    different: frozenset[Kind],
) -> dict[Kind, Held]:
    """By kind. `requests`: what was recorded per line, with the half-width of its error; `whole`: the counters.

    `different`: kinds in which the program's own instructions are others, or whose accesses were not all recorded.
    """
    return {
        kind: _held(kind, lines, whole[_COUNTERS[kind]].value, sampled, kind in different)
        for kind, lines in requests.items()
        if _COUNTERS[kind] in whole
    }


def _held(kind: Kind, lines: Sequence[tuple[float, float]], counter: float, sampled: bool, different: bool) -> Held:
    recorded, error = sum(value for value, _ in lines), sum(half for _, half in lines)
    if recorded <= 0 or abs(recorded - counter) <= _EQUAL * counter:
        return Held()
    if different or not sampled or counter <= 0:
        remark = (
            f"{recorded:,.0f} {kind.value} were recorded and {counter:,.0f} counted: the program's own code does "
            "otherwise, so that no figures of these lines are given"
        )
        return Held(None, remark)
    spread = f" ± {error:,.0f}" if error else ""
    remark = f"scaled to {counter:,.0f} counted {kind.value} (the sample says {recorded:,.0f}{spread})"
    return Held(counter / recorded, remark)
