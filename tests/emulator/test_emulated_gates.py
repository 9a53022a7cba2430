"""What hardware accepted goes through the emulator's gates as well, which can refuse it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest

from intelliperf.cli.emulated import EmulatedGates
from intelliperf.cli.options import Options
from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.project.builder import Builder
from intelliperf.project.scratch import Workspace
from intelliperf.project.versions import Version
from intelliperf.recordings.contents import ZEROS
from intelliperf.recordings.file import RecordingFile, RecordingWriter
from intelliperf.recordings.image import shapes_of
from intelliperf.recordings.transplant import Space, transplanted
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
from intelliperf.validation.replaygate import Launches
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.recording import Wanted, record_dispatches
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
  float filled[128];
  for (int i = 0; i < 128; ++i) filled[i] = i * 0.5f;
  hipMemcpy(x, filled, 512, hipMemcpyHostToDevice);
  fold<<<1, 128>>>(x, 128);
  if (argv[1][0] == 'l') fold<<<1, 128>>>(x, 128);
  return hipDeviceSynchronize();
}
"""
_BUILD = ("hipcc", "-O1", "-g", "app.hip", "-o", "app")
_KERNEL = Kernel("_Z4foldPfi", "fold(float*, int)")
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


def candidate_of(text: str) -> Candidate:
    return Candidate((FileEdit("app.hip", content_hash(SOURCE), text),), "", Origin(OriginKind.USER, "given"))


def finding_of(kernel: Kernel) -> Finding:
    profile = KernelProfile(kernel, 1, (Geometry((1, 1, 1), (64, 1, 1)),), (2000.0,), Provenance.MEASURED, 1.0)
    return Finding("verify", profile, "", 0.0, Metric.DEVICE_TIME_NS, 2000.0, 0.0, 1.0)


def joined(project: Path, text: str, **options: str) -> Verdict:
    application = Application(("./app",), project, project, (_BUILD,))
    root = Path(mkdtemp(dir=project.parent))
    gates = EmulatedGates(
        Options(("./app",), **options), UNCONFINED, Settings(60.0, 5.0), (root, root / "work"), "gfx90a"
    )
    finding = finding_of(Kernel("_Z4foldPfi.kd", "fold(float*, int)"))
    return gates.joined(
        on_hardware(), candidate_of(text), finding, Version(Workspace.create(application, root / "version"), (), {})
    )


@pytest.fixture(scope="module")
def recording(project: Path) -> Path:
    """Two launches, recorded at addresses that the emulator does not have."""
    root = project.parent / "recorded"
    application = Application(("./app", "long"), project, project, (_BUILD,))
    backend = EmulatorBackend(root / "device", "mi210")
    version, built = Builder(application, backend, 60.0, lambda: None).build(root / "made", (), root / "logs")
    assert built.ok
    setting = Setting(backend, _KERNEL, UNCONFINED, root / "logs", 60.0)
    here, there = root / "here.recording", root / "there.recording"
    assert not record_dispatches(setting, version.application, [Wanted(_KERNEL, 2, here)], 1 << 30).failed
    with RecordingFile(here) as source, RecordingWriter(there, 1 << 30) as writer:
        moved = transplanted(source, Space(0x7E1200000000, 4096, 256, 4096), (0, 1))
        for digest in {d for one in moved.dispatches for b in one.buffers for d in (*b.before, *b.after) if d}:
            writer.keep(source.chunk(digest))
        writer.finish(replace(moved, code=()))
    return there


def elsewhere(project: Path, recording: Path, text: str, name: str) -> Verdict:
    """`text` judged on what was recorded."""
    root = project.parent / name
    application = Application(("./app", "long"), project, project, (_BUILD,))
    with RecordingFile(recording) as source:
        launches = Launches(recording, shapes_of(source.recording))
    gates = EmulatedGates(Options(("./app",)), UNCONFINED, Settings(60.0, 5.0), (root, root / "work"), "gfx90a")
    original = Version(Workspace.create(application, root / "version"), (), {})
    return gates.on_recordings(on_hardware(), candidate_of(text), finding_of(_KERNEL), original, launches)


def test_recorded_dispatches_of_a_gpu_are_judged_without_the_application(project: Path, recording: Path) -> None:
    verdict = elsewhere(project, recording, RIGHT, "right")
    assert verdict.accepted, verdict.checks
    checks = {check.name: check for check in verdict.checks}
    told = checks["emulator: recorded dispatches"]
    assert told.status is CheckStatus.PASSED
    assert told.detail.startswith("the first of each shape of all 2 dispatches, with the data of the GPU's run")
    assert "1 changed buffer bit by bit" in told.detail
    for gate in ("dispatches and buffers", "other orders and poison", "other numbers", "races"):
        assert checks[f"emulator: {gate}"].status is CheckStatus.PASSED, gate
    assert "emulator: exit status and output" not in checks, "no host code ran"


@pytest.mark.slow
def test_a_race_in_recorded_dispatches_is_refused(project: Path, recording: Path) -> None:
    verdict = elsewhere(project, recording, RACY, "racy")
    assert verdict.outcome in (Outcome.RACE, Outcome.WRONG_OUTPUT)
    assert verdict.detail.startswith("on the emulator: ")


def test_recorded_dispatches_that_the_original_does_not_repeat_prove_nothing(project: Path, recording: Path) -> None:
    other = recording.with_name("other.recording")
    with RecordingFile(recording) as source, RecordingWriter(other, 1 << 30) as writer:
        first, *rest = source.recording.dispatches
        for buffer in first.buffers:
            writer.keep(source.content(buffer.before, buffer.size))
        zeroed = tuple(replace(one, after=(ZEROS,)) for one in first.buffers)
        writer.finish(replace(source.recording, dispatches=(replace(first, buffers=zeroed), *rest)))
    verdict = elsewhere(project, other, RIGHT, "otherwise")
    assert verdict.accepted, "hardware's own verdict stands"
    (left,) = [check for check in verdict.checks if check.name.startswith("emulator")]
    assert left.status is CheckStatus.NOT_RUN
    assert "leaves other numbers than were recorded in x" in left.detail


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
