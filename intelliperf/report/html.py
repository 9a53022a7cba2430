"""The page of one patch or run: `report.html`, what `review --export` writes, and what `intelliperf review` serves.

One self-contained document: no script, nothing from the network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from intelliperf.records import Application, Check, CheckStatus, Report
from intelliperf.report import attempttree, gainfigures, heat, reproduce, wording
from intelliperf.report.drawings import gain_bars
from intelliperf.report.findings import device_time, facts, findings, process
from intelliperf.report.plaintext import visible
from intelliperf.report.risks import Judged, risks
from intelliperf.report.roofline import roofline
from intelliperf.report.sidebyside import NO_HEAT, Heat, Heats, Row, Side, SideBySide, side_by_side

_STYLE_PATH = Path(__file__).with_name("page.css")
_MARKS = {CheckStatus.PASSED: "good", CheckStatus.FAILED: "bad"}
_LONGEST_TEXT = 4_000
_MOST_GATES = 60
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Content:
    """What the page shows. `report` is None where the run's directory is gone; `missing` says so."""

    title: str
    headline: str
    shown_first: tuple[tuple[str, str], ...]
    risks: tuple[str, ...]
    rationale: str
    patch: str
    before: Heats
    after: Heats
    judged: tuple[Judged, ...]
    report: Report | None
    command: str
    sources: Mapping[Path, str]
    missing: str = ""
    tried: tuple[tuple[int, str, str, str, str], ...] = ()  # number, origin, outcome, detail and diff, from elsewhere


def content_of(report: Report, sources: Mapping[Path, str] | None = None) -> Content:
    """Of a run alone. `sources`: texts of the files with blamed lines, where they are at hand."""
    steps = [attempt for attempt in report.attempts if attempt.accepted]
    rationales = [attempt.candidate.rationale for attempt in steps if attempt.candidate is not None]
    judged = _judged(report)
    return Content(
        title=f"IntelliPerf {wording.subject(report)}: {report.ending.value}",
        headline=wording.headline(report),
        shown_first=tuple(wording.shown_first(report)),
        risks=risks(judged, steps) if report.patch else (),
        rationale="\n\n".join(text for text in rationales if text),
        patch=report.patch,
        before=heat.before(report) if report.patch else NO_HEAT,
        after=heat.after(report) if report.patch else NO_HEAT,
        judged=judged,
        report=report,
        command=reproduce.command(report, "patch.diff") if report.patch else "",
        sources=sources or {},
    )


def _judged(report: Report) -> tuple[Judged, ...]:
    """The verdicts that the report rests on; the last one carries the final measurements."""
    verdicts = wording.judged(report)
    place = f"{report.device.name}, {report.backend}"
    return tuple(
        Judged(
            place=place if len(verdicts) == 1 else f"{place}, step {number} of {len(verdicts)}",
            outcome=verdict.outcome.value,
            accepted=verdict.accepted,
            detail=verdict.detail,
            at=report.started_at,
            checks=verdict.checks,
            measurements=verdict.measurements if not report.measurements else (),
            not_checked=verdict.left_open,
        )
        for number, verdict in enumerate(verdicts, 1)
    )


def page(report: Report, sources: Mapping[Path, str] | None = None) -> str:
    """The whole document as text."""
    content = content_of(report, sources)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(content.title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><style>\n{style()}</style></head>\n'
        f'<body>\n<main id="main">\n{body(content)}\n</main>\n</body></html>\n'
    )


def style() -> str:
    return _STYLE_PATH.read_text("utf-8")


def body(content: Content) -> str:
    """What stands between the page's own head and foot, escaped."""
    return "\n".join(_sections(content))


def _sections(content: Content) -> Iterator[str]:
    report = content.report
    yield f"<h1>{_shown(content.headline, 2_000)}</h1>"
    if content.missing:
        yield f'<p role="alert">{_shown(content.missing)}. Rationale and verdicts below are from the database.</p>'
    listed = "".join(f"<dt>{escape(title)}</dt><dd>{_shown(text)}</dd>" for title, text in content.shown_first)
    if listed:
        yield f"<dl>{listed}</dl>"
    if content.patch:
        items = "".join(f"<li>{escape(item)}</li>" for item in content.risks)
        none = "<p>Every gate ran, with a measured gain and no tolerance.</p>"
        yield "<h2>What is left to you</h2>" + (f'<ul class="risks">{items}</ul>' if items else none)
    if report is not None and report.measurements:
        yield "<h2>Gain</h2>" + "".join(gain_bars(m, report.device, report.application) for m in report.measurements)
    if report is not None:
        yield from findings(report, content.sources)
        yield from process(report)
    if content.rationale:
        yield f'<h2>Why it should help</h2><p class="text">{_shown(content.rationale)}</p>'
    if content.patch:
        yield _change(side_by_side(content.patch, content.before, content.after))
    yield from _why(content)
    yield from _course(content)


def _course(content: Content) -> Iterator[str]:
    """How the run went."""
    report = content.report
    if report is not None and report.attempts:
        shown = {id(verdict) for verdict in wording.judged(report)}
        own = {
            a.index: gates(a.verdict.checks, f"attempt {a.index}")
            for a in report.attempts
            if a.verdict is not None and id(a.verdict) not in shown
        }
        yield f"<h2>Attempts</h2><p>{escape(wording.cost(report.usage))}</p>"
        yield attempttree.tree(report.attempts, content.patch, own)
    elif content.tried:
        yield f"<h2>Attempts</h2>{attempttree.listed(content.tried, content.patch)}"
    if report is not None and report.profiles:
        yield "<h2>Device time</h2>" + device_time(report)
    if report is not None and report.notes:
        yield "<h2>Notes</h2><ul>" + "".join(f"<li>{_shown(note)}</li>" for note in report.notes) + "</ul>"
    if content.command:
        yield f'<h2>Reproduce</h2><pre class="wrapped" tabindex="0">{_shown(content.command)}</pre>'
    if report is not None:
        yield "<h2>Run</h2>" + facts(report)


