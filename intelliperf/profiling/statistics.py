"""Medians, their uncertainty, and ratios of two sets of timings. Pure and reproducible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
_RESAMPLES = 4000


@dataclass(frozen=True)
class Interval:
    """An estimate with its two-sided 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def relative_width(self) -> float:
        """Width over value; infinite for an estimate of 0 that is not certain."""
        if self.value:
            return (self.high - self.low) / abs(self.value)
        return 0.0 if self.high == self.low else math.inf


def median(samples: Sequence[float]) -> float:
    """Raises `ValueError` for no samples: absent is not zero."""
    if not samples:
        raise ValueError("the median of no samples")
    return float(np.median(np.asarray(samples, dtype=float)))


def median_interval(samples: Sequence[float], seed: int = 0) -> Interval:
    """Bootstrap interval of the median; a single sample has no known spread and gets an infinite one."""
    centre = median(samples)
    if len(samples) < 2:
        return Interval(centre, -math.inf, math.inf)
    low, high = np.quantile(_resampled_medians(samples, np.random.default_rng(seed)), _tails())
    return Interval(centre, float(low), float(high))


def ratio_interval(baseline: Sequence[float], candidate: Sequence[float], seed: int = 0) -> Interval:
    """Median of `baseline` over that of `candidate`: above 1 the candidate is faster.

    Both sets are resampled independently. Raises `ValueError` for times that are not positive.
    """
    if min([*baseline, *candidate], default=0.0) <= 0:
        raise ValueError("a ratio of times needs positive samples on both sides")
    centre = median(baseline) / median(candidate)
    if len(baseline) < 2 or len(candidate) < 2:
        return Interval(centre, 0.0, math.inf)
    generator = np.random.default_rng(seed)
    ratios = _resampled_medians(baseline, generator) / _resampled_medians(candidate, generator)
    low, high = np.quantile(ratios, _tails())
    return Interval(centre, float(low), float(high))


def paired_ratio_interval(pairs: Sequence[tuple[float, float]], seed: int = 0) -> Interval:
    """Median of the ratios of (baseline, candidate) pairs measured next to each other in time.

    Pairs cancel slow drift of clocks and temperature, which independent samples do not.
    """
    if any(first <= 0 or second <= 0 for first, second in pairs):
        raise ValueError("a ratio of times needs positive samples on both sides")
    ratios = [first / second for first, second in pairs]
    interval = median_interval(ratios, seed)
    return Interval(interval.value, max(0.0, interval.low), interval.high)


def ratio_of_estimates(baseline: float, baseline_error: float, candidate: float, candidate_error: float) -> Interval:
    """Ratio of two estimates with relative half-widths, propagated on the logarithm.

    Errors of 1 and more say that nothing is known and give an infinite interval.
    """
    if baseline <= 0 or candidate <= 0:
        raise ValueError("a ratio of times needs positive estimates on both sides")
    ratio = baseline / candidate
    if baseline_error >= 1 or candidate_error >= 1:
        return Interval(ratio, 0.0, math.inf)
    width = math.exp(math.hypot(math.log1p(baseline_error), math.log1p(candidate_error)))
    return Interval(ratio, ratio / width, ratio * width)


def minimum_detectable_effect(samples: Sequence[float]) -> float:
    """Smallest relative change of the median that so many samples of this spread would show at 95 %.

    From the interval of one median, widened for the difference of two (square root of 2).
    """
    interval = median_interval(samples)
    return math.inf if math.isinf(interval.high) else interval.relative_width / 2 * math.sqrt(2)


def _resampled_medians(
    samples: Sequence[float], generator: np.random.Generator
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    values = np.asarray(samples, dtype=float)
    picks = generator.integers(0, len(values), size=(_RESAMPLES, len(values)))
    medians: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = np.median(values[picks], axis=1)
    return medians


def _tails() -> tuple[float, float]:
    return (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
