"""Has a kernel become slower than its own history? Sequential change detection, without I/O.

Times are logarithms here. Each night's is held against all before it in its segment, which gives a Student t; that
becomes a standard normal z (Wallace 1959), so that neither mean nor noise needs to be known beforehand, and a one-sided
CUSUM adds up z - k (self-starting CUSUM: Hawkins 1987). z is cut at 3: no single night decides.

Two thresholds on the same z. *Suspected* is cheap to be wrong: the night then measures the two versions against each
other, in pairs. *Certain* stands alone, where no pairs can be measured. Simulated on independent nights of normal,
Laplace, t4 and spiky noise: at most 36 suspicions and 0.9 certainties in 1,000 kernel-nights (0.4 on normal noise); a
step of 5 % at 2 % noise is suspected within 3 nights in 93 % (10 nights of history) to 98 % (20), and certain within 3
nights in 47 % (20) to 63 % (40). An interval that errs to one side in 2.5 % refutes the other suspicions: below one
false alarm in 1,000. `tests/unit/test_change.py` holds these figures. What is not independent is suspected more often:
36 real histories of CPU code on a machine with changing load (noise 8 to 20 %, in bursts) gave 80 suspicions and 3
certainties in 1,000 nights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_HISTORY = 8  # nights before anything is said
_CUT = 3.0
_SUSPECTED = (0.8, 1.2)  # k and h of the CUSUM, in standard deviations
_CERTAIN = (1.0, 3.0)
_NO_NOISE = 1e-4  # relative: what is steadier than this is taken to be as noisy as this


@dataclass(frozen=True)
class Change:
    """`first` is the position of the first night that belongs to the new level."""

    first: int
    certain: bool
    before: float  # geometric means of the two levels
    after: float

    @property
    def ratio(self) -> float:
        """Above 1 is slower."""
        return self.after / self.before


def change_at_end(times: Sequence[float]) -> Change | None:
    """What the last of `times` (oldest first, one segment without a change in it) gives away.

    Earlier crossings of the suspicion's threshold are taken as refuted: one that was confirmed has begun a new segment.
    """
    if len(times) <= LEAST_HISTORY or min(times) <= 0:
        return None
    scores = _scores([math.log(time) for time in times])
    certain = _cusum(scores, _CERTAIN, forget=False)
    suspected = _cusum(scores, _SUSPECTED, forget=True)
    first = certain if certain is not None else suspected
    if first is None:
        return None
    before, after = _geometric_mean(times[:first]), _geometric_mean(times[first:])
    if after <= before:
        return None
    return Change(first, certain is not None, before, after)


def _scores(logarithms: Sequence[float]) -> list[float]:
    """z of each night that has enough before it; 0 of the first ones."""
    scores = [0.0] * LEAST_HISTORY
    for number in range(LEAST_HISTORY, len(logarithms)):
        past = logarithms[:number]
        mean = math.fsum(past) / number
        spread = math.sqrt(math.fsum((value - mean) ** 2 for value in past) / (number - 1))
        t = (logarithms[number] - mean) / (max(spread, _NO_NOISE) * math.sqrt(1 + 1 / number))
        scores.append(max(-_CUT, min(_CUT, _normal(t, number - 1))))
    return scores


def _normal(t: float, degrees: int) -> float:
    """The standard normal deviate as improbable as Student's t. Wallace (1959): good to 0.02 from 3 degrees on."""
    factor = (8 * degrees + 1) / (8 * degrees + 3)
    return math.copysign(factor * math.sqrt(degrees * math.log1p(t * t / degrees)), t)


def _cusum(scores: Sequence[float], rule: tuple[float, float], forget: bool) -> int | None:
    """Where the rise began that crosses the threshold at the end; None if the end does not cross it."""
    reference, threshold = rule
    total, first = 0.0, len(scores)
    for number, score in enumerate(scores):
        if total == 0.0:
            first = number
        total = max(0.0, total + score - reference)
        if total > threshold and number < len(scores) - 1 and forget:
            total = 0.0
    return first if total > threshold else None


def _geometric_mean(times: Sequence[float]) -> float:
    return math.exp(math.fsum(math.log(time) for time in times) / len(times))
