"""What a night asks of a program first: all kernels with their counters and lines, and all findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf import __version__
from intelliperf.errors import MissingMetric, SourceNotFound
from intelliperf.formulas import BOTTLENECKS
from intelliperf.history.records import Found
from intelliperf.project.versions import evidence_at_home, profile_at_home
from intelliperf.records import AccessKind, Application, Device, KernelProfile, SourceEvidence
from intelliperf.search.run import Run

SURVEY = "survey.json"  # in the run directory
SCHEMA_VERSION = 1
_MAX_BLAMED = 5


@dataclass(frozen=True)
class Seen:
    """One run of one program."""

    schema_version: int
    tool_version: str
    application: Application
    backend: str
    device: Device
    device_time_ns: float
    profiles: tuple[KernelProfile, ...]
    lines: tuple[SourceEvidence, ...]
    findings: tuple[Found, ...]
    notes: tuple[str, ...]


def survey(run: Run) -> Seen:
    """Build, profile, and look at every kernel of the top N with every formula."""
    reference = run.versions.build_original()
    profile = run.profile()
    lines: list[SourceEvidence] = []
    with run.stages.stage("locate"):
        for kernel in profile.kernels:
            try:
                found = run.backend.lines(reference.application, kernel.kernel, run.settings.run_deadline_s)
            except SourceNotFound as error:
                run.stages.note(str(error).replace(str(reference.workspace.tree), str(run.application.project)))
                continue
            lines += (evidence_at_home(item, reference.workspace) for item in found)
    device = run.backend.probe()
    with run.stages.stage("diagnose"):
        findings = diagnosed(profile.kernels, device, lines, run.application.project)
    seen = Seen(
        schema_version=SCHEMA_VERSION,
        tool_version=__version__,
        application=run.application,
        backend=run.backend.name,
        device=device,
        device_time_ns=profile.device_time_ns,
        profiles=tuple(profile_at_home(item, reference.workspace) for item in profile.kernels),
        lines=tuple(item for item in lines if item.access is not AccessKind.KERNEL),
        findings=findings,
        notes=(*run.stages.notes, *profile.notes),
    )
    reference.workspace.remove()
    return seen


def diagnosed(
    kernels: Sequence[KernelProfile], device: Device, lines: Sequence[SourceEvidence], project: Path
) -> tuple[Found, ...]:
    """All findings of all formulas, by what they could gain for the application. A counter that is not there, and
    that a formula needs, is not a finding.
    """
    found: list[Found] = []
    for formula in BOTTLENECKS:
        for kernel in kernels:
            try:
                finding = formula.diagnose(kernel, device)
            except MissingMetric:
                continue
            if finding is not None:
                own = [line for line in lines if line.kernel.symbol == kernel.kernel.symbol]
                blamed = formula.of(finding).blame(own)[:_MAX_BLAMED]
                found.append(
                    Found(
                        formula=finding.formula,
                        symbol=kernel.kernel.symbol,
                        kernel=kernel.kernel.name,
                        sentence=finding.sentence,
                        severity=finding.severity,
                        metric=finding.metric,
                        value=finding.value,
                        ideal=finding.ideal,
                        gain_ceiling=finding.gain_ceiling,
                        lines=tuple(dict.fromkeys((_inside(item.file, project), item.line) for item in blamed)),
                    )
                )
    return tuple(sorted(found, key=lambda item: (-item.gain_ceiling, item.symbol, item.formula)))


def _inside(file: Path, project: Path) -> str:
    return (file.relative_to(project) if project in file.parents else file).as_posix()
