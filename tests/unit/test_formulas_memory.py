from __future__ import annotations

import pytest
from formula_profiles import (
    AGAIN,
    CONFLICTS,
    DEVICE,
    HEALTHY,
    SCATTERED,
    SPILLED,
    WAVES,
    ceiling_ns,
    contended,
    evidence,
    profile,
    saved_ns,
)

from intelliperf.errors import MissingMetric
from intelliperf.formulas import FORMULAS
from intelliperf.records import (
    AccessKind,
    MemorySpace,
    Metric,
)


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


def test_traffic_can_shrink_to_every_line_once() -> None:
    finding = FORMULAS["memoryLocality"].diagnose(profile(AGAIN, share=1.0), DEVICE)
    assert finding is not None
    assert "2.56 MB pass between L2 and memory where 512 kB would if every line came once (5.0×)" in finding.sentence
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


BOUNDED = {**AGAIN, Metric.DRAM_BYTES_COMPULSORY_AT_MOST: 4 * WAVES * 256}


def test_more_read_than_can_be_reached_is_a_finding_of_the_whole_kernel() -> None:
    seen = profile(BOUNDED, without=(Metric.DRAM_BYTES_COMPULSORY,), share=1.0)
    finding = FORMULAS["memoryLocality"].diagnose(seen, DEVICE)
    assert finding is not None
    assert "2.56 MB pass between L2 and memory where at most 1.02 MB would if every line" in finding.sentence
    assert "(at least 2.5×)" in finding.sentence
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
