"""What the terminal shows at the end: what was found, what was gained, where the rest is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from intelliperf.records import Ending, Report, SourceEvidence
from intelliperf.report import wording
from intelliperf.sentences import counted, duration

_SHOWN_LINES = 3


def closing(report: Report, directory: Path, apply: str = "intelliperf apply", given: Sequence[str] = ()) -> str:
    """Plain text, ends with a newline. `apply`: the command that applies the patch from here; `given`: options."""
    return "\n".join(_lines(report, directory, apply, given)) + "\n"


def _lines(report: Report, directory: Path, apply: str, given: Sequence[str]) -> Iterator[str]:
    yield ""
    yield wording.headline(report)
    yield from (f"  {title}: {text}" for title, text in wording.shown_first(report))
    if report.ending is Ending.DIAGNOSED or report.finding is None:
        yield from _kernels(report)
    if report.ending is Ending.DIAGNOSED or len(report.diagnoses) > 1:
        yield from _findings(report)
    elif report.finding is not None:
        yield from _where(report.evidence, report, "  ")
    yield from _process(report)
    for measurement in report.measurements:
        before, after = duration(measurement.baseline_ns), duration(measurement.candidate_ns)
        scope = wording.scope(measurement, report.application)
        yield f"  {scope}: {before} → {after}, {wording.gain(measurement, report.device)}"
    yield from _attempts(report)
    if report.usage.input_tokens and (spent := wording.economy(report)):
        yield f"  spent: {spent}"
    for note in report.notes:
        yield f"  note: {note}"
    if report.patch:
        unconfirmed = report.ending is Ending.UNCONFIRMED
        taken = "`intelliperf verify` judges it anew" if unconfirmed else f"git apply it, or `{apply}`"
        yield f"patch:   {directory / 'patch.diff'}  ({taken})"
    yield f"report:  {directory / 'summary.md'}, report.html, report.json, verdict.json"
    if report.ending is Ending.DIAGNOSED and (command := wording.next_command(report, given)):
        yield f"next:    {command}"


def _attempts(report: Report) -> Iterator[str]:
    """What was judged; what was declined only for findings that nothing cured."""
    cured = {(a.kernel, a.formula) for a in report.attempts if a.accepted}
    hidden = [a for a in report.attempts if a.verdict is None and (a.kernel, a.formula) in cured]
    shown = {text for _, text in wording.shown_first(report)}
    for attempt in report.attempts:
        if attempt in hidden or attempt is wording.told_by_headline(report):
            continue
        name, detail = wording.outcome(attempt)
        if attempt.verdict is not None and attempt.verdict.proof in shown:
            detail = detail.removeprefix(attempt.verdict.proof).removeprefix("; ") or "as shown above"
        whom = f" for {attempt.formula} in {attempt.kernel}" if len(report.diagnoses) > 1 and attempt.kernel else ""
        yield f"  attempt {attempt.index}, {wording.origin(attempt)}{whom}: {name}: {' '.join(detail.split())}"
    if hidden:
        yield f"  declined, each with its reason in summary.md: {counted(len(hidden), 'further proposal')} by rules"


def _findings(report: Report) -> Iterator[str]:
    for number, diagnosis in enumerate(report.diagnoses, 1):
        won = ", improved" if diagnosis.accepted else ""
        yield f"  {number}. {wording.finding_in_short(diagnosis, report.diagnoses)}{won}"
        yield f"     {diagnosis.finding.sentence}"
        yield from _where(diagnosis.evidence, report, "     ")
        if diagnosis.note:
            yield f"     {diagnosis.note}"


def _process(report: Report) -> Iterator[str]:
    """Findings of the whole process; the breakdown of its time only in a diagnosis."""
    whole = wording.process_time(report)
    if whole and report.ending is Ending.DIAGNOSED:
        yield f"  whole process: {whole}"
    for finding in report.process:
        yield f"  {finding.formula} in the whole process (diagnosis only)"
        yield f"     {finding.sentence}"
        yield from (f"     {wording.host_place(line, partial(_shown, report=report))}" for line in finding.lines)


def _where(evidence: Sequence[SourceEvidence], report: Report, margin: str) -> Iterator[str]:
    lines = dict.fromkeys(
        f"{_shown(item.file, report)}:{item.line}{_inlined(item, report)}: {item.text.strip()}" for item in evidence
    )
    for line in list(lines)[:_SHOWN_LINES]:
        yield f"{margin}{line}"


def _inlined(item: SourceEvidence, report: Report) -> str:
    """Where a helper was called: the address that it accesses is made there."""
    callers = [f"{_shown(frame.file, report)}:{frame.line}" for frame in item.chain[1:]]
    return f" (inlined at {', '.join(callers)})" if callers else ""


def _shown(file: Path, report: Report) -> str:
    project = report.application.project
    return file.relative_to(project).as_posix() if project in file.parents else str(file)


def _kernels(report: Report) -> Iterator[str]:
    for share, time, number, what, profile in wording.device_time(report):
        yield f"  {share:>7}  {time:>18}  {number}  {what}"
        yield from (f"           {note}" for note in (profile.notes if profile else ()))
