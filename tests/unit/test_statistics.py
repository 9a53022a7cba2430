from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from intelliperf.errors import UsageError
from intelliperf.profiling import ranking, statistics
from intelliperf.records import Geometry, Kernel, KernelProfile, Provenance


def _profile(symbol: str, *times: float) -> KernelProfile:
    kernel = Kernel(symbol, symbol, Path("/p/a.hip"), 3)
    geometry = Geometry((1, 1, 1), (64, 1, 1))
    return KernelProfile(kernel, len(times), (geometry,), times, Provenance.MODELLED, 0.0)


def test_the_median_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        statistics.median([])


def test_no_distribution_is_assumed_so_that_few_samples_enclose_the_median_with_their_extremes_only() -> None:
    assert statistics.least_samples(0.95) == 6
    assert statistics.least_samples(0.998) == 10
    interval = statistics.sturdy_median_interval([3.0, 1.0, 2.0, 6.0, 5.0, 4.0], 0.95)
    assert (interval.low, interval.value, interval.high) == (1.0, 3.5, 6.0)
    with pytest.raises(ValueError, match="too few"):
        statistics.sturdy_median_interval([1.0] * 9, 0.998)


@pytest.mark.parametrize(("count", "cut"), [(10, 1), (20, 5), (40, 13)])
def test_order_statistics_are_those_of_the_sign_test(count: int, cut: int) -> None:
    """Conover's table A3 for a median at 95 %: at most 1 of 10, 5 of 20, 13 of 40 lie beyond each end."""
    interval = statistics.sturdy_median_interval([float(n) for n in range(count)], 0.95)
    assert (interval.low, interval.high) == (cut, count - 1 - cut)


def test_the_interval_covers_the_median_as_often_as_it_says() -> None:
    noise = np.random.default_rng(11)
    missed = 0
    for _ in range(2000):
        interval = statistics.sturdy_median_interval(list(noise.standard_cauchy(25)), 0.95)
        missed += not interval.low <= 0.0 <= interval.high
    assert missed <= 0.05 * 2000


def test_an_outlier_does_not_move_the_interval() -> None:
    calm = [1.0 + n / 1000 for n in range(12)]
    wild = [*calm[:-1], 1e9]
    assert statistics.sturdy_median_interval(wild, 0.95).high == statistics.sturdy_median_interval(calm, 0.95).high


def test_kernels_rank_by_total_time_and_ties_by_symbol() -> None:
    profiles = [_profile("b", 1.0, 1.0), _profile("a", 2.0), _profile("c", 5.0)]
    assert [p.kernel.symbol for p in ranking.ranked(profiles)] == ["c", "a", "b"]
    assert [p.kernel.symbol for p in ranking.top(profiles, 1)] == ["c"]


def test_shares_count_copies_in() -> None:
    shared = ranking.with_shares([_profile("a", 30.0), _profile("b", 20.0)], 100.0)
    assert [p.share for p in shared] == [0.3, 0.2]
    assert ranking.covered(shared) == 0.5
    assert ranking.with_shares([replace(shared[0])], 0.0)[0].share == 0.0


def test_a_top_of_none_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        ranking.top([], 0)
