"""The list of patches: what each gains, what it leaves to a reviewer, in which order, and what a search finds."""

from __future__ import annotations

from dataclasses import dataclass

from intelliperf.history.records import Patch, Standing
from intelliperf.history.store import History
from intelliperf.records import Measurement, Provenance
from intelliperf.report import gainfigures
from intelliperf.report.plaintext import visible
from intelliperf.report.risks import risks
from intelliperf.review.views import judged, whole_gain

_AT_ONCE = 500  # patches whose verdicts one query reads: databases bound the numbers in a query


@dataclass(frozen=True)
class Glance:
    """What an inbox needs of a patch's verdicts: the gain for the whole application, None where it is not known."""

    gain: Measurement | None
    risks: tuple[str, ...]

    @property
    def provenance(self) -> str:
        return self.gain.provenance.value if self.gain is not None else ""


@dataclass(frozen=True)
class Entry:
    """One line of the inbox."""

    id: int
    target: str
    kernel: str
    formula: str
    origin: str
    standing: Standing
    found_at: str
    gain: str
    provenance: str
    risks: tuple[str, ...]


class Inbox:
    """Verdicts are documents of a hundred lines, and a thousand of them take longer than a reader waits. They never
    change, so that what was read of them is kept for as long as a patch's last verdicts are the same.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: dict[int, tuple[tuple[tuple[int, str], ...], Glance]] = {}
        self._read(None)

    def entries(self, standing: Standing | None) -> list[Entry]:
        """Measured before modelled, then by what is gained at least; the oldest of equals first."""
        glances = self._read(standing)
        patches = [(p, glances.get(p.id or 0, _NEVER)) for p in self._history.patches(standing, diffs=False)]
        return [_entry(patch, glance) for patch, glance in sorted(patches, key=_order)]

    def _read(self, standing: Standing | None) -> dict[int, Glance]:
        current = self._history.latest_verdicts(standing)
        new = [number for number, last in current.items() if self._known.get(number, (None,))[0] != last]
        for begin in range(0, len(new), _AT_ONCE):
            for number, judgements in self._history.latest_judgements(new[begin : begin + _AT_ONCE]).items():
                places = tuple(judged(judgement) for judgement in judgements)
                self._known[number] = current[number], Glance(whole_gain(places), risks(places))
        return {number: self._known[number][1] for number in current if number in self._known}


_NEVER = Glance(None, risks(()))


def _order(one: tuple[Patch, Glance]) -> tuple[bool, float, int]:
    patch, glance = one
    least = glance.gain.low if glance.gain is not None else 0.0
    return glance.provenance != Provenance.MEASURED.value, -least, patch.id or 0


def _entry(patch: Patch, glance: Glance) -> Entry:
    return Entry(
        id=patch.id or 0,
        target=visible(patch.target, 80),
        kernel=visible(patch.kernel, 120),
        formula=visible(patch.formula, 60),
        origin=visible(patch.origin, 120),
        standing=patch.standing,
        found_at=patch.found_at,
        gain=gainfigures.interval(glance.gain) if glance.gain is not None else "not known",
        provenance=glance.provenance,
        risks=glance.risks,
    )
