"""Candidates judged on recorded dispatches of the emulator, without a run of the application."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import patchbench
import pytest

from intelliperf.cli.options import ReplayOptions
from intelliperf.cli.replay import replay_run
from intelliperf.errors import NotReplayable, ProtocolError
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.recordings.file import RecordingFile, RecordingWriter
from intelliperf.records import (
    Application,
    Candidate,
    CheckStatus,
    Declaration,
    FileEdit,
    Origin,
    OriginKind,
    Outcome,
    Verdict,
    content_hash,
)
from intelliperf.validation.edits.gate import StaticVerdict
from intelliperf.validation.edits.hostcode import Needs
from intelliperf.validation.judge import Judge
from intelliperf.validation.replaygate import NAME, Recorder, ReplayGate, program_name
from intelliperf.validation.trial import Case, Settings, Trial

# A linked list through device memory, a constant, a device variable and an output that each launch adds to. Two shapes.
_SOURCE = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
struct Node { Node* next; float value; };
__constant__ float bias[4];
__device__ float table[64];
__global__ void rows(const float* in, const Node* list, float* out, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = bias[step & 3];
  for (const Node* at = list; at; at = at->next) sum += at->value;
  for (int k = 0; k < 64; ++k) sum += in[i * 64 + k] * table[k];
  out[i] += sum;
}
int main() {
  FILE* runs = fopen("runs", "a");
  if (runs) { fputs("x", runs); fclose(runs); }
  const int n = 1024;
  std::vector<float> h(n * 64);
  for (size_t i = 0; i < h.size(); ++i) h[i] = (i % 17) * 0.25f;
  float b[4] = {1, 2, 3, 4}, t[64];
  for (int i = 0; i < 64; ++i) t[i] = i;
  float *in, *out;
  Node* list;
  hipMalloc(&in, h.size() * 4);
  hipMalloc(&list, 3 * sizeof(Node));
  hipMalloc(&out, n * 4);
  Node nodes[3] = {{list + 1, 1}, {list + 2, 2}, {nullptr, 3}};
  hipMemcpy(list, nodes, sizeof nodes, hipMemcpyHostToDevice);
  hipMemcpy(in, h.data(), h.size() * 4, hipMemcpyHostToDevice);
  hipMemset(out, 0, n * 4);
  hipMemcpyToSymbol(HIP_SYMBOL(bias), b, sizeof b);
  hipMemcpyToSymbol(HIP_SYMBOL(table), t, sizeof t);
  for (int s = 0; s < 9; ++s) rows<<<n / 256, 256>>>(in, list, out, s);
  rows<<<n / 512, 512>>>(in, list, out, 9);
  hipMemcpy(h.data(), out, n * 4, hipMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += h[i];
  printf("%f\n", sum);
}
"""
_FASTER = (
    "sum += in[i * 64 + k] * table[k];",
    "sum += in[blockIdx.x * blockDim.x * 64 + k * blockDim.x + threadIdx.x] * table[k];",
)


_CANDIDATE = Candidate((FileEdit("app.hip", content_hash(""), "// another\n"),), "", Origin(OriginKind.USER, "planted"))


class Recorded(patchbench.Bench):
    """Its judge replays whatever the application's time."""

    def __init__(self, root: Path, source: str = _SOURCE) -> None:
        super().__init__(root, source, "app.hip")
        self.recorder = Recorder(root / "recordings", root / "images", 1 << 26, least_seconds=0.0)
        self.judge = Judge(self.backend, UNCONFINED, Settings(60.0, 5.0), self.recorder)

    def runs(self) -> int:
        return sum(
            len((self.root / name / "runs").read_text())
            for name in ("reference", "candidate")
            if (self.root / name / "runs").exists()
        )

    def case(self) -> Case:
        return Case(
            _CANDIDATE,
            self.finding,
            self.reference,
            self.reference,
            {},
            (),
            lambda: self.reference,
            self.root / "logs",
            None,
        )

    def replayed(
        self, candidate: Application, recorder: Recorder, needs: Needs = Needs.NOTHING
    ) -> tuple[Outcome | None, str]:
        """By timing alone."""
        trial = Trial(self.case(), patchbench.NOTHING, StaticVerdict(needs=needs))
        trial.built = candidate
        rejection = ReplayGate(self.backend, UNCONFINED, recorder, 60.0).judge(trial, [lambda inner: None])
        (check,) = [check for check in trial.checks if check.name == NAME] or [None]
        return (
            (rejection.outcome, rejection.detail)
            if rejection
            else (None, f"{check.status.value}: {check.detail}" if check else "")
        )


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(tmp_path_factory.mktemp("recorded"))


