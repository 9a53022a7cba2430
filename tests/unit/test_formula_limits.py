"""Each threshold of a formula, from both sides: a hair below there is no finding, a hair beyond there is one."""

from __future__ import annotations

import pytest
from formula_profiles import CONFLICTS, DEVICE, WAVES, contended, evidence, profile

from intelliperf.formulas import FORMULAS
from intelliperf.formulas.bank_conflict import CYCLES_PER_IDEAL, BankConflict
from intelliperf.formulas.base import MINIMUM_BLAME, MINIMUM_EXCESS, MINIMUM_EXCESS_OF_ALL, MINIMUM_SAVED
from intelliperf.records import AccessKind, KernelProfile, MemorySpace, Metric, SourceEvidence

HAIR = 1e-6


def found(name: str, kernel: KernelProfile) -> bool:
    return FORMULAS[name].diagnose(kernel, DEVICE) is not None


def conflicts(ratio: float) -> dict[Metric, float]:
    ideal = 4 * WAVES
    return {**CONFLICTS, Metric.LDS_PHASES_IDEAL: ideal, Metric.LDS_PHASES: ratio * ideal}


def test_conflicts_begin_at_a_tenth_more_cycles_than_without() -> None:
    large = {Metric.DEVICE_TIME_NS: 300000.0, Metric.LDS_TIME_NS: 298000.0}
    assert FORMULAS["bankConflict"].minimum_excess is MINIMUM_EXCESS and MINIMUM_EXCESS.value == 0.1
    # The excess of 1.1 times the ideal is a share of 0.1 / 1.1 of the LDS time: below a tenth. Both have to hold.
    assert not found("bankConflict", profile({**conflicts(1.1), **large}))
    assert found("bankConflict", profile({**conflicts(1.2), **large}))


@pytest.mark.parametrize(("share_of_busy", "there"), [(0.101, True), (0.099, False)])
def test_a_tenth_of_the_busy_time_has_to_be_at_stake(share_of_busy: float, there: bool) -> None:
    # 2 µs of 10 are the launch; all LDS time but the ideal part is excess, and the rest of the kernel is quick.
    quiet = dict.fromkeys((Metric.ISSUE_TIME_NS, Metric.L1_TIME_NS, Metric.L2_TIME_NS, Metric.DRAM_TIME_NS), 0.0)
    busy = 8000.0
    excess = share_of_busy * busy
    phases = 4 * WAVES * 100
    changes = {
        **quiet,
        Metric.LDS_REQUESTS: 2 * WAVES,
        Metric.LDS_PHASES: phases,
        Metric.LDS_PHASES_IDEAL: phases * (1 - excess / busy),
        Metric.LDS_TIME_NS: busy,
    }
    assert MINIMUM_EXCESS_OF_ALL.value < share_of_busy
    ratio = changes[Metric.LDS_PHASES] / changes[Metric.LDS_PHASES_IDEAL]
    assert ratio > 1.1, "the threshold on cycles is passed by both"
    assert found("bankConflict", profile(changes)) is there


@pytest.mark.parametrize(("saved_ns", "there"), [(2020.0, True), (1980.0, False)])
def test_two_hundredths_of_all_time_have_to_be_at_stake(saved_ns: float, there: bool) -> None:
    """However large a part it is of what the launch leaves."""
    quiet = dict.fromkeys((Metric.ISSUE_TIME_NS, Metric.L1_TIME_NS, Metric.L2_TIME_NS, Metric.DRAM_TIME_NS), 0.0)
    launch = {Metric.DEVICE_TIME_NS: 100_000.0, Metric.LAUNCH_TIME_NS: 100_000.0 - 2 * saved_ns}
    assert MINIMUM_EXCESS_OF_ALL.value == 0.02
    assert (
        found("bankConflict", profile({**conflicts(2.0), **quiet, **launch, Metric.LDS_TIME_NS: 2 * saved_ns})) is there
    )


@pytest.mark.parametrize(("saved_ns", "there"), [(260.0, True), (240.0, False)])
def test_less_than_launches_differ_by_is_no_finding(saved_ns: float, there: bool) -> None:
    """However large a part of a short kernel it is."""
    quiet = dict.fromkeys((Metric.ISSUE_TIME_NS, Metric.L1_TIME_NS, Metric.L2_TIME_NS, Metric.DRAM_TIME_NS), 0.0)
    short = {**quiet, Metric.DEVICE_TIME_NS: 2000.0 + 2 * saved_ns, Metric.LDS_TIME_NS: 2 * saved_ns}
    assert MINIMUM_SAVED.value == 250
    assert found("bankConflict", profile({**conflicts(2.0), **short})) is there


def test_the_share_of_a_kernel_scales_severity_and_ceiling_and_hides_no_finding() -> None:
    formula = FORMULAS["atomicContention"]
    large, small = (formula.diagnose(profile(contended(), share=share), DEVICE) for share in (0.8, 0.2))
    assert large is not None and small is not None
    assert large.severity == pytest.approx(4 * small.severity)
    saved = large.severity / 0.8
    assert large.gain_ceiling == pytest.approx(1 / (1 - 0.8 * saved))
    assert small.gain_ceiling == pytest.approx(1 / (1 - 0.2 * saved))


def test_cycles_of_atomics_in_lds_are_no_bank_conflicts() -> None:
    alone = profile(CONFLICTS)
    shared = profile({**CONFLICTS, Metric.LDS_ATOMIC_PHASES: 66 * WAVES})
    of_alone, of_shared = (FORMULAS["bankConflict"].diagnose(one, DEVICE) for one in (alone, shared))
    assert of_alone is not None
    assert of_shared is None or of_shared.severity < of_alone.severity, "half of the LDS time is the atomics'"
    for access in (AccessKind.ATOMIC, AccessKind.REDUCTION):
        line = evidence(7, access, MemorySpace.SHARED, LDS_PHASES=64.0, LDS_PHASES_IDEAL=1.0)
        assert FORMULAS["bankConflict"].excess(line) == 0.0


def test_a_line_is_blamed_from_a_share_of_the_excess_on() -> None:
    def line(number: int, phases: float) -> SourceEvidence:
        return evidence(number, AccessKind.LOAD, MemorySpace.SHARED, LDS_PHASES=phases + 1.0, LDS_PHASES_IDEAL=1.0)

    rest = 100.0
    least = MINIMUM_BLAME.value * rest / (1 - MINIMUM_BLAME.value)  # so much is exactly the share of the total
    formula = FORMULAS["bankConflict"]
    assert [item.line for item in formula.blame((line(1, rest), line(2, least * (1 + HAIR))))] == [1, 2]
    assert [item.line for item in formula.blame((line(1, rest), line(2, least * (1 - 1e-3))))] == [1]


def test_a_bank_conflict_says_its_cycles_per_access_and_lasts_up_to_its_threshold() -> None:
    finding = FORMULAS["bankConflict"].diagnose(profile(CONFLICTS), DEVICE)
    assert finding is not None
    assert "needs 33.00 bank cycles where 2.00 would do (16.5×" in finding.sentence
    least = CYCLES_PER_IDEAL.value * CONFLICTS[Metric.LDS_PHASES_IDEAL]
    at, below = ({**CONFLICTS, Metric.LDS_PHASES: phases} for phases in (least, least - 1))
    assert BankConflict().symptom(profile(at), DEVICE) is not None
    assert BankConflict().symptom(profile(below), DEVICE) is None
