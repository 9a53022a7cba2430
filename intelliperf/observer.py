"""What a backend is asked about a version of the project, and what the formula makes of the answers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from intelliperf.errors import ApplicationFailed, MissingMetric, SourceNotFound, UsageError
from intelliperf.frozen import record
from intelliperf.profiling.ranking import without
from intelliperf.project.versions import Version
from intelliperf.protocols import ApplicationProfile, Backend, Formula
from intelliperf.records import Finding, KernelProfile, SourceEvidence


@record(frozen=True)
class Settings:
    """What the user chose. All timeouts are in seconds."""

    formula: str = "all"
    kernel: str | None = None  # regular expression on the display name
    top_n: int = 10
    num_attempts: int = 10  # of the model, for each finding
    diagnose_only: bool = False
    build_deadline_s: float = 900.0
    run_deadline_s: float = 300.0
    budget_minutes: float | None = None
    keep_work: bool = False


@dataclass
class Observer:
    """Profiles versions, finds their bottlenecks, and pins them to lines; `note` is told what was left out."""

    settings: Settings
    backend: Backend
    formula: Formula
    note: Callable[[str], None]
    _noted: set[str] = field(default_factory=set)

    def measure(self, version: Version) -> ApplicationProfile:
        application, deadline = version.application, self.settings.run_deadline_s
        profile = self.backend.profile(application, deadline)
        if not profile.kernels:
            raise ApplicationFailed("the program ran no GPU kernel: nothing to profile")
        top = [kernel for kernel in profile.kernels if self._wanted(kernel)][: self.settings.top_n]
        if not top:
            names = ", ".join(sorted({kernel.kernel.name for kernel in profile.kernels}))
            raise UsageError(f"no kernel matches --kernel {self.settings.kernel}; it ran: {names}")
        kernels = self.backend.quantities(application, top, deadline)
        return dataclasses.replace(profile, kernels=kernels, other_time=without(profile, top))

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
                missing.append("; ".join([str(error), *kernel.notes]))
        if missing and len(missing) == len(kernels):
            raise MissingMetric(missing[0])
        for reason in missing if told else ():
            self.note(f"not diagnosed: {reason}")
        return found

    def blame(self, version: Version, finding: Finding) -> tuple[SourceEvidence, ...]:
        lines = self.backend.lines(version.application, finding.profile.kernel, self.settings.run_deadline_s)
        for note in self.backend.line_notes():
            if note not in self._noted:
                self._noted.add(note)
                self.note(note)
        blamed = self.formula.of(finding).blame(lines)
        if self.settings.diagnose_only:
            return blamed or self.formula.blame(lines)
        if not blamed:
            raise SourceNotFound(f"{finding.profile.kernel.name}: no line of the project causes the {finding.formula}")
        written = tuple(item for item in blamed if version.holds(item.file))
        if not written:
            place = f"{version.workspace.outside(blamed[0].file)}:{blamed[0].line}"
            raise SourceNotFound(f"{finding.profile.kernel.name}: {place} is made by the build, not a source to edit")
        return written

    def counted(self, version: Version, finding: Finding) -> ApplicationProfile:
        """Another version of the project, with what formulas need of the finding's kernel."""
        profile = self.backend.profile(version.application, self.settings.run_deadline_s)
        same = of_kernel(profile, finding)
        counted = self.backend.quantities(version.application, same, self.settings.run_deadline_s)
        others = [kernel for kernel in profile.kernels if kernel.kernel.symbol != finding.profile.kernel.symbol]
        return dataclasses.replace(profile, kernels=(*counted, *others))


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
