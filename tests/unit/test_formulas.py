from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from intelliperf.codegen.rulebook import RULES
from intelliperf.devices import models as devices
from intelliperf.errors import MissingMetric, UsageError
from intelliperf.formulas import BOTTLENECKS, FORMULAS, find_formula
from intelliperf.formulas.base import amdahl, count
from intelliperf.records import (
    AccessKind,
    Geometry,
    Kernel,
    KernelProfile,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)

DEVICE = devices.record("mi300x")
KERNEL = Kernel("_Z1kv", "k()", Path("/p/app.hip"), 3)
GEOMETRY = Geometry((250, 1, 1), (256, 1, 1))
WAVES = 1000.0
# A kernel of 1000 waves that streams: 10 µs, of which 2 are the launch.
HEALTHY = {
    Metric.DEVICE_TIME_NS: 10000.0,
    Metric.LAUNCH_TIME_NS: 2000.0,
    Metric.ISSUE_TIME_NS: 500.0,
    Metric.LDS_TIME_NS: 0.0,
    Metric.L1_TIME_NS: 1500.0,
    Metric.L2_TIME_NS: 2000.0,
    Metric.DRAM_TIME_NS: 4000.0,
    Metric.ATOMIC_TIME_NS: 0.0,
    Metric.LATENCY_TIME_NS: 0.0,
    Metric.REQUESTS: 2 * WAVES,
    Metric.LANES: 2 * WAVES * 64,
    Metric.BYTES: 2 * WAVES * 256,
    Metric.SECTORS: 2 * WAVES * 8,
    Metric.SECTORS_IDEAL: 2 * WAVES * 8,
    Metric.DRAM_BYTES: 2 * WAVES * 256,
    Metric.LDS_REQUESTS: 0.0,
    Metric.LDS_PHASES: 0.0,
    Metric.LDS_PHASES_IDEAL: 0.0,
    Metric.ATOMIC_REQUESTS: 0.0,
    Metric.ATOMIC_LANES: 0.0,
    Metric.ATOMIC_SERIALIZATION: 0.0,
    Metric.ATOMIC_ADDRESSES: 0.0,
    Metric.DRAM_BYTES_COMPULSORY: 2 * WAVES * 256,
    Metric.LOCAL_REQUESTS: 0.0,
    Metric.LOCAL_TIME_NS: 0.0,
    Metric.ACTIVE_LANE_RATIO: 0.98,
    Metric.INSTRUCTIONS: 40 * WAVES,
    Metric.OCCUPANCY_LIMIT_RATIO: 1.0,
    Metric.WAVES_BY_REGISTERS: 32.0,
    Metric.WAVES_BY_LDS: 32.0,
    Metric.WAVES_BY_BLOCKS: 32.0,
    Metric.LANE_FILL_RATIO: 1.0,
    Metric.UNIT_FILL_RATIO: 0.82,  # 250 blocks on 304 compute units, and no more than one on any
    Metric.ROUND_FILL_RATIO: 0.1,
}


def profile(
    changes: dict[Metric, float] | None = None,
    share: float = 0.5,
    geometry: Geometry = GEOMETRY,
    without: tuple[Metric, ...] = (),
    provenance: Provenance = Provenance.MODELLED,
) -> KernelProfile:
    values = {metric: value for metric, value in {**HEALTHY, **(changes or {})}.items() if metric not in without}
    return KernelProfile(
        KERNEL,
        1,
        (geometry,),
        (values[Metric.DEVICE_TIME_NS],),
        provenance,
        share,
        {metric: Quantity(value, Provenance.MEASURED) for metric, value in values.items()},
    )


def contended(time_ns: float = 200000.0) -> dict[Metric, float]:
    lanes = WAVES * 64
    return {
        Metric.DEVICE_TIME_NS: time_ns,
        Metric.ATOMIC_TIME_NS: lanes * 1.65,
        Metric.ATOMIC_REQUESTS: WAVES,
        Metric.ATOMIC_LANES: lanes,
        Metric.ATOMIC_SERIALIZATION: lanes,
        Metric.ATOMIC_ADDRESSES: 1.0,
        Metric.ATOMIC_HOTTEST_SHARE: 1.0,
    }


