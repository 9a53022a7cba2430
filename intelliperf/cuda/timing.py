"""Two programs timed against each other on real hardware, so that noise is called noise.

Runs come in quadruples A B B A, which cancel a steady drift of clocks and temperature; each quadruple gives one
ratio. The first, in which caches and clocks warm up, is dropped. Quadruples are added until the 95 % interval of
the median ratio is narrow or the time is spent. The interval is the distribution-free one of the median, by the
order statistics of the ratios (W. J. Conover, Practical Nonparametric Statistics, 3.2), widened to the coverage
that its sample size allows: it assumes nothing about the shape of the noise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from intelliperf.profiling.statistics import Interval, median
from intelliperf.records import Measurement, Provenance, Scope

CONFIDENCE = 0.995  # two-sided, so that unchanged programs are told apart by mistake once in 200 at most
LEAST_QUADRUPLES = 9  # the fewest whose extremes cover the median with that confidence
MOST_QUADRUPLES = 30
NARROW = 0.01  # relative half-width at which more runs would tell little
SMALLEST_EFFECT = 0.005  # below this nothing is believed: clocks and layout alone make as much


@dataclass(frozen=True)
class Sample:
    """One run of one program; nanoseconds."""

    kernel_ns: float  # of the kernel, all dispatches added up
    device_ns: float  # of everything on the device


Run = Callable[[], Sample]


def measure(baseline: Run, candidate: Run, dispatches: int, budget_s: float) -> tuple[Measurement, ...]:
    """Kernel scope first, then the application's. `dispatches` of the kernel in one run, for the report."""
    started = time.monotonic()
    quadruples: list[tuple[tuple[Sample, Sample], tuple[Sample, Sample]]] = []
    while True:
        first, second, third, fourth = baseline(), candidate(), candidate(), baseline()
        quadruples.append(((first, fourth), (second, third)))
        kept = quadruples[1:]
        spent = time.monotonic() - started
        each = spent / len(quadruples)
        if len(kept) >= LEAST_QUADRUPLES and _narrow(kept):
            break
        if len(kept) >= MOST_QUADRUPLES or (kept and spent + each > budget_s):
            break
    return tuple(_measurement(scope, kept) for scope in (Scope.KERNEL, Scope.APPLICATION))


def _narrow(kept: Sequence[tuple[tuple[Sample, Sample], tuple[Sample, Sample]]]) -> bool:
    interval = ratio_interval([_ratio(Scope.KERNEL, quadruple) for quadruple in kept])
    return interval.relative_width / 2 <= NARROW


def _time(scope: Scope, samples: tuple[Sample, Sample]) -> float:
    """Geometric mean of the two."""
    values = [sample.kernel_ns if scope is Scope.KERNEL else sample.device_ns for sample in samples]
    return math.sqrt(values[0] * values[1])


def _ratio(scope: Scope, quadruple: tuple[tuple[Sample, Sample], tuple[Sample, Sample]]) -> float:
    return _time(scope, quadruple[0]) / _time(scope, quadruple[1])


def _measurement(scope: Scope, kept: Sequence[tuple[tuple[Sample, Sample], tuple[Sample, Sample]]]) -> Measurement:
    interval = ratio_interval([_ratio(scope, quadruple) for quadruple in kept])
    return Measurement(
        scope=scope,
        baseline_ns=median([_time(scope, before) for before, _ in kept]),
        candidate_ns=median([_time(scope, after) for _, after in kept]),
        ratio=interval.value,
        low=interval.low,
        high=interval.high,
        provenance=Provenance.MEASURED,
        samples=4 * len(kept),
    )


def ratio_interval(ratios: Sequence[float]) -> Interval:
    """Median with its interval, no narrower than `SMALLEST_EFFECT` on either side.

    Too few ratios for the confidence give an interval that excludes nothing.
    """
    ordered = sorted(ratios)
    centre = median(ordered)
    rank = _rank(len(ordered))
    if rank is None:
        return Interval(centre, 0.0, math.inf)
    low = min(ordered[rank], centre * (1 - SMALLEST_EFFECT))
    high = max(ordered[-1 - rank], centre * (1 + SMALLEST_EFFECT))
    return Interval(centre, low, high)


def _rank(count: int) -> int | None:
    """How many of the ordered values may be cut off at each end; None where even all are too few.

    The median lies below the r-th smallest of n values with probability P(Binomial(n, 1/2) < r).
    """
    allowed = (1 - CONFIDENCE) / 2
    tail = 0.0
    rank = None
    for cut in range(count // 2 + 1):
        tail += math.comb(count, cut) / 2.0**count
        if tail > allowed:
            break
        rank = cut
    return rank
