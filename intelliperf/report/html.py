"""`report.html`: one self-contained page, no script, no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from intelliperf.records import Attempt, CheckStatus, Device, Diagnosis, Finding, Report, SourceEvidence, Verdict
from intelliperf.report import wording
from intelliperf.report.drawings import bar, gain_bars, heat_map

_STYLE_PATH = Path(__file__).with_name("page.css")
_MARKS = {CheckStatus.PASSED: "good", CheckStatus.FAILED: "bad"}


def page(report: Report, sources: Mapping[Path, str] | None = None) -> str:
    """The whole document as text. `sources`: texts of the files with blamed lines, where they are at hand."""
    body = "\n".join(_sections(report, sources or {}))
    title = escape(f"IntelliPerf {report.formula}: {report.ending.value}")
    style = _STYLE_PATH.read_text("utf-8")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>\n{style}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def _sections(report: Report, sources: Mapping[Path, str]) -> Iterator[str]:
    yield f"<h1>{escape(wording.headline(report))}</h1>"
    first = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>" for title, text in wording.shown_first(report))
    if first:
        yield f"<dl>{first}</dl>"
    if report.measurements:
        yield "<h2>Gain</h2>" + "".join(gain_bars(m, report.device) for m in report.measurements)
    if len(report.diagnoses) > 1:
        yield "<h2>Findings</h2>" + "".join(_diagnosis(one, report.device, sources) for one in report.diagnoses)
    elif report.finding is not None:
        yield f"<h2>Finding</h2><p>{escape(report.finding.sentence)}</p>"
        if report.evidence:
            yield _evidence(report.finding, report.evidence, report.device, sources)
    yield from _process(report)
    if report.patch:
        yield f"<h2>Patch</h2><pre>{_diff(report.patch)}</pre>"
    judged = wording.judged(report)
    for verdict in judged:
        yield f"<h2>Gates: {escape(verdict.outcome.value)}</h2>{_gates(verdict)}"
    if report.attempts:
        yield "<h2>Attempts</h2>" + "\n".join(_attempt(attempt, judged) for attempt in report.attempts)
    if report.profiles:
        yield "<h2>Device time</h2>" + _device_time(report)
    if report.notes:
        yield "<h2>Notes</h2><ul>" + "".join(f"<li>{escape(note)}</li>" for note in report.notes) + "</ul>"
    yield "<h2>Run</h2>" + _facts(report)


def _process(report: Report) -> Iterator[str]:
    whole = wording.process_time(report)
    if whole or report.process:
        yield f"<h2>The whole process</h2><p>{escape(whole)}</p>"
    for finding in report.process:
        places = "".join(
            f"<li><code>{escape(wording.host_place(line, Path.as_posix))}</code></li>" for line in finding.lines
        )
        yield f"<h3>{escape(finding.formula)} (diagnosis only)</h3><p>{escape(finding.sentence)}</p><ul>{places}</ul>"
        yield f"<p>{escape(finding.cure)}</p>"


def _device_time(report: Report) -> str:
    parts = [profile.share for profile in report.profiles] + [other.share for other in report.other_time]
    rows = []
    for part, (share, time, times, what, _) in zip(parts, wording.device_time(report), strict=True):
        cells = _cells(("what", "number", "time"), (what, times, time))
        rows.append(f'<tr>{cells}<td data-of="share">{escape(share)}{bar(part, "before", share)}</td></tr>')
    noted = [f"<li>{escape(f'{p.kernel.name}: {note}')}</li>" for p in report.profiles for note in p.notes]
    notes = f"<ul>{''.join(noted)}</ul>" if noted else ""
    return f"<table>{_head(('what', 'number', 'time', 'share'))}{''.join(rows)}</table>{notes}"


def _facts(report: Report) -> str:
    device = report.device
    facts = {
        "device": f"{device.name}, {device.architecture}, {device.wave_size} lanes per wave"
        + (f" (modelled by {device.runs_on or 'the emulator'}, not measured on hardware)" if device.emulated else ""),
        "command": wording.command_line(report.application.command),
        **({"exit status": wording.expected_exit(report.application)} if report.application.exit_status else {}),
        "project": str(report.application.project),
        "run": f"{report.run_id}, {report.seconds:.1f} s",
        "model": wording.cost(report.usage),
        **({"spent": spent} if (spent := wording.economy(report)) else {}),
    }
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items()) + "</dl>"


def _diagnosis(diagnosis: Diagnosis, device: Device, sources: Mapping[Path, str]) -> str:
    won = ' <span class="tag good">improved</span>' if diagnosis.accepted else ""
    parts = [f"<h3>{escape(wording.finding_in_short(diagnosis))}{won}</h3>"]
    parts.append(f"<p>{escape(diagnosis.finding.sentence)}</p>")
    if diagnosis.evidence:
        parts.append(_evidence(diagnosis.finding, diagnosis.evidence, device, sources))
    if diagnosis.note:
        parts.append(f"<p>{escape(diagnosis.note)}</p>")
    return "".join(parts)


def _evidence(finding: Finding, evidence: Sequence[SourceEvidence], device: Device, sources: Mapping[Path, str]) -> str:
    rows = ((wording.place_of(item), wording.kind_of(item), wording.counted(item, device)) for item in evidence)
    ways = "".join(f'<p class="muted">Lines found by {escape(way)}.</p>' for way in wording.ways(evidence))
    drawn = "".join(heat_map(finding, evidence, sources, device))
    return drawn + _table(("line", "access", "counted"), rows) + ways


def _attempt(attempt: Attempt, judged: Sequence[Verdict]) -> str:
    """Gates that the page shows already, and what its patch holds, are not shown again."""
    name, detail = wording.outcome(attempt)
    good = attempt.verdict is not None and attempt.verdict.accepted
    head = (
        f'<summary><span class="tag {"good" if good else "bad"}">{escape(name)}</span> '
        f"{attempt.index}. {escape(wording.origin(attempt))}: {escape(detail)}</summary>"
    )
    parts = [head, f"<p>{escape(wording.cost(attempt.usage))}</p>"]
    if attempt.candidate is not None:
        parts.append(f"<p>{escape(attempt.candidate.rationale)}</p>")
    if attempt.verdict is not None and attempt.verdict.checks and attempt.verdict not in judged:
        parts.append(_gates(attempt.verdict))
    if attempt.diff and not good:
        parts.append(f"<pre>{_diff(attempt.diff)}</pre>")
    return f"<details>{''.join(parts)}</details>"


def _gates(verdict: Verdict) -> str:
    """What each gate saw, where, and what it was shown to reject."""
    titles = ("gate", "result", "what it saw", "on", "rejects, as a control")
    rows = "".join(
        f'<tr>{_cells(titles[:1], (c.name,))}<td data-of="result" class="{_MARKS.get(c.status, "")}">'
        f"{escape(c.status.value)}</td>{_cells(titles[2:], (c.detail, c.device, c.control))}</tr>"
        for c in verdict.checks
    )
    return f"<table>{_head(titles)}{rows}</table>"


def _diff(text: str) -> str:
    marks = {"+": "add", "-": "del"}
    shown = (text.encode("utf-8", "replace")).decode("utf-8")
    return "\n".join(
        f'<span class="{marks[line[0]]}">{escape(line)}</span>' if line[:1] in marks else escape(line)
        for line in shown.splitlines()
    )


def _table(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    return f"<table>{_head(titles)}{''.join(f'<tr>{_cells(titles, row)}</tr>' for row in rows)}</table>"


def _head(titles: Iterable[str]) -> str:
    return f'<tr class="head">{"".join(f"<th>{escape(title)}</th>" for title in titles)}</tr>'


def _cells(titles: Iterable[str], row: Iterable[str]) -> str:
    """Each with its column's title, which a narrow screen shows before it."""
    return "".join(
        f'<td data-of="{escape(title)}">{escape(cell)}</td>' for title, cell in zip(titles, row, strict=True)
    )
