"""Accesses that touch more than they need: the time that could be saved, by sectors or by traffic between caches."""

from __future__ import annotations

import pytest
from formula_profiles import DEVICE, evidence, profile

from intelliperf.formulas.memory_access import (
    EXTRA_BYTES_PER_REQUEST,
    EXTRA_SECTORS_PER_REQUEST,
    SECTORS_PER_IDEAL,
    MemoryAccess,
)
from intelliperf.records import AccessKind, MemorySpace, Metric

# 1,000 requests of 8 sectors where 2 would do; half of the DRAM traffic was asked for.
SECTORS = {
    Metric.REQUESTS: 1000.0,
    Metric.SECTORS: 8000.0,
    Metric.SECTORS_IDEAL: 2000.0,
    Metric.BYTES: 64000.0,
    Metric.DRAM_BYTES: 128000.0,
    Metric.L1_TIME_NS: 4000.0,
    Metric.L2_TIME_NS: 2000.0,
    Metric.DRAM_TIME_NS: 6000.0,
}
# The same on a device that counts bytes between L1 and L2.
TRAFFIC = {**SECTORS, Metric.L1_L2_BYTES: 256000.0, Metric.L1_L2_EXCESS_BYTES: 192000.0, Metric.BYTES_AT_MOST: 64000.0}
UNCOUNTED = (Metric.SECTORS, Metric.SECTORS_IDEAL)
FORMULA = MemoryAccess()


@pytest.mark.parametrize(("counts", "without"), [(SECTORS, ()), (TRAFFIC, UNCOUNTED)])
def test_caches_lose_what_is_beyond_the_ideal_and_dram_what_nobody_asked_for(
    counts: dict[Metric, float], without: tuple[Metric, ...]
) -> None:
    symptom = FORMULA.symptom(profile(counts, without=without), DEVICE)
    assert symptom is not None
    assert symptom.excess_ns == 6000 * 0.75 + 6000 * 0.5
    assert symptom.left_ns == max(4000 * 0.25, 6000 * 0.5)
    without_dram = {**counts, Metric.DRAM_BYTES: 0.0}
    at_rest = FORMULA.symptom(profile(without_dram, without=without), DEVICE)
    assert at_rest is not None and at_rest.excess_ns == 6000 * 0.75


def test_words_have_the_figures_of_one_access() -> None:
    by_sectors = FORMULA.symptom(profile(SECTORS), DEVICE)
    assert by_sectors is not None
    assert "touches 8.0 sectors of 32 bytes where 2.0 would hold what it asks for (4.0×" in by_sectors.sentence
    assert "50 % of the DRAM traffic was not asked for" in by_sectors.sentence
    by_traffic = FORMULA.symptom(profile(TRAFFIC, without=UNCOUNTED), DEVICE)
    assert by_traffic is not None and (by_traffic.value, by_traffic.ideal) == (256000, 64000)
    assert "moves 256 bytes between L1 and L2 of which at least 192 were not asked for (4.0×" in by_traffic.sentence


def test_lines_of_128_bytes_count_where_they_are_the_larger_waste() -> None:
    lines = {**SECTORS, Metric.LINES_128B: 8000.0, Metric.LINES_128B_IDEAL: 800.0}
    symptom = FORMULA.symptom(profile(lines), DEVICE)
    assert symptom is not None and symptom.excess_ns == pytest.approx(6000 * 0.9 + 3000)
    fewer = FORMULA.symptom(profile({**lines, Metric.LINES_128B_IDEAL: 7000.0}), DEVICE)
    assert fewer is not None and fewer.excess_ns == 6000 * 0.75 + 3000
    none = FORMULA.symptom(profile({**lines, Metric.LINES_128B: 0.0}), DEVICE)
    assert none is not None and none.excess_ns == 6000 * 0.75 + 3000


@pytest.mark.parametrize("absent", [Metric.REQUESTS, Metric.SECTORS_IDEAL])
def test_without_accesses_nothing_is_said(absent: Metric) -> None:
    assert FORMULA.symptom(profile({**SECTORS, absent: 0.0}), DEVICE) is None


def test_traffic_has_to_exceed_what_is_used_by_share_and_by_access() -> None:
    used = TRAFFIC[Metric.L1_L2_BYTES] - TRAFFIC[Metric.L1_L2_EXCESS_BYTES]

    def is_found(**changes: float) -> bool:
        counts = {**TRAFFIC, **{Metric[name]: value for name, value in changes.items()}}
        return FORMULA.symptom(profile(counts, without=UNCOUNTED), DEVICE) is not None

    least = SECTORS_PER_IDEAL.value * used
    assert is_found(L1_L2_BYTES=least, L1_L2_EXCESS_BYTES=least - used, REQUESTS=10.0)
    assert not is_found(L1_L2_BYTES=least - 1, L1_L2_EXCESS_BYTES=least - 1 - used, REQUESTS=10.0)
    requests = TRAFFIC[Metric.L1_L2_EXCESS_BYTES] / EXTRA_BYTES_PER_REQUEST.value
    assert is_found(REQUESTS=requests * 0.999)
    assert not is_found(REQUESTS=requests)
    assert not is_found(REQUESTS=0.0)
    assert not is_found(L1_L2_EXCESS_BYTES=TRAFFIC[Metric.L1_L2_BYTES])


def test_a_line_is_blamed_for_the_sectors_beyond_its_ideal_ones() -> None:
    def excess(access: AccessKind, **counts: float) -> float:
        return FORMULA.excess(evidence(5, access, MemorySpace.GLOBAL, **counts))

    wasteful = {"SECTORS": 8000.0, "SECTORS_IDEAL": 2000.0, "REQUESTS": 1000.0}
    assert excess(AccessKind.LOAD, **wasteful) == excess(AccessKind.STORE, **wasteful) == 6000
    assert excess(AccessKind.ATOMIC, **wasteful) == 0
    assert excess(AccessKind.LOAD, **{**wasteful, "REQUESTS": 0.0}) == 0
    few = 2000 + EXTRA_SECTORS_PER_REQUEST.value * 1000
    assert excess(AccessKind.LOAD, **{**wasteful, "SECTORS": few}) == 0
    assert excess(AccessKind.LOAD, BYTES=1.0) == 0
