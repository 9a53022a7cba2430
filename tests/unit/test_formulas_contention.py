"""Contended atomics by what a device counts of them: addresses, the queue in L2, the stall of an L1, or LDS."""

from __future__ import annotations

import pytest
from formula_profiles import DEVICE, WAVES, contended, evidence, profile

from intelliperf.formulas import FORMULAS
from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.records import AccessKind, KernelProfile, MemorySpace, Metric

FORMULA = FORMULAS["atomicContention"]
COUNTED = (Metric.ATOMIC_LANES, Metric.ATOMIC_SERIALIZATION)


def excess_ns(seen: KernelProfile) -> float | None:
    symptom = AtomicContention().symptom(seen, DEVICE)
    return symptom.excess_ns if symptom is not None else None


def alone(changes: dict[Metric, float], without: tuple[Metric, ...] = ()) -> KernelProfile:
    """A kernel of nothing but atomics, so that all of their time shows."""
    parts = [metric for metric in Metric if metric.value.endswith("_time_ns")]
    idle = {metric: 0.0 for metric in parts if metric is not Metric.DEVICE_TIME_NS}
    return profile({**contended(), **idle, Metric.DEVICE_TIME_NS: 1e6, **changes}, without=without)


def test_what_can_be_saved_is_the_queue_but_for_one_operation_per_address() -> None:
    lanes = WAVES * 64
    seen = alone({Metric.ATOMIC_TIME_NS: 4000.0, Metric.ATOMIC_ADDRESSES: lanes / 4})
    assert excess_ns(seen) == 3000.0
    assert excess_ns(alone({Metric.ATOMIC_TIME_NS: 4000.0, Metric.ATOMIC_ADDRESSES: 2 * lanes})) == 0.0


def test_nothing_is_said_without_atomics_or_addresses() -> None:
    assert excess_ns(alone({Metric.ATOMIC_REQUESTS: 0.0})) is None
    assert excess_ns(alone({Metric.ATOMIC_LANES: 0.0})) is None
    assert excess_ns(alone({Metric.ATOMIC_ADDRESSES: 0.0})) is None


def test_launches_without_atomics_leave_no_share_of_an_address() -> None:
    symptom = AtomicContention().symptom(alone({Metric.ATOMIC_TIME_NS: 4000.0, Metric.ATOMIC_ADDRESSES: 0.5}), DEVICE)
    assert symptom is not None and "share 1 address," in symptom.sentence


def test_few_operations_per_address_of_different_requests_are_no_contention() -> None:
    lanes = WAVES * 64
    spread = {Metric.ATOMIC_SERIALIZATION: WAVES, Metric.ATOMIC_TIME_NS: 4000.0}

    def per_address(operations: float) -> KernelProfile:
        hottest = {Metric.ATOMIC_HOTTEST_SHARE: operations / lanes}
        return alone({**spread, **hottest, Metric.ATOMIC_ADDRESSES: lanes / operations})

    assert excess_ns(per_address(1.0)) is None
    assert excess_ns(per_address(lanes)) is not None


def test_one_address_of_many_is_contended_where_it_takes_more_than_its_share() -> None:
    lanes = WAVES * 64
    spread = {Metric.ATOMIC_SERIALIZATION: WAVES, Metric.ATOMIC_TIME_NS: 4000.0, Metric.ATOMIC_ADDRESSES: lanes / 4}
    assert excess_ns(alone({**spread, Metric.ATOMIC_HOTTEST_SHARE: 0.02})) is not None
    assert excess_ns(alone({**spread, Metric.ATOMIC_HOTTEST_SHARE: 0.01})) is None


def test_where_addresses_are_not_counted_the_queue_of_l2_tells() -> None:
    queued = {Metric.ATOMIC_TIME_NS: 4000.0, Metric.ATOMIC_REQUESTS: 1000.0, Metric.ATOMIC_SERIALIZATION: 8000.0}
    assert excess_ns(alone(queued, without=(Metric.ATOMIC_ADDRESSES,))) == 3500.0
    short = {**queued, Metric.ATOMIC_SERIALIZATION: 1000.0}
    assert excess_ns(alone(short, without=(Metric.ATOMIC_ADDRESSES,))) is None