def note(verdict: Verdict) -> tuple[CheckStatus, str]:
    (check,) = [check for check in verdict.checks if check.name == NAME]
    return check.status, check.detail


def test_a_comment_is_refused_without_any_run(bench: Recorded) -> None:
    before = bench.runs()
    verdict = bench.verdict(("float sum = bias", "/* the sum */ float sum = bias"))
    assert (verdict.outcome, bench.runs()) == (Outcome.NOT_FASTER, before)
    assert "nothing that the compiler sees" in verdict.detail


@pytest.mark.slow
def test_a_change_without_gain_is_refused_by_one_recording_and_no_other_run(bench: Recorded) -> None:
    before = bench.runs()
    verdict = bench.verdict(("float sum = bias", "float sum = 0 + bias"))
    assert verdict.outcome is Outcome.NOT_FASTER
    assert "on 3 of 10 dispatches recorded" in verdict.detail
    assert verdict.compared_dispatches == 3
    assert bench.runs() == before + 1


@pytest.mark.slow
def test_a_wrong_candidate_is_refused_without_any_run_of_the_application(bench: Recorded) -> None:
    bench.verdict(("float sum = bias", "float sum = 0 + bias"))  # has the recording made
    before = bench.runs()
    verdict = bench.verdict(("at->value", "at->value * 2"))
    assert verdict.outcome is Outcome.WRONG_OUTPUT
    assert "recorded: dispatch 0" in verdict.detail
    assert bench.runs() == before


def test_the_original_replayed_leaves_what_was_recorded_and_a_faster_kernel_wins(bench: Recorded) -> None:
    built = bench._build("faster", _SOURCE.replace(*_FASTER))
    assert isinstance(built, Application)
    outcome, told = bench.replayed(built, bench.recorder)
    assert outcome is None, told
    assert told.startswith("passed: 3 of 10 dispatches; the original reproduces what was recorded; modelled ")


@pytest.mark.slow
def test_other_shapes_of_launches_are_learnt_in_one_run_and_judged_on_recorded_memory(bench: Recorded) -> None:
    bench.verdict(("float sum = bias", "float sum = 1 * bias"))  # has the recording made
    before = bench.runs()
    verdict = bench.verdict(("rows<<<n / 256, 256>>>", "rows<<<n / 64, 64>>>"), declares=Declaration(geometry=True))
    assert verdict.outcome is Outcome.NOT_FASTER, verdict.detail
    assert "on 3 of 10 dispatches recorded" in verdict.detail
    assert bench.runs() == before + 1
    again = bench.verdict(
        ("rows<<<n / 256, 256>>>", "rows<<<n / 64, 64>>>"),
        ("at->value", "2 * at->value"),
        declares=Declaration(geometry=True),
    )
    assert again.outcome is Outcome.WRONG_OUTPUT
    assert bench.runs() == before + 1  # launched as the one before, whose host code it has
    verdict = bench.verdict(("rows<<<n / 256, 256>>>", "rows<<<n / 512, 256>>>"), declares=Declaration(geometry=True))
    assert verdict.outcome is Outcome.WRONG_OUTPUT
    assert "on 3 of 10 dispatches recorded: dispatch 0" in verdict.detail


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("list, out, 9)", "list, out, 8)"), "dispatch 9 is handed other arguments than recorded"),
        (("s < 9", "s < 8"), "9 dispatches instead of 10"),
        (("const int n = 1024;", "const int n = 1024; if (argc > 0) return 3;"), "0 dispatches instead of 10"),
    ],
)
def test_launches_that_differ_in_more_than_their_shapes_are_left_to_whole_runs(
    bench: Recorded, change: tuple[str, str], why: str
) -> None:
    text = _SOURCE.replace(*change).replace("int main()", "int main(int argc, char**)")
    built = bench._build("launches", text)
    assert isinstance(built, Application)
    outcome, told = bench.replayed(built, bench.recorder, Needs.GEOMETRY)
    assert outcome is None
    assert told.startswith("not run: ") and why in told, told


@pytest.mark.parametrize(
    ("recorder", "why"),
    [
        (
            {"limit_bytes": 1_000},
            "one dispatch needs more than the --record-limit of 1000 bytes: judged by whole runs",
        ),
        ({"limit_bytes": 0}, "--record-limit 0: judged by whole runs"),
        ({"least_seconds": 1e6}, "a run of the application takes"),
    ],
)
def test_what_is_not_recorded_is_named(bench: Recorded, tmp_path: Path, recorder: dict[str, float], why: str) -> None:
    changed = replace(bench.recorder, recordings=tmp_path, **recorder)  # type: ignore[arg-type]
    outcome, told = bench.replayed(bench.reference, changed)
    assert outcome is None
    assert told.startswith("not run: ") and why in told


