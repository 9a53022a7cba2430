"""Lock-step of CUDA programs through the injected library, on a driver that needs no GPU."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import cudaprograms
import numpy as np
import pytest
from readers import reading_of

from intelliperf.cuda import activity, native, refetching
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.recordings.file import RecordingFile
from intelliperf.records import (
    Candidate,
    Check,
    CheckStatus,
    FileEdit,
    Finding,
    Geometry,
    Kernel,
    KernelProfile,
    Metric,
    Origin,
    OriginKind,
    Outcome,
    Provenance,
    Verdict,
    content_hash,
)
from intelliperf.validation.judge import Judge
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.recording import Wanted, record_dispatches
from intelliperf.validation.trial import Case, Settings

SOURCE = "__global__ void kernel(float* a) { a[0] = 1; }\n"
ROOT = "_Z4rootPfPKfS1_PKhif"
STAGE = "_Z5stagePfi"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cudaprograms.build(tmp_path_factory.mktemp("standin"))


def judged(program: Path, root: Path, scenario: str, version: str, symbol: str = ROOT) -> Verdict:
    kernel = Kernel(symbol, "kernel")
    reference = cudaprograms.application(program, root, scenario, "right")
    profile = KernelProfile(kernel, 1, (Geometry((1, 1, 1), (64, 1, 1)),), (1000.0,), Provenance.MEASURED, 1.0)
    edit = FileEdit("app.cu", content_hash(SOURCE), SOURCE.replace("a[0]", "*a"))
    judge = Judge(cudaprograms.StandInBackend(), UNCONFINED, Settings(run_deadline_s=30.0))  # type: ignore[arg-type]
    return judge.judge(
        Case(
            candidate=Candidate((edit,), "", Origin(OriginKind.USER, "test")),
            finding=Finding("memoryAccess", profile, "", 0.5, Metric.SECTORS, 2.0, 1.0, 2.0),
            reference=reference,
            baseline=reference,
            sources={"app.cu": SOURCE},
            allowed={"app.cu"},
            build=lambda: cudaprograms.application(program, root, scenario, version),
            logs=root / "logs",
            reading=reading_of(root / "sources", {"app.cu": SOURCE}),
        )
    )


def check(verdict: Verdict, name: str) -> Check:
    (found,) = (one for one in verdict.checks if one.name == name)
    return found


@pytest.mark.slow
def test_a_right_rewrite_is_right_on_other_numbers_too(program, tmp_path):
    verdict = judged(program, tmp_path, "roots", "as right")
    assert verdict.outcome is Outcome.ACCEPTED, verdict.detail
    assert verdict.compared_dispatches == 3
    found = check(verdict, "other numbers")
    assert found.status is CheckStatus.PASSED
    assert "numbers scaled" in found.detail and "scalar arguments" in found.detail
    assert "not deterministic" not in found.detail and "does not run" not in found.detail


CHEATS = {
    "remembered": "on other numbers",
    "input known": "on other numbers",
    "keyed": "some of the numbers are others",
    "size known": "with another value of a scalar argument",
    "factor known": "with another value of a scalar argument",
}


@pytest.mark.parametrize("version", CHEATS)
def test_an_answer_that_is_known_beforehand_is_refused_by_this_gate_alone(program, tmp_path, version):
    verdict = judged(program, tmp_path, "roots", version)
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert CHEATS[version] in verdict.detail
    assert check(verdict, "dispatches and buffers").status is CheckStatus.PASSED
    assert check(verdict, "other orders and poison").status is CheckStatus.WEAK  # no choice of orders on hardware


def test_launches_of_a_capturing_stream_are_left_alone(program, tmp_path):
    verdict = judged(program, tmp_path, "captured", "as right")
    assert verdict.outcome is Outcome.ACCEPTED, verdict.detail
    assert verdict.compared_dispatches == 2


def test_nothing_is_called_right_on_other_numbers_where_none_can_be_altered(program, tmp_path):
    verdict = judged(program, tmp_path, "unnamed", "as right", "plain_name")
    found = check(verdict, "other numbers")
    assert found.status is CheckStatus.NOT_RUN
    assert "no launch has anything that could be altered" in found.detail


def test_the_kernels_of_a_graph_are_compared_one_by_one(program, tmp_path):
    verdict = judged(program, tmp_path, "graph", "as right", STAGE)
    assert verdict.outcome is Outcome.ACCEPTED, verdict.detail
    assert verdict.compared_dispatches == 4
    verdict = judged(program, tmp_path, "graph", "lost", STAGE)
    assert verdict.outcome is Outcome.WRONG_OUTPUT
    assert "dispatch 0" in verdict.detail


@pytest.mark.parametrize("scenario", ["graph with host work", "graph changed"])
def test_a_graph_that_does_more_or_was_changed_is_compared_at_its_end(program, tmp_path, scenario):
    verdict = judged(program, tmp_path, scenario, "lost", STAGE)
    assert verdict.outcome is Outcome.ACCEPTED, verdict.detail
    assert verdict.compared_dispatches == 2


def traced(program: Path, root: Path, scenario: str, flush: native.Flush | None) -> activity.Activity:
    variables = native.trace_variables(root / "records", flush)
    subprocess.run([str(program), scenario, "right"], check=True, env={**os.environ, **variables}, capture_output=True)
    return activity.read(root.glob("records.*"), flush.name if flush else "")


def test_the_l2_is_emptied_before_each_launch_of_the_timed_kernel_and_nobody_counts_that(program, tmp_path):
    flush = native.Flush.of(ROOT)
    seen = traced(program, tmp_path, "captured", flush)  # the second of three launches is captured, and does not run
    assert [(kernel.symbol, kernel.after_flush) for kernel in seen.kernels] == [(ROOT, True)] * 2
    assert seen.total_ns == 200  # the stand-in's kernels take 100 ns each
    every = activity.read(tmp_path.glob("records.*"))
    assert [kernel.symbol for kernel in every.kernels] == [flush.name, ROOT] * 2


def test_kernels_of_a_graph_and_other_kernels_are_not_flushed(program, tmp_path):
    seen = traced(program, tmp_path, "graph", native.Flush.of(STAGE))
    assert [kernel.after_flush for kernel in seen.kernels] == [False] * 6
    (tmp_path / "other").mkdir()
    seen = traced(program, tmp_path / "other", "roots", native.Flush.of(STAGE))
    assert [kernel.after_flush for kernel in seen.kernels] == [False] * 3
    (tmp_path / "none").mkdir()
    assert len(traced(program, tmp_path / "none", "roots", None).kernels) == 3


def test_what_the_kernel_can_reach_is_asked_of_a_run_of_its_own(program, tmp_path):
    backend = cudaprograms.StandInBackend()
    built = cudaprograms.application(program, tmp_path, "roots", "right")
    found, why = refetching.reached(backend, built, Kernel(ROOT, "root"), 30.0, tmp_path / "logs")  # type: ignore[arg-type]
    exact = 8000 * 4 * 2 + 12 + 8000
    assert (why, found is not None and exact <= found <= exact + 4 * 256) == ("", True)
    found, why = refetching.reached(backend, built, Kernel("_Z4nonev", "none"), 30.0, tmp_path / "logs")  # type: ignore[arg-type]
    assert (found, why) == (None, "it is not launched in a run of its own")


def test_launches_are_recorded_with_what_they_find_and_what_they_leave(program, tmp_path):
    kernel, path = Kernel(ROOT, "root"), tmp_path / "one.recording"
    setting = Setting(cudaprograms.StandInBackend(), kernel, UNCONFINED, tmp_path / "logs", 30.0)
    wanted = [Wanted(kernel, 3, path)]
    made = record_dispatches(setting, cudaprograms.application(program, tmp_path, "roots", "right"), wanted, 1 << 24)
    assert (made.failed, made.ended.ok) == ({}, True)
    with RecordingFile(path) as read:
        recording = read.recording
        assert (recording.launched, [dispatch.nth for dispatch in recording.dispatches]) == (3, [0, 1, 2])
        first, second, _ = recording.dispatches
        out, given, *_ = first.buffers
        assert [int.from_bytes(bytes.fromhex(word), "little") for word in first.arguments[:2]] == [
            out.address,
            given.address,
        ]
        assert out.before != out.after == second.buffers[0].before
        assert set(read.content(out.before, out.size)) == {0}
        found = np.frombuffer(read.content(given.before, given.size), np.float32)
        assert np.array_equal(found, 0.25 * (np.arange(8000) % 777).astype(np.float32))
        assert given.before == given.after
