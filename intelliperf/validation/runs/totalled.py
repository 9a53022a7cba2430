"""Copies of which the host needs the total alone, in two runs: which of their transfers they are, and of which buffers.

The edit gate finds them in the host's code, by file and line; a run tells the line of each copy to the host.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from intelliperf.interception.messages import Transfer
from intelliperf.validation.edits.total import Place, Total
from intelliperf.validation.runs.events import Event
from intelliperf.validation.runs.pairing import Pairing

Lines = Callable[[tuple[tuple[str, int], ...]], tuple[Place, ...]]


@dataclass(frozen=True)
class TotalledCopy:
    """What the reference and the candidate copy: sequence number of the allocation, offset and size in bytes."""

    mine: tuple[int, int, int]
    theirs: tuple[int, int, int]
    total: Total


@dataclass(frozen=True)
class Totalled:
    """By number of the point of comparison: what is copied between it and the next."""

    copies: Mapping[int, tuple[TotalledCopy, ...]] = field(default_factory=dict)

    def at(self, number: int) -> tuple[TotalledCopy, ...]:
        return self.copies.get(number, ())

    def without(self, pairing: Pairing) -> Pairing:
        """The pairs of buffers that are compared element by element."""
        every = [copy for copies in self.copies.values() for copy in copies]
        if not every:
            return pairing
        mine, theirs = {copy.mine[0] for copy in every}, {copy.theirs[0] for copy in every}
        return Pairing(
            tuple(pair for pair in pairing.pairs if pair[0].sequence not in mine and pair[1].sequence not in theirs),
            tuple(one for one in pairing.missing if one.sequence not in mine),
            tuple(one for one in pairing.extra if one.sequence not in theirs),
        )


NO_TOTALS = Totalled()


class TotalSites:
    """Tells the transfers of two runs that are such copies. `totals`: of the reference's and the candidate's code."""

    def __init__(self, totals: Sequence[tuple[Total, Total]], lines: Lines | None) -> None:
        self._sites = [[pair[side].places for pair in totals] for side in (0, 1)]
        self._totals = totals
        self._lines = lines

    def number(self, side: int, event: Event) -> int | None:
        """Which of them it is; None for all other events. `side`: 0 for the reference, 1 for the candidate."""
        if self._lines is None or not isinstance(event, Transfer) or event.source is None:
            return None
        places = self._lines(event.caller)
        fitting = [number for number, site in enumerate(self._sites[side]) if site and places[: len(site)] == site]
        return fitting[0] if len(fitting) == 1 else None

    def copy(self, number: int, mine: Event, theirs: Event) -> TotalledCopy | None:
        """None where the only element is all that either copies: it is compared as any other."""
        total = next((one for one in self._totals[number] if one.how), None)
        if total is None or not isinstance(mine, Transfer) or not isinstance(theirs, Transfer):
            return None
        if mine.source is None or theirs.source is None or total.room and theirs.size > total.room:
            return None
        return TotalledCopy((*mine.source, mine.size), (*theirs.source, theirs.size), total)


NO_SITES = TotalSites((), None)


def otherwise_copied(sites: TotalSites, side: int, events: Collection[Event]) -> set[int]:
    """Allocations of which the host copies something whole, too."""
    return {
        event.source[0]
        for event in events
        if isinstance(event, Transfer) and event.source is not None and sites.number(side, event) is None
    }
