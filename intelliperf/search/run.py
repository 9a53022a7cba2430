"""One run: what it was given, the attempts that it makes, and the report that it ends with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from intelliperf import __version__
from intelliperf.errors import FAILS_ALONE, BudgetExhausted, BuildFailed, IntelliPerfError
from intelliperf.project import jitfacts
from intelliperf.project.diff import unified_diff
from intelliperf.project.journal import Journal
from intelliperf.project.merging import series
from intelliperf.project.scratch import Built
from intelliperf.project.versions import Version, profile_at_home, sources
from intelliperf.protocols import ApplicationProfile, Backend, Formula, Rewriter, Task, Timing
from intelliperf.records import (
    SCHEMA_VERSION,
    Application,
    Attempt,
    Candidate,
    Ending,
    OriginKind,
    Report,
    Review,
    Verdict,
)
from intelliperf.search.agenda import CandidateJudge, Target
from intelliperf.search.building import Versions
from intelliperf.search.conclusion import (
    diagnoses,
    diagnosis_at_home,
    final_timing,
    finding_at_home,
    improved_kernels,
    lines_of,
    main_target,
    not_checked,
    replays_beside_whole_runs,
    rewriter_of,
    started_at,
    total_usage,
)
from intelliperf.search.observer import Recordings, RunSettings
from intelliperf.search.pursuit import Pursuit
from intelliperf.search.settling import Settling, met_recordings_alone
from intelliperf.search.stages import Stages

T = TypeVar("T")


@dataclass
class Run:
    """Everything that varies is passed in."""

    settings: RunSettings
    application: Application
    backend: Backend
    formula: Formula
    rewriters: tuple[Rewriter, ...]
    judge: CandidateJudge
    journal: Journal
    recordings: Recordings | None = None  # of launches; without them each accepted candidate meets the application
    exclusive: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext  # holds the GPU against other runs
    while_building: Callable[[], None] = lambda: None  # called before each build, in which this process is idle
    reviews: tuple[Review, ...] = ()
    read_ahead: Callable[[Version], None] = lambda version: None  # called with each version that a rule may want
    earlier_runs: tuple[Attempt, ...] = ()  # what earlier runs on the project had accepted, the newest last
    attempts: list[Attempt] = field(default_factory=list)
    unconfirmed: str = ""  # why the whole application was not run with what recorded dispatches alone accepted
    _failures: list[IntelliPerfError] = field(default_factory=list)  # that ended the pursuit of one finding each

    @cached_property
    def stages(self) -> Stages:
        return Stages(self.journal, self.exclusive)

    @cached_property
    def versions(self) -> Versions:
        return Versions(self.settings, self.application, self.backend, self.journal, self.stages, self.while_building)

    @cached_property
    def pursuit(self) -> Pursuit:
        return Pursuit(
            self.settings, self.backend, self.formula, self.stages, self.versions, self.attempts, self.recordings
        )

    def profile(self) -> ApplicationProfile:
        """The original's kernels with their counters."""
        self.read_ahead(self.versions.original)
        return self.pursuit.profile()

    def check_budget(self) -> None:
        """Raises `BudgetExhausted` where the minutes are spent."""
        limit = self.settings.budget_minutes
        if limit is not None and self.stages.elapsed > limit * 60:
            raise BudgetExhausted(f"the budget of {limit:g} minutes is spent")

    def may_continue(self, rewriter: Rewriter, target: Target) -> bool:
        # A judge accepts no less, so that no model is paid for a finding that promises less; a rule may win more.
        promising = target.kernel_ceiling >= self.backend.probe().least_gain
        if rewriter.name == "rules":
            return promising or not target.accepted
        return promising and self.left(rewriter, target) > 0

    @contextlib.contextmanager
    def failing_alone(self, target: Target) -> Iterator[None]:
        """What fails for one finding is told, and leaves what was accepted and the findings that are still open."""
        try:
            yield
        except FAILS_ALONE as error:
            self._failures.append(error)
            name = target.finding.profile.kernel.name
            self.stages.note(f"{target.finding.formula} in {name} was not pursued to its end: {error}")

    def left(self, rewriter: Rewriter, target: Target) -> int:
        own = [attempt for attempt in target.attempts if rewriter_of(attempt) == rewriter.name]
        return self.settings.num_attempts - len(own)

    def task(self, target: Target) -> Task:
        best, formula = self.versions.best, self.formula.of(target.current)
        return Task(
            finding=target.current,
            evidence=target.evidence,
            device=self.backend.probe(),
            sources=sources(best, target.evidence),
            compile_arguments=best.compile_arguments,
            project=best.workspace.tree,
            knowledge=formula.knowledge,
            rules=formula.rules,
            precedents=tuple(a for a in self.attempts if a.accepted and a not in target.attempts),
            reviews=self.reviews,
            earlier_runs=self.earlier_runs,
            others=tuple(
                finding
                for finding in self.pursuit.agenda.findings
                if finding.profile.kernel.symbol == target.current.profile.kernel.symbol
                and finding.formula != target.current.formula
            ),
            command=self.application.command,
            compiled=jitfacts.facts(best, target.current.profile.kernel, target.evidence),
        )

    def judged(self, candidate: Candidate, task: Task, index: int) -> tuple[Verdict, list[Version]]:
        """The verdict, and the versions that were built for it."""
        built_versions: list[Version] = []

        def build() -> tuple[Version, Built]:
            version, built = self.versions.build_on_best(candidate, index)
            built_versions.append(version)
            if built.ok:
                self.read_ahead(version)
            return version, built

        logs, versions = self.journal.attempt_directory(index), self.versions
        with self.stages.stage("validate", attempt=index, origin=candidate.origin.name):
            verdict = self.judge(candidate, task.finding, task.evidence, versions.original, versions.best, build, logs)
            return self.pursuit.watched(verdict, task.finding, built_versions), built_versions

    def keep(self, attempt: Attempt, target: Target) -> Attempt:
        self.journal.keep_attempt(attempt)
        self.attempts.append(attempt)
        target.attempts.append(attempt)
        verdict, declined = attempt.verdict, attempt.declined
        self.journal.event(
            "attempt",
            index=attempt.index,
            origin=attempt.origin.name,
            given=attempt.origin.kind is OriginKind.USER,
            outcome=verdict.outcome if verdict else "DECLINED",
            detail=verdict.detail if verdict else declined.reason if declined else "",
        )
        return attempt

    def accept(self, version: Version, target: Target, profile: ApplicationProfile | None) -> None:
        """It is the best version now; `profile`: as it was measured for its verdict."""
        self.versions.accepted = target.after = version
        self.pursuit.shown = profile

    def restored(self, kept: Attempt, target: Target) -> Attempt:
        """An attempt of an earlier process of this run; an accepted one is built again."""
        self.attempts.append(kept)
        target.attempts.append(kept)
        self.pursuit.shown = None
        if kept.accepted and kept.candidate is not None:
            version, built = self.versions.build_on_best(kept.candidate, kept.index)
            if not built.ok:
                raise BuildFailed(f"attempt {kept.index} was accepted but no longer builds: {built.errors[0]}")
            self.accept(version, target, None)
        return kept

    def ending(self) -> Ending:
        if self.unconfirmed:
            return Ending.UNCONFIRMED
        if any(attempt.accepted for attempt in self.attempts):
            return Ending.IMPROVED
        if any(attempt.origin.kind is OriginKind.USER for attempt in self.attempts):
            return Ending.REFUSED
        if self.pursuit.targets or self.pursuit.nothing_to_patch:
            return Ending.NO_ACCEPTED_CANDIDATE
        return Ending.DIAGNOSED if self.settings.diagnose_only else Ending.NOTHING_TO_IMPROVE

    def finish(self, ending: Ending | None = None, note: str | None = None) -> Report:
        """Judge all accepted changes together, measure the final version anew and put the report together.

        Raises what failed for one finding where nothing else was accepted: a search that failed does not prove that
        there is nothing.
        """
        whole = self._confirmed()
        versions, pursuit = self.versions, self.pursuit
        targets, profile = pursuit.targets, pursuit.original
        failures = [*self._failures, *pursuit.failures]
        if failures and versions.accepted is None and not self.settings.diagnose_only:
            raise failures[0]
        timing = self._timed(whole)
        home = versions.original.workspace
        main = main_target(targets)
        told = pursuit.located or diagnoses(pursuit.findings, targets, pursuit.agenda)
        told = tuple(diagnosis_at_home(item, home) for item in told)
        first = next(iter(told), None)

        def ran(of: Callable[[], tuple[T, ...]]) -> tuple[T, ...]:
            """What may take another run of the application, unless that has just failed."""
            return () if self.unconfirmed else of()

        accepted = [attempt.index for attempt in self.attempts if attempt.accepted]
        originals = versions.builder.originals(versions.best.edits)
        seconds = self.stages.elapsed
        report = Report(
            schema_version=SCHEMA_VERSION,
            tool_version=__version__,
            run_id=self.journal.run_id,
            started_at=started_at(seconds),
            seconds=round(seconds, 3),
            application=self.application,
            device=self.backend.probe(),
            backend=self.backend.name,
            formula=self.formula.name,
            ending=self.ending() if ending is None or self.unconfirmed else ending,
            profiles=tuple(profile_at_home(kernel, home) for kernel in profile.kernels) if profile else (),
            other_time=profile.other_time if profile else (),
            finding=finding_at_home(main.finding, home) if main else first.finding if first else None,
            evidence=main.told if main else first.evidence if first else (),
            attempts=tuple(self.attempts),
            accepted=accepted[-1] if accepted else None,
            measurements=timing.measurements,
            patch=unified_diff(originals, versions.best.edits),
            usage=total_usage(self.attempts),
            not_checked=(*filter(None, [self.unconfirmed]), *not_checked(self.attempts, whole)),
            notes=(
                *self.stages.notes,
                *(profile.notes if profile else ()),
                *timing.notes,
                *replays_beside_whole_runs(self.attempts, timing.measurements),
                *filter(None, [note]),
            ),
            stage_seconds=dict(self.stages.seconds),
            diagnoses=told,
            whole=whole,
            series=series(originals, [a for a in self.attempts if a.accepted]),
            process=pursuit.process.findings,
            process_time=pursuit.process.time,
            after=improved_kernels(targets) or ran(lambda: pursuit.counted_at_last(main)),
            lines_before=ran(lambda: lines_of(pursuit.lines, versions.original, targets)),
            lines_after=ran(lambda: lines_of(pursuit.lines, versions.best, targets)),
        )
        versions.discard(*{id(one): one for one in (versions.original, versions.best)}.values())
        return report

    def _confirmed(self) -> Verdict | None:
        try:
            return self._settled()
        except FAILS_ALONE as error:
            self.unconfirmed = f"the whole application with what recorded dispatches accepted: {error}"
            self.stages.note(f"not run: {self.unconfirmed}")
            return None

    def _timed(self, whole: Verdict | None) -> Timing:
        """Of the final version; without measurements where the application does not run for it."""
        versions, targets = self.versions, self.pursuit.targets
        if versions.accepted is None or self.unconfirmed:
            return Timing(())
        together = (versions.original, versions.best) if whole is not None else None
        try:
            with self.stages.stage("time"):
                return final_timing(self.backend, targets, self.settings.run_deadline_s, together)
        except FAILS_ALONE as error:
            return Timing((), notes=(f"the final version was not measured anew: {error}",))

    def _settled(self) -> Verdict | None:
        """The judgement of all accepted changes together, where recorded dispatches alone accepted one of them."""
        if self.recordings is None or not met_recordings_alone(self.attempts):
            return None
        versions, targets = self.versions, self.pursuit.targets
        settling = Settling(self.journal, self.recordings, versions.builder.originals, versions.build_whole)
        with self.stages.stage("confirm"):
            settled = settling.settle(versions.original, versions.best, self.attempts, targets)
        self.attempts[:] = _changed(self.attempts, settled.changed)
        for target in targets:
            target.attempts = _changed(target.attempts, settled.changed)
            target.after = target.after if target.accepted else None
        versions.accepted = settled.best
        if settled.unbuilt:
            raise BuildFailed(settled.unbuilt)
        return settled.verdict


def _changed(attempts: Sequence[Attempt], changed: Mapping[int, Attempt]) -> list[Attempt]:
    return [changed.get(attempt.index, attempt) for attempt in attempts]
