"""One run: its settings, its journal, its scratch copies, and the stages that the main loop calls."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from intelliperf import __version__
from intelliperf.errors import (
    ApplicationFailed,
    BudgetExhausted,
    BuildFailed,
    MissingMetric,
    SourceNotFound,
    UsageError,
)
from intelliperf.frozen import record
from intelliperf.project.builder import Builder
from intelliperf.project.diff import unified_diff
from intelliperf.project.journal import Journal
from intelliperf.project.scratch import Built
from intelliperf.project.versions import Version, evidence_at_home, profile_at_home, sources
from intelliperf.protocols import ApplicationProfile, Backend, Formula, Rewriter, Task, Timing
from intelliperf.records import (
    SCHEMA_VERSION,
    Application,
    Attempt,
    Candidate,
    Ending,
    Finding,
    KernelProfile,
    Outcome,
    Report,
    SourceEvidence,
    Verdict,
    content_hash,
)
from intelliperf.tally import not_checked, origin_name, rewriter_of, total_usage

_TIMED = (Outcome.ACCEPTED, Outcome.NOT_FASTER, Outcome.SLOWER_OVERALL, Outcome.IMPLAUSIBLE)
_WORTH_A_NOTE = 1.01  # gain of the whole: of kernels beside the one that was diagnosed
STARTED = "started"  # a file of the run directory: the build has begun


@record(frozen=True)
class Settings:
    """What the user chose. All deadlines are seconds."""

    formula: str = "diagnoseOnly"
    kernel: str | None = None  # regular expression on the display name
    top_n: int = 10
    num_attempts: int = 10  # of the model
    diagnose_only: bool = False
    build_deadline_s: float = 900.0
    run_deadline_s: float = 300.0
    budget_minutes: float | None = None
    keep_work: bool = False


@record(frozen=True)
class Located:
    """Which of the findings was pinned to source lines, and why those before it were not."""

    finding: int
    evidence: tuple[SourceEvidence, ...]
    passed_over: tuple[str, ...]


class Judge(Protocol):
    """Judges one candidate; wired to the validation package by the command line."""

    def __call__(
        self,
        candidate: Candidate,
        finding: Finding,
        evidence: Sequence[SourceEvidence],
        reference: Version,
        baseline: Version,
        build: Callable[[], tuple[Version, Built]],
        logs: Path,
    ) -> Verdict: ...


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
    while_building: Callable[[], None] = lambda: None  # called before each build, in which this process is idle
    read_ahead: Callable[[Version], None] = lambda state: None  # called with each version whose sources a rule may want
    notes: list[str] = field(default_factory=list)
    _attempts: list[Attempt] = field(default_factory=list)
    _profile: ApplicationProfile | None = None
    _finding: Finding | None = None
    _evidence: tuple[SourceEvidence, ...] = ()
    _started: float = field(default_factory=time.monotonic)
    _stage_seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str, **details: object) -> Iterator[None]:
        """Announces the stage and keeps its wall time."""
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
            state, built = self._builder().build(work, (), self.journal.directory / "build")
        if not built.completed.ok:
            raise BuildFailed(built.complaint())
        if not state.compile_arguments:
            raise BuildFailed(
                "the build compiled no GPU source with our hipcc, nvcc or clang++: does it call a compiler by its "
                "absolute path, or is everything up to date? Give the whole build with -b"
            )
        if not built.ok:
            raise BuildFailed(f"{built.errors[0]}: is the program's name right?")
        self._refuse_other_sources(state)
        return state

    def _refuse_other_sources(self, state: Version) -> None:
        """A resumed run goes on with the sources that it began with, or not at all."""
        now = {path: content_hash(text) for path, text in sources(state, ()).items()}
        before = self.journal.stage("sources", dict[str, str], lambda: now)
        changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
        if changed:
            raise UsageError(f"{changed[0]} is not what it was when this run began: start a new run")

    def profile(self, reference: Version) -> ApplicationProfile:
        self.read_ahead(reference)
        with self.stage("profile"):
            self._profile = self.journal.stage("profile", ApplicationProfile, lambda: self._measure(reference))
        return self._profile

    def _measure(self, state: Version) -> ApplicationProfile:
        deadline = self.settings.run_deadline_s
        profile = self.backend.profile(state.application, deadline)
        if not profile.kernels:
            raise ApplicationFailed("the program ran no GPU kernel: nothing to profile")
        top = [kernel for kernel in profile.kernels if self._wanted(kernel)][: self.settings.top_n]
        if not top:
            names = ", ".join(sorted({kernel.kernel.name for kernel in profile.kernels}))
            raise UsageError(f"no kernel matches --kernel {self.settings.kernel}; it ran: {names}")
        return dataclasses.replace(profile, kernels=self.backend.quantities(state.application, top, deadline))

    def _wanted(self, profile: KernelProfile) -> bool:
        pattern = self.settings.kernel
        if pattern is None:
            return True
        return pattern == profile.kernel.symbol or re.search(pattern, profile.kernel.name) is not None

    def diagnose(self, profile: ApplicationProfile) -> tuple[Finding, ...]:
        """Those of the top N that show the formula's bottleneck, by falling device time."""
        with self.stage("diagnose"):
            found = self._diagnosed(profile.kernels)
        if not any(found):
            self.journal.event("finding", sentence=None)
        return tuple(finding for finding in found if finding is not None)

    def _diagnosed(self, kernels: Sequence[KernelProfile]) -> list[Finding | None]:
        """Kernels that lack a quantity are passed over with a note. Raises `MissingMetric` where all do."""
        device = self.backend.probe()
        found: list[Finding | None] = []
        missing: list[str] = []
        for kernel in kernels:
            try:
                found.append(self.formula.diagnose(kernel, device))
            except MissingMetric as error:
                missing.append("; ".join([str(error), *kernel.notes]))
        if missing and not found:
            raise MissingMetric(missing[0])
        for reason in missing:
            self.note(f"not diagnosed: {reason}")
        return found

    def adopt(self, finding: Finding) -> Finding:
        """A finding that was not diagnosed but given: the kernel of a patch under verification."""
        self._finding = finding
        self.journal.event("finding", sentence=finding.sentence)
        return finding

    def ending_without_finding(self) -> Ending:
        return Ending.DIAGNOSED if self.settings.diagnose_only else Ending.NOTHING_TO_IMPROVE

    def locate(self, state: Version, findings: Sequence[Finding]) -> tuple[Finding, tuple[SourceEvidence, ...]]:
        """The first finding that can be pinned to the project's source; those of libraries are passed over.

        Raises `SourceNotFound` where none can.
        """
        with self.stage("locate"):
            located = self.journal.stage("located", Located, lambda: self._first_located(state, findings))
        for reason in located.passed_over:
            self.note(f"no source line for {reason}")
        self._evidence = located.evidence
        if self.settings.diagnose_only:
            for finding in (*findings[: located.finding], *findings[located.finding + 1 :]):
                if finding.gain_ceiling >= _WORTH_A_NOTE:
                    self.note(f"{finding.profile.kernel.name} shows {finding.formula}: {finding.sentence}")
        return self.adopt(findings[located.finding]), located.evidence

    def _first_located(self, state: Version, findings: Sequence[Finding]) -> Located:
        reasons: list[str] = []
        for number, finding in enumerate(findings):
            try:
                return Located(number, self._blame(state, finding), tuple(reasons))
            except SourceNotFound as error:
                reasons.append(str(error).replace(str(state.workspace.tree), str(self.application.project)))
        if self.settings.diagnose_only:
            return Located(0, (), tuple(reasons[:1]))
        more = f" (and so with {len(reasons) - 1} further kernels)" if len(reasons) > 1 else ""
        raise SourceNotFound(reasons[0] + more)

    def _blame(self, state: Version, finding: Finding) -> tuple[SourceEvidence, ...]:
        lines = self.backend.lines(state.application, finding.profile.kernel, self.settings.run_deadline_s)
        for note in self.backend.line_notes():
            if note not in self.notes:
                self.note(note)
        blamed = self.formula.of(finding).blame(lines)
        if self.settings.diagnose_only:
            return blamed or self.formula.blame(lines)
        if not blamed:
            raise SourceNotFound(f"{finding.profile.kernel.name}: no line of the project causes the {finding.formula}")
        written = tuple(item for item in blamed if state.holds(item.file))
        if not written:
            place = f"{state.workspace.outside(blamed[0].file)}:{blamed[0].line}"
            raise SourceNotFound(f"{finding.profile.kernel.name}: {place} is made by the build, not a source to edit")
        return written

    def relocate(
        self, state: Version, finding: Finding, evidence: tuple[SourceEvidence, ...]
    ) -> tuple[SourceEvidence, ...]:
        """Lines move with an accepted edit; the old ones serve if the new ones cannot be had."""
        try:
            return self._blame(state, finding)
        except SourceNotFound as error:
            self.note(f"after the accepted change: {error}")
            return evidence

    def note(self, text: str) -> None:
        """For the report, and said at once."""
        self.notes.append(text)
        self.journal.event("note", text=text)

    def may_continue(self, rewriter: Rewriter, attempts: Sequence[Attempt]) -> bool:
        own = [a for a in attempts if rewriter_of(a) == rewriter.name]
        return rewriter.name == "rules" or len(own) < self.settings.num_attempts

    def check_budget(self) -> None:
        """Raises `BudgetExhausted` where the minutes are spent."""
        limit = self.settings.budget_minutes
        if limit is not None and time.monotonic() - self._started > limit * 60:
            raise BudgetExhausted(f"the budget of {limit:g} minutes is spent")

    def task(self, best: Version, finding: Finding, evidence: tuple[SourceEvidence, ...]) -> Task:
        return Task(
            finding=finding,
            evidence=evidence,
            device=self.backend.probe(),
            sources=sources(best, evidence),
            compile_arguments=best.compile_arguments,
            project=best.workspace.tree,
            knowledge=self.formula.knowledge,
            rules=self.formula.rules,
        )

    def attempt(
        self, rewriter: Rewriter, task: Task, attempts: Sequence[Attempt], reference: Version, best: Version
    ) -> tuple[Attempt | None, Version | None]:
        """One proposal, judged. The state is given where it was accepted."""
        index = len(attempts) + 1
        kept = self.journal.attempt(index)
        if kept is not None:
            return kept, self._restore(kept, best)
        with self.stage("propose", attempt=index, rewriter=rewriter.name):
            proposal = rewriter.propose(task, attempts)
        if proposal is None:
            return None, None
        if proposal.candidate is None:
            attempt = Attempt(index, None, None, proposal.declined, proposal.usage)
            return self._keep(attempt), None
        candidate = proposal.candidate
        states: list[Version] = []
        logs = self.journal.attempt_directory(index)

        def build() -> tuple[Version, Built]:
            state, built = self._build_on(best, candidate, index)
            states.append(state)
            if built.ok:
                self.read_ahead(state)
            return state, built

        with self.stage("validate", attempt=index, origin=candidate.origin.name):
            verdict = self.judge(candidate, task.finding, task.evidence, reference, best, build, logs)
            verdict = self._watched(verdict, task.finding, states)
        diff = unified_diff({e.path: task.sources.get(e.path, "") for e in candidate.edits}, candidate.edits)
        attempt = self._keep(Attempt(index, candidate, verdict, None, proposal.usage, diff))
        if verdict.accepted:
            return attempt, states[-1]
        for state in states:
            self._discard(state)
        return attempt, None

    def _watched(self, verdict: Verdict, finding: Finding, states: Sequence[Version]) -> Verdict:
        """The verdict with the formula's own metric before and after, where the candidate came as far as its timing."""
        if verdict.outcome not in _TIMED or not states:
            return verdict
        counted = self._counted(states[-1], finding)
        if len(counted) != 1:
            return verdict
        try:
            before, after = self.formula.value(finding.profile), self.formula.value(counted[0])
        except MissingMetric:
            return verdict
        return dataclasses.replace(verdict, metric_before=before, metric_after=after)

    def _counted(self, state: Version, finding: Finding) -> tuple[KernelProfile, ...]:
        """The finding's kernel in another version of the project, with what formulas need."""
        profile = self.backend.profile(state.application, self.settings.run_deadline_s)
        same = [k for k in profile.kernels if k.kernel.symbol == finding.profile.kernel.symbol]
        return self.backend.quantities(state.application, same, self.settings.run_deadline_s)

    def still_shows(self, finding: Finding, best: Version) -> bool:
        """Does the kernel of the finding still show the bottleneck in the accepted state?"""
        with self.stage("profile"):
            counted = self._counted(best, finding)
        return any(self.formula.diagnose(kernel, self.backend.probe()) is not None for kernel in counted)

    def finish(self, ending: Ending, reference: Version, best: Version, note: str | None = None) -> Report:
        """Measure the final state anew and put the report together."""
        timing = Timing(())
        if best is not reference and self._finding is not None:
            with self.stage("time"):
                kernel = self._finding.profile.kernel
                timing = self.backend.time(
                    reference.application, best.application, kernel, self.settings.run_deadline_s
                )
        accepted = [a.index for a in self._attempts if a.verdict is not None and a.verdict.accepted]
        report = Report(
            schema_version=SCHEMA_VERSION,
            tool_version=__version__,
            run_id=self.journal.run_id,
            started_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - time.monotonic() + self._started)),
            seconds=round(time.monotonic() - self._started, 3),
            application=self.application,
            device=self.backend.probe(),
            backend=self.backend.name,
            formula=self.formula.name,
            ending=ending,
            profiles=tuple(profile_at_home(p, reference.workspace) for p in self._profile.kernels)
            if self._profile
            else (),
            finding=dataclasses.replace(
                self._finding, profile=profile_at_home(self._finding.profile, reference.workspace)
            )
            if self._finding
            else None,
            evidence=tuple(evidence_at_home(item, reference.workspace) for item in self._evidence),
            attempts=tuple(self._attempts),
            accepted=accepted[-1] if accepted else None,
            measurements=timing.measurements,
            patch=unified_diff(self._builder().originals(best.edits), best.edits),
            usage=total_usage(self._attempts),
            not_checked=not_checked(self._attempts),
            notes=(*self.notes, *(self._profile.notes if self._profile else ()), *timing.notes, *filter(None, [note])),
            stage_seconds=dict(self._stage_seconds),
        )
        if not self.settings.keep_work:
            for state in {id(reference): reference, id(best): best}.values():
                self._discard(state)
        return report

    # ---- scratch copies ---------------------------------------------------------------------

    def _builder(self) -> Builder:
        return Builder(self.application, self.backend, self.settings.build_deadline_s, self.while_building)

    def _build_on(self, best: Version, candidate: Candidate, index: int) -> tuple[Version, Built]:
        """The candidate on top of the best accepted state, with what both declare."""
        root = self.journal.directory / "work" / f"{index:03d}"
        builder = self._builder()
        state, built = builder.build(root, builder.stacked(best, candidate), self.journal.attempt_directory(index))
        return dataclasses.replace(state, declares=best.declares.joined(candidate.declares)), built

    def _restore(self, kept: Attempt, best: Version) -> Version | None:
        """The state of an attempt that an earlier process of this run accepted."""
        self._attempts.append(kept)
        if kept.verdict is None or not kept.verdict.accepted or kept.candidate is None:
            return None
        state, built = self._build_on(best, kept.candidate, kept.index)
        if not built.ok:
            raise BuildFailed(f"attempt {kept.index} was accepted but does not build any more: {built.errors[0]}")
        return state

    def _keep(self, attempt: Attempt) -> Attempt:
        self.journal.keep_attempt(attempt)
        self._attempts.append(attempt)
        verdict, declined = attempt.verdict, attempt.declined
        self.journal.event(
            "attempt",
            index=attempt.index,
            origin=origin_name(attempt),
            outcome=verdict.outcome if verdict else "DECLINED",
            detail=verdict.detail if verdict else declined.reason if declined else "",
        )
        return attempt

    def _discard(self, state: Version) -> None:
        if not self.settings.keep_work:
            state.workspace.remove()
