"""Tunables: constants of a candidate with the sets that they may come from; the fastest values become plain code.

Variants are timed only. The winner alone is judged, as any candidate.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from intelliperf.project.constants import defined, with_constants
from intelliperf.records import Candidate

MOST_TIMED = 12  # builds and timings, for one candidate
Values = Mapping[str, int]


@dataclass
class Tuning:
    """`time` builds and times a variant, in ns; None where it does not build or run."""

    candidate: Candidate
    time: Callable[[Candidate], float | None]
    most: int = MOST_TIMED
    timed: dict[tuple[tuple[str, int], ...], float | None] = field(default_factory=dict)

    def best(self) -> tuple[Candidate, str]:
        """The fastest variant, and what was done for it in words."""
        sets = {tunable.name: tunable.values for tunable in self.candidate.tunables}
        written = {name: defined(self.candidate.edits, name) for name in sets}
        all_of_them = math.prod(len(values) for values in sets.values())
        order = _grid(sets) if all_of_them <= self.most else None
        now: Values = written
        if order is not None:
            for values in order:
                now = self._better(now, values)
        else:
            for name, chosen in sets.items():  # one after the other: their sum instead of their product
                for value in _thinned(chosen, (self.most - 1) // len(sets)):
                    now = self._better(now, {**now, name: value})
        return self._variant(now), self._told(now, written, all_of_them)

    def _better(self, now: Values, values: Values) -> Values:
        for one in (now, values):
            key = tuple(sorted(one.items()))
            if key not in self.timed and len(self.timed) < self.most:
                self.timed[key] = self.time(self._variant(one))
        before, after = (self.timed.get(tuple(sorted(one.items()))) for one in (now, values))
        return values if after is not None and (before is None or after < before) else now

    def _variant(self, values: Values) -> Candidate:
        edits = tuple(dataclasses.replace(e, text=with_constants(e.text, values)) for e in self.candidate.edits)
        return dataclasses.replace(self.candidate, edits=edits, tunables=())

    def _told(self, now: Values, written: Values, all_of_them: int) -> str:
        chosen = ", ".join(f"{name} = {value}" for name, value in now.items())
        bounded = "" if len(self.timed) >= all_of_them else ", one tunable after the other, to bound the effort"
        failed = sum(time is None for time in self.timed.values())
        lost = f"; {failed} of these do not build or run" if failed else ""
        kept = " (as written)" if now == written else ""
        return f"tuned: {chosen}{kept}; {len(self.timed)} of {all_of_them} combinations timed{bounded}{lost}"


def _thinned(values: tuple[int, ...], most: int) -> tuple[int, ...]:
    """At most so many of them (two at least), evenly, the first and the last among them."""
    count = max(2, most)
    if len(values) <= count:
        return values
    return tuple(values[round(place * (len(values) - 1) / (count - 1))] for place in range(count))


def _grid(sets: Mapping[str, tuple[int, ...]]) -> Iterator[Values]:
    for values in itertools.product(*sets.values()):
        yield dict(zip(sets, values, strict=True))
