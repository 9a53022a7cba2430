"""All accepted changes together before the whole application: once, and what is left where it refuses them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from scripted import SOURCE, Scripted, TextBackend, application, judge, scripted_run

from intelliperf.errors import ApplicationFailed
from intelliperf.pipeline import improve
from intelliperf.project.journal import Journal
from intelliperf.project.merging import merged
from intelliperf.project.scratch import Built
from intelliperf.project.versions import Version
from intelliperf.records import (
    Application,
    Candidate,
    Ending,
    FileEdit,
    Finding,
    Kernel,
    KernelProfile,
    Outcome,
    Report,
    SourceEvidence,
    Verdict,
)
from intelliperf.report.terminal import closing
from intelliperf.search.building import Versions
from intelliperf.search.observer import Observer

# Far enough apart for changes of each to merge without the others.
KERNELS = "".join(f"{name} 900 contended\n" + "pad 1\n" * 8 for name in ("first", "second", "third"))


def by_recordings(
    candidate: Candidate,
    finding: Finding,
    evidence: Sequence[SourceEvidence],
    reference: Version,
    baseline: Version,
    build: Callable[[], tuple[Version, Built]],
    logs: Path,
) -> Verdict:
    verdict = judge(candidate, finding, evidence, reference, baseline, build, logs)
    return dataclasses.replace(verdict, on_recordings=True)


@dataclass
class Recorded:
    """A `Recordings`: the application refuses a text that holds one of `wrong`, and names its kernel."""

    wrong: tuple[str, ...] = ()
    expected: list[str] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)

    def expect(self, kernels: Iterable[KernelProfile]) -> None:
        self.expected += [profile.kernel.name for profile in kernels]

    def prepare(self, reference: Version, finding: Finding) -> None:
        pass

    def stand_in(self, reference: Version, version: Version, kernel: Kernel) -> Application | None:
        return version.application

    def judge_whole(
        self, candidate: Candidate, findings: Sequence[Finding], reference: Version, final: Version, logs: Path
    ) -> Verdict:
        text = final.workspace.text(SOURCE)
        self.judged.append(text)
        found = next((line for line in self.wrong if line in text), None)
        if found is not None:
            return Verdict(Outcome.WRONG_OUTPUT, f"dispatch 7 of {found.split()[0]}: other numbers")
        both = [TextBackend().profile(one.application, 1).device_time_ns for one in (reference, final)]
        gain = dataclasses.replace(
            TextBackend().time(reference.application, final.application, findings[0].profile.kernel, 1).measurements[0],
            ratio=both[0] / both[1],
        )
        return Verdict(Outcome.ACCEPTED, "all together", (), (gain,), 64, 3)


def searched(tmp_path: Path, recorded: Recorded, *steps: tuple[str, str]) -> Report:
    with Journal(tmp_path / "run") as journal:
        run = scripted_run(application(tmp_path / "project", KERNELS), journal, Scripted("model", list(steps)))
        run.judge, run.recordings = by_recordings, recorded
        return improve(run)


STEPS = [(f"{name} 900 contended", f"{name} 90") for name in ("first", "second", "third")]


def test_the_application_meets_all_accepted_candidates_once_at_the_end(tmp_path: Path) -> None:
    recorded = Recorded()
    report = searched(tmp_path, recorded, *STEPS)
    assert [attempt.accepted for attempt in report.attempts] == [True] * 3
    assert len(recorded.judged) == 1 and recorded.judged[0].count(" 90\n") == 3
    assert report.whole is not None and report.whole.detail == "all together"
    assert recorded.expected == ["first", "second", "third"]


def test_the_original_s_recorded_launches_are_profiled_once_for_all_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiled: list[str] = []
    alone = Observer._alone

    def noted(self: Observer, application: Application, finding: Finding) -> KernelProfile | None:
        profiled.append(application.project.relative_to(tmp_path / "run").parts[1])
        return alone(self, application, finding)

    monkeypatch.setattr(Observer, "_alone", noted)
    times = range(800, 0, -100)
    steps = [(f"first {time + 100} contended", f"first {time} contended") for time in times]
    report = searched(tmp_path, Recorded(), *steps)
    assert [attempt.accepted for attempt in report.attempts] == [True] * len(times)
    assert profiled.count("reference") == 1 and len(profiled) == 1 + len(times)


def test_what_the_application_refuses_is_withdrawn_and_the_rest_judged_again(tmp_path: Path) -> None:
    recorded = Recorded(("second 90\n",))
    report = searched(tmp_path, recorded, *STEPS)
    outcomes = [attempt.verdict.outcome.value for attempt in report.attempts if attempt.verdict]
    assert outcomes == ["ACCEPTED", "WRONG_OUTPUT", "ACCEPTED"]
    assert len(recorded.judged) == 2
    assert "+first 90\n" in report.patch and "+third 90\n" in report.patch and "+second" not in report.patch
    assert report.attempts[2].candidate is not None
    assert "second 900 contended" in report.attempts[2].candidate.edits[0].text
    assert "on the whole application: dispatch 7 of second" in report.attempts[1].verdict.detail  # type: ignore[union-attr]


def test_where_nothing_is_left_the_run_has_no_patch(tmp_path: Path) -> None:
    report = searched(tmp_path, Recorded(("first 90\n",)), STEPS[0])
    assert (report.ending, report.patch, report.whole) == (Ending.NO_ACCEPTED_CANDIDATE, "", None)


def test_the_patch_comes_as_one_part_per_kernel(tmp_path: Path) -> None:
    steps = [("first 900", "first 400"), *STEPS[1:], ("first 400 contended", "first 40")]
    report = searched(tmp_path, Recorded(), steps[0], steps[-1], *steps[1:-1])
    assert [(part.kernel, part.attempts) for part in report.series] == [
        ("first", (1, 2)),
        ("second", (3,)),
        ("third", (4,)),
    ]
    assert "+first 40\n" in report.series[0].diff and "second" not in report.series[0].diff.replace("second 900", "")


@pytest.mark.parametrize(
    ("mine", "theirs", "both"),
    [
        ("a\nB\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\nF\n", "a\nB\nc\nd\ne\nF\n"),
        ("a\nb\nc\nd\ne\nf\n", "a\nX\nc\nd\ne\nf\n", "a\nX\nc\nd\ne\nf\n"),
        ("a\nY\nc\nd\ne\nf\n", "a\nX\nc\nd\ne\nf\n", None),
    ],
)
def test_changes_of_other_lines_merge(mine: str, theirs: str, both: str | None) -> None:
    assert merged("a\nb\nc\nd\ne\nf\n", mine, theirs) == both


class Failing(Recorded):
    """The application does not run any more when all changes are to meet it."""

    failed = False

    def judge_whole(self, *asked: object) -> Verdict:
        Failing.failed = True
        raise ApplicationFailed("the program timed out after 60 s")


def test_an_application_that_fails_at_the_end_leaves_what_was_accepted_as_unconfirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = TextBackend.lines

    def runs(*asked: Any) -> tuple[SourceEvidence, ...]:
        assert not Failing.failed, "it would hang again"
        return lines(*asked)

    monkeypatch.setattr(TextBackend, "lines", runs)
    report = searched(tmp_path, Failing(), *STEPS)
    assert [attempt.accepted for attempt in report.attempts] == [True] * 3
    assert (report.ending, report.exit_status) == (Ending.UNCONFIRMED, 1)
    assert report.patch.count("\n+") == 4 and not report.measurements
    assert report.not_checked[0].endswith("recorded dispatches accepted: the program timed out after 60 s")
    told = closing(report, tmp_path)
    assert "not confirmed by the whole application" in told
    assert "patch.diff  (`intelliperf verify` judges it anew)" in told and "intelliperf apply" not in told


@pytest.mark.parametrize(
    ("ended", "kept"),
    [
        ({"signal_name": "SIGKILL"}, True),
        ({"timed_out": True}, True),
        ({"exit_status": 2, "says": "make: *** [Makefile:3: app] Killed"}, True),
        ({"exit_status": 2, "says": "make: *** [Makefile:3: app] Error 1"}, False),
    ],
)
def test_a_build_that_is_cut_off_at_the_end_refuses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: dict[str, Any], kept: bool
) -> None:
    built_whole = Versions.build_whole

    def cut_off(self: Versions, edits: tuple[FileEdit, ...], name: str) -> tuple[Version, Built]:
        version, built = built_whole(self, edits, name)
        says = ended.get("says", "killed")
        nothing = {"exit_status": None, "signal_name": None, "timed_out": False}
        how = nothing | {name: value for name, value in ended.items() if name != "says"}
        return version, Built(False, dataclasses.replace(built.completed, **how), (says,))

    monkeypatch.setattr(Versions, "build_whole", cut_off)
    report = searched(tmp_path, Recorded(("second 90\n",)), *STEPS)
    assert [attempt.accepted for attempt in report.attempts] == [kept, False, kept]
    assert report.exit_status == (1 if kept else 3) and ("+third 90\n" in report.patch) == kept
    assert "+second" not in report.patch
    if kept:
        assert report.ending is Ending.UNCONFIRMED and "the change that it refuses was cut off" in report.not_checked[0]
