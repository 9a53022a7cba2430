"""From what tasks wrote to what the history keeps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from intelliperf.errors import ProtocolError
from intelliperf.history.records import Judgement, KernelTime, LineCounts, Patch, Survey, Tried, WatchedPlace
from intelliperf.nightly.survey import SCHEMA_VERSION, Seen
from intelliperf.project.codec import decode, encode
from intelliperf.project.journal import read_json
from intelliperf.project.reviews import identity
from intelliperf.records import Attempt, KernelProfile, Report, SourceEvidence
from intelliperf.report import wording

_LONGEST_DIFF = 1 << 20  # characters, of one candidate
_MAX_LINES = 2_000  # of one survey, worst first within their kernels


def read_seen(path: Path) -> Seen:
    """Raises `ProtocolError` where the file is another's."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema_version") != SCHEMA_VERSION:
        raise ProtocolError(f"{path} is not a survey of this intelliperf")
    return decode(Seen, content)


def survey_of(seen: Seen, project: Path) -> Survey:
    return Survey(
        tuple(_kernel(profile) for profile in seen.profiles),
        tuple(_line(line, project) for line in seen.lines[:_MAX_LINES]),
        seen.findings,
    )


def _kernel(profile: KernelProfile) -> KernelTime:
    times = profile.device_time_ns
    total = math.fsum(times)
    noise = None
    if len(times) > 1 and total > 0 and profile.time_provenance.value == "measured":
        noise = statistics.stdev(times) * math.sqrt(len(times)) / total
    return KernelTime(
        symbol=profile.kernel.symbol,
        name=profile.kernel.name,
        dispatches=profile.dispatches,
        total_ns=total,
        noise=noise,
        provenance=profile.time_provenance,
        share=profile.share,
        counters=profile.quantities,
    )


def _line(line: SourceEvidence, project: Path) -> LineCounts:
    file = line.file.relative_to(project) if project in line.file.parents else line.file
    return LineCounts(
        symbol=line.kernel.symbol,
        file=file.as_posix(),
        line=line.line,
        column=line.column,
        text=line.text.strip()[:400],
        access=line.access.value,
        space=line.space.value,
        operation=line.operation[:64],
        counters=line.quantities,
    )


def patch_of(report: Report, target: str, base: str | None, directory: Path, night: int | None) -> Patch | None:
    """The patch of a search; None where nothing was accepted."""
    if report.accepted is None or report.finding is None or not report.patch:
        return None
    accepted = [a for a in report.attempts if a.verdict is not None and a.verdict.accepted]
    kernel = report.finding.profile.kernel
    return Patch(
        target=target,
        identity=identity(report.patch),
        formula=report.finding.formula,
        symbol=kernel.symbol,
        kernel=kernel.name,
        origin="; ".join(dict.fromkeys(wording.origin(attempt) for attempt in accepted)),
        rationale="\n\n".join(_rationales(accepted)),
        diff=report.patch,
        base=base,
        directory=str(directory),
        night=night,
    )


def _rationales(attempts: Sequence[Attempt]) -> list[str]:
    return [attempt.candidate.rationale for attempt in attempts if attempt.candidate is not None]


def tried_in(report: Report, target: str, directory: Path, night: int | None) -> tuple[Tried, ...]:
    """Every candidate of a search and every reason for having none."""
    found = report.finding.profile.kernel.name if report.finding is not None else ""
    made = []
    for attempt in report.attempts:
        outcome, detail = wording.outcome(attempt)
        made.append(
            Tried(
                target=target,
                night=night,
                directory=str(directory),
                number=attempt.index,
                kernel=attempt.kernel or found,
                formula=attempt.formula or report.formula,
                origin=wording.origin(attempt),
                outcome=outcome,
                detail=detail,
                diff=attempt.diff if len(attempt.diff) <= _LONGEST_DIFF else "",
            )
        )
    return tuple(made)


def judgement_of(
    report: Report, patch: int, place: WatchedPlace, commit: str | None, night: int | None, directory: Path
) -> Judgement:
    """The verdict on the patch as a whole: of its last accepted attempt, with the final measurements."""
    judged = [a for a in report.attempts if a.verdict is not None]
    accepted = [a for a in judged if a.index == report.accepted]
    verdict = (accepted or judged)[-1].verdict
    if verdict is None:
        raise ProtocolError(f"{directory} judged nothing")
    return Judgement(
        patch=patch,
        night=night,
        place=place,
        commit=commit,
        outcome=verdict.outcome.value,
        detail=verdict.detail,
        checks=tuple(encode(check) for check in verdict.checks),
        measurements=tuple(encode(m) for m in (report.measurements or verdict.measurements)),
        not_checked=report.not_checked,
        at=report.started_at,
        directory=str(directory),
    )
