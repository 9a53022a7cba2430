"""What the tools answer: bounded, typed, and with the way to the whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from intelliperf.records import Attempt, Finding, KernelProfile, Measurement, Report
from intelliperf.report import wording
from intelliperf.report.files import read
from intelliperf.sentences import figures

TEXT_LIMIT = 20_000  # characters of a diff or a summary
LIST_LIMIT = 30
_CUT = "\n… (cut; the whole is in the run directory)"


class Kernel(BaseModel):
    name: str
    symbol: str
    dispatches: int
    share: float = Field(description="0 to 1 of the application's device time")
    device_time_ns: float
    provenance: str = Field(description="measured on hardware, or modelled from exact counts on the emulator")


class Line(BaseModel):
    file: str
    line: int
    text: str
    access: str
    figures: list[str]


class Gain(BaseModel):
    scope: str
    ratio: float = Field(description="before/after: above 1 is faster")
    low: float = Field(description="lower end of the 95 % interval")
    high: float
    provenance: str


class Try(BaseModel):
    origin: str
    outcome: str
    detail: str


class Shown(BaseModel):
    kernel: str
    formula: str
    sentence: str
    gain_alone: float = Field(description="of the whole application, were this alone removed; a rewrite may win more")


class RunAnswer(BaseModel):
    """One finished run."""

    ending: str
    device: str
    finding: str | None = Field(description="the main bottleneck in a sentence; null where there is none")
    formula: str | None = Field(description="its name, for improve")
    findings: list[Shown] = Field(description="all bottlenecks, by what could be gained for the whole application")
    kernels: list[Kernel]
    lines: list[Line] = Field(description="what the finding is blamed on, worst first")
    attempts: list[Try]
    gains: list[Gain]
    accepted: bool = Field(description="true only where a candidate passed every gate and is faster")
    patch: str = Field(description="unified diff of what was accepted; empty where nothing was")
    not_checked: list[str] = Field(description="what an acceptance does not prove")
    notes: list[str]
    run: str = Field(description="the run's directory, for the tool `report`")


class ReplayAnswer(BaseModel):
    """One replay, as the command says it."""

    same_and_faster: bool = Field(description="the accepted build leaves the same bits, and its interval is above 1")
    said: list[str] = Field(description="per kernel: what was launched, what it left, and the times")


def run_answer(directory: Path) -> RunAnswer:
    report = read(directory)
    device = f"{report.device.name} ({report.backend}{', modelled' if report.device.emulated else ''})"
    return RunAnswer(
        ending=report.ending.value,
        device=device,
        finding=report.finding.sentence if report.finding else None,
        formula=report.finding.formula if report.finding else None,
        findings=[_shown(item.finding) for item in report.diagnoses[:LIST_LIMIT]],
        kernels=[_kernel(profile) for profile in report.profiles[:LIST_LIMIT]],
        lines=lines_of(report),
        attempts=[_try(attempt) for attempt in report.attempts[-LIST_LIMIT:]],
        gains=[_gain(m) for m in report.measurements or _last_measurements(report)],
        accepted=report.accepted is not None and report.exit_status == 0,
        patch=bounded(report.patch),
        not_checked=list(report.not_checked),
        notes=[bounded(note, 1000) for note in report.notes[:LIST_LIMIT]],
        run=str(directory),
    )


def lines_of(report: Report) -> list[Line]:
    return [
        Line(
            file=_relative(item.file, report.application.project),
            line=item.line,
            text=bounded(item.text.strip(), 400),
            access=item.access.value,
            figures=figures(item),
        )
        for item in report.evidence[:LIST_LIMIT]
    ]


def _last_measurements(report: Report) -> Sequence[Measurement]:
    judged = [a.verdict for a in report.attempts if a.verdict is not None]
    return judged[-1].measurements if judged else ()


def _shown(finding: Finding) -> Shown:
    name = finding.profile.kernel.name
    return Shown(kernel=name, formula=finding.formula, sentence=finding.sentence, gain_alone=finding.gain_ceiling)


def _kernel(profile: KernelProfile) -> Kernel:
    return Kernel(
        name=profile.kernel.name,
        symbol=profile.kernel.symbol,
        dispatches=profile.dispatches,
        share=profile.share,
        device_time_ns=sum(profile.device_time_ns),
        provenance=profile.time_provenance.value,
    )


def _try(attempt: Attempt) -> Try:
    name, detail = wording.outcome(attempt)
    return Try(origin=wording.origin(attempt), outcome=name, detail=bounded(detail, 2000))


def _gain(measurement: Measurement) -> Gain:
    return Gain(
        scope=measurement.scope.value,
        ratio=measurement.ratio,
        low=measurement.low,
        high=measurement.high,
        provenance=measurement.provenance.value,
    )


def bounded(text: str, limit: int = TEXT_LIMIT) -> str:
    """As a client can show it: no lone surrogates, and no more than `limit` characters."""
    plain = text.encode("utf-8", "replace").decode()
    return plain if len(plain) <= limit else plain[:limit] + _CUT


def _relative(file: Path, project: Path) -> str:
    return (file.relative_to(project) if project in file.parents else file).as_posix()