def test_where_lanes_are_not_counted_the_stall_of_an_l1_tells() -> None:
    stalled = {Metric.ATOMIC_STALL_NS: 250000.0, Metric.ATOMIC_REQUESTS: 10.0}
    symptom = AtomicContention().symptom(alone(stalled, without=COUNTED), DEVICE)
    assert symptom is not None
    assert (symptom.excess_ns, symptom.value, symptom.left_ns) == (250000.0, 250000.0, 0.0)
    assert "25 % of the kernel's time" in symptom.sentence
    assert symptom.metric is Metric.ATOMIC_STALL_NS
    for absent in (Metric.ATOMIC_STALL_NS, Metric.ATOMIC_REQUESTS):
        assert excess_ns(alone({**stalled, absent: 0.0}, without=COUNTED)) is None


def test_in_lds_what_can_be_saved_is_the_share_of_turns_beyond_one_per_request() -> None:
    lds = {
        Metric.ATOMIC_REQUESTS: 0.0,
        Metric.LDS_ATOMIC_REQUESTS: 100.0,
        Metric.LDS_ATOMIC_SERIALIZATION: 1600.0,
        Metric.LDS_ATOMIC_PHASES: 1600.0,
        Metric.LDS_PHASES: 400.0,
        Metric.LDS_TIME_NS: 4000.0,
    }
    assert excess_ns(alone(lds)) == 4000.0 * 1500 / 2000
    assert excess_ns(alone({**lds, Metric.LDS_ATOMIC_PHASES: 600.0})) == 4000.0 * 600 / 1000
    assert excess_ns(alone({**lds, Metric.LDS_ATOMIC_PHASES: 0.0, Metric.LDS_PHASES: 0.0})) == 0.0
    assert excess_ns(alone({**lds, Metric.LDS_ATOMIC_REQUESTS: 0.0})) is None
    assert excess_ns(alone({**lds, Metric.LDS_ATOMIC_SERIALIZATION: 100.0})) is None


def test_the_worse_of_both_memories_is_the_symptom_and_the_value_counts_both() -> None:
    both = {
        Metric.ATOMIC_TIME_NS: 4000.0,
        Metric.LDS_ATOMIC_REQUESTS: 100.0,
        Metric.LDS_ATOMIC_SERIALIZATION: 1600.0,
        Metric.LDS_ATOMIC_PHASES: 1600.0,
        Metric.LDS_PHASES: 0.0,
        Metric.LDS_TIME_NS: 100000.0,
    }
    symptom = AtomicContention().symptom(alone(both), DEVICE)
    assert symptom is not None and symptom.metric is Metric.LDS_ATOMIC_SERIALIZATION
    assert FORMULA.value(alone(both)).value == WAVES * 64 + 1600
    stalled = alone({Metric.ATOMIC_STALL_NS: 5.0, **both}, without=COUNTED)
    assert FORMULA.value(stalled).value == 5.0


def test_a_line_is_blamed_by_time_where_that_is_known_and_only_for_atomics() -> None:
    formula = AtomicContention()
    by_lanes = evidence(5, AccessKind.ATOMIC, MemorySpace.GLOBAL, ATOMIC_SERIALIZATION=640)
    by_time = evidence(5, AccessKind.REDUCTION, MemorySpace.SHARED, ATOMIC_SERIALIZATION=640, DEVICE_TIME_NS=20)
    load = evidence(5, AccessKind.LOAD, MemorySpace.GLOBAL, ATOMIC_SERIALIZATION=640)
    assert [formula.excess(item) for item in (by_lanes, by_time, load)] == [640, 20, 0]


def test_loops_that_stand_for_lds_atomics_save_the_time_that_the_model_tells() -> None:
    """Mostly the waiting of the waves that turn in them, which no part of the LDS shows."""
    spinning = {
        Metric.ATOMIC_REQUESTS: 0.0,
        Metric.LDS_ATOMIC_REQUESTS: 100.0,
        Metric.LDS_ATOMIC_SERIALIZATION: 3200.0,
        Metric.LDS_ATOMIC_PHASES: 3200.0,
        Metric.LDS_PHASES: 0.0,
        Metric.LDS_TIME_NS: 100.0,
        Metric.LATENCY_TIME_NS: 9000.0,
        Metric.LDS_SPIN_TIME_NS: 8000.0,
        Metric.DEVICE_TIME_NS: 10000.0,
    }
    finding = AtomicContention().diagnose(alone(spinning), DEVICE)
    assert finding is not None and "32.0 lanes on one address" in finding.sentence and "8 µs" in finding.sentence
    assert finding.gain_ceiling == pytest.approx(1 / (1 - finding.profile.share * 0.8))
    assert AtomicContention().diagnose(alone({**spinning, Metric.LDS_SPIN_TIME_NS: 0.0}), DEVICE) is None
