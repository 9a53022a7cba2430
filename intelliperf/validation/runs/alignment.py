"""Where two runs with different kernels can be compared: for candidates that declare so.

Copies must be the same on both sides and cut both runs into stretches; so do dispatches, common to
both, of kernels that the candidate left alone. What lies between two cuts is the candidate's to
arrange, so memory is compared after the last dispatch before the next cut. Where a stretch of the
candidate is a whole multiple of the reference's, every repetition is compared.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from intelliperf.interception.messages import Dispatch, Transfer
from intelliperf.validation.runs.events import Event


@dataclass(frozen=True)
class Alignment:
    """Pairs of dispatch numbers to compare at, or why the two runs cannot be aligned."""

    points: tuple[tuple[int, int], ...]
    problem: str = ""
    extra_transfers: int = 0


@dataclass(frozen=True)
class _Stretch:
    """The numbers of the dispatches between two cuts."""

    left: tuple[int, ...]
    right: tuple[int, ...]


def align(reference: Sequence[Event], candidate: Sequence[Event], target: str) -> Alignment:
    """Match the two lists of events. The candidate may add memsets (of its scratch memory), no copies."""
    cuts = _common(reference, candidate, target)
    matched = {i for i, _ in cuts}, {j for _, j in cuts}
    lost = [e for i, e in enumerate(reference) if isinstance(e, Transfer) and i not in matched[0]]
    added = [e for j, e in enumerate(candidate) if isinstance(e, Transfer) and j not in matched[1]]
    if lost:
        return Alignment((), f"{lost[0].describe()} is missing")
    copies = [event for event in added if event.operation != "memset"]
    if copies:
        return Alignment((), f"{copies[0].describe()} was added")
    stretches = _stretches(reference, candidate, cuts)
    dispatches = [[e for e in events if isinstance(e, Dispatch)] for events in (reference, candidate)]
    for stretch in stretches:
        if stretch.left and not stretch.right:
            lost_one = dispatches[0][stretch.left[0]]
            return Alignment((), f"{lost_one.describe()} is missing, and nothing stands for it")
    points = tuple(point for s in stretches for point in _points(s, dispatches[1]))
    if not points:
        return Alignment((), "no dispatch of the two runs can be compared")
    return Alignment(points, "", len(added))


def _signature(event: Event) -> tuple[object, ...]:
    if isinstance(event, Transfer):
        return event.operation, event.size
    return event.kernel, event.grid, event.block, event.dynamic_lds


def _common(left: Sequence[Event], right: Sequence[Event], target: str) -> list[tuple[int, int]]:
    """Indices of the cuts: equal events that are not the target kernel."""
    mine = [(_signature(e), i) for i, e in enumerate(left) if not _is_target(e, target)]
    known = {signature for signature, _ in mine}
    theirs = [(s, j) for j, e in enumerate(right) if (s := _signature(e)) in known]
    signatures = [s for s, _ in mine], [s for s, _ in theirs]
    if signatures[0] == signatures[1]:  # nothing common was moved: no search needed
        return [(i, j) for (_, i), (_, j) in zip(mine, theirs, strict=True)]
    blocks = difflib.SequenceMatcher(None, *signatures, autojunk=False).get_matching_blocks()
    return [(mine[m.a + k][1], theirs[m.b + k][1]) for m in blocks for k in range(m.size)]


def _is_target(event: Event, target: str) -> bool:
    return isinstance(event, Dispatch) and event.kernel == target


def _numbers(events: Sequence[Event]) -> list[int | None]:
    """For each event its number among the dispatches."""
    numbers: list[int | None] = []
    count = 0
    for event in events:
        is_dispatch = isinstance(event, Dispatch)
        numbers.append(count if is_dispatch else None)
        count += is_dispatch
    return numbers


def _stretches(left: Sequence[Event], right: Sequence[Event], cuts: list[tuple[int, int]]) -> list[_Stretch]:
    numbers = _numbers(left), _numbers(right)
    stretches = []
    previous = (-1, -1)
    for cut in [*cuts, (len(left), len(right))]:
        inside = [tuple(n for n in numbers[side][previous[side] + 1 : cut[side]] if n is not None) for side in (0, 1)]
        stretches.append(_Stretch(inside[0], inside[1]))
        previous = cut
    return stretches


def _points(stretch: _Stretch, candidate: Sequence[Dispatch]) -> list[tuple[int, int]]:
    if not stretch.left:
        return []
    times, rest = divmod(len(stretch.right), len(stretch.left))
    if rest == 0:
        names = [candidate[n].kernel for n in stretch.right]
        if all(names[i] == names[i % times] for i in range(len(names))):
            return [(n, stretch.right[(i + 1) * times - 1]) for i, n in enumerate(stretch.left)]
    return [(stretch.left[-1], stretch.right[-1])]
