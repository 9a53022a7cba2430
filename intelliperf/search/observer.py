"""What a backend is asked about a version of the project, and what the formula makes of the answers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from intelliperf.errors import ApplicationFailed, MissingMetric, SourceNotFound, UsageError
from intelliperf.profiling.ranking import without
from intelliperf.project.versions import Version
from intelliperf.protocols import ApplicationProfile, Backend, Formula
from intelliperf.records import (
    Application,
    Candidate,
    Finding,
    Geometry,
    Kernel,
    KernelProfile,
    Metric,
    Scope,
    SourceEvidence,
    Verdict,
)
from intelliperf.sentences import NOT_TO_PATCH, why_not_to_patch

_SHORT_S = 5.0  # a run of an application that takes less is made for each variant of a candidate


@dataclass(frozen=True)
class RunSettings:
    """What the user chose. All timeouts are in seconds."""

    formula: str = "all"
    kernel: str | None = None  # regular expression on the display name
    top_n: int = 10
    num_attempts: int = 10  # of the model, for each finding
    parallel: int = 1  # proposals of the model that are asked for at the same time
    diagnose_only: bool = False
    build_deadline_s: float = 900.0
    run_deadline_s: float = 300.0
    budget_minutes: float | None = None
    keep_work: bool = False


class Recordings(Protocol):
    """Recorded launches in place of the application, and the judgement of the whole."""

    def expect(self, kernels: Iterable[KernelProfile]) -> None:
        """Kernels whose launches are worth recording together, as soon as a candidate asks for one of them."""
        ...

    def prepare(self, reference: Version, profile: KernelProfile) -> None:
        """Record them now, where that is worth it, before a candidate is judged."""
        ...

    def stand_in(self, reference: Version, version: Version, kernel: Kernel) -> Application | None:
        """A program that makes the kernel's recorded launches as `version` has them; None where there are none."""
        ...

    def judge_whole(
        self, candidate: Candidate, findings: Sequence[Finding], reference: Version, final: Version, logs: Path
    ) -> Verdict:
        """All accepted changes, which `candidate` holds and `final` is built of, on the whole application."""
        ...


