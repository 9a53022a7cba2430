"""What hardware accepted goes through the emulator's gates as well, which can refuse it."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.cli.emulated import EmulatedGates
from intelliperf.cli.options import Options
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.project.scratch import Workspace
from intelliperf.project.versions import Version
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
    Measurement,
    Metric,
    Origin,
    OriginKind,
    Outcome,
    Provenance,
    Scope,
    Strength,
    Verdict,
    content_hash,
)
from intelliperf.validation.trial import Settings

SOURCE = """#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>
__global__ void fold(float* x, int n) {
  __shared__ float s[128];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) x[threadIdx.x] = s[127 - threadIdx.x];
}
int main(int argc, char** argv) {
  if (argc < 2) return 7;
  float* x;
  hipMalloc((void**)&x, 512);
  hipMemset(x, 0, 512);
  fold<<<1, 128>>>(x, 128);
  return hipDeviceSynchronize();
}
"""
RACY = SOURCE.replace("  __syncthreads();\n", "")
RIGHT = SOURCE.replace("s[127 - threadIdx.x]", "s[127u - threadIdx.x]")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("gpu") / "project"
    project.mkdir()
    (project / "app.hip").write_text(SOURCE)
    return project


def on_hardware() -> Verdict:
    gain = Measurement(Scope.KERNEL, 2000.0, 1000.0, 2.0, 1.9, 2.1, Provenance.MEASURED, 9)
    checks = (Check("races", CheckStatus.NOT_RUN, "no tool"), Check("buffers", CheckStatus.PASSED, device="MI210"))
    proof = "bit equal in all 256 bytes"
    return Verdict(Outcome.ACCEPTED, "", checks, (gain,), 256, 1, strength=Strength.BIT_EQUAL, proof=proof)


def joined(project: Path, text: str, **options: str) -> Verdict:
    build = ("hipcc", "-O1", "-g", "app.hip", "-o", "app")
    application = Application(("./app",), project, project, (build,))
    root = project.parent / ("without" if not options else "with")
    gates = EmulatedGates(Options(("./app",), **options), UNCONFINED, Settings(60.0, 5.0), root, "gfx90a")
    symbol = Kernel("_Z4foldPfi.kd", "fold(float*, int)")
    profile = KernelProfile(symbol, 1, (Geometry((1, 1, 1), (64, 1, 1)),), (2000.0,), Provenance.MEASURED, 1.0)
    finding = Finding("verify", profile, "", 0.0, Metric.DEVICE_TIME_NS, 2000.0, 0.0, 1.0)
    candidate = Candidate((FileEdit("app.hip", content_hash(SOURCE), text),), "", Origin(OriginKind.USER, "given"))
    return gates.joined(on_hardware(), candidate, finding, Version(Workspace(application, root), (), {}))


def test_gates_that_hardware_lacks_run_on_the_emulator_by_the_smaller_command(project: Path) -> None:
    verdict = joined(project, RIGHT, judge_run="./app small")
    assert verdict.accepted, verdict.checks
    races = next(check for check in verdict.checks if check.name == "emulator: races")
    assert (races.status, races.device) == (CheckStatus.PASSED, "the emulator, as MI210")
    assert "; on the emulator: bit equal in all" in verdict.proof
    assert not any("races" in item for item in verdict.left_open), "the emulator has looked for them"


def test_a_race_that_hardware_did_not_show_is_refused(project: Path) -> None:
    verdict = joined(project, RACY, judge_run="./app small")
    assert verdict.outcome in (Outcome.RACE, Outcome.WRONG_OUTPUT)
    assert verdict.detail.startswith("on the emulator: ")
    assert verdict.strength is None


def test_where_the_emulator_cannot_run_the_command_that_is_said(project: Path) -> None:
    verdict = joined(project, RIGHT)
    assert verdict.accepted
    (left,) = [check for check in verdict.checks if check.name.startswith("emulator")]
    assert left.status is CheckStatus.NOT_RUN
    assert "exit status 7" in left.detail and "--judge-run" in left.detail
    assert left.device == "", "nothing ran anywhere"
