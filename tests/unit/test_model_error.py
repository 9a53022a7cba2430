from __future__ import annotations

import math

import pytest

from intelliperf.emulator import modelerror
from intelliperf.emulator.decisive import decisive_gain
from intelliperf.emulator.modelerror import ModelError, spread, total_ns

ERROR = ModelError(
    "H200",
    80,
    2.5,
    {"launch": 0.2, "dram": 0.2, "lds": 0.4, "copies": 0.2},
    below=2.0,
    above=3.0,
    widened=1.0,
)
STREAMS = {"launch": 1000.0, "dram": 50_000.0, "lds": 100.0}
CONFLICTS = {"launch": 1000.0, "dram": 5_000.0, "lds": 80_000.0}


def test_the_same_version_has_no_model_error() -> None:
    found = spread([STREAMS], [STREAMS], ERROR)
    assert found.below == pytest.approx(0.0, abs=1e-9) and found.above == pytest.approx(0.0, abs=1e-9)


def test_an_error_of_a_part_cancels_where_it_is_as_large_in_both_versions() -> None:
    wider = {**STREAMS, "lds": 15_000.0}
    assert spread([STREAMS], [wider], ERROR).above < 0.2 < 0.4 < spread([STREAMS], [CONFLICTS], ERROR).above


def test_what_differs_is_uncertain_by_as_much_as_the_time_moves_with_it() -> None:
    half = {**STREAMS, "dram": 25_000.0}
    launch = {"launch": 500_000.0}
    much, little = spread([STREAMS], [half], ERROR), spread([{**STREAMS, **launch}], [{**half, **launch}], ERROR)
    assert little.above < much.above / 5 < 0.2


def test_the_model_tells_the_faster_version_but_not_how_much_faster() -> None:
    streams_less = {**CONFLICTS, "lds": 40_000.0, "dram": 10_000.0}
    ratio = math.log(total_ns(CONFLICTS, 2.5) / total_ns(streams_less, 2.5))
    found = spread([CONFLICTS], [streams_less], ERROR)
    assert 0 < ratio - found.below < ratio and found.above > 0.5
    mirrored = spread([streams_less], [CONFLICTS], ERROR)
    assert (mirrored.above, mirrored.below) == pytest.approx((found.below, found.above), rel=0.1)


def test_a_chip_that_nobody_measured_has_a_wider_interval_and_says_so() -> None:
    measured, other = modelerror.of_target("h200"), modelerror.of_target("mi300x")
    assert measured.widened == 1.0 < other.widened
    assert "as wide for this chip" in other.told and "as wide" not in measured.told
    assert spread([CONFLICTS], [STREAMS], measured).above < spread([CONFLICTS], [STREAMS], other).above


def test_many_launches_of_one_kind_count_as_often_as_they_are() -> None:
    once, often = ([STREAMS], [CONFLICTS]), ([STREAMS] * 7, [CONFLICTS] * 7)
    assert spread(*once, ERROR) == pytest.approx(spread(*often, ERROR)) or spread(*once, ERROR).above == pytest.approx(
        spread(*often, ERROR).above
    )


def test_the_rates_of_all_parts_are_known() -> None:
    assert {"launch", "dispatch", "issue", "lds", "constant", "l1", "l2", "dram", "atomic", "latency", "copies"} == set(
        modelerror.of_target("h200").rates
    )


def test_a_chip_that_was_not_measured_needs_a_larger_gain_to_be_believed() -> None:
    assert decisive_gain("h100") == pytest.approx(1.3)
    assert decisive_gain("mi300x") == pytest.approx(1.3**1.5)
