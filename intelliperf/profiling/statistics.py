"""Medians and their uncertainty. Pure and reproducible."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Interval:
    """An estimate with its two-sided interval."""

    value: float
    low: float
    high: float


def median(samples: Sequence[float]) -> float:
    """Raises `ValueError` for no samples: absent is not zero."""
    if not samples:
        raise ValueError("the median of no samples")
    return float(statistics.median(samples))


def least_samples(confidence: float) -> int:
    """The fewest whose extremes enclose the median with that confidence, two-sided, whatever the distribution."""
    count = 1
    while 2.0 ** (1 - count) > 1 - confidence:
        count += 1
    return count


def sturdy_median_interval(samples: Sequence[float], confidence: float) -> Interval:
    """Interval of the median that assumes nothing about the noise's shape; needs `least_samples(confidence)`.

    The wider of two: the bootstrap's percentiles, worked out exactly instead of drawn (the k-th smallest of a
    resample of n is binomial), and the sign test's order statistics (W. J. Conover, Practical Nonparametric
    Statistics, 3.2), because the bootstrap promises too much for few samples. Raises `ValueError` for too few.
    """
    ordered = sorted(samples)
    cut = _cut(len(ordered), confidence)
    if cut is None:
        raise ValueError(f"{len(ordered)} samples are too few for a confidence of {confidence}")
    return Interval(median(ordered), ordered[cut], ordered[-1 - cut])


@lru_cache(maxsize=256)
def _cut(count: int, confidence: float) -> int | None:
    """How many of the ordered samples lie outside the interval at each end; None where all are too few."""
    tail = (1 - confidence) / 2
    if count < least_samples(confidence):
        return None
    cut = 0
    while 2 * (cut + 1) < count:
        by_signs = _at_most(cut + 1, count, 0.5)
        by_bootstrap = 1 - _at_most((count + 1) // 2 - 1, count, (cut + 1) / count)
        if max(by_signs, by_bootstrap) > tail:
            break
        cut += 1
    return cut


def _at_most(successes: int, trials: int, chance: float) -> float:
    """The binomial distribution function."""
    return sum(math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(successes + 1))
