"""Sentences from findings and source lines."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from formula_profiles import profile
from rewrite_task import counted, device, evidence, finding

from intelliperf.emulator.table import KernelLines, kernel_header
from intelliperf.records import AccessKind, MemorySpace, Metric, Provenance, Quantity
from intelliperf.sentences import (
    confidence,
    duration,
    finding_sentence,
    line_sentence,
    main_reading,
    number,
    percent,
    readings,
    times,
)


def access(**changes: Any) -> Any:
    return dataclasses.replace(evidence(), access=AccessKind.LOAD, operation="load", **changes)


def test_a_contended_atomic_says_how_many_lanes_share_an_address() -> None:
    first, second = evidence(), evidence(line=9, requests=256 * 3)
    sentence = line_sentence(finding(), first, (first, second), device())
    assert sentence.split(" · ") == [
        "atomicContention: contended atomic (atomicrmw add), 4 bytes per lane",
        "/home/somebody/app/src/tally.hip:6:9 in tally",
        "same-address lanes per atomic request=32 (ideal 1, worst 64)",
        "8 distinct addresses",
        "25 % of the kernel's excess",
        "kernel has 75 % of app device time",
        "up to 32× fewer on this line",
        "watch atomic_same_address_lanes",
        "confidence high: counted or measured",
    ]


def test_a_bank_conflict_says_how_many_cycles_one_request_takes() -> None:
    quantities = {
        Metric.LDS_REQUESTS: counted(10),
        Metric.LDS_PHASES: counted(320),
        Metric.LDS_PHASES_IDEAL: counted(20),
    }
    item = access(space=MemorySpace.SHARED, quantities=quantities)
    (reading,) = readings(item, device())
    assert str(reading) == "LDS bank cycles per request=32 (ideal 2, worst 64)"
    assert reading.gain == 16 and reading.excess == 300


def test_an_ideal_access_promises_nothing() -> None:
    quantities = {Metric.REQUESTS: counted(4), Metric.SECTORS: counted(32), Metric.SECTORS_IDEAL: counted(32)}
    assert "fewer on this line" not in line_sentence(finding(), access(quantities=quantities), (), device())


def test_what_was_not_collected_is_left_out_and_not_taken_for_zero() -> None:
    item = access(quantities={Metric.REQUESTS: counted(4), Metric.SECTORS: counted(32)})
    assert readings(item) == ()
    sentence = line_sentence(finding(), item)
    assert "sectors" not in sentence and "excess" not in sentence and "watch atomic_same_address_lanes" in sentence


def test_a_line_without_requests_divides_by_nothing() -> None:
    quantities = {Metric.REQUESTS: counted(0), Metric.SECTORS: counted(0), Metric.SECTORS_IDEAL: counted(0)}
    assert readings(access(quantities=quantities)) == ()


def test_cache_hits_divergence_and_spills_are_held_against_the_line() -> None:
    quantities = {**evidence().quantities, Metric.L2_HIT_RATIO: counted(0.97), Metric.ACTIVE_LANE_RATIO: counted(0.3)}
    profile = dataclasses.replace(finding().profile, quantities={Metric.SPILLED_REGISTERS: counted(12)})
    sentence = line_sentence(
        dataclasses.replace(finding(), profile=profile), dataclasses.replace(evidence(), quantities=quantities)
    )
    assert "but 97 % of it hits L2" in sentence
    assert "but only 30 % of the lanes are active" in sentence
    assert "but the kernel also spills 12 registers" in sentence


def test_lines_that_are_no_access_speak_of_lanes_registers_and_launches() -> None:
    code = dataclasses.replace(
        evidence(),
        access=AccessKind.CODE,
        space=MemorySpace.NONE,
        quantities={Metric.ACTIVE_LANE_RATIO: counted(0.25), Metric.LANES_LOST: counted(4800)},
    )
    sentence = line_sentence(finding(), code)
    assert sentence.startswith("atomicContention: instructions of a line · ")
    assert "lanes that take part 25 % · lanes that sit out, over all instructions 4,800" in sentence
    assert "but only" not in sentence
    kernel = dataclasses.replace(code, access=AccessKind.KERNEL, quantities={Metric.LANE_FILL_RATIO: counted(0.75)})
    assert "kernel as a whole" in line_sentence(finding(), kernel)
    assert "lanes that the launch fills 75 %" in line_sentence(finding(), kernel)


def test_a_spill_is_no_argument_against_itself() -> None:
    profile = dataclasses.replace(finding().profile, quantities={Metric.SPILLED_REGISTERS: counted(12)})
    pressed = dataclasses.replace(finding(), profile=profile, metric=Metric.LOCAL_REQUESTS)
    spill = dataclasses.replace(
        evidence(),
        access=AccessKind.LOAD,
        space=MemorySpace.LOCAL,
        quantities={Metric.LOCAL_REQUESTS: counted(1200)},
    )
    sentence = line_sentence(pressed, spill)
    assert "access to a thread's own memory" in sentence
    assert "loads and stores of a thread's own memory 1,200" in sentence
    assert "also spills" not in sentence


def test_the_reading_speaks_of_the_findings_own_metric() -> None:
    quantities = {
        **evidence().quantities,
        Metric.REQUESTS: counted(1),
        Metric.SECTORS: counted(64),
        Metric.SECTORS_IDEAL: counted(1),
    }
    item = dataclasses.replace(evidence(), quantities=quantities)
    reading = main_reading(finding(), item)
    assert reading is not None and reading.watch is Metric.ATOMIC_SERIALIZATION


def test_the_share_of_kernel_time_is_used_where_it_was_sampled() -> None:
    quantities = {**evidence().quantities, Metric.TIME_SHARE: Quantity(0.613, Provenance.MEASURED)}
    sentence = line_sentence(finding(), dataclasses.replace(evidence(), quantities=quantities))
    assert "61 % of kernel time (measured)" in sentence


def test_contention_in_lds_is_read_from_the_lines_own_atomic_counts() -> None:
    in_lds = dataclasses.replace(finding(), metric=Metric.LDS_ATOMIC_SERIALIZATION)
    item = dataclasses.replace(evidence(), space=MemorySpace.SHARED)
    assert line_sentence(in_lds, item).startswith("atomicContention: contended LDS atomic")
    reading = main_reading(in_lds, item)
    assert reading is not None and reading.value == 32


def test_the_finding_says_metric_ideal_share_ceiling_and_kind_of_time() -> None:
    assert finding_sentence(finding()) == (
        "atomicContention: 32 lanes of each wave hit the same address · kernel tally(int const*, int*, int), "
        "3 dispatches · atomic_same_address_lanes=32 (ideal 1) · 75 % of the application's device time · "
        "4× for the whole application, were this alone removed · time is modelled"
    )


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (3.5, "3.5"), (12288.0, "12,288"), (1234.5, "1,234"), (4.1e12, "4.1e+12")]
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


def test_small_shares_keep_a_digit() -> None:
    assert (percent(0.004), percent(0.25), percent(0.0)) == ("0.4 %", "25 %", "0 %")
    assert (times(1.0045), times(5.273), times(999.4), times(9838.79)) == ("1.004×", "5.27×", "999×", "9,840×")


def test_what_rounds_to_a_thousand_has_no_exponent() -> None:
    assert (times(999.7), number(999.7), times(1000.4)) == ("1,000×", "1,000", "1,000×")
    assert (duration(999.7), duration(999_700.0), duration(999.4)) == ("1 µs", "1 ms", "999 ns")


def test_confidence_follows_the_origin_of_the_number() -> None:
    assert [confidence(kind).split(":")[0] for kind in Provenance] == [
        "confidence high",
        "confidence medium",
        "confidence low",
    ]


def test_the_table_of_the_emulator_spells_shares_as_findings_do() -> None:
    told = kernel_header(KernelLines(profile({Metric.OCCUPANCY_RATIO: 1.0}, share=0.042), ()))
    assert told.startswith(f"{percent(0.042)} of device time") and told.endswith("occupancy 100 %")
