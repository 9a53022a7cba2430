from __future__ import annotations

from dataclasses import replace

import pytest
from formula_profiles import (
    AGAIN,
    CONFLICTS,
    CONSTANTS_APART,
    DEVICE,
    DIVERGED,
    HALF_EMPTY,
    SCATTERED,
    SPILLED,
    THIN,
    WAVES,
    contended,
    profile,
    saved_ns,
)

from intelliperf.codegen.rulebook import RULES
from intelliperf.errors import MissingMetric, UsageError
from intelliperf.formulas import BOTTLENECKS, FORMULAS, find_formula
from intelliperf.formulas.base import amdahl, count, stepping_ns
from intelliperf.records import (
    KernelProfile,
    Metric,
    Provenance,
    Quantity,
)
from intelliperf.search.observer import why_not_diagnosed


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
        ("constantAccess", CONSTANTS_APART),
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
    assert count(Quantity(100.0, Provenance.MODELLED, 100.0)) == "up to 200"
    assert count(Quantity(1000.0, Provenance.MODELLED, 20.0)) == "1,000 ± 2.0 %"


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
    failed = replace(partial, quantities={}, notes=("no hardware counters: ncu fails on app: out of order",))
    with pytest.raises(MissingMetric) as missing:
        FORMULAS["bankConflict"].diagnose(failed, DEVICE)
    assert why_not_diagnosed(failed, missing.value) == (
        f"{whole.kernel.name} was not counted: no hardware counters: ncu fails on app: out of order"
    )


def test_a_kernel_with_little_of_the_time_can_gain_little() -> None:
    finding = FORMULAS["bankConflict"].diagnose(profile(CONFLICTS, share=0.05), DEVICE)
    assert finding is not None
    assert 1.0 < finding.gain_ceiling < 1.06
    nearly_none = FORMULAS["bankConflict"].diagnose(profile(CONFLICTS, share=0.0005), DEVICE)
    assert nearly_none is not None and nearly_none.sentence.endswith(
        "removing this alone would make the kernel 2.1× as fast and save less than 1 % of the application's"
    )


def test_the_largest_ceiling_is_told_as_at_least_so_much() -> None:
    all_of_it = {Metric.DEVICE_TIME_NS: 1e8, Metric.ATOMIC_TIME_NS: 1e8, Metric.ATOMIC_LANES: 6e7}
    finding = FORMULAS["atomicContention"].diagnose(profile({**contended(), **all_of_it}, share=1.0), DEVICE)
    assert finding is not None
    assert finding.sentence.endswith("removing this alone would make it 1,000× as fast or more")


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


def test_a_waves_own_instructions_take_four_cycles_each_and_no_more_than_the_latency() -> None:
    seen = profile({Metric.INSTRUCTIONS: 42 * WAVES, Metric.LATENCY_TIME_NS: 5000.0})
    alone_ns = 42 * 4 / DEVICE.limits.clock_hz * 1e9
    assert stepping_ns(seen, DEVICE) == pytest.approx(alone_ns) and alone_ns < 5000
    assert stepping_ns(profile({Metric.INSTRUCTIONS: 42 * WAVES, Metric.LATENCY_TIME_NS: 50.0}), DEVICE) == 50.0


def test_the_ceiling_is_amdahls() -> None:
    assert amdahl(1.0, 0.5) == 2.0
    assert amdahl(0.5, 0.5) == pytest.approx(1 / 0.75)
    assert amdahl(0.0, 1.0) == 1.0
    assert amdahl(0.5, -1.0) == amdahl(-0.5, 0.5) == 1.0, "a loss gains nothing"
