from __future__ import annotations

from dataclasses import replace

import pytest
from formula_profiles import DEVICE, DIVERGED, HALF_EMPTY, HEALTHY, THIN, ceiling_ns, profile, saved_ns

from intelliperf.formulas import FORMULAS
from intelliperf.records import (
    Geometry,
    Metric,
    Provenance,
)


def test_divergence_can_save_the_slots_that_lanes_sit_out() -> None:
    finding = FORMULAS["branchDivergence"].diagnose(profile(DIVERGED, share=1.0), DEVICE)
    assert finding is not None
    assert "16.0 lanes of a wave where 64 could take part (25 %)" in finding.sentence
    seen = profile(DIVERGED, share=1.0)
    assert ceiling_ns("branchDivergence", seen) == pytest.approx(saved_ns(seen, {Metric.ISSUE_TIME_NS: 24000 * 0.25}))


def test_divergence_can_save_what_requests_of_few_lanes_take_in_lds() -> None:
    lds = {
        Metric.DEVICE_TIME_NS: 1e5,
        Metric.LDS_TIME_NS: 60000.0,
        Metric.LDS_REQUESTS: 100.0,
        Metric.LDS_PHASES: 100.0,
    }
    alone, full = ({**DIVERGED, **lds, Metric.LDS_LANES: 100.0 * lanes} for lanes in (4, 64))
    finding = FORMULAS["branchDivergence"].diagnose(profile(alone, share=1.0), DEVICE)
    assert finding is not None
    assert finding.sentence.split(";")[0].endswith(", LDS 60 µs")
    seen = profile(alone, share=1.0)
    after = {Metric.ISSUE_TIME_NS: 24000 * 0.25, Metric.LDS_TIME_NS: 60000 / 16}
    assert ceiling_ns("branchDivergence", seen) == pytest.approx(saved_ns(seen, after))
    assert FORMULAS["branchDivergence"].diagnose(profile(full, share=1.0), DEVICE) is None


def test_divergence_is_a_matter_of_the_time_at_stake() -> None:
    ragged = {**DIVERGED, Metric.ACTIVE_LANE_RATIO: 0.764}
    finding = FORMULAS["branchDivergence"].diagnose(profile(ragged), DEVICE)
    assert finding is not None and "(76 %)" in finding.sentence


def test_lanes_that_the_launch_leaves_empty_are_no_divergence() -> None:
    assert FORMULAS["branchDivergence"].diagnose(profile(HALF_EMPTY), DEVICE) is None


def test_divergence_behind_a_longer_wait_gains_nothing() -> None:
    hidden = {**DIVERGED, Metric.DEVICE_TIME_NS: 90000.0, Metric.LATENCY_TIME_NS: 80000.0}
    assert FORMULAS["branchDivergence"].diagnose(profile(hidden), DEVICE) is None


def test_more_resident_waves_shorten_the_wait_as_littles_law_says() -> None:
    many = Geometry((3040, 1, 1), (256, 1, 1))
    finding = FORMULAS["occupancy"].diagnose(profile(THIN, 1.0, many), DEVICE)
    assert finding is not None
    assert (
        "LDS let 2 of 32 waves be resident on a compute unit (6.2 %; this launch could fill 100 %)" in finding.sentence
    )
    seen = profile(THIN, 1.0, many)
    assert ceiling_ns("occupancy", seen) == pytest.approx(saved_ns(seen, {Metric.LATENCY_TIME_NS: 24000 * 2 / 32}))


def test_waves_that_the_grid_does_not_have_cannot_be_resident() -> None:
    assert FORMULAS["occupancy"].diagnose(profile(THIN, 1.0, Geometry((152, 1, 1), (256, 1, 1))), DEVICE) is None


def test_without_a_model_of_waiting_low_occupancy_is_bounded_by_the_whole_time_and_the_other_parts() -> None:
    many = Geometry((3040, 1, 1), (256, 1, 1))
    seen = profile(THIN, 1.0, many, (Metric.LATENCY_TIME_NS,), Provenance.MEASURED)
    finding = FORMULAS["occupancy"].diagnose(seen, DEVICE)
    assert finding is not None
    assert "waiting takes at most 28 µs" in finding.sentence
    longest = HEALTHY[Metric.LAUNCH_TIME_NS] + HEALTHY[Metric.DRAM_TIME_NS]
    assert 0.95 * (30000 - longest) < ceiling_ns("occupancy", seen) <= 30000 - longest


def test_half_empty_waves_can_save_half_of_issuing() -> None:
    seen = profile(HALF_EMPTY, 1.0, Geometry((30400, 1, 1), (32, 1, 1)))
    finding = FORMULAS["launchConfig"].diagnose(seen, DEVICE)
    assert finding is not None
    assert "blocks of 32x1x1 threads fill 50 % of the lanes of their waves of 64" in finding.sentence
    assert ceiling_ns("launchConfig", seen) == pytest.approx(saved_ns(seen, {Metric.ISSUE_TIME_NS: 12000}))
    assert finding.metric is Metric.LANE_FILL_RATIO


