"""Gates that run launches of a real NVIDIA GPU more than once: other numbers, and graphs kernel by kernel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from readers import reading_of

from intelliperf.cuda.backend import CudaBackend
from intelliperf.cuda.rounding import rounding_environment
from intelliperf.cuda.toolkit import find_toolkit
from intelliperf.processes.process import output_of
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import (
    Application,
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
from intelliperf.validation.trial import Case, Settings

pytestmark = pytest.mark.nvidia

_PROGRAMS = Path(__file__).parent / "programs"
_SOURCE = "__global__ void kernel(float* a) { a[0] = 1; }\n"
_ROOT = "_Z4rootPfPKfPKhif"


class _Backend(CudaBackend):
    """Ends after the gates that this file is about, for those that follow take their time."""

    def strictness(self, application: Application, candidate: Application) -> Check:
        return Check("far enough", CheckStatus.FAILED, "far enough")


def _build(root: Path, name: str, side: str, flags: Sequence[str], way: str = "") -> Application:
    home = root / side
    home.mkdir()
    toolkit = find_toolkit()
    environment = {"NVCC": str(toolkit.nvcc)}
    if way:
        environment = rounding_environment(toolkit, way, "NVCC")
    argv = [environment["NVCC"], "-lineinfo", "-arch=native", *flags, "-o", str(home / name)]
    done, out, err = output_of([*argv, str(_PROGRAMS / f"{name}.cu")], 120, environment)
    assert done.ok, out + err
    return Application((str(home / name),), home, home)


def _judged(root: Path, name: str, symbol: str, *flags: str) -> Verdict:
    """The program built with `flags` against the program built without."""
    reference, candidate = _build(root, name, "reference", ()), _build(root, name, "candidate", flags)
    geometry = (Geometry((1, 1, 1), (128, 1, 1)),)
    profile = KernelProfile(Kernel(symbol, "kernel"), 1, geometry, (1000.0,), Provenance.MEASURED, 1.0)
    edit = FileEdit("app.cu", content_hash(_SOURCE), _SOURCE.replace("a[0]", "*a"))
    judge = Judge(_Backend(root / "device"), UNCONFINED, Settings(run_deadline_s=10.0))
    return judge.judge(
        Case(
            candidate=Candidate((edit,), "", Origin(OriginKind.USER, "test")),
            finding=Finding("memoryAccess", profile, "", 0.5, Metric.SECTORS, 2.0, 1.0, 2.0),
            reference=reference,
            baseline=reference,
            sources={"app.cu": _SOURCE},
            allowed={"app.cu"},
            build=lambda: candidate,
            logs=root / "logs",
            reading=reading_of(root / "sources", {"app.cu": _SOURCE}),
            rounded=lambda way: _build(root, name, way, (), way),
        )
    )


def _check(verdict: Verdict, name: str) -> Check:
    (found,) = (check for check in verdict.checks if check.name == name)
    return found


@pytest.mark.parametrize(
    ("cheat", "told"),
    [
        ("REMEMBERED", "on other numbers"),
        ("KEYED", "some of the numbers are others"),
        ("SIZE_KNOWN", "with another value of a scalar argument"),
    ],
)
def test_an_answer_that_is_known_beforehand_is_refused_by_other_numbers_alone(
    tmp_path: Path, cheat: str, told: str
) -> None:
    verdict = _judged(tmp_path, "keyed", _ROOT, f"-D{cheat}")
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert told in verdict.detail
    assert _check(verdict, "dispatches and buffers").status is CheckStatus.PASSED
    assert _check(verdict, "other orders and poison").status is CheckStatus.WEAK  # no choice of orders on hardware


def test_an_unchanged_program_is_right_on_other_numbers_in_every_form_of_launch(tmp_path: Path) -> None:
    verdict = _judged(tmp_path, "launch_forms", "_Z5scale4ViewPKfi")
    assert verdict.detail == "far enough"
    # Four launches by themselves, and two of each of the graph's two launches.
    assert verdict.compared_dispatches == 8
    found = _check(verdict, "other numbers")
    assert found.status is CheckStatus.PASSED
    assert "numbers scaled" in found.detail


def test_what_a_kernel_of_a_graph_wrote_is_seen_before_the_next_one_overwrites_it(tmp_path: Path) -> None:
    verdict = _judged(tmp_path, "graph", "_Z5stagePfi", "-DLOST")
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert "dispatch 0" in verdict.detail


def test_sums_in_another_order_are_as_right_as_the_original_and_sums_of_less_are_not(tmp_path: Path) -> None:
    symbol = "_Z4sumsPKfPfii"
    (tmp_path / "right").mkdir()
    right = _judged(tmp_path / "right", "ordered", symbol, "-DTREE")
    assert right.detail == "far enough"
    assert any("rounding up and down" in check.detail for check in right.checks), right.checks
    (tmp_path / "wrong").mkdir()
    wrong = _judged(tmp_path / "wrong", "ordered", symbol, "-DFEWER")
    assert wrong.outcome is Outcome.WRONG_OUTPUT, wrong.detail