CONFLICTS = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.LDS_TIME_NS: 20000.0,
    Metric.LDS_REQUESTS: 2 * WAVES,
    Metric.LDS_PHASES: 66 * WAVES,
    Metric.LDS_PHASES_IDEAL: 4 * WAVES,
}
SCATTERED = {
    Metric.DEVICE_TIME_NS: 40000.0,
    Metric.SECTORS: 2 * WAVES * 64,
    Metric.L1_TIME_NS: 12000.0,
    Metric.L2_TIME_NS: 10000.0,
    Metric.DRAM_TIME_NS: 16000.0,
    Metric.DRAM_BYTES: 2 * WAVES * 1024,
    Metric.DRAM_BYTES_COMPULSORY: 2 * WAVES * 1024,  # lines count whole
}


AGAIN = {Metric.DEVICE_TIME_NS: 30000.0, Metric.DRAM_TIME_NS: 25000.0, Metric.DRAM_BYTES: 10 * WAVES * 256}
SPILLED = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.LOCAL_REQUESTS: 10 * WAVES,
    Metric.LOCAL_TIME_NS: 18000.0,
    Metric.VGPRS: 128.0,
    Metric.SPILLED_REGISTERS: 40.0,
    Metric.SCRATCH_BYTES: 160.0,
}
DIVERGED = {Metric.DEVICE_TIME_NS: 30000.0, Metric.ISSUE_TIME_NS: 24000.0, Metric.ACTIVE_LANE_RATIO: 0.25}
THIN = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.LATENCY_TIME_NS: 24000.0,
    Metric.OCCUPANCY_LIMIT_RATIO: 0.0625,
    Metric.WAVES_BY_LDS: 2.0,
}
HALF_EMPTY = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.ISSUE_TIME_NS: 24000.0,
    Metric.LANE_FILL_RATIO: 0.5,
    Metric.ACTIVE_LANE_RATIO: 0.5,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_healthy_kernel_has_no_finding(name: str) -> None:
    assert FORMULAS[name].diagnose(profile(), DEVICE) is None


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("atomicContention", contended()),
        ("bankConflict", CONFLICTS),
        ("memoryAccess", SCATTERED),
        ("memoryLocality", AGAIN),
        ("registerPressure", SPILLED),
        ("branchDivergence", DIVERGED),
        ("occupancy", THIN),
        ("launchConfig", HALF_EMPTY),
    ],
)
def test_each_bottleneck_is_found_by_its_formula_and_by_no_other(name: str, changes: dict[Metric, float]) -> None:
    found = [formula.name for formula in BOTTLENECKS if formula.diagnose(profile(changes), DEVICE)]
    assert found == [name]
    finding = FORMULAS["diagnoseOnly"].diagnose(profile(changes), DEVICE)
    assert finding is not None
    assert finding.formula == name
    assert FORMULAS["diagnoseOnly"].of(finding) is FORMULAS[name]


def test_the_sentence_has_the_number_its_ideal_and_the_shares() -> None:
    finding = FORMULAS["atomicContention"].diagnose(profile(contended(), share=0.8), DEVICE)
    assert finding is not None
    assert "64.0 lanes on one address (ideal 1)" in finding.sentence
    assert "64,000 atomic operations share 1 address, the hottest takes 100 %" in finding.sentence
    assert "80 % of the application's device time" in finding.sentence
    seen = profile(contended(), share=0.8)
    visible = saved_ns(seen, {Metric.ATOMIC_TIME_NS: 64000 * 1.65 / 64000})  # the others still take their time
    assert finding.gain_ceiling == pytest.approx(amdahl(0.8, visible / 200000), rel=0.02)
    assert (finding.metric, finding.value, finding.ideal) == (Metric.ATOMIC_SERIALIZATION, 64000, 1)


