from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from intelliperf.cuda.roofline import Counted, counted, dispatch_floor_ns, floor_ns, nearness, told
from intelliperf.profiling.ncu import parse_dump
from intelliperf.records import DeviceLimits, Measurement, Outcome, Provenance, Scope
from intelliperf.validation.timing import time_refusal

_DATA = Path(__file__).resolve().parents[1] / "data" / "nvidia"
_LIMITS = DeviceLimits(
    compute_units=132,
    clock_hz=1.98e9,
    max_waves_per_compute_unit=64,
    lds_bytes_per_compute_unit=233472,
    lds_bytes_per_block=49152,
    lds_banks=32,
    registers_per_compute_unit=65536,
    l1_bytes=262144,
    l2_bytes=50_000_000,
    dram_bytes_per_s=3.35e12,
    l2_bytes_per_s=5.5e12,
    fp32_flops_per_s=66.9e12,
)


def test_nothing_counted_bounds_nothing() -> None:
    assert floor_ns([Counted(), Counted()], _LIMITS) is None


def test_what_fits_the_cache_need_not_come_from_dram() -> None:
    """40 MB that Nsight Compute saw read from emptied caches may be there already in the application."""
    assert dispatch_floor_ns(Counted(dram_bytes=40e6), _LIMITS) == 0.0
    assert dispatch_floor_ns(Counted(dram_bytes=385e6), _LIMITS) == pytest.approx(100_000)


def test_changed_bytes_are_written_at_least_once() -> None:
    assert dispatch_floor_ns(Counted(changed_bytes=11e6), _LIMITS) == pytest.approx(2000)
    assert dispatch_floor_ns(Counted(changed_bytes=11e6), replace(_LIMITS, l2_bytes_per_s=None)) == 0.0
    # Beyond the L2 the DRAM is the slower of the two.
    assert dispatch_floor_ns(Counted(changed_bytes=3.4e9), _LIMITS) == pytest.approx(1e6)


def test_arithmetic_takes_its_time() -> None:
    assert dispatch_floor_ns(Counted(fp32_flops=66.9e9), _LIMITS) == pytest.approx(1e6)


def test_a_kernel_that_skips_its_work_is_implausible() -> None:
    floor = floor_ns([Counted(changed_bytes=1e9)] * 10, _LIMITS)
    assert floor is not None
    skipped = Measurement(Scope.KERNEL, 4e6, 1e5, 40.0, 39.0, 41.0, Provenance.MEASURED, 10)
    refusal = time_refusal([skipped], floor)
    assert refusal is not None
    assert refusal[0] is Outcome.IMPLAUSIBLE


def test_a_copy_of_an_h100_is_near_its_roof_and_above_its_floor() -> None:
    """134 MB read and 134 MB written in 97.1 µs, as recorded: 2.76 TB/s."""
    copied = Counted(changed_bytes=134.2e6, dram_bytes=268.4e6, duration_ns=97_100)
    assert dispatch_floor_ns(copied, _LIMITS) < 97_100
    share = nearness(copied, _LIMITS)
    assert share == pytest.approx(0.825, abs=0.01)


def test_a_recorded_dispatch_is_held_against_the_roof() -> None:
    (launch,) = parse_dump((_DATA / "transpose.ncu.jsonl").read_text())
    seen = counted(launch)
    assert seen.dram_bytes == pytest.approx(12.72e6, rel=1e-3)  # its tiles, read and written once
    assert "12.7 MB of DRAM, at 21 % of the peak rate of 3.35 TB/s" in told(seen, _LIMITS)
    assert floor_ns([seen], _LIMITS) is None  # all of it fits the L2
    uncounted = replace(launch, metrics={})
    assert "counters of DRAM traffic are missing" in told(counted(uncounted), _LIMITS)