# ---- the change ------------------------------------------------------------------------------------


def _change(shown: SideBySide) -> str:
    rows = "".join(_diff_row(row) for row in shown.rows)
    columns = "".join(f'<col class="{name}">' for name in ("c-heat", "c-no", "c-text", "c-heat", "c-no", "c-text"))
    head = "".join(f'<th scope="col">heat</th><th scope="col" colspan="2">{side}</th>' for side in ("before", "after"))
    left = f"<p>{shown.left_out} more lines of the patch are not shown.</p>" if shown.left_out else ""
    return (
        f"<h2>Change <small>+{shown.added} −{shown.removed} lines</small></h2>"
        "<p>The bar beside a line is its share of all traffic that was counted before the change: sectors, bank cycles "
        "or contended atomics, whichever is largest; on a GPU also its share of the samples of waiting warps. A line "
        "without a bar was not counted.</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Side by side diff"><table class="diff">'
        f"<colgroup>{columns}</colgroup><thead><tr>{head}</tr></thead>\n{rows}</table></div>{left}"
    )


def _diff_row(row: Row) -> str:
    if row.heading:
        return f'<tr class="{"file" if row.is_file else "hunk"}"><td colspan="6">{escape(row.heading)}</td></tr>\n'
    return f"<tr>{_diff_side(row.before, '−')}{_diff_side(row.after, '+')}</tr>\n"


def _diff_side(side: Side | None, sign: str) -> str:
    if side is None:
        return '<td class="heat none"></td><td class="none"></td><td class="none"></td>'
    again = " again" if sign == "+" and not side.changed else ""
    kind = ("del" if sign == "−" else "add") if side.changed else again.strip()
    heat_class = "heat after" if sign == "+" else "heat"
    text = f"{sign if side.changed else ' '}{escape(side.text)}"
    return (
        f'<td class="{heat_class}">{_heat_bar(side.heat)}</td><td class="no{again}">{side.number}</td>'
        f'<td class="{kind}"><code>{text}</code></td>'
    )


def _heat_bar(heat_of_line: Heat | None) -> str:
    if heat_of_line is None:
        return ""
    told = escape(heat_of_line.told)
    return (
        f'<svg width="48" height="12" role="img" aria-label="{told}"><title>{told}</title>'
        f'<rect class="frame" width="48" height="12"/>'
        f'<rect class="heat" width="{48 * heat_of_line.share:.1f}" height="12"/></svg>'
    )


# ---- why it is right, and faster -------------------------------------------------------------------


def _why(content: Content) -> Iterator[str]:
    report = content.report
    if content.judged:
        title = "Why it is right, and faster" if content.judged[-1].accepted else "Gates"
        places = (_place(one, not n, report.application if report else None) for n, one in enumerate(content.judged))
        yield f"<h2>{title}</h2>" + "".join(places)
    if report is None:
        return
    if report.measurements and not any(one.measurements for one in content.judged):
        yield gainfigures.gain_table(report.measurements, report.device.name, report.application)
    before = {profile.kernel.symbol: profile for profile in report.profiles}
    for kernel in report.after:
        was = before.get(kernel.kernel.symbol)
        if was is not None:
            yield roofline(was, kernel, report.device.limits) + gainfigures.counters(was, kernel)


def _place(one: Judged, unfolded: bool, application: Application | None) -> str:
    tag = "good" if one.accepted else "bad"
    return (
        f'<h3>{_shown(one.place)}: <span class="{tag}">{escape(one.outcome)}</span></h3>'
        f"<p>{_shown(one.detail)} <small>{escape(one.at)}</small></p>"
        f"{gainfigures.gain_table(one.measurements, one.place, application)}{gates(one.checks, one.place, unfolded)}"
    )


def gates(checks: Sequence[Check], where: str, unfolded: bool = False) -> str:
    """What each gate saw, where, and what it was shown to reject."""
    if not checks:
        return ""
    titles = ("gate", "result", "what it saw", "on", "rejects, as a control")
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    rows = "".join(_gate(check, titles) for check in checks[:_MOST_GATES])
    return (
        f"<details{' open' if unfolded else ''}><summary>{len(checks)} gates</summary>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Gates of {_shown(where)}">'
        f'<table class="cards"><tr class="head">{head}</tr>{rows}</table></div></details>'
    )


def _gate(check: Check, titles: Sequence[str]) -> str:
    result = f'<td data-of="result" class="{_MARKS.get(check.status, "warn")}">{escape(check.status.value)}</td>'
    seen = _cells(titles[2:], (check.detail, check.device, check.control))
    return f"<tr>{_cells(titles[:1], (check.name,))}{result}{seen}</tr>"


def _cells(titles: Iterable[str], row: Iterable[str]) -> str:
    """Each with its column's title, which a narrow screen shows before it."""
    return "".join(f'<td data-of="{title}">{_shown(cell, 600)}</td>' for title, cell in zip(titles, row, strict=True))


def _shown(text: str, most: int = _LONGEST_TEXT) -> str:
    return escape(visible(text, most))