def test_a_unit_stride_copy_of_doubles_is_coalesced() -> None:
    """AMD's percentage calls it 25 %: 64 lanes of 8 bytes are 16 sectors, all of them needed."""
    doubles = {
        Metric.BYTES: 2 * WAVES * 512,
        Metric.SECTORS: 2 * WAVES * 16,
        Metric.SECTORS_IDEAL: 2 * WAVES * 16,
        Metric.DRAM_BYTES: 2 * WAVES * 512,
    }
    assert FORMULAS["memoryAccess"].diagnose(profile(doubles), DEVICE) is None


def test_a_broadcast_is_not_scattered() -> None:
    broadcast = {Metric.SECTORS: WAVES, Metric.SECTORS_IDEAL: WAVES, Metric.BYTES: 2 * WAVES * 256}
    assert FORMULAS["memoryAccess"].diagnose(profile(broadcast), DEVICE) is None


def test_a_misaligned_contiguous_access_is_not_scattered() -> None:
    words = {Metric.SECTORS: 2 * WAVES * 9}
    bytes_ = {Metric.SECTORS: 2 * WAVES * 3, Metric.SECTORS_IDEAL: 2 * WAVES * 2}
    assert FORMULAS["memoryAccess"].diagnose(profile(words), DEVICE) is None
    assert FORMULAS["memoryAccess"].diagnose(profile(bytes_), DEVICE) is None


def test_absent_atomics_are_not_zero_by_zero() -> None:
    assert FORMULAS["atomicContention"].diagnose(profile({Metric.ATOMIC_TIME_NS: 9000.0}), DEVICE) is None


def test_atomics_on_distinct_addresses_are_not_contended() -> None:
    scatter_add = {
        **contended(),
        Metric.ATOMIC_SERIALIZATION: WAVES,
        Metric.ATOMIC_ADDRESSES: WAVES * 64,
        Metric.ATOMIC_HOTTEST_SHARE: 1 / (WAVES * 64),
    }
    assert FORMULAS["atomicContention"].diagnose(profile(scatter_add), DEVICE) is None


def test_lanes_on_one_address_in_lds_are_contended_and_no_bank_conflict() -> None:
    hot_bin = {
        Metric.DEVICE_TIME_NS: 30000.0,
        Metric.LDS_TIME_NS: 20000.0,
        Metric.LDS_ATOMIC_REQUESTS: WAVES,
        Metric.LDS_ATOMIC_SERIALIZATION: 60 * WAVES,
        Metric.LDS_ATOMIC_PHASES: 61 * WAVES,
    }
    finding = FORMULAS["atomicContention"].diagnose(profile(hot_bin), DEVICE)
    assert finding is not None
    assert finding.metric is Metric.LDS_ATOMIC_SERIALIZATION
    assert FORMULAS["bankConflict"].diagnose(profile(hot_bin), DEVICE) is None
    random_bins = {**hot_bin, Metric.LDS_ATOMIC_SERIALIZATION: 2.5 * WAVES}
    assert FORMULAS["atomicContention"].diagnose(profile(random_bins), DEVICE) is None


def test_a_queue_hidden_behind_other_latency_gains_nothing() -> None:
    hidden = {**contended(), Metric.LATENCY_TIME_NS: 64000 * 1.65}
    assert FORMULAS["atomicContention"].diagnose(profile(hidden), DEVICE) is None


def test_one_atomic_per_wave_on_one_address_is_still_a_queue() -> None:
    leaders = {
        **contended(),
        Metric.ATOMIC_LANES: 100000.0,
        Metric.ATOMIC_REQUESTS: 100000.0,
        Metric.ATOMIC_SERIALIZATION: 100000.0,
    }
    assert FORMULAS["atomicContention"].diagnose(profile(leaders), DEVICE) is not None


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("atomicContention", {**contended(10_000_000.0)}),
        ("bankConflict", {**CONFLICTS, Metric.DEVICE_TIME_NS: 500000.0}),
        ("memoryAccess", {**SCATTERED, Metric.DEVICE_TIME_NS: 900000.0}),
        ("memoryLocality", {**AGAIN, Metric.DEVICE_TIME_NS: 900000.0}),
        ("registerPressure", {**SPILLED, Metric.DEVICE_TIME_NS: 900000.0}),
        ("branchDivergence", {**DIVERGED, Metric.DEVICE_TIME_NS: 900000.0}),
        ("occupancy", {**THIN, Metric.DEVICE_TIME_NS: 900000.0}),
        ("launchConfig", {**HALF_EMPTY, Metric.DEVICE_TIME_NS: 900000.0}),
    ],
)
def test_a_bottleneck_that_costs_no_time_is_not_a_finding(name: str, changes: dict[Metric, float]) -> None:
    assert FORMULAS[name].diagnose(profile(changes), DEVICE) is None


