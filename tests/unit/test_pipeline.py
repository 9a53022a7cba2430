"""The main loop: order, feedback, stacking, budgets, every ending, and resuming after a kill."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from scripted import BUILD, SOURCE, Scripted, TextBackend, application, scripted_run

from intelliperf.errors import (
    ApplicationFailed,
    BudgetExhausted,
    BuildFailed,
    MissingMetric,
    ProviderError,
    SourceNotFound,
    StorageFull,
    UsageError,
)
from intelliperf.pipeline import improve
from intelliperf.processes.storage import refuse_full_disk
from intelliperf.project.codec import decode
from intelliperf.project.journal import Journal, to_json
from intelliperf.protocols import Proposal, Task, Timing
from intelliperf.records import Application, Attempt, Ending, Kernel, Outcome, Report, SourceEvidence
from intelliperf.records.timeline import KERNEL, UPLOAD, HostCall, Timeline
from intelliperf.report import wording
from intelliperf.report.html import page
from intelliperf.report.summary import summary
from intelliperf.report.terminal import closing
from intelliperf.search.agenda import WORTHWHILE, Agenda
from intelliperf.search.run import Run

SLOW = "tally 900 contended\nother 100\n"


def improved(tmp_path: Path, *rewriters: Scripted, text: str = SLOW, **settings: object) -> Report:
    with Journal(tmp_path / "run") as journal:
        return improve(scripted_run(application(tmp_path / "project", text), journal, *rewriters, **settings))


def outcomes(report: Report) -> list[str]:
    return [a.verdict.outcome.value if a.verdict else "DECLINED" for a in report.attempts]


def test_the_first_accepted_candidate_that_cures_the_kernel_ends_the_run(tmp_path: Path) -> None:
    rules = Scripted("rules", ["no rule", ("900 contended", "90"), ("90", "9")])
    model = Scripted("model", [])
    report = improved(tmp_path, rules, model)
    assert (report.ending, report.exit_status, report.accepted) == (Ending.IMPROVED, 0, 2)
    assert outcomes(report) == ["DECLINED", "ACCEPTED"]
    assert "-tally 900 contended\n+tally 90\n" in report.patch
    assert model.seen == []
    assert (tmp_path / "project" / SOURCE).read_text() == SLOW


def test_the_model_comes_after_the_rules_and_is_told_of_every_attempt(tmp_path: Path) -> None:
    rules = Scripted("rules", [("900", "1900")])
    model = Scripted("model", [("contended", "broken"), ("900 contended", "90")])
    report = improved(tmp_path, rules, model)
    assert outcomes(report) == ["NOT_FASTER", "BUILD_FAILED", "ACCEPTED"]
    told = [attempt.verdict.detail for attempt in model.seen[-1][1] if attempt.verdict]
    assert told == ["0.5 times as fast", "1:tally 900 broken"]


def test_accepted_candidates_are_stacked_and_wrong_ones_never_built_upon(tmp_path: Path) -> None:
    steps = [("tally 900", "tally 400"), ("other 100", "other 700"), ("tally 400 contended", "tally 40")]
    model = Scripted("model", list(steps))
    report = improved(tmp_path, model)
    assert outcomes(report) == ["ACCEPTED", "NOT_FASTER", "ACCEPTED"]
    assert [task.sources[SOURCE].split()[1] for task, _ in model.seen] == ["900", "400", "400"]
    assert "+tally 40\n" in report.patch and "+other" not in report.patch
    assert report.measurements[0].baseline_ns == 1000


def test_a_candidate_whose_build_makes_no_program_is_refused_and_its_log_kept(tmp_path: Path) -> None:
    build = (*BUILD[:2], f"{BUILD[2]}; echo built; if grep -q gone app; then rm app; fi")
    model = Scripted("model", [("contended", "gone")])
    with Journal(tmp_path / "run") as journal:
        report = improve(scripted_run(application(tmp_path / "project", SLOW, build), journal, model))
    assert outcomes(report) == ["BUILD_FAILED"]
    assert report.attempts[0].verdict is not None
    assert report.attempts[0].verdict.detail == "the build works but makes no ./app"
    assert (tmp_path / "run" / "build" / "build-0.stdout").read_text() == "built\n"
    assert (tmp_path / "run" / "attempts" / "001" / "build-0.stdout").read_text() == "built\n"


def test_a_program_of_another_name_is_said_to_be_what_the_build_makes(tmp_path: Path) -> None:
    build = (*BUILD[:2], f"{BUILD[2]}; cp /bin/true bin_of_another_name; rm app")
    with (
        Journal(tmp_path / "run") as journal,
        pytest.raises(BuildFailed, match=r"makes no \./app; it makes \./bin_of_another_name: is the program's name"),
    ):
        improve(scripted_run(application(tmp_path / "project", SLOW, build), journal))


def test_the_number_of_attempts_bounds_the_model_but_not_the_rules(tmp_path: Path) -> None:
    rules = Scripted("rules", ["no"] * 4)
    model = Scripted("model", ["no"] * 9)
    report = improved(tmp_path, rules, model, num_attempts=2)
    assert len(report.attempts) == 6
    assert (report.ending, report.exit_status) == (Ending.NO_ACCEPTED_CANDIDATE, 3)


def test_a_spent_budget_ends_in_order_with_what_was_won(tmp_path: Path) -> None:
    error = BudgetExhausted("the budget of 5 tokens is spent")
    report = improved(tmp_path, Scripted("model", [("900", "400"), error]))
    assert (report.ending, report.accepted, report.exit_status) == (Ending.BUDGET_EXHAUSTED, 1, 0)
    assert "+tally 400 contended" in report.patch
    assert str(error) in report.notes
    empty = improved(tmp_path / "second", Scripted("model", [error]))
    assert (empty.ending, empty.exit_status, empty.patch) == (Ending.BUDGET_EXHAUSTED, 3, "")


def test_a_lost_provider_pauses_the_run_and_a_resumed_one_keeps_what_was_won(tmp_path: Path) -> None:
    project = application(tmp_path / "project", SLOW)
    lost = Scripted("model", [("900", "400"), ProviderError("busy forever")])
    with Journal(tmp_path / "run") as journal, pytest.raises(ProviderError):
        improve(_run(project, journal, lost))
    back = Scripted("model", [("400 contended", "40")])
    with Journal(tmp_path / "run") as journal:
        report = improve(_run(project, journal, back))
    assert outcomes(report) == ["ACCEPTED", "ACCEPTED"] and len(back.seen) == 1


def test_a_resumed_run_gives_each_attempt_back_to_its_own_finding_and_rewriter(tmp_path: Path) -> None:
    project = application(tmp_path / "project", SIBLINGS)

    def run(*rewriters: Scripted) -> Report:
        with Journal(tmp_path / "run") as journal:
            return improve(scripted_run(project, journal, *rewriters, num_attempts=2))

    steps = ["no", "no", ("500", "600"), ProviderError("busy")]
    with pytest.raises(ProviderError):
        run(Scripted("rules", ["no", ("900", "950")]), Scripted("model", steps))
    report = run(Scripted("rules", []), Scripted("model", [("500 contended", "50")]))
    assert [(a.kernel, a.origin.name) for a in report.attempts] == [
        *[("tally", "rules step")] * 2,
        *[("tally", "model step")] * 2,
        *[("other", "model step")] * 2,
    ]
    assert outcomes(report)[-2:] == ["NOT_FASTER", "ACCEPTED"]


def test_spent_minutes_end_the_run_before_the_next_proposal(tmp_path: Path) -> None:
    model = Scripted("model", [("900", "400")])
    report = improved(tmp_path, model, budget_minutes=0.0)
    assert report.ending is Ending.BUDGET_EXHAUSTED
    assert model.seen == []


def test_a_healthy_program_ends_without_a_finding(tmp_path: Path) -> None:
    report = improved(tmp_path, Scripted("model", []), text="tally 900\n")
    assert (report.ending, report.exit_status, report.finding) == (Ending.NOTHING_TO_IMPROVE, 0, None)


def test_what_no_kernel_can_mend_is_told_with_the_users_lines_and_the_whole_processs_time(tmp_path: Path) -> None:
    project = tmp_path / "project"
    with Journal(tmp_path / "run") as journal:
        run = scripted_run(application(project, "tally 900\n"), journal)
        calls = (HostCall(UPLOAD, 7, 100.0, device_ns=300.0, waits=True), HostCall(KERNEL, 9, 0.0, device_ns=600.0))
        run.backend.calls = Timeline(calls, 50.0, lambda site: None)  # type: ignore[attr-defined]
        report = improve(run)
    (finding,) = report.process
    assert [(line.file, line.line) for line in finding.lines] == [(project / SOURCE, 7), (project / SOURCE, 9)]
    time = report.process_time
    assert time is not None
    assert (time.total_ns, time.host_ns, time.kernels_ns, time.copies_ns) == (1000, 150, 600, 300)
    assert time.without_kernels_ns == 450
    assert report.ending is Ending.NOTHING_TO_IMPROVE
    assert wording.headline(report).endswith("; contention in the whole process, app.hip:7")
    for told in (closing(report, tmp_path), summary(report), page(report)):
        assert "2 calls" in told and "app.hip:7: x: tally();" in told
    assert "if kernels took no time, at most 2.22× as fast" in summary(report)
    hardly = dataclasses.replace(report, process_time=dataclasses.replace(time, without_kernels_ns=999.9))
    assert "if kernels took no time, less than 1.001× as fast" in summary(hardly)
    assert decode(Report, json.loads(to_json(report))) == report


def test_kernels_of_libraries_are_passed_over_and_the_report_says_so(tmp_path: Path) -> None:
    text = "lib_sort 5000 contended\ntally 900 contended\n"
    report = improved(tmp_path, Scripted("rules", [("900 contended", "90")]), text=text)
    assert report.finding is not None and report.finding.profile.kernel.name == "tally"
    assert "no source line for lib_sort: outside the project" in report.notes
    with pytest.raises(SourceNotFound, match="lib_sort"):
        improved(tmp_path / "top", Scripted("rules", []), text=text, top_n=1)


def test_a_kernel_whose_counts_are_missing_is_passed_over_with_a_note(tmp_path: Path) -> None:
    report = improved(tmp_path, Scripted("rules", [("900 contended", "90")]), text="blind 1000 uncounted\n" + SLOW)
    assert report.finding is not None and report.finding.profile.kernel.name == "tally"
    assert any("blind" in note and "was not collected" in note for note in report.notes)


def test_where_no_kernel_has_the_counts_the_run_fails(tmp_path: Path) -> None:
    with pytest.raises(MissingMetric, match="blind"):
        improved(tmp_path, Scripted("rules", []), text="blind 1000 uncounted\n")


def test_a_diagnosis_of_a_librarys_kernel_still_lists_the_kernels(tmp_path: Path) -> None:
    report = improved(tmp_path, text="lib_sort 5000 contended\n", diagnose_only=True)
    assert (report.ending, report.evidence) == (Ending.DIAGNOSED, ())
    assert [diagnosis.note for diagnosis in report.diagnoses] == ["lib_sort: outside the project"]
    assert [profile.kernel.name for profile in report.profiles] == ["lib_sort"]


def test_a_diagnosis_tells_of_every_finding_with_its_lines(tmp_path: Path) -> None:
    report = improved(tmp_path, text="tally 5000 contended\nother 3000 contended\n", diagnose_only=True)
    assert [diagnosis.finding.sentence for diagnosis in report.diagnoses] == [
        "tally is contended",
        "other is contended",
    ]
    assert all(diagnosis.evidence for diagnosis in report.diagnoses)


SIBLINGS = "tally 900 contended\nother 500 contended\nsmall 2 contended\n"


def test_every_finding_is_pursued_in_the_order_of_what_it_may_gain(tmp_path: Path) -> None:
    rules = Scripted("rules", [("900 contended", "90"), "no rule", ("500 contended", "50")])
    report = improved(tmp_path, rules, text=SIBLINGS)
    assert [(a.index, a.kernel, a.accepted) for a in report.attempts] == [
        (1, "tally", True),
        (2, "other", False),
        (3, "other", True),
    ]
    assert [(d.finding.profile.kernel.name, d.attempts, d.accepted) for d in report.diagnoses] == [
        ("tally", (1,), (1,)),
        ("other", (2, 3), (3,)),
        ("small", (), ()),
    ]
    assert "+tally 90\n" in report.patch and "+other 50\n" in report.patch
    assert [(m.kernel, m.ratio) for m in report.measurements][:2] == [
        ("tally", pytest.approx(1402 / 592)),
        ("other", pytest.approx(592 / 142)),
    ]


def test_a_rewriter_hears_of_the_attempts_for_its_finding_and_of_what_others_had_accepted(tmp_path: Path) -> None:
    model = Scripted("model", [("900 contended", "90"), ("500", "400")])
    improved(tmp_path, model, text=SIBLINGS)
    told = [([a.index for a in attempts], [a.index for a in task.precedents]) for task, attempts in model.seen]
    assert told[:3] == [([], []), ([], [1]), ([2], [1])]


def test_what_is_not_worth_one_per_cent_is_told_and_not_pursued_where_no_formula_is_named(tmp_path: Path) -> None:
    agenda = Agenda(WORTHWHILE)
    with Journal(tmp_path / "run") as journal:
        run = scripted_run(application(tmp_path / "project", SIBLINGS), journal)
        run.versions.build_original()
        run.pursuit.diagnose(run.profile())
        agenda.renew(run.pursuit.findings)
    assert [finding.profile.kernel.name for finding in agenda.open()] == ["tally", "other"]
    assert "less than 1 % of the application" in agenda.why_not(run.pursuit.findings[-1])
    assert "the run ended before" in agenda.why_not(run.pursuit.findings[0])
    agenda.renew(run.pursuit.findings[1:])
    assert "no longer shown after the accepted changes" in agenda.why_not(run.pursuit.findings[0])


def test_a_search_continues_after_a_kill_where_it_stopped(tmp_path: Path) -> None:
    project = application(tmp_path / "project", SIBLINGS)
    first = Scripted("model", [("900 contended", "90"), ("500", "600"), KeyboardInterrupt()])  # type: ignore[list-item]
    with Journal(tmp_path / "run") as journal, pytest.raises(KeyboardInterrupt):
        improve(_run(project, journal, _Dying(first)))
    second = Scripted("model", [("500 contended", "50")])
    with Journal(tmp_path / "run") as journal:
        report = improve(_run(project, journal, second))
    assert outcomes(report) == ["ACCEPTED", "NOT_FASTER", "ACCEPTED"]
    assert "+tally 90\n" in report.patch and "+other 50\n" in report.patch


def test_no_model_is_asked_for_less_than_a_judge_accepts(tmp_path: Path) -> None:
    rules, model = Scripted("rules", ["no"]), Scripted("model", [("900", "800")])
    with Journal(tmp_path / "run") as journal:
        run = scripted_run(application(tmp_path / "project", SLOW), journal, rules, model)
        run.versions.build_original()
        run.pursuit.diagnose(run.profile())
        target = run.pursuit.adopt(dataclasses.replace(run.pursuit.findings[0], severity=0.001))
        assert run.may_continue(rules, target)
        assert not run.may_continue(model, target)
        agenda = Agenda(1.0, least_gain=1.02)
        agenda.renew([target.finding])
    assert not list(agenda.open())
    assert "1.001× as fast, and less than 1.02× is not accepted" in agenda.why_not(target.finding)


def test_a_kernel_that_nothing_matches_is_named_with_those_that_ran(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no kernel matches --kernel nope; the program ran: other, tally"):
        improved(tmp_path, kernel="nope")


def test_a_build_that_fails_shows_its_complaints_with_the_users_paths(tmp_path: Path) -> None:
    build = ("/bin/sh", "-c", 'echo "$PWD/app.hip:1: error: no" >&2; exit 4')
    with Journal(tmp_path / "run") as journal, pytest.raises(BuildFailed) as caught:
        improve(scripted_run(application(tmp_path / "project", SLOW, build), journal))
    assert str(caught.value) == f"the build fails (exit status 4):\n  {tmp_path}/project/app.hip:1: error: no"


def test_a_build_without_an_end_names_the_option(tmp_path: Path) -> None:
    with Journal(tmp_path / "run") as journal, pytest.raises(BuildFailed, match="--build-timeout"):
        application_ = application(tmp_path / "project", SLOW, ("/bin/sh", "-c", "sleep 60"))
        improve(scripted_run(application_, journal, build_deadline_s=0.2))


def test_a_generated_source_is_no_place_for_an_edit(tmp_path: Path) -> None:
    project = application(tmp_path / "project", SLOW, (*BUILD[:2], f"mv recipe app.hip; {BUILD[2]}"))
    (project.project / SOURCE).rename(project.project / "recipe")
    with Journal(tmp_path / "run") as journal, pytest.raises(SourceNotFound, match="made by the build"):
        improve(scripted_run(project, journal, Scripted("rules", [])))


def test_a_line_in_a_file_outside_the_project_is_named_and_not_edited(tmp_path: Path) -> None:
    project = application(tmp_path / "project", "far_sort 900 contended\n")
    with Journal(tmp_path / "run") as journal:
        report = improve(scripted_run(project, journal, Scripted("rules", [])))
    assert report.ending is Ending.NO_ACCEPTED_CANDIDATE and report.exit_status == 3
    assert "far_sort: /toolkit/include/sort.cuh:1 is outside the project" in wording.headline(report)


def test_findings_of_kernels_that_a_compiler_made_end_a_run_with_their_reason(tmp_path: Path) -> None:
    project = application(
        tmp_path / "project", "tally 900 contended compiled\n", (*BUILD[:2], f"mv recipe app.hip; {BUILD[2]}")
    )
    (project.project / SOURCE).rename(project.project / "recipe")
    with Journal(tmp_path / "run") as journal:
        report = improve(scripted_run(project, journal, Scripted("rules", [])))
    assert report.ending is Ending.NO_ACCEPTED_CANDIDATE and report.exit_status == 3
    assert "contention in tally: no source line: tally: a compiler made it from model.py:3" in wording.headline(report)
    assert not wording.next_command(report)


def test_a_run_goes_on_after_a_kill_without_asking_again(tmp_path: Path) -> None:
    project = application(tmp_path / "project", SLOW)
    first = Scripted("model", [("900", "950"), ("900", "400"), KeyboardInterrupt()])  # type: ignore[list-item]
    with Journal(tmp_path / "run") as journal, pytest.raises(KeyboardInterrupt):
        improve(_run(project, journal, _Dying(first)))
    second = Scripted("model", [("400 contended", "40")])
    with Journal(tmp_path / "run") as journal:
        report = improve(_run(project, journal, second))
    assert outcomes(report) == ["NOT_FASTER", "ACCEPTED", "ACCEPTED"]
    assert len(second.seen) == 1
    assert "+tally 40\n" in report.patch


def test_a_resumed_run_refuses_sources_that_it_did_not_begin_with(tmp_path: Path) -> None:
    project = application(tmp_path / "project", SLOW)
    with Journal(tmp_path / "run") as journal:
        improve(_run(project, journal, Scripted("model", [])))
    (project.project / SOURCE).write_text(SLOW + "more 1\n")
    with Journal(tmp_path / "run") as journal, pytest.raises(UsageError, match="start a new run"):
        improve(_run(project, journal, Scripted("model", [])))


def test_a_source_that_changes_while_the_run_goes_on_ends_it(tmp_path: Path) -> None:
    project = application(tmp_path / "project", SLOW)

    class Meddler(Scripted):
        def propose(self, *given: object) -> object:  # type: ignore[override]
            proposal = super().propose(*given)  # type: ignore[arg-type]
            (project.project / SOURCE).write_text("someone else's\n")
            return proposal

    with Journal(tmp_path / "run") as journal, pytest.raises(UsageError, match="changed during the run"):
        improve(_run(project, journal, Meddler("model", [("900", "400")])))


def test_every_stage_is_in_the_events_in_order(tmp_path: Path) -> None:
    improved(tmp_path, Scripted("model", [("900 contended", "90")]))
    events = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    begun = [e["stage"] for e in events if e["event"] == "stage" and e["state"] == "begin"]
    assert begun == ["build", "profile", "diagnose", "locate", "propose", "validate", "profile", "time"]
    (attempt,) = (e for e in events if e["event"] == "attempt")
    assert attempt["outcome"] == Outcome.ACCEPTED.value


def test_a_full_disk_is_not_the_candidates_fault() -> None:
    with pytest.raises(StorageFull, match="no space left"):
        refuse_full_disk(Path("/proc"))


def _run(project: object, journal: Journal, rewriter: object) -> Run:
    return scripted_run(project, journal, rewriter)  # type: ignore[arg-type]


class _Dying(Scripted):
    """Raises KeyboardInterrupt where the script says so."""

    def __init__(self, inner: Scripted) -> None:
        super().__init__(inner.name, inner.script)

    def propose(self, *given: object) -> object:  # type: ignore[override]
        if isinstance(self.script[0], KeyboardInterrupt):
            raise KeyboardInterrupt
        return super().propose(*given)  # type: ignore[arg-type]


class _Plans(Scripted):
    """Answers by the number of the plan that a proposal is asked for; seen in the order of the plans."""

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        with self.lock:
            self.seen.append((task, tuple(attempts)))
            number, several = task.plan
            step = self.script[(len(attempts) // several) * several + number - 1]
        if isinstance(step, Exception):
            raise step
        return Scripted(self.name, [step]).propose(task, attempts)

    lock = threading.Lock()


FAR = SLOW + "pad 1\n" * 8 + "third 300\n"


def test_of_several_candidates_the_best_is_kept_and_what_merges_with_it_is_judged_on_top(tmp_path: Path) -> None:
    steps = [("tally 900", "tally 500"), ("tally 900", "tally 300"), ("third 300", "third 200")]
    model = _Plans("model", list(steps))
    report = improved(tmp_path, model, text=FAR, parallel=3, num_attempts=3)
    assert sorted(task.plan for task, _ in model.seen) == [(1, 3), (2, 3), (3, 3)]
    assert outcomes(report) == ["NOT_FASTER", "ACCEPTED", "NOT_FASTER", "ACCEPTED"]
    assert "attempt 2 of the same round" in report.attempts[0].verdict.detail  # type: ignore[union-attr]
    assert report.attempts[3].candidate is not None
    assert report.attempts[3].candidate.rationale.startswith("attempt 3 on top of the best of its round")
    assert "+tally 300 contended\n" in report.patch and "+third 200\n" in report.patch


def test_the_same_edits_are_judged_once_in_a_round(tmp_path: Path) -> None:
    model = _Plans("model", [("900", "950"), ("900", "950")])
    report = improved(tmp_path, model, parallel=2, num_attempts=2)
    assert outcomes(report) == ["NOT_FASTER", "DECLINED"]
    assert "the same edits" in report.attempts[1].declined.reason  # type: ignore[union-attr]


def test_a_round_uses_what_came_before_the_provider_failed(tmp_path: Path) -> None:
    model = _Plans("model", [("900 contended", "90"), ProviderError("busy")])
    report = improved(tmp_path, model, parallel=2, num_attempts=2)
    assert outcomes(report) == ["ACCEPTED"]


def test_what_fails_for_one_finding_leaves_the_others_and_what_was_accepted(tmp_path: Path) -> None:
    text = "first 900 contended\nsecond 800 contended\nthird 700 contended\n"
    crash = ApplicationFailed("the program ended by signal 11")
    report = improved(
        tmp_path, Scripted("rules", [("first 900 contended", "first 90"), crash, ("700 contended", "70")]), text=text
    )
    assert (report.ending, report.exit_status) == (Ending.IMPROVED, 0)
    assert "+first 90\n" in report.patch and "+third 70\n" in report.patch
    assert "contention in second was not pursued to its end: the program ended by signal 11" in report.notes


def test_what_failed_is_an_error_where_nothing_was_accepted(tmp_path: Path) -> None:
    rules = Scripted("rules", [ApplicationFailed("the program ended by signal 11"), "no rule"])
    with pytest.raises(ApplicationFailed, match="by signal 11"):
        improved(tmp_path, rules, text=SLOW + "third 700 contended\n")


def test_a_final_version_that_cannot_be_timed_is_still_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*asked: object) -> Timing:
        raise ApplicationFailed("the program timed out after 60 s")

    monkeypatch.setattr(TextBackend, "time", fails)
    report = improved(tmp_path, Scripted("rules", [("900 contended", "90")]))
    assert report.exit_status == 0 and "+tally 90\n" in report.patch
    assert report.notes[-1] == "the final version was not measured anew: the program timed out after 60 s"
    assert "improved" in closing(report, tmp_path) and summary(report) and page(report, {})


def test_a_diagnosis_tells_of_the_findings_whose_lines_can_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = TextBackend.lines

    def crashes(
        self: TextBackend, application: Application, kernel: Kernel, limit: float
    ) -> tuple[SourceEvidence, ...]:
        if kernel.name == "tally":
            raise ApplicationFailed("the program ended by signal 11")
        return lines(self, application, kernel, limit)

    monkeypatch.setattr(TextBackend, "lines", crashes)
    report = improved(tmp_path, text=SLOW + "third 700 contended\n", diagnose_only=True)
    assert [bool(told.evidence) for told in report.diagnoses] == [False, True]
    assert report.diagnoses[0].note == "tally: the program ended by signal 11"
    with pytest.raises(ApplicationFailed, match="by signal 11"):
        improved(tmp_path / "alone", diagnose_only=True)
