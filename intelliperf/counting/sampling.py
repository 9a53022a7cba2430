"""How far a count of some blocks may be from the count of all: 95 % half-widths.

A launch of N blocks of which n were traced, their per-block counts having sum s and sum of squares q,
is estimated as N·s/n. The error is that of a simple random sample without replacement; blocks are in
truth picked by an event budget at even distances, for which this is an upper bound unless the work
per block has the period of the picking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Two-sided 95 % quantiles of Student's t by degrees of freedom (tables; beyond 30 the normal one is near).
_T95: tuple[float, ...] = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def t95(degrees: int) -> float:
    return _T95[degrees - 1] if degrees <= len(_T95) else 1.96


def half_width(total: float, squares: float, traced: int, blocks: int) -> float:
    """Half-width of the interval of N·total/n; the estimate itself where one block tells nothing."""
    if traced >= blocks:
        return 0.0
    estimate = blocks * total / traced
    if traced < 2:
        return estimate
    mean = total / traced
    variance = max(0.0, squares - traced * mean * mean) / (traced - 1)
    return t95(traced - 1) * blocks * math.sqrt(variance / traced * (1 - traced / blocks))


def of_mean(values: Sequence[float], count: int) -> float:
    """Half-width of the mean of `count` values of which these are known; the mean itself where one tells nothing."""
    known = len(values)
    if known >= count:
        return 0.0
    mean = sum(values) / known
    if known < 2:
        return abs(mean)
    variance = sum((value - mean) ** 2 for value in values) / (known - 1)
    return t95(known - 1) * math.sqrt(variance / known * (1 - known / count))


def relative(total: float, squares: float, traced: int, blocks: int) -> float:
    """The half-width as a share of the estimate; 0 where nothing was seen."""
    if total <= 0:
        return 0.0
    return half_width(total, squares, traced, blocks) * traced / (blocks * total)
