"""The whole command on whole programs: found, rewritten, judged, reported, applied, and run again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from intelliperf.dropins.toolchain import tool_environment
from intelliperf.processes.process import output_of

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RUNS = shutil.ignore_patterns(".intelliperf")  # what somebody tried in the examples themselves
DEADLINE_S = 240.0
# Its index comes from memory, so that no rule can order the accesses.
GATHER = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
__global__ void gather(float* out, const float* in, const int* from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[from[i]];
}
int main() {
  const int n = 1 << 18;
  std::vector<float> values(n);
  std::vector<int> from(n);
  for (int i = 0; i < n; ++i) { values[i] = i; from[i] = int(i * 7919ll % n); }
  float *in, *out; int* map;
  hipMalloc(&in, n * 4); hipMalloc(&out, n * 4); hipMalloc(&map, n * 4);
  hipMemcpy(in, values.data(), n * 4, hipMemcpyHostToDevice);
  hipMemcpy(map, from.data(), n * 4, hipMemcpyHostToDevice);
  gather<<<n / 256, 256>>>(out, in, map, n);
  hipMemcpy(values.data(), out, n * 4, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) if (values[i] != from[i]) { puts("FAIL"); return 1; }
  puts("PASS");
}
"""


@dataclass(frozen=True)
class Ended:
    """One finished command."""

    status: int
    out: str
    err: str


def intelliperf(project: Path, *arguments: str) -> Ended:
    """The command line as a user's shell runs it, without keys."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, "-m", "intelliperf", *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def built_and_run(project: Path, compiler: str, *arguments: str) -> str:
    """What the program prints that `make` with our drop-in compiler gives."""
    nvcc = f"NVCC={sys.executable} -m intelliperf.emulator.driver {compiler}"
    built, _, errors = output_of(["make", "-B", nvcc, "app-cuda"], DEADLINE_S, tool_environment(), project)
    assert built.ok, errors
    ran, printed, errors = output_of([str(project / "app-cuda"), *arguments], DEADLINE_S, {}, project)
    assert ran.ok, errors
    return printed


@pytest.fixture(scope="module")
def improved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Ended]:
    """The contended reduction after a run: project, copy of its report, and what the run printed."""
    project = tmp_path_factory.mktemp("main") / "reduction"
    shutil.copytree(EXAMPLES / "reduction", project, ignore=RUNS)
    report = project.parent / "copy.json"
    ended = intelliperf(
        project,
        "-f",
        "atomicContention",
        "-b",
        "make app-cuda",
        "-o",
        str(report),
        "--json",
        "--",
        "./app-cuda",
        "100000",
    )
    return project, report, ended


def test_a_contended_reduction_ends_with_an_accepted_patch(improved: tuple[Path, Path, Ended]) -> None:
    project, copy, ended = improved
    assert ended.status == 0, ended.out + ended.err
    (run,) = project.glob(".intelliperf/runs/*")
    report = json.loads((run / "report.json").read_text())
    assert json.loads(copy.read_text()) == report
    outcomes = [attempt["verdict"]["outcome"] for attempt in report["attempts"] if attempt["verdict"]]
    assert outcomes[0] == "ACCEPTED"
    counted = [[line["access"] for line in report[name]] for name in ("lines_before", "lines_after")]
    assert "reduction" in counted[0] and "barrier" not in counted[0] and "barrier" in counted[1], "by line, both states"
    assert (project / "signal_energy.hip").read_bytes() == (EXAMPLES / "reduction/signal_energy.hip").read_bytes()


def test_events_are_one_json_object_per_line(improved: tuple[Path, Path, Ended]) -> None:
    events = [json.loads(line) for line in improved[2].out.splitlines()]
    assert len(events) > 5
    assert all(isinstance(event, dict) for event in events)


def test_the_summary_can_be_printed_later(improved: tuple[Path, Path, Ended]) -> None:
    shown = intelliperf(improved[0], "report")
    assert shown.status == 0, shown.err
    assert "signal_energy.hip" in shown.out and "modelled" in shown.out


def test_git_takes_the_patch_and_the_patched_program_runs(improved: tuple[Path, Path, Ended], tmp_path: Path) -> None:
    (run,) = improved[0].glob(".intelliperf/runs/*")
    project = tmp_path / "patched"
    shutil.copytree(EXAMPLES / "reduction", project, ignore=RUNS)
    subprocess.run(["git", "apply", str(run / "patch.diff")], cwd=project, check=True, timeout=30)
    changed = (project / "signal_energy.hip").read_text()
    assert changed != (EXAMPLES / "reduction/signal_energy.hip").read_text()

    assert "PASS" in built_and_run(project, "nvcc", "70001")
    assert "FAIL" not in built_and_run(project, "nvcc", "77")


def test_an_accepted_patch_can_be_applied_later(improved: tuple[Path, Path, Ended]) -> None:
    project = improved[0]
    source = project / "signal_energy.hip"
    original = source.read_text()
    source.chmod(0o640)
    try:
        applied = intelliperf(project, "apply")
        assert applied.status == 0, applied.out + applied.err
        assert source.read_text() != original
        assert source.stat().st_mode & 0o777 == 0o640
        again = intelliperf(project, "apply")
        assert again.status == 0 and "nothing to do" in again.out
    finally:
        source.write_text(original)


@pytest.mark.slow
def test_a_healthy_program_has_nothing_to_improve(tmp_path: Path) -> None:
    project = tmp_path / "triad"
    shutil.copytree(EXAMPLES / "triad", project, ignore=RUNS)
    ended = intelliperf(project, "-f", "memoryAccess", "-b", "make", "--", "./triad", "200000")
    assert ended.status == 0, ended.out + ended.err
    assert "nothing to improve" in (ended.out + ended.err).lower()
    assert not list(project.glob(".intelliperf/runs/*/patch.diff"))


@pytest.mark.slow
def test_a_bottleneck_that_no_rule_can_cure_ends_with_its_own_status(tmp_path: Path) -> None:
    (tmp_path / "app.hip").write_text(GATHER)
    ended = intelliperf(
        tmp_path, "-f", "memoryAccess", "-b", "hipcc -O3 app.hip -o app", "-o", "out.json", "--", "./app"
    )
    assert ended.status == 3, ended.out + ended.err
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["attempts"] and all(attempt["declined"] for attempt in report["attempts"])
    assert "app.hip:7" in ended.out + ended.err
