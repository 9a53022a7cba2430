"""Two programs timed against each other on real hardware, so that noise is called noise.

The programs run as processes, interleaved in pairs, A B or B A by the toss of a coin: neighbours in time make a
pair, each pair gives one ratio. The first pair, in which files, clocks and caches warm up, is dropped. Pairs are
added until the interval of the median ratio is narrow or the time is spent.

Why unchanged programs are told apart so seldom: were they the same, each pair's ratio would be as likely above 1
as below, independently of all others, however heavy the tails, however the clock drifts, jumps or swings, since
the coin alone decides who is who; that is all that the interval rests on (see `sturdy_median_interval`). A fixed
A B B A cancels a steady drift better, but noise with that very rhythm would pass for an effect. The interval is
looked at after `LOOKS` pairs only, each time with 99.8 %, so that the chances of all looks add up to less than 1 %.
It is never narrower than `SMALLEST_EFFECT`.

No pair is thrown away for throttling: a candidate that draws more power may throttle because of what it is.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from intelliperf.profiling.conditions import Conditions, describe
from intelliperf.profiling.statistics import Interval, least_samples, median, sturdy_median_interval
from intelliperf.records import Measurement, Provenance, Scope

CONFIDENCE = 0.998  # two-sided, at each of at most five looks: together wrong in less than 1 of 100
SMALLEST_EFFECT = 0.005  # nothing below is believed: where code and buffers happen to lie makes as much
FEW_PAIRS = 3  # run whatever the budget: below, nothing at all could be said
# Fewer pairs than the confidence needs cannot tell a change from clocks that jump between two levels. GPUs under
# load were seen to lose up to a quarter of their clock; what is beyond that still counts.
DOUBT_OF_FEW = 1.3
LOOKS = (10, 16, 24, 38, 60)  # pairs
_POWER_QUANTILES = (3.09 + 0.84) / 3.09  # normal quantiles of 99.8 % two-sided and of 80 % power


class Decision(str, Enum):
    FASTER = "faster"
    SLOWER = "slower"
    NO_CHANGE = "no change"


@dataclass(frozen=True)
class Sample:
    """One process; nanoseconds. Device times come from the device's own clock."""

    kernel_ns: float  # of the kernel, all dispatches added up
    device_ns: float  # of everything on the device
    wall_ns: float | None = None  # from the start of the process to its end
    conditions: Conditions = field(default=Conditions(), compare=False)


Run = Callable[[], Sample]


@dataclass(frozen=True)
class PairPlan:
    """How much effort. `narrow` is the relative width of the interval at which more runs would tell little."""

    looks: tuple[int, ...] = LOOKS  # the last one is the end
    narrow: float = 0.01
    narrow_against_effect: float = 0.1  # of how far the ratio is from 1: a factor of 20 need not be known to 1 %


@dataclass(frozen=True)
class Pair:
    baseline: Sample
    candidate: Sample


@dataclass(frozen=True)
class Comparison:
    """What the pairs say. `pairs` is without the dropped one."""

    pairs: tuple[Pair, ...]
    provenance: Provenance = Provenance.MEASURED  # of device times; MODELLED where the device is an emulated one

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Kernel scope first, then all device time, then the process's wall time where it was taken."""
        scopes = [Scope.KERNEL, Scope.APPLICATION]
        if all(s.wall_ns is not None for pair in self.pairs for s in (pair.baseline, pair.candidate)):
            scopes.append(Scope.PROCESS)
        return tuple(self._measurement(scope) for scope in scopes)

    @property
    def decision(self) -> Decision:
        """About the kernel."""
        return decide(self.interval(Scope.KERNEL))

    @property
    def detectable(self) -> float:
        """The smallest relative change of the kernel's time that so many pairs would have shown 4 times in 5."""
        interval = self.interval(Scope.KERNEL)
        half = math.log(interval.high / interval.low) / 2
        return math.expm1(max(half, math.log1p(SMALLEST_EFFECT)) * _POWER_QUANTILES)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know beside the figures: how it was measured, the least that would have shown, the GPU's state."""
        conditions = [s.conditions for pair in self.pairs for s in (pair.baseline, pair.candidate)]
        notes = [
            f"timed in {len(self.pairs)} interleaved pairs of processes: a change of {100 * self.detectable:.2g} % "
            "would have shown 4 times in 5"
        ]
        if any(c.readings for c in conditions):
            notes.append(f"during them: {describe(conditions)}")
        if self._uneven_throttling():
            notes.append("one program was throttled more often than the other, which is part of the ratio")
        return tuple(notes)

    def interval(self, scope: Scope) -> Interval:
        """Of the median ratio, baseline over candidate."""
        return ratio_interval(self._ratios(scope))

    def _ratios(self, scope: Scope) -> list[float]:
        return [_time(pair.baseline, scope) / _time(pair.candidate, scope) for pair in self.pairs]

    def _measurement(self, scope: Scope) -> Measurement:
        interval = self.interval(scope)
        return Measurement(
            scope=scope,
            baseline_ns=median([_time(pair.baseline, scope) for pair in self.pairs]),
            candidate_ns=median([_time(pair.candidate, scope) for pair in self.pairs]),
            ratio=interval.value,
            low=interval.low,
            high=interval.high,
            provenance=self.provenance,
            samples=len(self.pairs),
            pairs=tuple(self._ratios(scope)),
        )

    def _uneven_throttling(self) -> bool:
        before = sum(pair.baseline.conditions.throttled for pair in self.pairs)
        after = sum(pair.candidate.conditions.throttled for pair in self.pairs)
        return abs(before - after) > len(self.pairs) / 4


