"""One run: its settings, its journal, its scratch copies, and the stages that the main loop calls."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from intelliperf import __version__
from intelliperf.conclusion import (
    diagnoses,
    diagnosis_at_home,
    final_timing,
    finding_at_home,
    improved_kernels,
    lines_of,
    main_target,
    not_checked,
    rewriter_of,
    started_at,
    total_usage,
)
from intelliperf.errors import (
    BudgetExhausted,
    BuildFailed,
    SourceNotFound,
    UsageError,
)
from intelliperf.observer import Observer, Recordings, Settings, of_kernel, renewed
from intelliperf.project import jitfacts
from intelliperf.project.builder import Builder
from intelliperf.project.diff import unified_diff
from intelliperf.project.journal import Journal
from intelliperf.project.merging import series
from intelliperf.project.recipes import is_python
from intelliperf.project.scratch import Built
from intelliperf.project.versions import Version, evidence_at_home, profile_at_home, python_texts, sources
from intelliperf.protocols import ApplicationProfile, Backend, Formula, Rewriter, Task
from intelliperf.records import (
    SCHEMA_VERSION,
    Application,
    Attempt,
    Candidate,
    Diagnosis,
    Ending,
    FileEdit,
    Finding,
    KernelProfile,
    OriginKind,
    Outcome,
    Report,
    Review,
    SourceEvidence,
    Verdict,
    content_hash,
)
from intelliperf.search import WORTHWHILE, Agenda, Judge, Located, Target, key_of, ranked
from intelliperf.whole import Settling, met_recordings_alone
from intelliperf.wholeprocess import Process, observe, unseen

_TIMED = (Outcome.ACCEPTED, Outcome.NOT_FASTER, Outcome.SLOWER_OVERALL, Outcome.IMPLAUSIBLE)
_ON_DEVICE = frozenset({"profile", "locate", "tune", "validate", "confirm", "time"})  # stages that a GPU takes part in
STARTED = "started"  # a file of the run directory: the build has begun


@dataclass
class Run:
    """The mutable side of one run. Everything that varies is passed in."""

    settings: Settings
    application: Application
    backend: Backend
    formula: Formula
    rewriters: tuple[Rewriter, ...]
    judge: Judge
    journal: Journal
    recordings: Recordings | None = None  # of launches; without them each accepted candidate meets the application
    exclusive: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext  # holds the GPU against other runs
    while_building: Callable[[], None] = lambda: None  # called before each build, in which this process is idle
    reviews: tuple[Review, ...] = ()
    read_ahead: Callable[[Version], None] = lambda version: None  # called with each version that a rule may want
    earlier_runs: tuple[Attempt, ...] = ()  # what earlier runs on the project had accepted, the newest last
    notes: list[str] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()  # of the original, by what could be gained
    targets: list[Target] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    _agenda: Agenda = field(default_factory=lambda: Agenda(WORTHWHILE))
    _told: tuple[Diagnosis, ...] = ()
    _process: Process = Process()
    _reference: Version | None = None
    _best: Version | None = None
    _profile: ApplicationProfile | None = None
    _kernels: tuple[KernelProfile, ...] = ()  # of the best version
    remeasured: ApplicationProfile | None = None  # of the candidate that was judged last …
    _shown: ApplicationProfile | None = None  # … and of the one that was accepted last
    _started: float = field(default_factory=time.monotonic)
    _stage_seconds: dict[str, float] = field(default_factory=dict)

    @cached_property
    def observer(self) -> Observer:
        return Observer(self.settings, self.backend, self.formula, self.note, self.recordings)

    @property
    def reference(self) -> Version:
        if self._reference is None:
            raise RuntimeError("the original is not built yet")
        return self._reference

    @property
    def best(self) -> Version:
        return self._best or self.reference

    @contextmanager
    def stage(self, name: str, **details: object) -> Iterator[None]:
        """Announces the stage and keeps its wall time."""
        with self.exclusive() if name in _ON_DEVICE else contextlib.nullcontext():
            self.journal.event("stage", stage=name, state="begin", **details)
            started = time.monotonic()
            try:
                yield
            finally:
                seconds = time.monotonic() - started
                self._stage_seconds[name] = self._stage_seconds.get(name, 0.0) + seconds
                self.journal.event("stage", stage=name, state="end", seconds=round(seconds, 3))

    # ---- stages, in the order of the main loop ------------------------------------------------

    def build_reference(self) -> Version:
        self.journal.write(STARTED, b"")
        with self.stage("build", commands=[list(c) for c in self.application.build_commands]):
            work = self.journal.directory / "work" / "reference"
            version, built = self.builder().build(work, (), self.journal.directory / "build")
        if not built.completed.ok:
            raise BuildFailed(built.complaint())
        if not version.compile_arguments and not self._compiles_at_run_time():
            raise BuildFailed(
                "the build compiled no GPU source with our hipcc, nvcc or clang++: does it call a compiler by its "
                "absolute path, or is everything up to date? Give the whole build with -b"
            )
        if not built.ok:
            raise BuildFailed(f"{built.errors[0]}: is the program's name right?")
        self._refuse_other_sources(version)
        for compiler in version.compilers:
            self.note(f"compiler: {compiler}")
        for library in version.libraries:
            self.note(f"library of headers: {library}")
        self._reference = version
        return version

    def _compiles_at_run_time(self) -> bool:
        """A Python program's device code is known once it has run; `profile` refuses one that launched no kernel."""
        return is_python(self.application.command[0], self.application.directory)

    def _refuse_other_sources(self, version: Version) -> None:
        """A resumed run continues with the sources that it began with, or not at all."""
        texts = sources(version, ())
        if self._compiles_at_run_time():
            texts |= python_texts(version)
        now = {path: content_hash(text) for path, text in texts.items()}
        before = self.journal.stage("sources", dict[str, str], lambda: now)
        changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
        if changed:
            raise UsageError(f"{changed[0]} is not what it was when this run began: start a new run")

    def profile(self) -> ApplicationProfile:
        self.read_ahead(self.reference)
        with self.stage("profile"):
            self._profile = self.journal.stage(
                "profile", ApplicationProfile, lambda: self.observer.measure(self.reference)
            )
        self._kernels = self._profile.kernels  # also for a given patch, which nothing is diagnosed for
        return self._profile

    def diagnose(self, profile: ApplicationProfile) -> None:
        """What the top N show, by what could be gained for the whole application."""
        self._kernels = profile.kernels
        with self.stage("diagnose"):
            self.findings = ranked(self.observer.diagnosed(profile.kernels, told=True))
            self._process = self.journal.stage("process", Process, self._whole_process)
        if told := unseen(self._process, self.formula, self.backend):
            self.note(told)
        narrowed = len({self.formula.of(finding).name for finding in self.findings} | {self.formula.name}) == 1
        self._agenda = Agenda(1.0 if narrowed else WORTHWHILE)
        self._agenda.renew(self.findings)
        if self.recordings is not None:
            self.recordings.expect([finding.profile for finding in self._agenda.open()])
        if not self.findings:
            self.journal.event("finding", sentence=None)

    def _whole_process(self) -> Process:
        return observe(self.backend, self.formula, self.reference, self.settings.run_deadline_s)

    def locate_all(self) -> None:
        """The lines of every finding, for a run that changes nothing."""
        told = []
        with self.stage("locate"):
            for number, finding in enumerate(self.findings, 1):
                located = self._located(number, finding)
                home = tuple(evidence_at_home(item, self.reference.workspace) for item in located.evidence)
                told.append(Diagnosis(finding, home, note=located.reason))
        self._told = tuple(told)
        if told:
            self.journal.event("finding", sentence=told[0].finding.sentence)

    def next_target(self) -> Target | None:
        """The most promising finding that is still open and has lines in the project's sources.

        Raises `SourceNotFound` where the run has nothing to pursue because none has.
        """
        reasons: list[str] = []
        for finding in self._agenda.open():
            self._agenda.close(finding)
            with self.stage("locate"):
                located = self._located(len(self._agenda.closed), finding)
            if located.evidence:
                return self.adopt(finding, located.evidence, self._as_found(finding, located.evidence))
            reasons.append(located.reason)
            self._agenda.close(finding, f"no source line: {located.reason}")
            self.note(f"no source line for {located.reason}")
        if reasons and not self.targets:
            more = f" (and {len(reasons) - 1} further findings likewise)" if len(reasons) > 1 else ""
            raise SourceNotFound(reasons[0] + more)
        return None

    def _located(self, number: int, finding: Finding) -> Located:
        """`number` counts the findings that were looked up, in a fixed order: a resumed run reads them back."""

        def look() -> Located:
            try:
                return Located(self._blame(finding), "")
            except SourceNotFound as error:
                home = str(self.application.project)
                return Located((), str(error).replace(str(self.best.workspace.tree), home))

        return self.journal.stage(f"located-{number:03d}", Located, look)

    def _blame(self, finding: Finding) -> tuple[SourceEvidence, ...]:
        """The lines of the best version; by recorded launches where the application has not run it yet."""
        unmet = met_recordings_alone(self.attempts)
        return self.observer.blame(self.best, finding, self.reference if unmet else None)

    def _as_found(self, finding: Finding, evidence: tuple[SourceEvidence, ...]) -> tuple[SourceEvidence, ...]:
        """The lines as the user has them: those of the original, where it showed the finding already."""
        version = self.best
        if version is not self.reference and key_of(finding) in {key_of(known) for known in self.findings}:
            try:
                version, evidence = self.reference, self.observer.blame(self.reference, finding)
            except SourceNotFound:
                return ()
        return tuple(evidence_at_home(item, version.workspace) for item in evidence)

    def adopt(
        self,
        finding: Finding,
        evidence: tuple[SourceEvidence, ...] = (),
        told: tuple[SourceEvidence, ...] = (),
    ) -> Target:
        """Begin to pursue a finding; also one that was given, as the kernel of a patch under verification."""
        target = Target(finding, finding, evidence, told, self.best)
        self.targets.append(target)
        self.journal.event("finding", sentence=finding.sentence)
        return target

    def note(self, text: str) -> None:
        """For the report, and said at once."""
        self.notes.append(text)
        self.journal.event("note", text=text)

    def may_continue(self, rewriter: Rewriter, target: Target) -> bool:
        if rewriter.name == "rules":
            return True
        # A judge accepts no less, so that no model is paid for a finding that promises less.
        promising = target.kernel_ceiling >= self.backend.probe().least_gain
        return promising and self.left(rewriter, target) > 0

    def left(self, rewriter: Rewriter, target: Target) -> int:
        own = [attempt for attempt in target.attempts if rewriter_of(attempt) == rewriter.name]
        return self.settings.num_attempts - len(own)

    def check_budget(self) -> None:
        """Raises `BudgetExhausted` where the minutes are spent."""
        limit = self.settings.budget_minutes
        if limit is not None and time.monotonic() - self._started > limit * 60:
            raise BudgetExhausted(f"the budget of {limit:g} minutes is spent")

    def task(self, target: Target) -> Task:
        best, formula = self.best, self.formula.of(target.current)
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
                for finding in self._agenda.findings
                if finding.profile.kernel.symbol == target.current.profile.kernel.symbol
                and finding.formula != target.current.formula
            ),
            command=self.application.command,
            compiled=jitfacts.facts(best, target.current.profile.kernel, target.evidence),
        )

    def accept(self, version: Version, target: Target, profile: ApplicationProfile | None) -> None:
        """It is the best version now; `profile`: as it was measured for its verdict."""
        self._best = target.after = version
        self._shown = profile

    def judged(self, candidate: Candidate, task: Task, index: int) -> tuple[Verdict, list[Version]]:
        """The verdict, and the versions that were built for it."""
        versions: list[Version] = []

        def build() -> tuple[Version, Built]:
            version, built = self._build_on_best(candidate, index)
            versions.append(version)
            if built.ok:
                self.read_ahead(version)
            return version, built

        logs = self.journal.attempt_directory(index)
        with self.stage("validate", attempt=index, origin=candidate.origin.name):
            verdict = self.judge(candidate, task.finding, task.evidence, self.reference, self.best, build, logs)
            return self._watched(verdict, task.finding, versions), versions

    def _watched(self, verdict: Verdict, finding: Finding, versions: Sequence[Version]) -> Verdict:
        """With the formula's own metric, where the candidate came as far as its timing."""
        self.remeasured = None
        if verdict.outcome not in _TIMED or not versions:
            return verdict
        self.remeasured = self._counted(versions[-1], finding, verdict.on_recordings)
        return self.observer.watched(verdict, finding, self.remeasured)

    def _counted(self, version: Version, finding: Finding, on_recordings: bool) -> ApplicationProfile:
        """The profile of another version; by recorded launches where these decided, and the application did not run."""
        own = of_kernel(self._profile, finding) if self._profile and on_recordings else []
        if not own:
            return self.observer.counted(version, finding)
        return self.observer.recounted((self.reference, version), finding, own[0], self._kernels)

    def still_shows(self, target: Target) -> bool:
        """Does the best version still show the bottleneck? Brings the agenda, finding and lines up to date."""
        with self.stage("profile"):
            index = len(self.attempts)
            alone = met_recordings_alone([attempt for attempt in self.attempts if attempt.accepted][-1:])
            again = self.journal.stage(
                f"profile-{index:03d}",
                ApplicationProfile,
                lambda: self._shown or self._counted(self.best, target.current, alone),
            )
        self._kernels = tuple(renewed(kernel, again, target.current) for kernel in self._kernels)
        found = self.observer.diagnosed([kernel for kernel in self._kernels if kernel.dispatches])
        self._agenda.renew(found)
        symbol, formula = target.current.profile.kernel.symbol, target.current.formula
        same = [f for f in found if f.formula == formula and f.profile.kernel.symbol == symbol]
        if not same:
            return False
        target.current = same[0]
        try:
            target.evidence = self._blame(target.current)
        except SourceNotFound as error:
            self.note(f"after the accepted change: {error}")
        return True

    def ending(self) -> Ending:
        if any(attempt.accepted for attempt in self.attempts):
            return Ending.IMPROVED
        if any(attempt.origin.kind is OriginKind.USER for attempt in self.attempts):
            return Ending.REFUSED
        if self.targets:
            return Ending.NO_ACCEPTED_CANDIDATE
        return Ending.DIAGNOSED if self.settings.diagnose_only else Ending.NOTHING_TO_IMPROVE

    def finish(self, ending: Ending | None = None, note: str | None = None) -> Report:
        """Judge all accepted changes together, measure the final version anew and put the report together."""
        whole = self._settled()
        with self.stage("time") if self._best is not None else contextlib.nullcontext():
            together = (self.reference, self.best) if whole is not None else None
            timing = final_timing(self.backend, self.targets, self.settings.run_deadline_s, together)
        home = self.reference.workspace
        main = main_target(self.targets)
        told = tuple(
            diagnosis_at_home(item, home) for item in self._told or diagnoses(self.findings, self.targets, self._agenda)
        )
        first = next(iter(told), None)
        profile = self._profile
        accepted = [attempt.index for attempt in self.attempts if attempt.accepted]
        seconds = time.monotonic() - self._started
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
            ending=ending or self.ending(),
            profiles=tuple(profile_at_home(kernel, home) for kernel in profile.kernels) if profile else (),
            other_time=profile.other_time if profile else (),
            finding=finding_at_home(main.finding, home) if main else first.finding if first else None,
            evidence=main.told if main else first.evidence if first else (),
            attempts=tuple(self.attempts),
            accepted=accepted[-1] if accepted else None,
            measurements=timing.measurements,
            patch=unified_diff(self.builder().originals(self.best.edits), self.best.edits),
            usage=total_usage(self.attempts),
            not_checked=not_checked(self.attempts, whole),
            notes=(*self.notes, *(profile.notes if profile else ()), *timing.notes, *filter(None, [note])),
            stage_seconds=dict(self._stage_seconds),
            diagnoses=told,
            whole=whole,
            series=series(self.builder().originals(self.best.edits), [a for a in self.attempts if a.accepted]),
            process=self._process.findings,
            process_time=self._process.time,
            after=improved_kernels(self.targets),
            lines_before=lines_of(self.backend, self.reference, self.targets, self.settings.run_deadline_s),
            lines_after=lines_of(self.backend, self.best, self.targets, self.settings.run_deadline_s),
        )
        for version in {id(one): one for one in (self.reference, self.best)}.values():
            self.discard(version)
        return report

    def _settled(self) -> Verdict | None:
        """The judgement of all accepted changes together, where recorded dispatches alone accepted one of them."""
        if self.recordings is None or not met_recordings_alone(self.attempts):
            return None
        settling = Settling(self.journal, self.recordings, self.builder().originals, self._build_whole)
        with self.stage("confirm"):
            settled = settling.settle(self.reference, self.best, self.attempts, self.targets)
        self.attempts = [settled.changed.get(attempt.index, attempt) for attempt in self.attempts]
        for target in self.targets:
            target.attempts = [settled.changed.get(attempt.index, attempt) for attempt in target.attempts]
            target.after = target.after if target.accepted else None
        self._best = settled.best
        return settled.verdict

    def _build_whole(self, edits: tuple[FileEdit, ...], name: str) -> tuple[Version, Built]:
        return self.builder().build(
            self.journal.directory / "work" / name, edits, self.journal.directory / "whole" / name
        )

    # ---- scratch copies ---------------------------------------------------------------------

    def builder(self) -> Builder:
        return Builder(self.application, self.backend, self.settings.build_deadline_s, self.while_building)

    def _build_on_best(self, candidate: Candidate, index: int) -> tuple[Version, Built]:
        """The candidate on top of the best accepted version, with what both declare."""
        root = self.journal.directory / "work" / f"{index:03d}"
        builder, best = self.builder(), self.best
        version, built = builder.build(root, builder.stacked(best, candidate), self.journal.attempt_directory(index))
        return dataclasses.replace(version, declares=best.declares.joined(candidate.declares)), built

    def restored(self, kept: Attempt, target: Target) -> Attempt:
        """An attempt of an earlier process of this run; an accepted one is built again."""
        self.attempts.append(kept)
        target.attempts.append(kept)
        self._shown = None
        if kept.accepted and kept.candidate is not None:
            version, built = self._build_on_best(kept.candidate, kept.index)
            if not built.ok:
                raise BuildFailed(f"attempt {kept.index} was accepted but no longer builds: {built.errors[0]}")
            self._best = target.after = version
        return kept

    def keep(self, attempt: Attempt, target: Target) -> Attempt:
        self.journal.keep_attempt(attempt)
        self.attempts.append(attempt)
        target.attempts.append(attempt)
        verdict, declined = attempt.verdict, attempt.declined
        self.journal.event(
            "attempt",
            index=attempt.index,
            origin=attempt.origin.name,
            outcome=verdict.outcome if verdict else "DECLINED",
            detail=verdict.detail if verdict else declined.reason if declined else "",
        )
        return attempt

    def discard(self, version: Version) -> None:
        if not self.settings.keep_work:
            version.workspace.remove()
