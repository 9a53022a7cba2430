from __future__ import annotations

import math
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


def test_a_single_sample_has_no_known_spread() -> None:
    assert math.isinf(statistics.median_interval([5.0]).high)
    assert statistics.ratio_interval([2.0], [1.0]).low == 0.0


def test_the_ratio_interval_holds_the_ratio_and_is_the_same_each_time() -> None:
    noise = np.random.default_rng(7)
    baseline = list(100 * (1 + 0.02 * noise.standard_normal(40)))
    candidate = list(50 * (1 + 0.02 * noise.standard_normal(40)))
    first = statistics.ratio_interval(baseline, candidate)
    assert first == statistics.ratio_interval(baseline, candidate)
    assert first.low < 2.0 < first.high
    assert first.relative_width < 0.05


def test_equal_programs_are_called_unchanged_nearly_always() -> None:
    noise = np.random.default_rng(11)
    wrong = 0
    for seed in range(60):
        samples = 100 * (1 + 0.05 * noise.standard_normal((2, 30)))
        interval = statistics.ratio_interval(list(samples[0]), list(samples[1]), seed)
        wrong += not interval.low <= 1.0 <= interval.high
    assert wrong <= 6


def test_pairs_cancel_a_drift_that_both_share() -> None:
    pairs = [(2.0 * drift, 1.0 * drift) for drift in (1.0, 1.3, 1.7, 2.5)]
    interval = statistics.paired_ratio_interval(pairs)
    assert (interval.low, interval.value, interval.high) == (2.0, 2.0, 2.0)


def test_times_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        statistics.ratio_interval([1.0, 2.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="positive"):
        statistics.paired_ratio_interval([(1.0, 0.0)])


def test_sampling_errors_widen_the_ratio_of_two_estimates() -> None:
    exact = statistics.ratio_of_estimates(10, 0, 5, 0)
    assert (exact.low, exact.high) == (2.0, 2.0)
    rough = statistics.ratio_of_estimates(10, 0.1, 5, 0.1)
    assert rough.low < 1.8 and rough.high > 2.2
    assert math.isinf(statistics.ratio_of_estimates(10, 1.0, 5, 0.0).high)


def test_more_samples_detect_smaller_effects() -> None:
    noise = np.random.default_rng(3)
    few, many = 10 + noise.standard_normal(8), 10 + noise.standard_normal(200)
    assert statistics.minimum_detectable_effect(list(many)) < statistics.minimum_detectable_effect(list(few))


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
