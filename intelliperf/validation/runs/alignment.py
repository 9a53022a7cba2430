"""Where two runs with different kernels can be compared: for candidates that declare so.

Copies must be the same on both sides and cut both runs into stretches; so do memsets and dispatches,
common to both, of kernels that the candidate left alone. What lies between two cuts is the candidate's
to arrange, so memory is compared after the last dispatch before the next cut. Where a stretch of the
candidate is a whole multiple of the reference's, every repetition is compared. A candidate that has
nothing in some stretch may have made one kernel of two: then memsets do not cut, or only copies do.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intelliperf.interception.messages import Dispatch, Transfer
from intelliperf.validation.runs.events import Event
from intelliperf.validation.runs.totalled import NO_SITES, Totalled, TotalledCopy, TotalSites, otherwise_copied


@dataclass(frozen=True)
class Alignment:
    """Pairs of dispatch numbers to compare at; where there is a problem, those before it."""

    points: tuple[tuple[int, int], ...]
    problem: str = ""
    extra_transfers: int = 0
    totalled: Totalled = Totalled()


@dataclass(frozen=True)
class _Stretch:
    """The numbers of the dispatches between two cuts, and a problem with what lies there."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    problem: str = ""


def align(
    reference: Sequence[Event], candidate: Sequence[Event], target: str, sites: TotalSites = NO_SITES
) -> Alignment:
    """Match the two lists of events. The candidate may add memsets (of its scratch memory), no copies.

    Copies at one of the `sites` are matched whatever their sizes.
    """
    cuts = _common(reference, candidate, target, sites)
    copies = [cut for cut in cuts if isinstance(event := reference[cut[0]], Transfer) and event.operation != "memset"]
    launches = [cut for cut in cuts if isinstance(reference[cut[0]], Dispatch)]
    plans = (_aligned(reference, candidate, cuts, kept) for kept in (cuts, sorted([*copies, *launches]), copies))
    first = next(plans)
    plan = first if not first.problem else next((plan for plan in plans if not plan.problem), first)
    return replace(plan, totalled=_totalled(reference, candidate, cuts, plan.points, sites))


def _totalled(
    reference: Sequence[Event],
    candidate: Sequence[Event],
    cuts: Sequence[tuple[int, int]],
    points: Sequence[tuple[int, int]],
    sites: TotalSites,
) -> Totalled:
    whole = [otherwise_copied(sites, side, events) for side, events in enumerate((reference, candidate))]
    dispatches = [index for index, event in enumerate(reference) if isinstance(event, Dispatch)]
    found: dict[int, tuple[TotalledCopy, ...]] = {}
    for i, j in cuts:
        number = sites.number(0, reference[i])
        copy = sites.copy(number, reference[i], candidate[j]) if number is not None else None
        if copy is None or copy.mine[0] in whole[0] or copy.theirs[0] in whole[1]:
            continue
        before = [at for at, (left, _) in enumerate(points) if dispatches[left] < i]
        if before:
            found[before[-1]] = (*found.get(before[-1], ()), copy)
    return Totalled(found)


def _aligned(
    reference: Sequence[Event], candidate: Sequence[Event], common: list[tuple[int, int]], cuts: list[tuple[int, int]]
) -> Alignment:
    """By those of the common events that are to be cuts."""
    dispatches = [event for event in candidate if isinstance(event, Dispatch)]
    points: list[tuple[int, int]] = []
    for stretch in _stretches(reference, candidate, common, cuts):
        if stretch.problem:
            return Alignment(tuple(points), stretch.problem)
        points += _points(stretch, dispatches)
    if not points:
        return Alignment((), "no dispatch of the two runs can be compared")
    matched = {j for _, j in common}
    return Alignment(
        tuple(points), "", sum(isinstance(e, Transfer) for j, e in enumerate(candidate) if j not in matched)
    )


def _signature(event: Event, sites: TotalSites, side: int) -> tuple[object, ...]:
    if isinstance(event, Transfer):
        number = sites.number(side, event)
        return event.operation, event.size if number is None else f"total {number}"
    return event.kernel, event.grid, event.block, event.dynamic_lds


def _common(left: Sequence[Event], right: Sequence[Event], target: str, sites: TotalSites) -> list[tuple[int, int]]:
    """Indices of the cuts: equal events that are not the target kernel."""
    mine = [(_signature(e, sites, 0), i) for i, e in enumerate(left) if not _is_target(e, target)]
    known = {signature for signature, _ in mine}
    theirs = [(s, j) for j, e in enumerate(right) if (s := _signature(e, sites, 1)) in known]
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


def _stretches(
    left: Sequence[Event], right: Sequence[Event], common: list[tuple[int, int]], cuts: list[tuple[int, int]]
) -> list[_Stretch]:
    numbers = _numbers(left), _numbers(right)
    matched = {i for i, _ in common}, {j for _, j in common}
    stretches = []
    previous = (-1, -1)
    for cut in [*cuts, (len(left), len(right))]:
        spans = [range(previous[side] + 1, cut[side]) for side in (0, 1)]
        inside = [tuple(n for at in span if (n := numbers[side][at]) is not None) for side, span in enumerate(spans)]
        apart = [
            [events[at] for at in span if at not in known]
            for events, span, known in zip((left, right), spans, matched, strict=True)
        ]
        problem = _problem(apart[0], apart[1], not inside[1])
        stretches.append(_Stretch(inside[0], inside[1], problem))
        previous = cut
    return stretches


def _problem(left: Sequence[Event], right: Sequence[Event], nothing: bool) -> str:
    """With what one of the two runs alone does between two cuts; `nothing`: the candidate launches nothing there."""
    lost = next((event for event in left if isinstance(event, Transfer)), None)
    if lost is not None:
        return f"{lost.describe()} is missing"
    copy = next((event for event in right if isinstance(event, Transfer) and event.operation != "memset"), None)
    if copy is not None:
        return f"{copy.describe()} was added"
    launch = next((event for event in left if isinstance(event, Dispatch)), None)
    return f"{launch.describe()} is missing, and nothing stands for it" if nothing and launch is not None else ""


def _points(stretch: _Stretch, candidate: Sequence[Dispatch]) -> list[tuple[int, int]]:
    if not stretch.left:
        return []
    times, rest = divmod(len(stretch.right), len(stretch.left))
    if rest == 0:
        names = [candidate[n].kernel for n in stretch.right]
        if all(names[i] == names[i % times] for i in range(len(names))):
            return [(n, stretch.right[(i + 1) * times - 1]) for i, n in enumerate(stretch.left)]
    return [(stretch.left[-1], stretch.right[-1])]
