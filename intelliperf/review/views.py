"""What the pages show: numbers and words, chosen here from records of the database and of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from intelliperf.history.records import Decision, Judgement, Patch, Survey, Tried, WatchedPlace
from intelliperf.records import Check, CheckStatus, Measurement, Provenance, Report, Scope
from intelliperf.report import gainfigures, heat, reproduce, wording
from intelliperf.report.html import Content
from intelliperf.report.plaintext import visible
from intelliperf.report.risks import Judged, risks
from intelliperf.sentences import duration

_LONGEST_TEXT = 4_000
_MOST_OF_EACH = 60  # places, measurements
_MORE = ("detail", "device", "control", "unseen")  # of a check; older databases lack some


def latest(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """The last one of each place."""
    return tuple({judgement.place: judgement for judgement in judgements}.values())


def whole_gain(judged: Iterable[Judged]) -> Measurement | None:
    """Of the whole application: the worst place of those with the best provenance, as each of them has to gain."""
    found = [m for one in judged if one.accepted for m in one.measurements if m.scope is Scope.APPLICATION]
    measured = [m for m in found if m.provenance is Provenance.MEASURED]
    return min(measured or found, key=lambda m: m.low, default=None)


def content(
    patch: Patch,
    judgements: Sequence[Judgement],
    report: Report | None,
    survey: Survey | None,
    missing: str = "",
    tried: Sequence[Tried] = (),
) -> Content:
    """`report` is that of the run that found the patch; None where its directory is gone, as `missing` says.

    `survey`: what the latest night saw at the patch's place, for the heat of lines where the report has none.
    `tried`: what the search tried, where the report does not tell.
    """
    current = tuple(judged(judgement) for judgement in latest(judgements)[:_MOST_OF_EACH])
    steps = [attempt for attempt in report.attempts if attempt.accepted] if report is not None else []
    best = whole_gain(current)
    before = heat.before(report) if report is not None else {}
    if not before and survey is not None:
        before = heat.of_counts(((line.file, line.line), line.counters) for line in survey.lines)
    whole = f"{gainfigures.interval(best)} for the whole application" if best is not None else "gain not known"
    return Content(
        title=visible(patch.kernel, 200),
        headline=f"{patch.kernel}: {whole}",
        shown_first=(
            ("found", f"{patch.formula}, by {patch.origin}, run {Path(patch.directory).name}"),
            *(wording.shown_first(report) if report is not None else ()),
        ),
        risks=risks(current, steps),
        rationale=patch.rationale or "No rationale was given.",
        patch=patch.diff,
        before=before,
        after=heat.after(report) if report is not None else {},
        judged=current,
        report=report,
        command=reproduce.command(report, Path(patch.directory) / "patch.diff") if report is not None else "",
        sources={},
        missing=missing,
        tried=tuple((one.number, f"{one.origin} for {one.kernel}", one.outcome, one.detail, one.diff) for one in tried),
    )


def judged(judgement: Judgement) -> Judged:
    """Without the codec, as an inbox reads thousands."""
    return Judged(
        place=str(judgement.place),
        outcome=judgement.outcome,
        accepted=judgement.accepted,
        detail=judgement.detail,
        at=judgement.at,
        checks=tuple(
            Check(c["name"], CheckStatus(c["status"]), *(c.get(name, "") for name in _MORE)) for c in judgement.checks
        ),
        measurements=tuple(_measurement(m) for m in judgement.measurements[:_MOST_OF_EACH]),
        not_checked=judgement.not_checked,
    )


def _measurement(m: object) -> Measurement:
    values = dict(m)  # type: ignore[call-overload]
    values |= {"scope": Scope(values["scope"]), "provenance": Provenance(values["provenance"])}
    return Measurement(**{**values, "pairs": tuple(values.get("pairs", ()))})


def pull_request(patch: Patch, shown: Content, decisions: Sequence[Decision]) -> str:
    """Markdown for a pull request's description: what was proven, what was not."""
    lines = [f"# Speed up {shown.title}", "", visible(shown.headline) + ".", ""]
    lines += [_quoted(visible(shown.rationale, _LONGEST_TEXT)), "", "## Verdict", ""]
    for place in shown.judged:
        lines.append(f"- {visible(place.place, 200)}: {place.outcome}, {place.at}")
        lines += [
            f"  - {visible(wording.scope(m, None), 120)}: {duration(m.baseline_ns)} → "
            f"{duration(m.candidate_ns)}, {gainfigures.interval(m)}"
            for m in place.measurements
        ]
    lines += ["", "## Left to the reviewer", "", *(f"- {item}" for item in shown.risks or ("nothing known",))]
    if shown.command:
        lines += ["", "## Reproduce", "", "```", visible(shown.command, _LONGEST_TEXT).replace("```", "` ` `"), "```"]
    comments = [f"- {d.reviewer}: {d.choice.value}: {visible(d.reason, 400)}" for d in decisions]
    if comments:
        lines += ["", "## Review", "", *comments]
    run = visible(Path(patch.directory).name, 200)
    lines += ["", f"IntelliPerf-Run: {run}", f"IntelliPerf-Patch: {patch.id}" if patch.id else ""]
    return "\n".join(lines).rstrip() + "\n"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def judgement_place(report: Report) -> WatchedPlace:
    """Where a run by hand judged: project, program and device by their own names."""
    application = report.application
    target = f":{report.device.name.lower()}" if report.device.emulated else ""
    return WatchedPlace(application.project.name, Path(application.command[0]).name, f"{report.backend}{target}")
