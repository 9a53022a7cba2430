"""The last words on the terminal: what was found, what was won, where the rest lies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from intelliperf.records import Ending, Report
from intelliperf.report import wording

_SHOWN_LINES = 3


def closing(report: Report, directory: Path) -> str:
    """Plain text, ends with a newline."""
    return "\n".join(_lines(report, directory)) + "\n"


def _lines(report: Report, directory: Path) -> Iterator[str]:
    yield ""
    yield wording.headline(report)
    if report.ending is Ending.DIAGNOSED or report.finding is None:
        yield from _kernels(report)
    if report.finding is not None:
        yield from _where(report)
    for measurement in report.measurements:
        before, after = wording.duration(measurement.baseline_ns), wording.duration(measurement.candidate_ns)
        yield f"  {wording.scope(measurement)}: {before} → {after}, {wording.gain(measurement, report.device)}"
    for attempt in report.attempts:
        name, detail = wording.outcome(attempt)
        yield f"  attempt {attempt.index}, {wording.origin(attempt)}: {name}: {detail}"
    if report.not_checked:
        yield f"  not checked: {'; '.join(report.not_checked)}"
    for note in report.notes:
        yield f"  note: {note}"
    if report.patch:
        yield f"patch:   {directory / 'patch.diff'}  (git apply it, or `intelliperf apply`)"
    yield f"report:  {directory / 'summary.md'}, report.html, report.json"


def _where(report: Report) -> Iterator[str]:
    lines = dict.fromkeys(f"{_shown(item.file, report)}:{item.line}: {item.text.strip()}" for item in report.evidence)
    for line in list(lines)[:_SHOWN_LINES]:
        yield f"  {line}"


def _shown(file: Path, report: Report) -> str:
    project = report.application.project
    return file.relative_to(project).as_posix() if project in file.parents else str(file)


def _kernels(report: Report) -> Iterator[str]:
    for profile in report.profiles:
        total = wording.duration(sum(profile.device_time_ns))
        yield (
            f"  {100 * profile.share:5.1f} %  {total:>9} {profile.time_provenance.value}  "
            f"{profile.dispatches} dispatches  {profile.kernel.name}"
        )
        yield from (f"           {note}" for note in profile.notes)