def test_conflicts_hidden_behind_a_longer_wait_gain_nothing() -> None:
    """Where parts of the time overlap, the longest one stays: LDS 20 of 30 µs, but DRAM needs 27 by itself."""
    hidden = {**CONFLICTS, Metric.DRAM_TIME_NS: 27000.0}
    assert FORMULAS["bankConflict"].diagnose(profile(hidden), DEVICE) is None


def test_scattered_lines_count_where_they_are_worse_than_scattered_sectors() -> None:
    """Rows of 16 lanes: half of each sector is used, but a sixteenth of each line."""
    rows = {**SCATTERED, Metric.SECTORS: 16 * WAVES, Metric.SECTORS_IDEAL: 8 * WAVES}
    lines = {Metric.LINES_128B: 32 * WAVES, Metric.LINES_128B_IDEAL: 2 * WAVES}
    by_sectors = ceiling_ns("memoryAccess", profile(rows, share=1.0))
    by_lines = ceiling_ns("memoryAccess", profile({**rows, **lines}, share=1.0))
    assert by_lines - by_sectors == pytest.approx((15 / 16 - 1 / 2) * (12000 + 10000))


def ceiling_ns(name: str, seen: KernelProfile) -> float:
    """The time that a formula says could be saved at most."""
    finding = FORMULAS[name].diagnose(seen, DEVICE)
    assert finding is not None
    return (1 - 1 / finding.gain_ceiling) * finding.profile.quantity(Metric.DEVICE_TIME_NS).value


PARTS = [metric for metric in Metric if metric.value.endswith("_time_ns") and metric in HEALTHY]
PARTS = [part for part in PARTS if part.name.split("_")[0] not in ("DEVICE", "LAUNCH", "LOCAL")]


def side_by_side_ns(parts: dict[Metric, float]) -> float:
    """As the runtime joins the parts of a kernel's time."""
    return sum(part**2.5 for part in parts.values()) ** 0.4


def saved_ns(seen: KernelProfile, after: dict[Metric, float]) -> float:
    """What a kernel gains whose parts shrink so."""
    before = {part: seen.quantity(part).value for part in PARTS}
    return side_by_side_ns(before) - side_by_side_ns({**before, **after})


def test_traffic_can_shrink_to_every_line_once() -> None:
    finding = FORMULAS["memoryLocality"].diagnose(profile(AGAIN, share=1.0), DEVICE)
    assert finding is not None
    assert "2.56 MB pass between L2 and memory where 512 kB would if every line came once (5.0x)" in finding.sentence
    seen = profile(AGAIN, share=1.0)
    assert ceiling_ns("memoryLocality", seen) == pytest.approx(saved_ns(seen, {Metric.DRAM_TIME_NS: 25000 * 0.2}))


def test_what_spills_cost_is_what_the_model_says() -> None:
    finding = FORMULAS["registerPressure"].diagnose(profile(SPILLED, share=1.0), DEVICE)
    assert finding is not None
    assert "83 % of the memory instructions (10,000, ideal 0)" in finding.sentence
    assert "(128 registers per thread, 40 spilled, 160 bytes of private memory)" in finding.sentence
    assert ceiling_ns("registerPressure", profile(SPILLED, share=1.0)) == pytest.approx(18000)


