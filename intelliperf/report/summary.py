"""`summary.md`: what a reviewer reads first, fit for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from intelliperf.records import Device, Report, SourceEvidence
from intelliperf.report import wording
from intelliperf.sentences import counted, duration, number

_TOP_KERNELS = 10


def summary(report: Report) -> str:
    """Markdown; ends with a newline."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {wording.subject(report)}: {_flat(wording.headline(report))}"
    yield from (f"- {title}: {_flat(text)}" for title, text in wording.shown_first(report))
    yield from _facts(report)
    yield from _gates(report)
    if len(report.diagnoses) > 1:
        yield from _findings(report)
    elif report.finding is not None:
        yield from ("", "## Finding", "", report.finding.sentence, "")
        yield from (_evidence_line(item, report.device) for item in report.evidence)
        yield from (f"- lines found by {way}" for way in wording.ways(report.evidence))
    yield from _process(report)
    yield from _gain(report)
    yield from _kernels(report)
    yield from _attempts(report)
    if report.notes:
        yield from ("", "## Notes", "")
        yield from (f"- {note}" for note in report.notes)
    if report.patch:
        fence = _fence(report.patch)
        yield from ("", "## Patch", "", f"{fence}diff", report.patch.rstrip("\n"), fence)


def _findings(report: Report) -> Iterator[str]:
    yield from ("", "## Findings", "")
    for rank, diagnosis in enumerate(report.diagnoses, 1):
        won = " **improved**" if diagnosis.accepted else ""
        yield f"{rank}. {wording.finding_in_short(diagnosis, report.diagnoses)}{won}: {diagnosis.finding.sentence}"
        yield from (f"   {_evidence_line(item, report.device)}" for item in diagnosis.evidence)
        yield from (f"   - lines found by {way}" for way in wording.ways(diagnosis.evidence))
        if diagnosis.note:
            yield f"   - {diagnosis.note}"


def _process(report: Report) -> Iterator[str]:
    whole = wording.process_time(report)
    if not whole and not report.process:
        return
    yield from ("", "## The whole process", "")
    if whole:
        yield f"- {whole}"
    for finding in report.process:
        yield f"- **{finding.formula}** (diagnosis only): {finding.sentence}"
        yield from (f"   - {_code(wording.host_place(line, Path.as_posix))}" for line in finding.lines)
        yield f"   - {finding.cure}"


def _facts(report: Report) -> Iterator[str]:
    device = report.device
    kind = (
        f"modelled by {device.runs_on or 'the emulator'}, not measured on hardware" if device.emulated else "hardware"
    )
    yield f"- device: {device.name} ({device.architecture}, {device.wave_size} lanes per wave), {kind}"
    yield f"- command: {_code(wording.command_line(report.application.command))}"
    if report.application.exit_status:
        yield f"- exit status: {wording.expected_exit(report.application)}"
    yield f"- run: {report.run_id}, {report.seconds:.1f} s, intelliperf {report.tool_version}"
    yield f"- model: {wording.cost(report.usage)}"
    if spent := wording.economy(report):
        yield f"- spent: {spent}"


def _code(text: str) -> str:
    """Inline code, on one line whatever the text holds."""
    flat = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    fence = "``" if "`" in flat else "`"
    return f"{fence}{flat}{fence}"


def _evidence_line(item: SourceEvidence, device: Device) -> str:
    where = f"`{wording.place_of(item)}` `{item.text.strip()}`"
    return f"- {where} ({wording.kind_of(item)}): {wording.counted(item, device)}"


def _gain(report: Report) -> Iterator[str]:
    if not report.measurements:
        return
    yield from ("", "## Gain", "", "| scope | before | after | gain |", "|---|---|---|---|")
    for m in report.measurements:
        before, after = duration(m.baseline_ns), duration(m.candidate_ns)
        yield f"| {wording.scope(m, report.application)} | {before} | {after} | {wording.gain(m, report.device)} |"


def _kernels(report: Report) -> Iterator[str]:
    if not report.profiles:
        return
    yield from ("", "## Device time", "", "| what | number | time | share |", "|---|---|---|---|")
    for share, time, times, what, profile in wording.device_time(report):
        name = what.replace("|", "\\|")
        yield f"| {f'`{name}`' if profile else name} | {times} | {time} | {share} |"
    noted = [(profile.kernel.name, note) for profile in report.profiles[:_TOP_KERNELS] for note in profile.notes]
    if noted:
        yield ""
        yield from (f"- {_code(name)}: {note}" for name, note in noted)


def _attempts(report: Report) -> Iterator[str]:
    if not report.attempts:
        return
    yield from ("", "## Attempts", "", "| # | from | outcome | why | model |", "|---|---|---|---|---|")
    for attempt in report.attempts:
        name, detail = wording.outcome(attempt)
        detail = detail.replace("|", "\\|").replace("\n", " ")
        yield f"| {attempt.index} | {wording.origin(attempt)} | {name} | {detail} | {wording.cost(attempt.usage)} |"


def _gates(report: Report) -> Iterator[str]:
    """A table per verdict that the report rests on."""
    for verdict in wording.judged(report):
        yield from ("", f"## Gates: {verdict.outcome.value}", "")
        yield from ("| gate | result | what it saw | on | rejects, as a control |", "|---|---|---|---|---|")
        for check in verdict.checks:
            cells = (check.name, check.status.value, check.detail, check.device, check.control)
            yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
        yield ""
        launches = counted(verdict.compared_dispatches, "launch", "es")
        yield f"- {verdict.compared_bytes:,} bytes of device buffers compared after {launches}"
        if verdict.metric_before is not None and verdict.metric_after is not None and report.finding is not None:
            before, after = verdict.metric_before.value, verdict.metric_after.value
            yield f"- {report.finding.metric.value} of the kernel: {number(before)} → {number(after)}"


def _cell(text: str) -> str:
    return _flat(text).replace("|", "\\|")


def _fence(text: str) -> str:
    """Longer than any run of backticks in the text, which could end the block otherwise."""
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))


def _flat(text: str) -> str:
    return " ".join(text.split())