def compare(
    baseline: Run,
    candidate: Run,
    budget_s: float,
    plan: PairPlan | None = None,
    chance: random.Random | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Comparison:
    """No more pairs are begun than fit `budget_s`, but `FEW_PAIRS` in any case. What a run raises passes through."""
    plan, chance = plan or PairPlan(), chance or random.Random()
    started = clock()
    pairs: list[Pair] = []
    while True:
        if chance.random() < 0.5:
            after = candidate()
            pairs.append(Pair(baseline(), after))
        else:
            pairs.append(Pair(baseline(), candidate()))
        kept, spent = pairs[1:], clock() - started
        if len(kept) < FEW_PAIRS:
            continue
        if spent + spent / len(pairs) > budget_s or _enough(kept, plan):
            return Comparison(tuple(kept))


def without_noise(baseline: Sequence[Sample], candidate: Sequence[Sample]) -> tuple[Measurement, ...]:
    """For a device whose clock is a model: two samples of each, and no interval where they agree. Empty where not."""
    (before, again), (after, too) = baseline, candidate
    if before != again or after != too:
        return ()
    return tuple(
        Measurement(
            scope=scope,
            baseline_ns=_time(before, scope),
            candidate_ns=_time(after, scope),
            ratio=_time(before, scope) / _time(after, scope),
            low=_time(before, scope) / _time(after, scope),
            high=_time(before, scope) / _time(after, scope),
            provenance=Provenance.MODELLED,
            samples=2,
        )
        for scope in (Scope.KERNEL, Scope.APPLICATION)
    )


def measure(baseline: Run, candidate: Run, budget_s: float) -> tuple[Measurement, ...]:
    """`compare`, the measurements alone."""
    return compare(baseline, candidate, budget_s).measurements


def decide(interval: Interval) -> Decision:
    """By the interval of baseline over candidate alone."""
    if interval.low > 1.0:
        return Decision.FASTER
    return Decision.SLOWER if interval.high < 1.0 else Decision.NO_CHANGE


def ratio_interval(ratios: Sequence[float]) -> Interval:
    """Median with its interval. Raises `ValueError` for ratios that are not positive, or none."""
    if min(ratios, default=0.0) <= 0:
        raise ValueError("a ratio of times needs positive samples on both sides")
    centre = median(ratios)
    if len(ratios) < least_samples(CONFIDENCE):
        return Interval(centre, min(ratios) / DOUBT_OF_FEW, max(ratios) * DOUBT_OF_FEW)
    interval = sturdy_median_interval(ratios, CONFIDENCE)
    low = min(interval.low, centre / (1 + SMALLEST_EFFECT))
    return Interval(centre, low, max(interval.high, centre * (1 + SMALLEST_EFFECT)))


def _enough(kept: Sequence[Pair], plan: PairPlan) -> bool:
    if len(kept) not in plan.looks:
        return len(kept) > plan.looks[-1]
    if len(kept) == plan.looks[-1]:
        return True
    interval = Comparison(tuple(kept)).interval(Scope.KERNEL)
    own_width = math.log(interval.high / interval.low) - 2 * math.log1p(SMALLEST_EFFECT)
    return own_width <= max(plan.narrow, plan.narrow_against_effect * abs(math.log(interval.value)))


def _time(sample: Sample, scope: Scope) -> float:
    if scope is Scope.KERNEL:
        return sample.kernel_ns
    if scope is Scope.APPLICATION:
        return sample.device_ns
    if sample.wall_ns is None:
        raise ValueError("the wall time of this process was not taken")
    return sample.wall_ns