def test_what_spills_cost_on_hardware_is_bounded_by_the_other_parts_and_said_to_be_unknown() -> None:
    seen = profile(SPILLED, 1.0, without=(Metric.LOCAL_TIME_NS,))
    finding = FORMULAS["registerPressure"].diagnose(seen, DEVICE)
    assert finding is not None
    assert "cannot be told from counters" in finding.sentence
    rest = HEALTHY[Metric.LAUNCH_TIME_NS] + HEALTHY[Metric.ISSUE_TIME_NS]
    assert ceiling_ns("registerPressure", seen) == pytest.approx(30000 - rest)


def test_a_few_reloads_are_no_register_pressure() -> None:
    few = {**SPILLED, Metric.LOCAL_REQUESTS: 0.05 * WAVES}
    assert FORMULAS["registerPressure"].diagnose(profile(few), DEVICE) is None


def test_divergence_can_save_the_slots_that_lanes_sit_out() -> None:
    finding = FORMULAS["branchDivergence"].diagnose(profile(DIVERGED, share=1.0), DEVICE)
    assert finding is not None
    assert "16.0 lanes of a wave where 64 could take part (25 %)" in finding.sentence
    seen = profile(DIVERGED, share=1.0)
    assert ceiling_ns("branchDivergence", seen) == pytest.approx(saved_ns(seen, {Metric.ISSUE_TIME_NS: 24000 * 0.25}))


def test_divergence_is_a_matter_of_the_time_at_stake() -> None:
    ragged = {**DIVERGED, Metric.ACTIVE_LANE_RATIO: 0.764}
    finding = FORMULAS["branchDivergence"].diagnose(profile(ragged), DEVICE)
    assert finding is not None and "(76 %)" in finding.sentence


@pytest.mark.parametrize(("error", "found"), [(0.2, True), (7.37, False)])
def test_what_its_error_does_not_tell_from_the_ideal_is_no_finding(error: float, found: bool) -> None:
    seen = profile(CONFLICTS)
    formula = FORMULAS["bankConflict"]
    watched = formula.value(seen)
    unsure = replace(watched, error=error * watched.value)
    seen = replace(seen, quantities={**seen.quantities, formula.watched: unsure})
    assert (formula.diagnose(seen, DEVICE) is not None) is found


def test_a_count_within_its_error_of_nothing_is_told_as_a_bound() -> None:
    assert count(Quantity(100.0, Provenance.MODELLED, 737.0)) == "up to 837"
    assert count(Quantity(1000.0, Provenance.MODELLED, 20.0)) == "1,000 ± 2.0 %"


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
    finding = FORMULAS["launchConfig"].diagnose(profile(HALF_EMPTY, share=1.0), DEVICE)
    assert finding is not None
    assert "blocks of 256x1x1 threads fill 50 % of the lanes of their waves of 64" in finding.sentence
    seen = profile(HALF_EMPTY, share=1.0)
    assert ceiling_ns("launchConfig", seen) == pytest.approx(saved_ns(seen, {Metric.ISSUE_TIME_NS: 12000}))
    assert finding.metric is Metric.LANE_FILL_RATIO


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


def test_a_quantity_that_was_not_collected_is_an_error_not_a_clean_bill() -> None:
    whole = profile(CONFLICTS)
    partial = KernelProfile(
        whole.kernel,
        1,
        whole.geometries,
        whole.device_time_ns,
        whole.time_provenance,
        whole.share,
        {metric: quantity for metric, quantity in whole.quantities.items() if metric is not Metric.LDS_PHASES},
    )
    with pytest.raises(MissingMetric, match="lds_phases"):
        FORMULAS["bankConflict"].diagnose(partial, DEVICE)


BOUNDED = {**AGAIN, Metric.DRAM_BYTES_COMPULSORY_AT_MOST: 4 * WAVES * 256}


