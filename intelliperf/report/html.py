"""`report.html`: one self-contained page, no script, no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from intelliperf.records import Attempt, CheckStatus, Device, Diagnosis, Report, SourceEvidence, Verdict
from intelliperf.report import wording

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #197a3b; --bad: #b3261e; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
h3 { font-size: 1rem; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--line);
  padding: .35rem .6rem; text-align: left; vertical-align: top; } td.n { text-align: right; white-space: nowrap; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; }
.add { color: var(--good); } .del { color: var(--bad); } .tag { border: 1px solid; border-radius: .3rem;
  padding: 0 .35rem; font-size: .8rem; white-space: nowrap; } .good { color: var(--good); } .bad { color: var(--bad); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dt { opacity: .7; } dd { margin: 0; }
"""


_MARKS = {CheckStatus.PASSED: "good", CheckStatus.FAILED: "bad"}


def page(report: Report) -> str:
    """The whole document as text."""
    body = "\n".join(_sections(report))
    title = escape(f"IntelliPerf {report.formula}: {report.ending.value}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def _sections(report: Report) -> Iterator[str]:
    yield f"<h1>{escape(wording.headline(report))}</h1>"
    first = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>" for title, text in wording.shown_first(report))
    if first:
        yield f"<dl>{first}</dl>"
    yield _facts(report)
    for verdict in wording.judged(report):
        yield f"<h2>Gates: {escape(verdict.outcome.value)}</h2>{_gates(verdict)}"
    if report.measurements:
        rows = (
            (
                wording.scope(m),
                wording.duration(m.baseline_ns),
                wording.duration(m.candidate_ns),
                wording.gain(m, report.device),
            )
            for m in report.measurements
        )
        yield "<h2>Gain</h2>" + _table(("scope", "before", "after", "gain"), rows)
    if len(report.diagnoses) > 1:
        yield "<h2>Findings</h2>" + "".join(_diagnosis(diagnosis, report.device) for diagnosis in report.diagnoses)
    elif report.finding is not None:
        yield f"<h2>Finding</h2><p>{escape(report.finding.sentence)}</p>"
        if report.evidence:
            yield "<h2>Source lines</h2>" + _evidence(report.evidence, report.device)
    if report.patch:
        yield f"<h2>Patch</h2><pre>{_diff(report.patch)}</pre>"
    if report.attempts:
        yield "<h2>Attempts</h2>" + "\n".join(_attempt(attempt) for attempt in report.attempts)
    if report.profiles:
        rows = ((what, number, time, share) for share, time, number, what, _ in wording.device_time(report))
        yield "<h2>Device time</h2>" + _table(("what", "number", "time", "share"), rows)
        noted = [f"{p.kernel.name}: {note}" for p in report.profiles for note in p.notes]
        if noted:
            yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in noted) + "</ul>"
    if report.notes:
        yield "<h2>Notes</h2><ul>" + "".join(f"<li>{escape(note)}</li>" for note in report.notes) + "</ul>"


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
    }
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items()) + "</dl>"


def _diagnosis(diagnosis: Diagnosis, device: Device) -> str:
    won = ' <span class="tag good">improved</span>' if diagnosis.accepted else ""
    parts = [f"<h3>{escape(wording.finding_in_short(diagnosis))}{won}</h3>"]
    parts.append(f"<p>{escape(diagnosis.finding.sentence)}</p>")
    if diagnosis.evidence:
        parts.append(_evidence(diagnosis.evidence, device))
    if diagnosis.note:
        parts.append(f"<p>{escape(diagnosis.note)}</p>")
    return "".join(parts)


def _evidence(evidence: Sequence[SourceEvidence], device: Device) -> str:
    rows = (
        (
            wording.place_of(item),
            item.text.strip(),
            wording.kind_of(item),
            wording.counted(item, device),
        )
        for item in evidence
    )
    ways = "".join(f"<p>Lines found by {escape(way)}.</p>" for way in wording.ways(evidence))
    return _table(("line", "source", "access", "counted"), rows) + ways


def _attempt(attempt: Attempt) -> str:
    name, detail = wording.outcome(attempt)
    good = attempt.verdict is not None and attempt.verdict.accepted
    head = (
        f'<summary><span class="tag {"good" if good else "bad"}">{escape(name)}</span> '
        f"{attempt.index}. {escape(wording.origin(attempt))}: {escape(detail)}</summary>"
    )
    parts = [head, f"<p>{escape(wording.cost(attempt.usage))}</p>"]
    if attempt.candidate is not None:
        parts.append(f"<p>{escape(attempt.candidate.rationale)}</p>")
    if attempt.verdict is not None and attempt.verdict.checks:
        parts.append(_gates(attempt.verdict))
    if attempt.diff:
        parts.append(f"<pre>{_diff(attempt.diff)}</pre>")
    return f"<details{' open' if good else ''}>{''.join(parts)}</details>"


def _gates(verdict: Verdict) -> str:
    """What each gate saw, where, and what it was shown to reject."""
    titles = "".join(f"<th>{title}</th>" for title in ("gate", "result", "what it saw", "on", "rejects, as a control"))
    rows = "".join(
        f'<tr><td>{escape(c.name)}</td><td class="{_MARKS.get(c.status, "")}">{escape(c.status.value)}</td>'
        f"<td>{escape(c.detail)}</td><td>{escape(c.device)}</td><td>{escape(c.control)}</td></tr>"
        for c in verdict.checks
    )
    return f"<table><tr>{titles}</tr>{rows}</table>"


def _diff(text: str) -> str:
    marks = {"+": "add", "-": "del"}
    shown = (text.encode("utf-8", "replace")).decode("utf-8")
    return "\n".join(
        f'<span class="{marks[line[0]]}">{escape(line)}</span>' if line[:1] in marks else escape(line)
        for line in shown.splitlines()
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{titles}</tr>{body}</table>"
