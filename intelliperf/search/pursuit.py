"""What the best version shows, which finding is pursued next, and what an accepted change has left of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from intelliperf.errors import FAILS_ALONE, IntelliPerfError, SourceNotFound
from intelliperf.project.versions import Version, evidence_at_home
from intelliperf.protocols import ApplicationProfile, Backend, Formula
from intelliperf.records import Attempt, Diagnosis, Finding, Kernel, KernelProfile, Outcome, SourceEvidence, Verdict
from intelliperf.search.agenda import WORTHWHILE, Agenda, Located, Target, key_of, ranked
from intelliperf.search.building import Versions
from intelliperf.search.observer import Observer, Recordings, RunSettings, of_kernel, renewed
from intelliperf.search.settling import met_recordings_alone
from intelliperf.search.stages import Stages
from intelliperf.search.wholeprocess import Process, observe, unseen
from intelliperf.sentences import NOT_TO_PATCH

_TIMED = (Outcome.ACCEPTED, Outcome.NOT_FASTER, Outcome.SLOWER_OVERALL, Outcome.IMPLAUSIBLE)


@dataclass
class Pursuit:
    """`attempts`: all of the run so far, which grows as they are made."""

    settings: RunSettings
    backend: Backend
    formula: Formula
    stages: Stages
    versions: Versions
    attempts: Sequence[Attempt]
    recordings: Recordings | None = None
    findings: tuple[Finding, ...] = ()  # of the original, by what could be gained
    targets: list[Target] = field(default_factory=list)
    agenda: Agenda = field(default_factory=lambda: Agenda(WORTHWHILE))
    located: tuple[Diagnosis, ...] = ()  # every finding with its lines, of a run that changes nothing
    process: Process = Process()
    original: ApplicationProfile | None = None
    remeasured: ApplicationProfile | None = None  # of the candidate that was judged last …
    shown: ApplicationProfile | None = None  # … and of the one that was accepted last
    nothing_to_patch: bool = False  # findings are left, all of kernels that a compiler made as the program ran
    failures: list[IntelliPerfError] = field(default_factory=list)  # of findings whose lines could not be asked for
    counts_last: bool = False  # nobody asks for a candidate's counters before the end
    _kernels: tuple[KernelProfile, ...] = ()  # of the best version

    def __post_init__(self) -> None:
        self.observer = Observer(self.settings, self.backend, self.formula, self.stages.note, self.recordings)

    def profile(self) -> ApplicationProfile:
        """The original's kernels with their counters."""
        with self.stages.stage("profile"):
            self.original = self.versions.journal.stage(
                "profile", ApplicationProfile, lambda: self.observer.measure(self.versions.original)
            )
        self._kernels = self.original.kernels  # also for a given patch, which nothing is diagnosed for
        return self.original

    def diagnose(self, profile: ApplicationProfile) -> None:
        """What the top N show, by what could be gained for the whole application."""
        self._kernels, journal = profile.kernels, self.versions.journal
        with self.stages.stage("diagnose"):
            self.findings = ranked(self.observer.diagnosed(profile.kernels, told=True))
            self.process = journal.stage("process", Process, self._whole_process)
        if told := unseen(self.process, self.formula, self.backend):
            self.stages.note(told)
        narrowed = len({self.formula.of(finding).name for finding in self.findings} | {self.formula.name}) == 1
        self.agenda = Agenda(1.0) if narrowed else Agenda(WORTHWHILE, self.backend.probe().least_gain)
        self.agenda.renew(self.findings)
        if self.recordings is not None:
            self.recordings.expect([finding.profile for finding in self.agenda.open()])
        if not self.findings:
            journal.event("finding", sentence=None)

    def _whole_process(self) -> Process:
        return observe(self.backend, self.formula, self.versions.original, self.settings.run_deadline_s)

    def locate_all(self) -> None:
        """The lines of every finding, for a run that changes nothing. Raises what failed where that is all of them."""
        told = []
        with self.stages.stage("locate"):
            for number, finding in enumerate(self.findings, 1):
                found = self._located_or_why_not(number, finding)
                home = tuple(evidence_at_home(item, self.versions.original.workspace) for item in found.evidence)
                told.append(Diagnosis(finding, home, note=found.reason))
        self.located = tuple(told)
        if told and len(self.failures) == len(told):
            raise self.failures[0]
        if told:
            self.versions.journal.event("finding", sentence=told[0].finding.sentence)

    def next_target(self) -> Target | None:
        """The most promising finding that is still open and has lines in the project's sources.

        Raises `SourceNotFound` where the run has nothing to pursue because none has, unless compilers made all of them.
        """
        reasons: list[str] = []
        for finding in self.agenda.open():
            self.agenda.close(finding)
            with self.stages.stage("locate"):
                located = self._located_or_why_not(len(self.agenda.closed), finding)
            if located.evidence:
                return self.adopt(finding, located.evidence, self._as_found(finding, located.evidence))
            reasons.append(located.reason)
            self.agenda.close(finding, f"no source line: {located.reason}")
            self.stages.note(f"no source line for {located.reason}")
        self.nothing_to_patch = bool(reasons) and all(NOT_TO_PATCH in reason for reason in reasons)
        if reasons and not self.targets and not self.nothing_to_patch:
            more = f" (and {len(reasons) - 1} further findings likewise)" if len(reasons) > 1 else ""
            raise SourceNotFound(reasons[0] + more)
        return None

    def adopt(
        self,
        finding: Finding,
        evidence: tuple[SourceEvidence, ...] = (),
        told: tuple[SourceEvidence, ...] = (),
    ) -> Target:
        """Begin to pursue a finding; also one that was given, as the kernel of a patch under verification."""
        target = Target(finding, finding, evidence, told, self.versions.best)
        self.targets.append(target)
        self.versions.journal.event("finding", sentence=finding.sentence)
        return target

    def watched(self, verdict: Verdict, finding: Finding, built: Sequence[Version]) -> Verdict:
        """With the formula's own metric, where the candidate came as far as its timing."""
        self.remeasured = None
        if verdict.outcome not in _TIMED or not built:
            return verdict
        if self.counts_last and verdict.accepted and verdict.on_recordings:
            return verdict
        self.remeasured = self._counted(built[-1], finding, verdict.on_recordings)
        return self.observer.watched(verdict, finding, self.remeasured)

    def counted_at_last(self, target: Target | None) -> tuple[KernelProfile, ...]:
        """The improved kernel in the final version, where nobody asked for its counters before."""
        if target is None or target.after is None or not self.counts_last:
            return ()
        try:
            return tuple(of_kernel(self._counted(self.versions.best, target.finding, self._is_long), target.finding))
        except FAILS_ALONE:  # no reason to lose a report
            return ()

    def lines(self, version: Version, kernel: Kernel) -> tuple[SourceEvidence, ...]:
        """Raises as `Backend.lines`."""
        return self.observer.lines(version, kernel, self.versions.original if self._is_long else None)

    @property
    def _is_long(self) -> bool:
        return self.backend.is_long(self.versions.original.application)

    def still_shows(self, target: Target) -> bool:
        """Does the best version still show the bottleneck? Brings the agenda, finding and lines up to date."""
        with self.stages.stage("profile"):
            index = len(self.attempts)
            alone = met_recordings_alone([attempt for attempt in self.attempts if attempt.accepted][-1:])
            again = self.versions.journal.stage(
                f"profile-{index:03d}",
                ApplicationProfile,
                lambda: self.shown or self._counted(self.versions.best, target.current, alone),
            )
        self._kernels = tuple(renewed(kernel, again, target.current) for kernel in self._kernels)
        found = self.observer.diagnosed([kernel for kernel in self._kernels if kernel.dispatches])
        self.agenda.renew(found)
        symbol, formula = target.current.profile.kernel.symbol, target.current.formula
        same = [f for f in found if f.formula == formula and f.profile.kernel.symbol == symbol]
        if not same:
            return False
        target.current = same[0]
        try:
            target.evidence = self._blame(target.current)
        except SourceNotFound as error:
            self.stages.note(f"after the accepted change: {error}")
        return True

    def _located_or_why_not(self, number: int, finding: Finding) -> Located:
        """As `_located`; what fails for one finding leaves the others."""
        try:
            return self._located(number, finding)
        except FAILS_ALONE as error:
            self.failures.append(error)
            return Located((), f"{finding.profile.kernel.name}: {error}")

    def _located(self, number: int, finding: Finding) -> Located:
        """`number` counts the findings that were looked up, in a fixed order: a resumed run reads them back."""

        def look() -> Located:
            try:
                return Located(self._blame(finding), "")
            except SourceNotFound as error:
                home = str(self.versions.application.project)
                return Located((), str(error).replace(str(self.versions.best.workspace.tree), home))

        return self.versions.journal.stage(f"located-{number:03d}", Located, look)

    def _blame(self, finding: Finding) -> tuple[SourceEvidence, ...]:
        """The lines of the best version; by recorded launches where the application has not run it yet."""
        by_replay = met_recordings_alone(self.attempts) or self._is_long
        return self.observer.blame(self.versions.best, finding, self.versions.original if by_replay else None)

    def _as_found(self, finding: Finding, evidence: tuple[SourceEvidence, ...]) -> tuple[SourceEvidence, ...]:
        """The lines as the user has them: those of the original, where it showed the finding already."""
        version, original = self.versions.best, self.versions.original
        if version is not original and key_of(finding) in {key_of(known) for known in self.findings}:
            try:
                version, evidence = original, self.observer.blame(original, finding)
            except SourceNotFound:
                return ()
        return tuple(evidence_at_home(item, version.workspace) for item in evidence)

    def _counted(self, version: Version, finding: Finding, on_recordings: bool) -> ApplicationProfile:
        """The profile of another version; by recorded launches where these decided, and the application did not run."""
        own = of_kernel(self.original, finding) if self.original and on_recordings else []
        if not own:
            return self.observer.counted(version, finding)
        return self.observer.recounted((self.versions.original, version), finding, own[0], self._kernels)