def test_more_read_than_can_be_reached_is_a_finding_of_the_whole_kernel() -> None:
    seen = profile(BOUNDED, without=(Metric.DRAM_BYTES_COMPULSORY,), share=1.0)
    finding = FORMULAS["memoryLocality"].diagnose(seen, DEVICE)
    assert finding is not None
    assert "2.56 MB pass between L2 and memory where at most 1.02 MB would if every line" in finding.sentence
    assert "(at least 2.5x)" in finding.sentence
    # What every line once takes is not known, so that all of it might be saved.
    assert ceiling_ns("memoryLocality", seen) > 22000
    line = evidence(3, AccessKind.KERNEL, MemorySpace.NONE, OCCUPANCY_RATIO=0.1)
    load = evidence(4, AccessKind.LOAD, MemorySpace.GLOBAL, SECTORS=80.0)
    assert FORMULAS["memoryLocality"].blame([line, load]) == (line,)


@pytest.mark.parametrize(
    "change",
    [
        {Metric.DRAM_BYTES_COMPULSORY_AT_MOST: 8 * WAVES * 256},  # a quarter more than that is not enough
        {Metric.DEVICE_TIME_NS: 200000.0},  # 15 of 200 µs are
    ],
)
def test_a_little_more_than_can_be_reached_is_none(change: dict[Metric, float]) -> None:
    seen = profile({**BOUNDED, **change}, without=(Metric.DRAM_BYTES_COMPULSORY,), share=1.0)
    assert FORMULAS["memoryLocality"].diagnose(seen, DEVICE) is None


def test_what_hardware_cannot_count_is_said_so() -> None:
    seen = profile(AGAIN, without=(Metric.DRAM_BYTES_COMPULSORY,))
    with pytest.raises(MissingMetric, match="memoryLocality needs dram_bytes_compulsory.*no distinct addresses"):
        FORMULAS["memoryLocality"].diagnose(seen, DEVICE)
    assert FORMULAS["diagnoseOnly"].diagnose(seen, DEVICE) is None


def test_a_kernel_with_little_of_the_time_can_gain_little() -> None:
    finding = FORMULAS["bankConflict"].diagnose(profile(CONFLICTS, share=0.05), DEVICE)
    assert finding is not None
    assert 1.0 < finding.gain_ceiling < 1.06


def evidence(line: int, access: AccessKind, space: MemorySpace, **counts: float) -> SourceEvidence:
    quantities = {Metric[name]: Quantity(value, Provenance.MEASURED) for name, value in counts.items()}
    return SourceEvidence(KERNEL, Path("/p/app.hip"), line, 1, "", access, space, "", 4, (), quantities)


def test_conflicts_are_blamed_on_the_conflicting_line_worst_first() -> None:
    def shared(line: int, phases: float) -> SourceEvidence:
        return evidence(line, AccessKind.LOAD, MemorySpace.SHARED, LDS_PHASES=phases, LDS_PHASES_IDEAL=2000)

    blamed = FORMULAS["bankConflict"].blame([shared(1, 2000), shared(2, 8000), shared(3, 64000), shared(4, 2500)])
    assert [item.line for item in blamed] == [3, 2]


def test_what_many_lines_cause_together_is_the_kernels_and_they_follow_it() -> None:
    loads = [
        evidence(line, AccessKind.LOAD, MemorySpace.GLOBAL, SECTORS=64000 + line, SECTORS_IDEAL=8000, REQUESTS=1000)
        for line in range(10, 42)
    ]
    kernel = evidence(3, AccessKind.KERNEL, MemorySpace.NONE, OCCUPANCY_RATIO=0.1)
    blamed = FORMULAS["memoryAccess"].blame([*loads, kernel])
    assert [item.line for item in blamed] == [3, *range(41, 9, -1)]


def test_atomics_of_blocks_that_reduce_first_are_healthy_unless_their_queue_is_longest() -> None:
    few = {
        **contended(),
        Metric.ATOMIC_REQUESTS: 2000.0,
        Metric.ATOMIC_LANES: 2000.0,
        Metric.ATOMIC_SERIALIZATION: 2000.0,
    }
    longer = {**few, Metric.DRAM_TIME_NS: 2 * contended()[Metric.ATOMIC_TIME_NS]}
    assert FORMULAS["atomicContention"].diagnose(profile(longer), DEVICE) is None
    finding = FORMULAS["atomicContention"].diagnose(profile(few), DEVICE)
    assert finding is not None
    assert "ideal 1" not in finding.sentence
    assert finding.sentence.startswith("2,000 atomic operations of different requests share 1 address")


