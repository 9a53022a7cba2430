"""Reference and candidate side by side, as real processes that speak the wire protocol."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path
from typing import Any

import pytest
from interceptedbackend import KERNEL, application, plan_of, setting

from intelliperf.errors import ApplicationFailed
from intelliperf.processes.sandbox import Sandbox
from intelliperf.records import Interception, Outcome
from intelliperf.validation.algebragate import SameBits
from intelliperf.validation.buffers.elements import BYTE
from intelliperf.validation.buffers.tolerance import Allowance, Steadiness, UserTolerance
from intelliperf.validation.calibration import BASE, Additions, Calibration, calibrate
from intelliperf.validation.checker import Checker
from intelliperf.validation.othernumbers import ALTERATIONS, IN_MORE_BITS, TWIN, DoubtingChecker
from intelliperf.validation.runs.alignment import align
from intelliperf.validation.runs.effort import Effort
from intelliperf.validation.runs.events import Divergence, Rule
from intelliperf.validation.runs.lockstep import follow, follow_planned, record
from intelliperf.validation.runs.side import SideFailed, SideRun
from intelliperf.validation.sameorder import SameOrder, own_blocks

VALUES = [float(i % 97) + 0.37 for i in range(1000)]
SYMBOL = KERNEL.symbol
RULE = Rule(lambda d: d.target)
BUFFERS = {"out": {"bytes": 4000}, "input": {"bytes": 100}, "state": {"bytes": 16, "symbol": "_ZL5state"}}


def steps(**changes: Any) -> list[dict[str, Any]]:
    step = {"dispatch": SYMBOL, "floats": {"out": VALUES, "input": [1.0] * 25, "state": [0.0] * 4}, **changes}
    return [{"transfer": "memcpy_htod", "bytes": 100}, step, {"dispatch": "_Z4next", "grid": [2, 1, 1]}, step]


def program(directory: Path, listed: list[dict[str, Any]], **buffers: Any):
    return application(directory, plan_of(*listed, **(buffers or BUFFERS)))


def learnt(tmp_path: Path, listed: list[dict[str, Any]], kernels: str = SYMBOL, **buffers: Any) -> Calibration:
    return calibrate(setting(tmp_path), program(tmp_path / "reference", listed, **buffers), kernels, RULE)


def judged(
    tmp_path: Path, reference: list[dict[str, Any]], candidate: list[dict[str, Any]], rule: Rule = RULE, **more: Any
) -> tuple[Divergence | None, Checker]:
    buffers = more.pop("buffers", BUFFERS)
    checker = Checker(learnt(tmp_path, reference, **buffers), **more)
    runs = [
        SideRun(BASE, program(tmp_path / "reference", reference, **buffers)),
        SideRun("candidate", program(tmp_path / "candidate", candidate, **buffers)),
    ]
    followed = follow(setting(tmp_path, 5.0), runs, rule, checker)
    return followed.divergences.get("candidate"), checker


def test_the_same_program_passes_and_every_byte_is_compared(tmp_path):
    divergence, checker = judged(tmp_path, steps(), steps())
    assert divergence is None
    assert (checker.compared_bytes, len(checker.syncs)) == (2 * 4116, 2)


def test_one_wrong_element_at_the_end_is_found_with_both_values(tmp_path):
    wrong = [*VALUES[:-1], 7.0]
    divergence, _ = judged(tmp_path, steps(), steps(floats={"out": wrong, "input": [1.0] * 25, "state": [0.0] * 4}))
    assert divergence is not None
    assert divergence.outcome is Outcome.WRONG_OUTPUT
    assert "float 999 is 7, expected 29.37" in divergence.detail
    assert "out" in divergence.detail


@pytest.mark.parametrize(("value", "same"), [(-math.nan, True), (1.0, False), (-0.0, False)])
def test_the_original_is_as_before_with_another_nan_but_with_no_other_number(tmp_path, value, same):
    def listed(*first: float) -> list[dict[str, Any]]:
        return steps(floats={"out": [*first, *VALUES[2:]], "input": [1.0] * 25, "state": [0.0] * 4})

    before, after = listed(math.nan, 0.0), listed(value, 0.0) if math.isnan(value) else listed(math.nan, value)
    runs = [SideRun(label, program(tmp_path / label, plan)) for label, plan in ((BASE, before), ("other", after))]
    followed = follow(setting(tmp_path, 5.0), runs, RULE, SameBits(learnt(tmp_path, before)))
    assert ("other" not in followed.divergences) is same


def test_a_no_op_leaves_the_poison_and_is_found(tmp_path):
    divergence, _ = judged(tmp_path, steps(), steps(floats={}))
    assert divergence is not None
    assert divergence.outcome is Outcome.WRONG_OUTPUT


def test_a_changed_input_is_found(tmp_path):
    divergence, _ = judged(tmp_path, steps(), steps(floats={"out": VALUES, "input": [2.0] * 25, "state": [0.0] * 4}))
    assert divergence is not None
    assert "input" in divergence.detail


def test_a_changed_symbol_is_found(tmp_path):
    divergence, _ = judged(
        tmp_path, steps(), steps(floats={"out": VALUES, "input": [1.0] * 25, "state": [0.0, 0.0, 1.0, 0.0]})
    )
    assert divergence is not None
    assert "symbol _ZL5state" in divergence.detail


CHANGED = {
    "a skipped launch": steps()[:-1],
    "an additional launch": [*steps(), {"dispatch": "_Z4more"}],
    "a shrunk grid": [*steps()[:1], {**steps()[1], "grid": [1, 2, 1]}, *steps()[2:]],
    "another block": [*steps()[:1], {**steps()[1], "block": [32, 1, 1]}, *steps()[2:]],
    "more LDS": [*steps()[:1], {**steps()[1], "lds": 64}, *steps()[2:]],
    "another grid of another kernel": [*steps()[:2], {"dispatch": "_Z4next", "grid": [1, 1, 1]}, steps()[3]],
    "another copy": [{"transfer": "memcpy_htod", "bytes": 50}, *steps()[1:]],
    "a missing copy": steps()[1:],
    "another order": [steps()[0], steps()[2], steps()[1], steps()[3]],
    "another scalar": [steps()[0], {**steps()[1], "scalars": ["01000000"]}, *steps()[2:]],
    "an early end": [*steps()[:2], {"exit": 0}],
}


@pytest.mark.parametrize("name", CHANGED)
def test_the_list_of_dispatches_and_transfers_must_be_the_same(tmp_path, name):
    divergence, _ = judged(tmp_path, steps(), CHANGED[name])
    assert divergence is not None
    assert divergence.outcome is Outcome.DISPATCHES_CHANGED, divergence


def test_what_a_candidate_wrote_that_ends_before_its_launch_is_told(tmp_path):
    early = [*steps()[:1], {"print": "app.py:7: KeyError: 'BLOCK'", "stderr": True}, {"exit": 0}]
    divergence, _ = judged(tmp_path, steps(), early)
    assert divergence is not None and divergence.outcome is Outcome.DISPATCHES_CHANGED
    assert divergence.detail.endswith("; it wrote: app.py:7: KeyError: 'BLOCK'"), divergence.detail


def test_a_declared_geometry_is_free_for_the_target_only(tmp_path):
    free = Rule(lambda d: d.target, SYMBOL)
    assert judged(tmp_path, steps(), steps(grid=[7, 1, 1], lds=32), free)[0] is None
    assert judged(tmp_path, steps(), CHANGED["another grid of another kernel"], free)[0] is not None


FAILING = {
    "a crash": ({"signal": 11}, Outcome.CRASHED, "SIGSEGV"),
    "an abort": ({"signal": 6}, Outcome.CRASHED, "SIGABRT"),
    "a hang": ({"hang": 60}, Outcome.TIMED_OUT, "nothing came within 2 s"),
    "nonsense on the wire": ({"raw": "0500000061616161aa"}, Outcome.CRASHED, "JSON"),
    "a claim of four gigabytes": ({"raw": "ffffffff"}, Outcome.CRASHED, "4294967295"),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_candidate_that_fails_is_an_outcome(tmp_path, name):
    step, outcome, word = FAILING[name]
    divergence, _ = judged(tmp_path, steps(), [*steps()[:2], step, *steps()[2:]])
    assert divergence is not None
    assert divergence.outcome is outcome
    assert word in divergence.detail


@pytest.mark.parametrize(("pauses_s", "passes"), [((0.5, 0.5, 0.5), True), ((1.5,), False)])
def test_time_counts_from_step_to_step_so_that_a_slow_candidate_is_no_hang(tmp_path, pauses_s, passes):
    slow = [step for pause_s in pauses_s for step in ({"hang": pause_s}, steps()[1])]
    calibration = learnt(tmp_path, [steps()[1]] * len(pauses_s))
    runs = [
        SideRun(BASE, program(tmp_path / "reference", [steps()[1]] * len(pauses_s))),
        SideRun("candidate", program(tmp_path / "candidate", slow)),
    ]
    patient = dataclasses.replace(setting(tmp_path), silence_s=1.0)
    divergence = follow(patient, runs, RULE, Checker(calibration)).divergences.get("candidate")
    assert (divergence is None) is passes, divergence


def test_a_reference_that_hangs_where_it_ran_before_is_given_up_soon(tmp_path):
    runs = [SideRun(BASE, program(tmp_path / "hanging", [{"hang": 60}, steps()[1]]))]
    runs.append(SideRun("candidate", program(tmp_path / "candidate", [steps()[1]])))
    impatient, checker = dataclasses.replace(setting(tmp_path), base_silence_s=0.5), Checker(learnt(tmp_path, steps()))
    begun = time.monotonic()
    with pytest.raises(SideFailed, match="reference timed out"):
        follow(impatient, runs, RULE, checker)
    assert time.monotonic() - begun < 15


def test_a_step_that_takes_the_reference_long_may_take_a_candidate_long(tmp_path):
    plans = [[{"hang": pause_s}, steps()[1]] for pause_s in (0.4, 1.5)]
    calibration = learnt(tmp_path, [steps()[1]])
    runs = [
        SideRun(label, program(tmp_path / label, plan)) for label, plan in zip((BASE, "candidate"), plans, strict=True)
    ]
    patient = dataclasses.replace(setting(tmp_path), silence_s=0.5)
    assert not follow(patient, runs, RULE, Checker(calibration)).divergences


def test_what_fails_in_another_order_of_the_reference_says_nothing_of_the_launches_after_it(tmp_path):
    wrong = steps(floats={"out": [*VALUES[:-1], 7.0], "input": [1.0] * 25, "state": [0.0] * 4})[1]
    right = steps()[1]
    calibration = learnt(tmp_path, [right])
    listed = {BASE: [right] * 3, TWIN: [steps(status=719)[1], right, right], "candidate": [wrong, right, wrong]}
    runs = [SideRun(label, program(tmp_path / label.replace(" ", "-"), plan)) for label, plan in listed.items()]
    rule = dataclasses.replace(RULE, after_failures=True, beside=(TWIN,))
    observer = DoubtingChecker(Checker(calibration), Checker(calibration), ALTERATIONS[1])
    found = follow(setting(tmp_path), runs, rule, observer).divergences
    assert observer.doubtful == {0}
    assert [*found] == ["candidate"] and found["candidate"].sync == 2


def test_where_the_reference_has_no_one_answer_a_candidate_may_fail(tmp_path):
    wrong = steps(floats={"out": [*VALUES[:-1], 7.0], "input": [1.0] * 25, "state": [0.0] * 4})[1]
    right = steps()[1]
    calibration = learnt(tmp_path, [right])
    listed = {BASE: [right] * 3, TWIN: [wrong, right, right], "candidate": [steps(status=700)[1], right, wrong]}
    runs = [SideRun(label, program(tmp_path / label.replace(" ", "-"), plan)) for label, plan in listed.items()]
    observer = DoubtingChecker(Checker(calibration), Checker(calibration), ALTERATIONS[1])
    rule = dataclasses.replace(RULE, beside=(TWIN,), doubted=observer.doubts)
    found = follow(setting(tmp_path), runs, rule, observer).divergences
    assert [*found] == ["candidate"] and found["candidate"].sync == 2


@pytest.mark.parametrize("first", [True, False])
def test_where_all_that_is_written_depends_on_the_order_nothing_was_shown(tmp_path, first):
    right, other = steps()[1], steps(floats={"out": VALUES[::-1], "input": [2.0] * 25, "state": [3.0] * 4})[1]
    calibration = learnt(tmp_path, [right])
    listed = {BASE: [right] * 2, TWIN: [other, other if first else right], "candidate": [right] * 2}
    runs = [SideRun(label, program(tmp_path / label.replace(" ", "-"), plan)) for label, plan in listed.items()]
    observer = DoubtingChecker(Checker(calibration), Checker(calibration), ALTERATIONS[1])
    rule = dataclasses.replace(RULE, beside=(TWIN,), doubted=observer.doubts)
    assert not follow(setting(tmp_path), runs, rule, observer).divergences
    assert observer.no_one_answer is first


@pytest.mark.parametrize("alike", [True, False])
def test_before_a_launch_is_altered_all_are_given_the_numbers_that_the_reference_has(tmp_path, alike):
    def launches(values: list[float]) -> list[dict[str, Any]]:
        begins = steps(floats={"out": values, "input": [1.0] * 25, "state": [0.0] * 4})[1]
        return [{**begins, "lie": {"before": True, "cooperative": False}}, {"dispatch": SYMBOL}]

    calibration = learnt(tmp_path, [steps()[1]])
    listed = {BASE: launches(VALUES), "candidate": launches([value * 1.000001 for value in VALUES])}
    runs = [SideRun(label, program(tmp_path / label, plan)) for label, plan in listed.items()]
    rule = dataclasses.replace(RULE, alike=lambda buffer: alike)
    followed = follow(setting(tmp_path), runs, rule, Checker(calibration))
    assert ("candidate" not in followed.divergences) is alike
    assert followed.syncs == 1


_SHRUNK, _TURNED = [2.0 * value for value in VALUES], [*VALUES[1:], VALUES[0]]


@pytest.mark.parametrize(
    ("own", "last", "blocks", "steadiness", "refused"),
    [
        pytest.param(VALUES, _SHRUNK, 2, Steadiness.ERRATIC, True, id="it follows the order, but not in more blocks"),
        pytest.param(
            VALUES, _TURNED, 2, Steadiness.UNORDERED, True, id="a list in another order, in more blocks alone"
        ),
        pytest.param(VALUES, VALUES, 2, Steadiness.ERRATIC, False, id="and there"),
        pytest.param(_SHRUNK, _SHRUNK, 2, Steadiness.ERRATIC, False, id="it never did"),
        pytest.param(VALUES, _SHRUNK, 1, Steadiness.ERRATIC, False, id="it does not always"),
    ],
)
def test_who_follows_the_order_that_decides_does_so_in_larger_launches_too(
    tmp_path, own, last, blocks, steadiness, refused
):
    def launch(values: list[float], grid: int) -> dict[str, Any]:
        return steps(floats={"out": values, "input": [1.0] * 25, "state": [0.0] * 4}, grid=[grid, 1, 1])[1]

    calibration = learnt(tmp_path, [launch(VALUES, 1)])
    key = next(one for one, name in calibration.names.items() if "out" in name)
    calibration = dataclasses.replace(calibration, allowances={key: Allowance(steadiness, BYTE)})
    listed = {
        BASE: [*[launch(VALUES, 1)] * 8, launch(VALUES, blocks)],
        TWIN: [*[launch(VALUES[::-1], 1)] * 8, launch(VALUES[::-1], blocks)],
        "candidate": [*[launch(own, 1)] * 8, launch(last, blocks)],
    }
    runs = [SideRun(label, program(tmp_path / label.replace(" ", "-"), plan)) for label, plan in listed.items()]
    seen = SameOrder(own_blocks(calibration.events, SYMBOL))
    observer = DoubtingChecker(Checker(calibration), Checker(calibration), ALTERATIONS[1], same_order=seen)
    rule = dataclasses.replace(RULE, beside=(TWIN,), doubted=observer.doubts)
    assert not follow(setting(tmp_path), runs, rule, observer).divergences
    found = observer.unsettled("candidate")
    assert (found is not None) is refused
    assert found is None or "is as the original's" in found.detail


def test_larger_integers_are_no_launch_of_the_references_size(tmp_path):
    step = steps()[1]
    described = {**step, "lie": {"alteration": IN_MORE_BITS[0]}}
    other = {**described, "floats": {**step["floats"], "out": _SHRUNK}}
    turned = {**step, "floats": {**step["floats"], "out": _TURNED}}
    calibration = learnt(tmp_path, [step])
    key = next(one for one, name in calibration.names.items() if "out" in name)
    calibration = dataclasses.replace(calibration, allowances={key: Allowance(Steadiness.ERRATIC, BYTE)})
    listed = {
        BASE: [*[step] * 8, described],
        TWIN: [*[turned] * 8, {**turned, "lie": described["lie"]}],
        "candidate": [*[step] * 8, other],
    }
    runs = [SideRun(label, program(tmp_path / label.replace(" ", "-"), plan)) for label, plan in listed.items()]
    seen = SameOrder(own_blocks(calibration.events, SYMBOL))
    observer = DoubtingChecker(Checker(calibration), Checker(calibration), ALTERATIONS[1], same_order=seen)
    rule = dataclasses.replace(RULE, beside=(TWIN,), doubted=observer.doubts)
    assert not follow(setting(tmp_path), runs, rule, observer).divergences
    assert observer.unsettled("candidate") is not None


@pytest.mark.parametrize(("value", "why"), [(math.inf, "overflow"), (7.0, "not deterministic")])
def test_a_reference_whose_results_overflow_is_not_said_to_be_unsteady(tmp_path, value, why):
    numbers = {"input": [1.0] * 25, "state": [0.0] * 4}
    wide, right = (steps(floats={"out": [*VALUES[:-1], last], **numbers})[1] for last in (value, VALUES[-1]))
    calibration = learnt(tmp_path, [steps()[1]])
    twin = wide if value == math.inf else steps(status=719)[1]
    listed = {BASE: [wide], TWIN: [twin], "candidate": [right]}
    runs = [SideRun(label, program(tmp_path / label.replace(" ", "-"), plan)) for label, plan in listed.items()]
    large = next(one for one in ALTERATIONS if one.finite)
    observer = DoubtingChecker(Checker(calibration), Checker(calibration), large)
    rule = dataclasses.replace(RULE, after_failures=True, beside=(TWIN,), doubted=observer.doubts)
    assert not follow(setting(tmp_path), runs, rule, observer).divergences
    assert observer.doubtful == {0} and why in observer.why_doubtful


@pytest.mark.parametrize(("base_fails", "evidence"), [(True, False), (False, True)])
def test_a_run_that_dies_after_a_launch_that_failed_in_the_reference_is_no_evidence(tmp_path, base_fails, evidence):
    right = steps()[1]
    calibration = learnt(tmp_path, [right])
    first = steps(status=700)[1] if base_fails else right
    listed = {BASE: [right, first, right], "candidate": [right, first, {"signal": 11}]}
    runs = [SideRun(label, program(tmp_path / label, plan)) for label, plan in listed.items()]
    rule = dataclasses.replace(RULE, compared=lambda d: d.target and d.status == 0, after_failures=True)
    followed = follow(setting(tmp_path), runs, rule, Checker(calibration))
    assert ("candidate" in followed.divergences) is evidence
    assert ("then it died" in followed.coverage("candidate")) is not evidence


def test_a_launch_that_fails_is_not_a_fast_one(tmp_path):
    assert judged(tmp_path, steps(), steps(status=701))[0].outcome is Outcome.CRASHED
    assert judged(tmp_path, steps(), steps(status=700))[0].outcome is Outcome.MEMORY_ERROR


def test_a_candidate_that_lies_about_its_memory_cannot_make_us_read_elsewhere(tmp_path):
    lie = {"allocations": [{"id": 1, "base": 4096, "size": 4000, "kind": "device", "sequence": 1, "name": None}]}
    lie["arguments"] = []
    divergence, _ = judged(tmp_path, steps(), steps(lie=lie))
    assert divergence is not None
    assert divergence.outcome in (Outcome.DISPATCHES_CHANGED, Outcome.WRONG_OUTPUT, Outcome.CRASHED)


def test_a_missing_buffer_is_not_overlooked(tmp_path):
    lie = {"allocations": [], "arguments": []}
    runs = steps(), steps(lie=lie)
    divergence, _ = judged(tmp_path, runs[0], runs[1], free_arguments=True)
    assert divergence is not None
    assert "is not there" in divergence.detail


def test_noise_of_the_reference_becomes_a_tolerance_that_still_rejects_trivial_answers(tmp_path):
    noisy = steps(noise={"out": 1e-6})
    found = learnt(tmp_path, noisy)
    (allowance,) = found.allowances.values()
    assert allowance.steadiness is Steadiness.NUMERIC
    assert 1e-6 < allowance.rtol < 1e-4

    def with_factor(factor: float):
        return steps(floats={"out": [v * factor for v in VALUES], "input": [1.0] * 25, "state": [0.0] * 4})

    assert judged(tmp_path, noisy, with_factor(1 + 1e-6))[0] is None
    assert judged(tmp_path, noisy, with_factor(1 + 1e-3))[0] is not None
    assert not judged(tmp_path, noisy, noisy)[1].weak


def test_a_bit_exact_reference_allows_nothing_unless_the_user_does(tmp_path):
    near = steps(floats={"out": [v * (1 + 1e-5) for v in VALUES], "input": [1.0] * 25, "state": [0.0] * 4})
    divergence, _ = judged(tmp_path, steps(), near)
    assert divergence is not None
    assert "--rtol" in divergence.detail
    divergence, checker = judged(tmp_path, steps(), near, tolerance=UserTolerance(rtol=1e-4))
    assert divergence is None
    assert "given" in checker.checks()[0].detail


def test_a_tolerance_that_would_accept_rounding_is_called_weak(tmp_path):
    checker = judged(tmp_path, steps(), steps(), tolerance=UserTolerance(rtol=0.05))[1]
    assert "bf16 rounding" in checker.checks()[0].detail
    assert "out" in checker.checks()[0].detail


def test_elements_in_varying_order_are_compared_as_a_multiset(tmp_path):
    buffers = {"found": {"bytes": 400, "typed": False}}
    shuffled = [{"dispatch": SYMBOL, "shuffled": {"found": list(range(100))}}]
    other = [{"dispatch": SYMBOL, "shuffled": {"found": [*range(99), 7]}}]
    reverse = [{"dispatch": SYMBOL, "shuffled": {"found": list(range(100))[::-1]}}]
    assert judged(tmp_path, shuffled, reverse, buffers=buffers)[0] is None
    assert judged(tmp_path, shuffled, other, buffers=buffers)[0] is not None


def test_bytes_that_the_reference_never_writes_are_left_out_and_counted(tmp_path):
    partial = steps(floats={"out": VALUES[:-1], "input": [1.0] * 25, "state": [0.0] * 4})
    divergence, checker = judged(tmp_path, partial, steps())
    assert divergence is None
    assert checker.undefined_bytes == 8
    assert "undefined" in " ".join(check.name for check in checker.checks())
    assert judged(tmp_path, steps(), partial)[0] is not None


def test_a_reference_without_the_kernel_or_that_fails_is_the_applications_fault(tmp_path):
    with pytest.raises(ApplicationFailed, match="SIGSEGV"):
        learnt(tmp_path, [*steps()[:2], {"signal": 11}])
    with pytest.raises(ApplicationFailed, match="not dispatched"):
        learnt(tmp_path, [{"dispatch": "_Z4next"}])


def test_split_kernels_are_compared_before_the_next_common_dispatch_or_transfer(tmp_path):
    buffers = {"out": {"bytes": 400}, "scratch": {"bytes": 400, "later": True}}
    done = {"out": [3.0] * 100}
    reference = [
        {"dispatch": SYMBOL, "floats": done, "buffers": ["out"]},
        {"transfer": "memcpy_dtoh", "bytes": 400},
        {"dispatch": "_Z4next", "buffers": ["out"]},
        {"dispatch": SYMBOL, "floats": done, "buffers": ["out"]},
    ]
    first = {"dispatch": "_Z5parts", "floats": {"scratch": [1.0] * 100}, "buffers": ["out", "scratch"]}
    second = {"dispatch": "_Z6finish", "floats": done, "buffers": ["out", "scratch"]}
    candidate = [{"allocate": "scratch"}, first, second, *reference[1:3], first, second]
    runs = [
        SideRun(BASE, program(tmp_path / "reference", reference, **buffers), Interception(kernels=("*",))),
        SideRun("candidate", program(tmp_path / "candidate", candidate, **buffers), Interception(kernels=("*",))),
    ]
    calibration = learnt(tmp_path, reference, "*", **buffers)
    plan = align(calibration.events, record(setting(tmp_path), runs[1])[0], SYMBOL)
    assert (plan.problem, plan.points) == ("", ((0, 1), (2, 4)))
    checker = Checker(calibration, free_arguments=True)
    followed = follow_planned(setting(tmp_path), (runs[0], runs[1]), plan.points, checker)
    assert followed.divergences == {}
    assert (followed.syncs, checker.compared_bytes, len(checker.extra)) == (2, 800, 1)

    spoilt = [*candidate[:-1], {**second, "floats": {"out": [3.0] * 99 + [4.0]}}]
    runs[1] = dataclasses.replace(runs[1], application=program(tmp_path / "spoilt", spoilt, **buffers))
    followed = follow_planned(setting(tmp_path), (runs[0], runs[1]), plan.points, checker)
    assert followed.divergences["candidate"].outcome is Outcome.WRONG_OUTPUT
    missing = align(calibration.events, calibration.events[:2], SYMBOL)
    assert "missing" in missing.problem


def test_lock_step_works_inside_the_sandbox(tmp_path):
    (tmp_path / "logs").mkdir()
    sandbox = Sandbox.probe(tmp_path / "probe")
    confined = dataclasses.replace(setting(tmp_path), sandbox=sandbox)
    calibration = calibrate(confined, program(tmp_path / "reference", steps()), SYMBOL, RULE)
    assert calibration.ended.ok


def test_a_script_that_starts_several_programs_is_one_run(tmp_path):
    def script(directory: Path, *plans: list[dict[str, Any]]):
        parts = [program(directory / str(n), plan) for n, plan in enumerate(plans)]
        command = " && ".join(" ".join(part.command) for part in parts)
        return dataclasses.replace(parts[0], command=("/bin/sh", "-c", command))

    reference = script(tmp_path / "reference", steps(), steps())
    calibration = calibrate(setting(tmp_path), reference, SYMBOL, RULE)
    wrong = steps(floats={"out": [*VALUES[:-1], 7.0], "input": [1.0] * 25, "state": [0.0] * 4})
    for second, outcome in ((steps(), None), (wrong, Outcome.WRONG_OUTPUT), ([], Outcome.DISPATCHES_CHANGED)):
        checker = Checker(calibration)
        runs = [SideRun(BASE, reference), SideRun("candidate", script(tmp_path / "candidate", steps(), second))]
        divergence = follow(setting(tmp_path), runs, RULE, checker).divergences.get("candidate")
        assert (divergence.outcome if divergence else None) is outcome


def test_atomic_additions_widen_only_what_they_may_have_written_where_no_order_can_be_chosen(tmp_path):
    buffers = {**BUFFERS, "input": {"bytes": 100, "const": True}}
    reference = program(tmp_path / "reference", steps(), **buffers)

    def outcome(count: float, assumed: bool, **floats: list[float]) -> tuple[Outcome | None, Checker]:
        additions = Additions(count, assumed)
        checker = Checker(calibrate(setting(tmp_path), reference, SYMBOL, RULE, additions=additions))
        changed = {"out": VALUES, "input": [1.0] * 25, "state": [0.0] * 4, **floats}
        runs = [
            SideRun(BASE, reference),
            SideRun("candidate", program(tmp_path / "candidate", steps(floats=changed), **buffers)),
        ]
        divergence = follow(setting(tmp_path), runs, RULE, checker).divergences.get("candidate")
        return (divergence.outcome if divergence else None), checker

    # 1000 elements: a million operations are a thousand for each, eight roundings of 2^-24 times their root.
    allowed = 8 * 2.0**-24 * 1000**0.5
    near, far = ([value * (1 + factor * allowed) for value in VALUES] for factor in (0.9, 1.2))
    accepted, checker = outcome(1e6, True, out=near)
    assert accepted is None
    (rule,) = (text for name, text in checker.allowances.items() if "out" in name)
    assert "number of its atomic operations" in rule
    assert outcome(1e6, True, out=far)[0] is Outcome.WRONG_OUTPUT
    assert outcome(1e6, False, out=near)[0] is Outcome.WRONG_OUTPUT
    assert outcome(1e6, True, input=[1.0 + 2.0**-22] * 25)[0] is Outcome.WRONG_OUTPUT, "inputs must not change at all"


def test_atomic_additions_of_floats_get_more_orders_before_they_are_called_exact(tmp_path):
    lucky = program(tmp_path / "reference", steps(noise={"out": 1e-6}, noisy_orders=["random:2", "random:5"]))
    for of_floats in (False, True):
        additions = Additions(1000.0, of_floats=of_floats)
        found = calibrate(setting(tmp_path), lucky, SYMBOL, RULE, additions=additions)
        assert [a.steadiness for a in found.allowances.values()] == [Steadiness.NUMERIC] * of_floats


def test_a_bounded_run_is_left_when_its_effort_is_spent_and_an_unbounded_one_is_not(tmp_path):
    launch = steps()[1]
    calibration = learnt(tmp_path, [launch])
    wrong = {**launch, "floats": {**launch["floats"], "out": [*VALUES[:-1], 7.0]}}
    runs = [SideRun(BASE, program(tmp_path / "reference", [launch] * 9))]
    runs += [SideRun(name, program(tmp_path / name, [*[launch] * 5, *[wrong] * 4])) for name in ("sampled", "whole")]
    at_once = Effort(least_syncs=3, seconds=0.0)
    checker = Checker(calibration)
    followed = follow(setting(tmp_path), runs, dataclasses.replace(RULE, bounded=("sampled",), effort=at_once), checker)
    assert dict(followed.left) == {"sampled": 3}
    assert "first 3 compared launches" in followed.coverage("sampled") and followed.coverage("whole") == ""
    assert followed.divergences["whole"].detail.startswith(f"dispatch 5 of {SYMBOL}")
    assert "sampled" not in followed.divergences and "sampled" not in followed.ended
    patient = dataclasses.replace(RULE, bounded=("sampled", "whole"), effort=Effort(least_syncs=3, seconds=60.0))
    assert set(follow(setting(tmp_path), runs, patient, checker).divergences) == {"sampled", "whole"}


def test_nobody_waits_for_a_run_that_serves_only_one_that_has_diverged(tmp_path):
    launch = steps()[1]
    wrong = {**launch, "floats": {**launch["floats"], "out": [*VALUES[:-1], 7.0]}}
    checker = Checker(learnt(tmp_path, [launch]))
    runs = [SideRun(name, program(tmp_path / name, [launch] * 6)) for name in (BASE, "twin")]
    runs.append(SideRun("candidate", program(tmp_path / "candidate", [launch, *[wrong] * 5])))
    followed = follow(setting(tmp_path), runs, dataclasses.replace(RULE, beside=("twin",)), checker)
    assert (followed.divergences["candidate"].sync, followed.syncs) == (1, 2)
    assert not followed.ended
    assert follow(setting(tmp_path), runs, RULE, checker).syncs == 6
    right = dataclasses.replace(runs[2], application=runs[1].application)
    followed = follow(setting(tmp_path), [*runs[:2], right], dataclasses.replace(RULE, beside=("twin",)), checker)
    assert followed.syncs == 6 and set(followed.ended) == {BASE, "twin", "candidate"}


@pytest.mark.parametrize("kept", ["the same", "others"])
def test_what_was_remembered_of_earlier_launches_does_not_hide_a_later_one(tmp_path, kept):
    """The same messages from launch to launch, and other arguments in between."""
    launch, other = steps()[1], {**steps()[1], "scalars": ["02000000"]}
    reference = [launch] * 4 if kept == "the same" else [launch, other, launch, other]
    wrong = {"out": [*VALUES[:-1], 7.0], "input": [1.0] * 25, "state": [0.0] * 4}
    divergence, _ = judged(tmp_path, reference, [*reference[:-1], {**reference[-1], "floats": wrong}])
    assert divergence is not None and divergence.outcome is Outcome.WRONG_OUTPUT
    assert f"dispatch 3 of {SYMBOL}" in divergence.detail
    divergence, _ = judged(tmp_path, reference, [*reference[:-1], {**reference[-1], "scalars": ["03000000"]}])
    assert divergence is not None and divergence.outcome is Outcome.DISPATCHES_CHANGED


@pytest.mark.parametrize(("status", "outcome"), [(0, Outcome.DISPATCHES_CHANGED), (3, Outcome.CRASHED)])
def test_a_program_that_ends_before_any_kernel_ran_none_unless_it_failed(tmp_path, status, outcome):
    calibration = learnt(tmp_path, steps())
    silent = application(tmp_path / "candidate", {**plan_of(), "silent": status})
    runs = [SideRun(BASE, program(tmp_path / "reference", steps())), SideRun("candidate", silent)]
    divergence = follow(setting(tmp_path), runs, RULE, Checker(calibration)).divergences["candidate"]
    assert divergence.outcome is outcome
    assert f"exit status {status} before its first kernel" in divergence.detail