def test_a_version_without_the_kernel_is_left_to_whole_runs(bench: Recorded) -> None:
    built = bench._build("renamed", _SOURCE.replace("rows", "columns"))
    assert isinstance(built, Application)
    outcome, told = bench.replayed(built, bench.recorder)
    assert outcome is None
    assert "cannot replay: this version has no kernel" in told


def test_a_recording_is_replayed_and_timed_without_the_project(
    bench: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = _recorded(bench)
    built = bench._build("other", _SOURCE.replace(*_FASTER).replace("sum = bias", "sum = 1 + bias"))
    assert isinstance(built, Application)
    taken = tmp_path / "taken.recording"
    other = Path(built.command[0])
    assert replay_run(ReplayOptions(run=path, candidate=other, export=taken)) == 0
    assert "it holds the application's data" in capsys.readouterr().out
    before = bench.runs()
    assert replay_run(ReplayOptions(run=taken)) == 3
    told = capsys.readouterr().out
    assert "the original reproduces what was recorded" in told
    assert "candidate: other bits than the original in device allocation 3 of 4096 bytes after dispatch 0" in told
    assert "modelled " in told and "the recorded dispatches together" in told
    assert bench.runs() == before


def test_a_version_with_other_shapes_of_launches_is_kept_with_them(
    bench: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shaped = ("rows<<<n / 256, 256>>>", "rows<<<n / 128, 128>>>")
    computed = ("sum += in[i * 64 + k] * table[k];", "sum += ((i * 64 + k) % 17) * 0.25f * table[k];")
    built = bench._build("shaped", _SOURCE.replace(*computed).replace(*shaped))
    assert isinstance(built, Application)
    outcome, told = bench.replayed(built, bench.recorder, Needs.GEOMETRY)
    assert outcome is None and "as one run of the candidate launches them" in told
    (path,) = _recorded(bench)
    kept = path.parent / program_name(bench.finding.profile.kernel, bench.case().logs.name)
    taken = tmp_path / "taken.recording"
    assert replay_run(ReplayOptions(run=path, candidate=kept, export=taken)) == 0
    for given in (ReplayOptions(run=path, candidate=kept), ReplayOptions(run=taken)):
        assert replay_run(given) == 0
        assert "the same bits as the original in every buffer" in capsys.readouterr().out
    cut = tmp_path / "cut"
    cut.write_bytes(kept.read_bytes()[:100] + kept.read_bytes()[-45:])
    with pytest.raises(ProtocolError, match="what it says of its launches cannot be read"):
        replay_run(ReplayOptions(run=path, candidate=cut))


def test_a_recording_of_another_release_or_machine_is_refused(bench: Recorded, tmp_path: Path) -> None:
    (path,) = _recorded(bench)
    for change, why in (
        ({"tool": "0.0.1"}, "recorded by intelliperf 0.0.1"),
        ({"machine": "s390x"}, "on a s390x machine"),
    ):
        other = tmp_path / "other.recording"
        with RecordingFile(path) as source, RecordingWriter(other, 1 << 30) as writer:
            writer.finish(replace(source.recording, **change))
        with pytest.raises(NotReplayable, match=why):
            replay_run(ReplayOptions(run=other))


def _recorded(bench: Recorded) -> list[Path]:
    bench.replayed(bench.reference, bench.recorder)
    return list(bench.recorder.recordings.glob("*.recording"))


_SIZED = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
__global__ void sums(const int* in, int* out, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += in[k * rows + i];
  out[i] = sum;
}
int main() {
  const int rows = 256, n = 200;
  std::vector<int> h(rows * n);
  for (int i = 0; i < rows * n; ++i) h[i] = i * 37 % 101;
  int *in, *out;
  if (hipMalloc(&in, rows * n * 4) || hipMalloc(&out, rows * 4)) return 1;
  if (hipMemcpy(in, h.data(), rows * n * 4, hipMemcpyHostToDevice)) return 2;
  sums<<<2, 128>>>(in, out, rows, n);
  if (hipMemcpy(h.data(), out, rows * 4, hipMemcpyDeviceToHost)) return 3;
  for (int i = 0; i < rows; ++i) printf("%d\n", h[i]);
}
"""


def test_recorded_memory_has_room_for_larger_sizes(tmp_path: Path) -> None:
    verdict = Recorded(tmp_path, _SIZED).verdict(("k < n;", "k < min(n, 200);"))
    assert note(verdict)[0] is CheckStatus.PASSED or "dispatch recorded" in verdict.detail, verdict.detail
    assert verdict.outcome is Outcome.WRONG_OUTPUT and "scalar argument" in verdict.detail, verdict.detail