@dataclass
class Observer:
    """Profiles versions, finds their bottlenecks, and pins them to lines; `note` is told what was left out."""

    settings: RunSettings
    backend: Backend
    formula: Formula
    note: Callable[[str], None]
    recordings: Recordings | None = None
    _noted: set[str] = field(default_factory=set)
    _original: dict[tuple[Application, str], KernelProfile] = field(default_factory=dict)  # by recorded launches

    def measure(self, version: Version) -> ApplicationProfile:
        application, deadline = version.application, self.settings.run_deadline_s
        profile = self.backend.profile(application, deadline)
        if not profile.kernels:
            raise ApplicationFailed("the program ran no GPU kernel: nothing to profile")
        top = [kernel for kernel in profile.kernels if self._wanted(kernel)][: self.settings.top_n]
        if not top:
            names = ", ".join(sorted({kernel.kernel.name for kernel in profile.kernels}))
            raise UsageError(f"no kernel matches --kernel {self.settings.kernel}; the program ran: {names}")
        kernels = self._quantities(version, top)
        return dataclasses.replace(profile, kernels=kernels, other_time=without(profile, top))

    def _quantities(self, version: Version, top: Sequence[KernelProfile]) -> tuple[KernelProfile, ...]:
        """Of the original; where its runs take long, all kernels are recorded in one, and counted by replays."""
        application, deadline = version.application, self.settings.run_deadline_s
        if self.recordings is None or not self.backend.is_long(application):
            return self.backend.quantities(application, top, deadline)
        self.recordings.expect(top)
        counted: list[KernelProfile] = []
        for profile in top:
            self.recordings.prepare(version, profile)
            place = self.recordings.stand_in(version, version, profile.kernel) or application
            counted += self.backend.quantities(place, [profile], deadline)
        return tuple(counted)

    def _wanted(self, profile: KernelProfile) -> bool:
        pattern = self.settings.kernel
        if pattern is None:
            return True
        return pattern == profile.kernel.symbol or re.search(pattern, profile.kernel.name) is not None

    def diagnosed(self, kernels: Sequence[KernelProfile], told: bool = False) -> list[Finding]:
        """Kernels that lack a quantity are passed over with a note. Raises `MissingMetric` where all do."""
        device = self.backend.probe()
        found: list[Finding] = []
        missing: list[str] = []
        for kernel in kernels:
            try:
                found += self.formula.findings(kernel, device)
            except MissingMetric as error:
                missing.append(why_not_diagnosed(kernel, error))
        if missing and len(missing) == len(kernels):
            raise MissingMetric(missing[0])
        for reason in missing if told else ():
            self.note(f"not diagnosed: {reason}")
        return found

    def lines(self, version: Version, kernel: Kernel, reference: Version | None = None) -> tuple[SourceEvidence, ...]:
        """`reference`: see `blame`. Raises as `Backend.lines`."""
        if reference is None and self.backend.is_long(version.application):
            reference = version
        stand_in = self.recordings.stand_in(reference, version, kernel) if reference and self.recordings else None
        return self.backend.lines(stand_in or version.application, kernel, self.settings.run_deadline_s)

    def blame(self, version: Version, finding: Finding, reference: Version | None = None) -> tuple[SourceEvidence, ...]:
        """`reference`: the original, where the kernel's recorded launches stand for a run of the application."""
        lines = self.lines(version, finding.profile.kernel, reference)
        for told in self.backend.line_notes():
            note = f"{finding.profile.kernel.name}: {told}"
            if note not in self._noted:
                self._noted.add(note)
                self.note(note)
        blamed = self.formula.of(finding).blame(lines)
        if self.settings.diagnose_only:
            return blamed or self.formula.blame(lines)
        if not blamed:
            raise SourceNotFound(f"{finding.profile.kernel.name}: no line of the project causes the {finding.formula}")
        written = tuple(item for item in blamed if version.holds(item.file))
        if not written and (why := why_not_to_patch(finding.profile)):
            raise SourceNotFound(f"{finding.profile.kernel.name}: {why}")
        if not written:
            place = f"{version.workspace.outside(blamed[0].file)}:{blamed[0].line}"
            if version.is_elsewhere(blamed[0].file):
                raise SourceNotFound(f"{finding.profile.kernel.name}: {place} is outside the project; {NOT_TO_PATCH}")
            raise SourceNotFound(f"{finding.profile.kernel.name}: {place} is made by the build, not a source to edit")
        return written

    def counted(self, version: Version, finding: Finding) -> ApplicationProfile:
        """Another version of the project, with what formulas need of the finding's kernel."""
        profile = self.backend.profile(version.application, self.settings.run_deadline_s)
        same = of_kernel(profile, finding)
        counted = self.backend.quantities(version.application, same, self.settings.run_deadline_s)
        others = [kernel for kernel in profile.kernels if kernel.kernel.symbol != finding.profile.kernel.symbol]
        return dataclasses.replace(profile, kernels=(*counted, *others))

    def _stand_in(self, reference: Version, version: Version, finding: Finding) -> Application | None:
        if self.recordings is None:
            return None
        return self.recordings.stand_in(reference, version, finding.profile.kernel)

    def recounted(
        self,
        versions: tuple[Version, Version],
        finding: Finding,
        original: KernelProfile,
        known: Sequence[KernelProfile],
    ) -> ApplicationProfile:
        """What `counted` tells, from the kernel's recorded launches of the original and of another version.

        `original` is the kernel's own profile, `known` those of the version before. The kernel's time in the
        application changes as that of its recorded launches does, and the shares of all kernels with it. `counted`
        where nothing was recorded.
        """
        reference, version = versions
        before = self._of_original(reference, finding)
        stand_in = self._stand_in(reference, version, finding) if before is not None else None
        after = self._alone(stand_in, finding) if stand_in is not None else None
        if before is None or after is None:
            return self.counted(version, finding)
        return _rescaled(after, sum(after.device_time_ns) / sum(before.device_time_ns), original, known)

    def _of_original(self, reference: Version, finding: Finding) -> KernelProfile | None:
        """The kernel in the original's recorded launches, which are the same beside every candidate."""
        stand_in = self._stand_in(reference, reference, finding)
        if stand_in is None:
            return None
        key = stand_in, finding.profile.kernel.symbol
        if key not in self._original:
            found = self._alone(stand_in, finding)
            if found is None:
                return None
            self._original[key] = found
        return self._original[key]

    def _alone(self, application: Application, finding: Finding) -> KernelProfile | None:
        """The finding's kernel in a program; None where it is not there exactly once."""
        profile = self.backend.profile(application, self.settings.run_deadline_s)
        own = self.backend.quantities(application, of_kernel(profile, finding), self.settings.run_deadline_s)
        return own[0] if len(own) == 1 else None

    def time_ns(
        self, reference: Version, versions: tuple[Version, Version], finding: Finding, launches_as_recorded: bool
    ) -> float | None:
        """Of the kernel in the second version, beside the first; None where that takes a run of a long application.

        Raises `ApplicationFailed` or `ProtocolError` where it does not run.
        """
        kernel, deadline = finding.profile.kernel, self.settings.run_deadline_s
        applications = [version.application for version in versions]
        if self.recordings is not None and launches_as_recorded:
            self.recordings.prepare(reference, finding.profile)
            stand_ins = [self._stand_in(reference, version, finding) for version in versions]
            applications = [own or version.application for own, version in zip(stand_ins, versions, strict=True)]
        seconds = self.backend.run_seconds(reference.application)
        if applications[1] is versions[1].application and (seconds is None or seconds > _SHORT_S):
            return None
        timing = self.backend.time(applications[0], applications[1], kernel, deadline)
        return next((m.candidate_ns for m in timing.measurements if m.scope is Scope.KERNEL), None)

    def watched(self, verdict: Verdict, finding: Finding, after: ApplicationProfile) -> Verdict:
        """The verdict with the formula's own metric before and after."""
        counted = of_kernel(after, finding)
        if len(counted) != 1:
            return verdict
        try:
            formula = self.formula.of(finding)
            metrics = formula.value(finding.profile), formula.value(counted[0])
        except MissingMetric:
            return verdict
        return dataclasses.replace(verdict, metric_before=metrics[0], metric_after=metrics[1])


