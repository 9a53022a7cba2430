"""The judge from edit to verdict, on planned runs: which gate refuses what, and how it says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from interceptedbackend import KERNEL, PlannedBackend, application, plan_of
from readers import reading_of

from intelliperf.errors import ApplicationFailed
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import (
    Candidate,
    Check,
    CheckStatus,
    Declaration,
    Feature,
    FileEdit,
    Finding,
    Geometry,
    KernelProfile,
    Metric,
    Origin,
    OriginKind,
    Outcome,
    Provenance,
    Strength,
    Verdict,
    content_hash,
)
from intelliperf.validation import reference
from intelliperf.validation.calibration import calibrate
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.judge import Judge
from intelliperf.validation.trial import GATES, BuildFailure, Case, Settings

SOURCE = (
    "#include <hip/hip_runtime.h>\n__global__ void scale(float* a) { a[0] = 1; }\n"
    "__global__ void next(float* a) { a[1] = 1; }\nint main() {}\n"
)
EDITED = SOURCE.replace("a[0] = 1;", "*a = 1.0f;")
BUFFERS = {"out": {"bytes": 400}}
STEP = {"dispatch": KERNEL.symbol, "floats": {"out": [1.5] * 100}}
STEPS = [{"transfer": "memcpy_htod", "bytes": 4}, STEP, {"dispatch": "_Z4nextPf"}, {"print": "sum = 150"}]


@pytest.fixture(scope="module", autouse=True)
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    Bench.readings[:] = [reading_of(tmp_path_factory.mktemp("reading") / "sources", {"app.hip": SOURCE})]
    yield
    Bench.readings.clear()


def finding() -> Finding:
    geometry = (Geometry((1, 1, 1), (64, 1, 1)),)
    profile = KernelProfile(KERNEL, 1, geometry, (1000.0,), Provenance.MODELLED, 1.0)
    return Finding("memoryAccess", profile, "", 0.5, Metric.SECTORS, 2.0, 1.0, 2.0)


class Bench:
    """A judge, a reference and candidates made of plans."""

    readings: ClassVar[list[Reading]] = []  # one for all tests: it keeps what it has read of the original

    def __init__(self, root: Path, backend: PlannedBackend | None = None, **settings: Any) -> None:
        self.root = root
        self.judge = Judge(backend or PlannedBackend(), UNCONFINED, Settings(run_deadline_s=20.0, **settings))  # type: ignore[arg-type]
        self.reference = application(root / "reference", plan_of(*STEPS, **BUFFERS))

    def verdict(self, *steps: Any, text: str = EDITED, failure: BuildFailure | None = None, **more: Any) -> Verdict:
        built = application(self.root / "candidate", plan_of(*(steps or STEPS), **BUFFERS))
        edit = FileEdit("app.hip", content_hash(SOURCE), text)
        declares = more.pop("declares", Declaration())
        origin = Origin(more.pop("origin", OriginKind.USER), "test")
        return self.judge.judge(
            Case(
                candidate=Candidate((edit,), "", origin, declares),
                finding=finding(),
                reference=self.reference,
                baseline=self.reference,
                sources={"app.hip": SOURCE},
                allowed={"app.hip"},
                build=lambda: failure or built,
                logs=self.root / "logs",
                reading=self.readings[0],
                **more,
            )
        )


def named(verdict: Verdict, name: str) -> Check:
    (check,) = (check for check in verdict.checks if check.name == name)
    return check


def test_a_right_and_faster_candidate_is_accepted_with_every_gate_named(tmp_path):
    verdict = Bench(tmp_path).verdict()
    assert verdict.accepted, verdict
    assert verdict.compared_bytes > 0
    names = [check.name for check in verdict.checks]
    assert all(any(name.startswith(gate) for name in names) for gate in GATES)
    assert named(verdict, "unit tests").status is CheckStatus.NOT_RUN
    assert named(verdict, "sandbox").status is CheckStatus.NOT_RUN
    assert "planted in each of" in named(verdict, GATES[2]).control
    assert verdict.strength is Strength.BIT_EQUAL
    assert verdict.proof.startswith("bit equal in all ")


def test_a_forbidden_edit_is_refused_before_it_is_built(tmp_path):
    verdict = Bench(tmp_path).verdict(text=SOURCE.replace("a[1] = 1;", ""))
    assert verdict.outcome is Outcome.FORBIDDEN_EDIT
    assert named(verdict, "build").status is CheckStatus.NOT_RUN


def test_comments_alone_are_refused_before_they_are_built(tmp_path):
    verdict = Bench(tmp_path).verdict(text=SOURCE.replace("a[0] = 1;", "a[0] = 1; /* the first */"))
    assert verdict.outcome is Outcome.NOT_FASTER
    assert "changes nothing" in verdict.detail
    assert named(verdict, "build").status is CheckStatus.NOT_RUN


def test_a_failed_build_tells_the_compilers_first_errors(tmp_path):
    verdict = Bench(tmp_path).verdict(failure=BuildFailure(("app.hip:1: error: expected ';'",)))
    assert verdict.outcome is Outcome.BUILD_FAILED
    assert "expected ';'" in verdict.detail
    assert Bench(tmp_path).verdict(failure=BuildFailure((), timed_out=True)).outcome is Outcome.TIMED_OUT


REJECTED = {
    "wrong": ([STEPS[0], {**STEP, "floats": {"out": [2.5] * 100}}, *STEPS[2:]], Outcome.WRONG_OUTPUT),
    "no-op": ([STEPS[0], {**STEP, "floats": {}}, *STEPS[2:]], Outcome.WRONG_OUTPUT),
    "launch skipped": ([STEPS[0], *STEPS[2:]], Outcome.DISPATCHES_CHANGED),
    "early exit": ([*STEPS[:2], {"exit": 0}], Outcome.DISPATCHES_CHANGED),
    "crash": ([*STEPS[:2], {"signal": 11}], Outcome.CRASHED),
    "another exit status": ([*STEPS, {"exit": 3}], Outcome.WRONG_OUTPUT),
    "another answer": ([*STEPS[:3], {"print": "sum = 151"}], Outcome.WRONG_OUTPUT),
    "order-dependent": ([STEPS[0], {**STEP, "noise": {"out": 0.1}}, *STEPS[2:]], Outcome.RACE),
}


@pytest.mark.parametrize("name", REJECTED)
def test_a_bad_candidate_gets_its_outcome(tmp_path, name):
    steps, outcome = REJECTED[name]
    verdict = Bench(tmp_path).verdict(*steps)
    assert verdict.outcome is outcome, verdict.detail
    assert verdict.detail


@pytest.mark.parametrize(("orders", "accepted"), [(["random:3"], True), (["random:3", "reverse"], False)])
def test_other_kernels_may_depend_on_the_order_where_the_original_does(tmp_path, orders, accepted):
    astray = {**STEP, "noise": {"out": 0.1}, "noisy_orders": ["random:3"]}
    backend = PlannedBackend()
    backend.honours = backend.honours | {Feature.PREEMPTION}  # so that there is a random order
    bench = Bench(tmp_path, backend)
    bench.reference = application(tmp_path / "astray", plan_of(STEPS[0], astray, *STEPS[2:], **BUFFERS))
    steps = STEPS[0], {**astray, "noisy_orders": orders}, *STEPS[2:]
    verdict = bench.verdict(*steps, declares=Declaration(kernels=True))
    assert verdict.accepted is accepted, verdict.detail
    assert accepted or verdict.outcome is Outcome.RACE


def test_an_exit_status_that_was_announced_is_that_of_both_or_of_none(tmp_path):
    bench = Bench(tmp_path)
    bench.reference = application(tmp_path / "waived", plan_of(*STEPS, {"exit": 3}, **BUFFERS))
    with pytest.raises(ApplicationFailed, match="exit status 3 .*--expect-exit 3"):
        bench.verdict(*STEPS, {"exit": 3})
    bench.reference = replace(bench.reference, exit_status=3)
    assert bench.verdict(*STEPS, {"exit": 3}).accepted
    other = bench.verdict(*STEPS)
    assert other.outcome is Outcome.WRONG_OUTPUT and "exit status 0, expected exit status 3" in other.detail
    assert bench.verdict(*STEPS, {"signal": 11}).outcome is Outcome.CRASHED


@pytest.mark.slow
def test_gates_of_the_backend_decide_their_outcomes(tmp_path):
    def outcome(backend: PlannedBackend) -> Outcome:
        return Bench(tmp_path, backend).verdict().outcome

    failed = CheckStatus.FAILED
    assert outcome(PlannedBackend(safety=(Check("races", failed, "new"),))) is Outcome.RACE
    assert outcome(PlannedBackend(safety=(Check("out of bounds", failed, "new"),))) is Outcome.MEMORY_ERROR
    assert outcome(PlannedBackend(gain=0.9)) is Outcome.NOT_FASTER
    assert outcome(PlannedBackend(gain=1.005)) is Outcome.NOT_FASTER
    assert outcome(PlannedBackend(gain=2.0, overall=0.8)) is Outcome.SLOWER_OVERALL
    assert outcome(PlannedBackend(gain=float("inf"))) is Outcome.IMPLAUSIBLE


@pytest.mark.parametrize(("origin", "status"), [("RULE", CheckStatus.NOT_RUN), ("USER", CheckStatus.WEAK)])
def test_a_rules_slow_candidate_costs_no_gate_that_runs_it_again_and_again(tmp_path, origin, status):
    verdict = Bench(tmp_path, PlannedBackend(gain=0.3)).verdict(origin=OriginKind[origin])
    assert verdict.outcome is Outcome.NOT_FASTER
    assert named(verdict, GATES[2]).status is CheckStatus.PASSED
    assert named(verdict, GATES[4]).status is status


def test_builds_that_round_otherwise_tell_how_far_another_order_may_be_from_the_original(tmp_path):
    def summed(value: float) -> list[Any]:
        return [STEPS[0], {**STEP, "floats": {"out": [value] * 100}}, *STEPS[2:]]

    builds = {
        way: application(tmp_path / way, plan_of(*summed(1.5 * (1 + error)), **BUFFERS))
        for way, error in (("up", 3e-6), ("down", -3e-6))
    }
    near, far = summed(1.5 * (1 + 2e-6)), summed(1.5 * (1 + 2e-4))
    verdict = Bench(tmp_path).verdict(*near, rounded=builds.get)
    assert verdict.accepted, verdict.detail
    assert any("rounding" in check.detail for check in verdict.checks)
    assert Bench(tmp_path).verdict(*near).outcome is Outcome.WRONG_OUTPUT
    assert Bench(tmp_path).verdict(*far, rounded=builds.get).outcome is Outcome.WRONG_OUTPUT


def test_faster_than_the_device_can_move_the_data_is_implausible(tmp_path):
    assert Bench(tmp_path, PlannedBackend(floor_ns=900.0)).verdict().outcome is Outcome.IMPLAUSIBLE
    near = Bench(tmp_path, PlannedBackend(floor_ns=100.0)).verdict()
    assert near.accepted
    assert named(near, "roofline floor").status is CheckStatus.PASSED


def test_failing_unit_tests_reject_unless_they_fail_for_the_original_too(tmp_path):
    bench = Bench(tmp_path, unit_tests=("sh", "-c", "grep -q 1.5 plan.json && ! grep -q spoilt plan.json"))
    assert named(bench.verdict(), "unit tests").status is CheckStatus.PASSED
    assert bench.verdict(*STEPS, {"allocate": "out"}, {"spoilt": 1, "print": "\n"}).outcome is Outcome.WRONG_OUTPUT
    assert bench.verdict(*STEPS[:-1], {"spoilt": 1, "print": "sum = 150"}).outcome is Outcome.TESTS_FAILED
    always = Bench(tmp_path, unit_tests=("false",)).verdict()
    assert always.accepted
    assert "unmodified" in named(always, "unit tests").detail


def test_modelled_times_in_the_output_are_no_answers(tmp_path):
    bench = Bench(tmp_path)
    timed = [*STEPS, {"time": 12.5, "label": "kernel [ms]"}]
    bench.reference = application(tmp_path / "timed", plan_of(*timed, **BUFFERS))
    assert bench.verdict(*STEPS, {"time": 3.5, "label": "kernel [ms]"}).accepted
    assert bench.verdict(*STEPS, {"print": "kernel failed"}).outcome is Outcome.WRONG_OUTPUT


def test_a_reference_with_nothing_to_compare_is_an_error_and_no_pass(tmp_path):
    bench = Bench(tmp_path)
    bench.reference = application(tmp_path / "empty", plan_of({"dispatch": KERNEL.symbol, "buffers": []}))
    built = application(tmp_path / "empty-candidate", plan_of({"dispatch": KERNEL.symbol, "buffers": []}))
    edit = FileEdit("app.hip", content_hash(SOURCE), EDITED)
    with pytest.raises(ApplicationFailed, match="nothing to compare"):
        bench.judge.judge(
            Case(
                Candidate((edit,), "", Origin(OriginKind.USER, "test")), finding(), bench.reference, bench.reference,
                {"app.hip": SOURCE}, {"app.hip"}, lambda: built, tmp_path / "logs",
                reading_of(tmp_path / "sources", {"app.hip": SOURCE}),
            )
        )  # fmt: skip


def test_the_reference_is_calibrated_once(tmp_path, monkeypatch):
    learnt: list[object] = []

    def counted(*arguments: object) -> object:
        learnt.append(arguments)
        return calibrate(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(reference, "calibrate", counted)
    bench = Bench(tmp_path)
    assert bench.verdict().accepted and bench.verdict().accepted
    assert len(learnt) == 1