def test_lanes_that_repeat_what_others_do_are_lanes_without_work() -> None:
    finding = FORMULAS["launchConfig"].diagnose(profile(HALF_EMPTY, share=1.0), DEVICE)
    assert finding is not None
    told = "blocks of 256x1x1 threads have work of their own for 50 % of their lanes, and the others repeat it"
    assert told in finding.sentence


FEW_BLOCKS = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.LATENCY_TIME_NS: 24000.0,
    Metric.UNIT_FILL_RATIO: 30.4 / 304,
    Metric.ROUND_FILL_RATIO: 30.4 / 304 / 8,
    Metric.REQUESTS: 120 * 1000.0,
}


def test_few_blocks_with_much_work_each_are_a_fault_of_the_launch() -> None:
    seen = profile(FEW_BLOCKS, 1.0, Geometry((30, 1, 1), (256, 1, 1)))
    finding = FORMULAS["launchConfig"].diagnose(seen, DEVICE)
    assert finding is not None
    assert "30 blocks on 304 compute units leave 90 % of them without work" in finding.sentence
    longest = HEALTHY[Metric.LAUNCH_TIME_NS] + HEALTHY[Metric.DRAM_TIME_NS]
    assert 0.75 * (30000 - longest) < ceiling_ns("launchConfig", seen) <= 30000 - longest


def test_where_nearly_all_units_work_the_sentence_tells_how_much_more_they_could_hold() -> None:
    many = {**FEW_BLOCKS, Metric.UNIT_FILL_RATIO: 300 / 304, Metric.ROUND_FILL_RATIO: 300 / 304 / 8}
    seen = profile(many, 1.0, Geometry((300, 1, 1), (256, 1, 1)), (), Provenance.MEASURED)
    several = replace(seen, geometries=(*seen.geometries, Geometry((5, 2, 1), (256, 1, 1))))
    for asked, words in ((seen, "300 blocks fill 12 %"), (several, "launches of 10 to 300 blocks fill 12 %")):
        finding = FORMULAS["launchConfig"].diagnose(asked, DEVICE)
        assert finding is not None
        assert finding.sentence.startswith(f"{words} of what 304 compute units could hold")


def test_a_thread_s_work_is_shared_out_down_to_a_few_requests_only() -> None:
    eight = {**FEW_BLOCKS, Metric.REQUESTS: 8 * 120.0, Metric.DRAM_TIME_NS: 0.0, Metric.L1_TIME_NS: 0.0}
    seen = profile({**eight, Metric.L2_TIME_NS: 0.0}, 1.0, Geometry((30, 1, 1), (256, 1, 1)))
    assert ceiling_ns("launchConfig", seen) == pytest.approx(24000 * (1 - 4 / 8), rel=0.05)


def test_a_small_problem_with_one_element_per_thread_is_no_fault_of_its_launch() -> None:
    small = {**FEW_BLOCKS, Metric.REQUESTS: 3 * 120.0}
    assert FORMULAS["launchConfig"].diagnose(profile(small, 1.0, Geometry((30, 1, 1), (256, 1, 1))), DEVICE) is None


def test_loads_that_each_wait_for_the_one_before_are_not_shared_out() -> None:
    chase = {**FEW_BLOCKS, Metric.L1_TIME_NS: 0.0, Metric.ISSUE_TIME_NS: 0.0, Metric.INSTRUCTIONS: 120 * 100.0}
    seen = [
        profile({**chase, Metric.CHAINED_LOAD_RATIO: ratio}, 1.0, Geometry((30, 1, 1), (256, 1, 1)))
        for ratio in (0.0, 1.0)
    ]
    assert FORMULAS["launchConfig"].diagnose(seen[0], DEVICE) is not None
    assert FORMULAS["launchConfig"].diagnose(seen[1], DEVICE) is None


TINY = {Metric.DEVICE_TIME_NS: 94000.0, Metric.DISPATCH_TIME_NS: 90000.0}


def test_blocks_whose_start_takes_longer_than_their_work_are_a_fault_of_the_launch() -> None:
    seen = profile(TINY, 1.0, Geometry((150_000, 1, 1), (64, 1, 1)))
    finding = FORMULAS["launchConfig"].diagnose(seen, DEVICE)
    assert finding is not None
    assert "starting 150,000 blocks of 64 threads takes 90 µs, longer than their work" in finding.sentence
    assert 0.65 * 90000 < ceiling_ns("launchConfig", seen) <= 0.75 * 90000


@pytest.mark.parametrize(
    ("blocks", "threads", "starting"),
    [(150_000, 256, 90000.0), (1000, 64, 90000.0), (150_000, 64, 3000.0)],
    ids=["large blocks", "larger ones would leave units without work", "the work takes longer"],
)
def test_starts_that_larger_blocks_would_not_spare_are_not_told(blocks: int, threads: int, starting: float) -> None:
    counts = {**TINY, Metric.DISPATCH_TIME_NS: starting}
    seen = profile(counts, 1.0, Geometry((blocks, 1, 1), (threads, 1, 1)))
    assert FORMULAS["launchConfig"].diagnose(seen, DEVICE) is None