def _rescaled(
    after: KernelProfile, ratio: float, original: KernelProfile, known: Sequence[KernelProfile]
) -> ApplicationProfile:
    (own,) = (profile for profile in known if profile.kernel.symbol == original.kernel.symbol)
    times = tuple(ratio * time for time in original.device_time_ns)
    whole_ns = sum(own.device_time_ns) / own.share
    now_ns = whole_ns - sum(own.device_time_ns) + sum(times)
    changed = dataclasses.replace(
        after,
        dispatches=original.dispatches,
        geometries=_geometries(after, original),
        device_time_ns=times,
        share=sum(times) / now_ns,
    )
    others = [dataclasses.replace(p, share=p.share * whole_ns / now_ns) for p in known if p is not own]
    return ApplicationProfile((changed, *others), now_ns, 0)


def _geometries(after: KernelProfile, original: KernelProfile) -> tuple[Geometry, ...]:
    """The application's own, of which fewer may be recorded, unless the version has chosen others."""
    return original.geometries if set(after.geometries) <= set(original.geometries) else after.geometries


def of_kernel(profile: ApplicationProfile, finding: Finding) -> list[KernelProfile]:
    return [kernel for kernel in profile.kernels if kernel.kernel.symbol == finding.profile.kernel.symbol]


def renewed(kernel: KernelProfile, again: ApplicationProfile, finding: Finding) -> KernelProfile:
    """The kernel in the new profile: counted anew where the finding is of it, else with its new times and share.

    One that no longer runs keeps its counts and has no dispatches.
    """
    now = next((other for other in again.kernels if other.kernel.symbol == kernel.kernel.symbol), None)
    if now is None:
        return dataclasses.replace(kernel, dispatches=0, device_time_ns=(), share=0.0)
    if kernel.kernel.symbol == finding.profile.kernel.symbol:
        return now
    return dataclasses.replace(
        kernel, dispatches=now.dispatches, device_time_ns=now.device_time_ns, geometries=now.geometries, share=now.share
    )


def why_not_diagnosed(kernel: KernelProfile, error: MissingMetric) -> str:
    """Of a kernel of which nothing was counted, what the tool said: which quantity a formula misses adds nothing."""
    if kernel.notes and not kernel.has(Metric.DEVICE_TIME_NS):
        return f"{kernel.kernel.name} was not counted: {'; '.join(kernel.notes)}"
    return "; ".join([str(error), *kernel.notes])
