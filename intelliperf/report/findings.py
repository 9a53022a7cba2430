"""What a run found, where its time went, and how it was started: the parts of its page that a diagnosis has, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from intelliperf.records import Device, Diagnosis, Finding, Report, SourceEvidence
from intelliperf.report import wording
from intelliperf.report.drawings import bar, heat_map


def findings(report: Report, sources: Mapping[Path, str]) -> Iterator[str]:
    """With the lines that are blamed, and the lines around them where `sources` has the file."""
    if len(report.diagnoses) > 1:
        yield "<h2>Findings</h2>" + "".join(_diagnosis(one, report, sources) for one in report.diagnoses)
    elif report.finding is not None:
        yield f"<h2>Finding</h2><p>{escape(report.finding.sentence)}</p>"
        if report.evidence:
            yield _evidence(report.finding, report.evidence, report.device, sources)


def process(report: Report) -> Iterator[str]:
    whole = wording.process_time(report)
    if whole or report.process:
        yield f"<h2>The whole process</h2><p>{escape(whole)}</p>"
    for finding in report.process:
        places = "".join(
            f"<li><code>{escape(wording.host_place(line, Path.as_posix))}</code></li>" for line in finding.lines
        )
        yield f"<h3>{escape(finding.formula)} (diagnosis only)</h3><p>{escape(finding.sentence)}</p><ul>{places}</ul>"
        yield f"<p>{escape(finding.cure)}</p>"


def _diagnosis(diagnosis: Diagnosis, report: Report, sources: Mapping[Path, str]) -> str:
    won = ' <span class="tag good">improved</span>' if diagnosis.accepted else ""
    parts = [f"<h3>{escape(wording.finding_in_short(diagnosis, report.diagnoses))}{won}</h3>"]
    parts.append(f"<p>{escape(diagnosis.finding.sentence)}</p>")
    if diagnosis.evidence:
        parts.append(_evidence(diagnosis.finding, diagnosis.evidence, report.device, sources))
    if diagnosis.note:
        parts.append(f"<p>{escape(diagnosis.note)}</p>")
    return "".join(parts)


def _evidence(finding: Finding, evidence: Sequence[SourceEvidence], device: Device, sources: Mapping[Path, str]) -> str:
    rows = ((wording.place_of(item), wording.kind_of(item), wording.counted(item, device)) for item in evidence)
    ways = "".join(f'<p class="muted">Lines found by {escape(way)}.</p>' for way in wording.ways(evidence))
    drawn = "".join(heat_map(finding, evidence, sources, device))
    return drawn + _table(("line", "access", "counted"), rows) + ways


def device_time(report: Report) -> str:
    parts = [profile.share for profile in report.profiles] + [other.share for other in report.other_time]
    rows = []
    for part, (share, time, times, what, _) in zip(parts, wording.device_time(report), strict=True):
        cells = _cells(("what", "number", "time"), (what, times, time))
        rows.append(f'<tr>{cells}<td data-of="share">{escape(share)}{bar(part, "before", share)}</td></tr>')
    noted = [f"<li>{escape(f'{p.kernel.name}: {note}')}</li>" for p in report.profiles for note in p.notes]
    notes = f"<ul>{''.join(noted)}</ul>" if noted else ""
    head = _head(("what", "number", "time", "share"))
    return f'<table class="cards">{head}{"".join(rows)}</table>{notes}'


def facts(report: Report) -> str:
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


def _table(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    body = "".join(f"<tr>{_cells(titles, row)}</tr>" for row in rows)
    return f'<table class="cards">{_head(titles)}{body}</table>'


def _head(titles: Iterable[str]) -> str:
    return f'<tr class="head">{"".join(f"<th>{escape(title)}</th>" for title in titles)}</tr>'


def _cells(titles: Iterable[str], row: Iterable[str]) -> str:
    """Each with its column's title, which a narrow screen shows before it."""
    return "".join(
        f'<td data-of="{escape(title)}">{escape(cell)}</td>' for title, cell in zip(titles, row, strict=True)
    )