def test_atomics_are_blamed_and_loads_are_not() -> None:
    atomic = evidence(5, AccessKind.REDUCTION, MemorySpace.GLOBAL, ATOMIC_SERIALIZATION=64000, SECTORS=1000)
    load = evidence(4, AccessKind.LOAD, MemorySpace.GLOBAL, SECTORS=64000, SECTORS_IDEAL=8000, REQUESTS=1000)
    assert [item.line for item in FORMULAS["atomicContention"].blame([load, atomic])] == [5]
    assert [item.line for item in FORMULAS["memoryAccess"].blame([load, atomic])] == [4]


def test_each_new_formula_blames_its_own_kind_of_evidence() -> None:
    code = evidence(6, AccessKind.CODE, MemorySpace.NONE, LANES_LOST=900.0)
    spill = evidence(7, AccessKind.LOAD, MemorySpace.LOCAL, LOCAL_REQUESTS=50.0)
    load = evidence(8, AccessKind.LOAD, MemorySpace.GLOBAL, DRAM_SECTORS_AGAIN=70.0, SECTORS=80.0)
    kernel = evidence(3, AccessKind.KERNEL, MemorySpace.NONE, OCCUPANCY_RATIO=0.1)
    lines = [code, spill, load, kernel]
    expected = {"branchDivergence": 6, "registerPressure": 7, "memoryLocality": 8, "occupancy": 3, "launchConfig": 3}
    assert {name: [item.line for item in FORMULAS[name].blame(lines)] for name in expected} == {
        name: [line] for name, line in expected.items()
    }


def test_spills_without_a_known_line_are_the_whole_kernels_and_other_formulas_blame_none() -> None:
    kernel = evidence(3, AccessKind.KERNEL, MemorySpace.NONE, OCCUPANCY_RATIO=0.1)
    assert [item.line for item in FORMULAS["registerPressure"].blame([kernel])] == [3]
    assert all(FORMULAS[name].blame([kernel]) == () for name in ("bankConflict", "branchDivergence"))


def test_diagnose_only_orders_lines_by_time() -> None:
    lines = [
        evidence(line, AccessKind.LOAD, MemorySpace.GLOBAL, DEVICE_TIME_NS=time)
        for line, time in ((1, 5.0), (2, 90.0), (3, 0.0))
    ]
    assert [item.line for item in FORMULAS["diagnoseOnly"].blame(lines)] == [2, 1]


@pytest.mark.parametrize("spelling", ["atomicContention", "atomic-contention", "ATOMIC_CONTENTION", "atomiccontention"])
def test_formulas_are_found_in_any_spelling(spelling: str) -> None:
    assert find_formula(spelling).name == "atomicContention"


def test_an_unknown_formula_is_refused_with_the_list() -> None:
    with pytest.raises(
        UsageError, match="memoryAccess, memoryLocality, .*, launchConfig, transfers, .*, all, diagnoseOnly"
    ):
        find_formula("cacheMisses")


@pytest.mark.parametrize("formula", BOTTLENECKS, ids=lambda formula: formula.name)
def test_every_formula_says_what_the_model_should_know(formula) -> None:  # type: ignore[no-untyped-def]
    assert 300 < len(formula.knowledge) < 1500
    assert formula.summary
    assert formula.watched in formula.needs


def test_every_rule_that_a_formula_names_exists() -> None:
    known = {rule.name for rule in RULES}
    assert {rule for formula in BOTTLENECKS for rule in formula.rules} <= known


def test_the_ceiling_is_amdahls() -> None:
    assert amdahl(1.0, 0.5) == 2.0
    assert amdahl(0.5, 0.5) == pytest.approx(1 / 0.75)
    assert amdahl(0.0, 1.0) == 1.0
