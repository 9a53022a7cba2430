"""What the templates show: numbers and words, chosen here from records, never computed in a template."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from intelliperf.frozen import record
from intelliperf.history.records import Decision, Judgement, Patch, Place, Standing
from intelliperf.records import Attempt, Check, CheckStatus, Measurement, Provenance, Report, Scope
from intelliperf.report import wording
from intelliperf.review.diffview import Heat, SideBySide, side_by_side
from intelliperf.review.plaintext import visible

_LONGEST_TEXT = 4_000
_MOST_ATTEMPTS = 60
_MOST_OF_EACH = 60  # gates, measurements, sentences of one verdict
_ATTEMPT_DIFF = 3_000


@record(frozen=True)
class Gain:
    """One measurement, with where its interval lies on a scale that all of them share (0..100)."""

    scope: str
    before: str
    after: str
    told: str
    provenance: str
    low_at: float
    at: float
    high_at: float
    one_at: float  # where "as fast as before" lies


@record(frozen=True)
class PlaceView:
    """The latest verdict at one place."""

    place: str
    outcome: str
    accepted: bool
    detail: str
    at: str
    gates: tuple[Check, ...]
    gains: tuple[Gain, ...]


@record(frozen=True)
class AttemptView:
    index: int
    outcome: str
    accepted: bool
    origin: str
    detail: str
    rationale: str
    cost: str
    diff: str
    gates: tuple[Check, ...]


@record(frozen=True)
class Entry:
    """One line of the inbox."""

    id: int
    target: str
    kernel: str
    formula: str
    origin: str
    standing: Standing
    found_at: str
    gain: str
    provenance: str
    ratio: float  # the lower end of the interval for the whole application, 0 where it is not known
    risks: tuple[str, ...]


@record(frozen=True)
class PatchPage:
    """One patch."""

    title: str
    formula: str
    origin: str
    run: str
    device: str
    rationale: str
    headline: str
    risks: tuple[str, ...]
    diff: SideBySide
    places: tuple[PlaceView, ...]
    attempts: tuple[AttemptView, ...]
    attempts_left_out: int
    cost: str
    command: str
    steps: int  # accepted attempts that the patch is made of; 0 where the run's report is gone
    missing: str = ""  # why parts of the page cannot be shown


def latest(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """The last one of each place."""
    return tuple({judgement.place: judgement for judgement in judgements}.values())


def entry(patch: Patch, judgements: Sequence[Judgement]) -> Entry:
    current = latest(judgements)
    best = _whole(current)
    return Entry(
        id=patch.id or 0,
        target=visible(patch.target, 80),
        kernel=visible(patch.kernel, 120),
        formula=visible(patch.formula, 60),
        origin=visible(patch.origin, 120),
        standing=patch.standing,
        found_at=patch.found_at,
        gain=_interval(best) if best is not None else "not known",
        provenance=best.provenance.value if best is not None else "",
        ratio=best.low if best is not None else 0.0,
        risks=risks(current),
    )


def by_gain(entries: Iterable[Entry]) -> list[Entry]:
    """Measured before modelled, then by what is gained at least; the oldest of equals first."""
    return sorted(entries, key=lambda e: (e.provenance != Provenance.MEASURED.value, -e.ratio, e.id))


def _whole(judgements: Iterable[Judgement]) -> Measurement | None:
    """Of the whole application: the worst place of those with the best provenance, as each of them has to gain."""
    found = [m for j in judgements if j.accepted for m in _measurements(j) if m.scope is Scope.APPLICATION]
    measured = [m for m in found if m.provenance is Provenance.MEASURED]
    return min(measured or found, key=lambda m: m.low, default=None)


def risks(judgements: Sequence[Judgement], accepted: Sequence[Attempt] = ()) -> tuple[str, ...]:
    """In words, what an accepted patch leaves to the reviewer."""
    found = [f"not judged right and faster at {j.place}: {j.outcome}" for j in judgements if not j.accepted]
    if not judgements:
        found.append("never judged")
    for judgement in judgements:
        if any(m.provenance is Provenance.MODELLED for m in _measurements(judgement)):
            found.append("the gain is modelled, not measured on hardware")
        found += [f"not checked: {item}" for item in judgement.not_checked]
        found += _left_open(_checks(judgement), judgement.not_checked)
    told = [item for judgement in judgements for item in judgement.not_checked]
    for attempt in accepted:  # a verdict on several steps holds the gates of the last one alone
        found += _left_open(attempt.verdict.checks if attempt.verdict is not None else (), told)
        declares = attempt.candidate.declares if attempt.candidate is not None else None
        if declares is not None and declares.geometry:
            found.append(f"changes launch geometry: {declares.reason}")
        if declares is not None and declares.kernels:
            found.append(f"adds, splits or renames kernels: {declares.reason}")
    return tuple(visible(item, 300) for item in dict.fromkeys(found))[:_MOST_OF_EACH]


def _left_open(checks: Iterable[Check], told: Sequence[str]) -> list[str]:
    """What gates could not reject or did not look at, beyond what `told` says already; and what they tolerated."""
    found = []
    for check in checks:
        if check.status is CheckStatus.WEAK:
            found.append(f"weak check: {check.name}: {check.detail}")
        elif check.status is CheckStatus.NOT_RUN and f"{check.name}: {check.detail}" not in told:
            found.append(f"not run: {check.name}: {check.detail}")
        elif check.name == "tolerance" and "rtol" in check.detail:
            found.append(f"tolerance: {check.detail}")
    return found


def patch_page(
    patch: Patch, judgements: Sequence[Judgement], report: Report | None, heat: Mapping[tuple[str, int], Heat]
) -> PatchPage:
    """`report` is that of the run that found the patch; None where its directory is gone."""
    current = latest(judgements)
    accepted = [a for a in report.attempts if a.accepted] if report is not None else []
    best = _whole(current)
    return PatchPage(
        title=visible(patch.kernel, 200),
        formula=visible(patch.formula, 60),
        origin=visible(patch.origin, 400),
        run=visible(Path(patch.directory).name, 200),
        device=", ".join(visible(j.place.device, 100) for j in current),
        rationale=visible(patch.rationale, _LONGEST_TEXT),
        headline=f"{_interval(best)} for the whole application" if best is not None else "gain not known",
        risks=risks(current, accepted),
        diff=side_by_side(patch.diff, heat),
        places=tuple(_place(judgement) for judgement in current[:_MOST_OF_EACH]),
        attempts=tuple(_attempt(a) for a in report.attempts[:_MOST_ATTEMPTS]) if report is not None else (),
        attempts_left_out=max(0, len(report.attempts) - _MOST_ATTEMPTS) if report is not None else 0,
        cost=wording.cost(report.usage) if report is not None else "",
        command=visible(_command(patch, report), _LONGEST_TEXT) if report is not None else "",
        steps=len(accepted),
    )


def _place(judgement: Judgement) -> PlaceView:
    return PlaceView(
        place=visible(str(judgement.place), 200),
        outcome=judgement.outcome,
        accepted=judgement.accepted,
        detail=visible(judgement.detail, _LONGEST_TEXT),
        at=judgement.at,
        gates=_shown(_checks(judgement)),
        gains=gains(_measurements(judgement)[:_MOST_OF_EACH]),
    )


def _shown(checks: Sequence[Check]) -> tuple[Check, ...]:
    return tuple(Check(visible(c.name, 100), c.status, visible(c.detail, 600)) for c in checks[:_MOST_OF_EACH])


def gains(measurements: Sequence[Measurement]) -> tuple[Gain, ...]:
    top = max((m.high for m in measurements), default=1.0)
    scale = 100 / max(top, 1.0)
    return tuple(
        Gain(
            scope=visible(wording.scope(m), 120),
            before=wording.duration(m.baseline_ns),
            after=wording.duration(m.candidate_ns),
            told=f"{_interval(m)}, {m.samples} {'sample' if m.samples == 1 else 'samples'}",
            provenance=m.provenance.value,
            low_at=round(m.low * scale, 2),
            at=round(m.ratio * scale, 2),
            high_at=round(m.high * scale, 2),
            one_at=round(scale, 2),
        )
        for m in measurements
    )


def _attempt(attempt: Attempt) -> AttemptView:
    name, detail = wording.outcome(attempt)
    rationale = attempt.candidate.rationale if attempt.candidate is not None else ""
    return AttemptView(
        index=attempt.index,
        outcome=name,
        accepted=attempt.accepted,
        origin=visible(f"{wording.origin(attempt)} for {attempt.kernel or 'the kernel'}", 200),
        detail=visible(detail, 600),
        rationale=visible(rationale, 1_000),
        cost=wording.cost(attempt.usage),
        diff=visible(attempt.diff, _ATTEMPT_DIFF),
        gates=_shown(attempt.verdict.checks if attempt.verdict is not None else ()),
    )


def _interval(m: Measurement) -> str:
    interval = f" ({m.low:.2f} to {m.high:.2f})" if m.high > m.low else ""
    return f"{m.ratio:.2f}×{interval} {m.provenance.value}"


def _checks(judgement: Judgement) -> tuple[Check, ...]:
    return tuple(Check(c["name"], CheckStatus(c["status"]), c.get("detail", "")) for c in judgement.checks)


def _measurements(judgement: Judgement) -> tuple[Measurement, ...]:
    """Without the codec, as an inbox reads thousands."""
    return tuple(
        Measurement(**{**m, "scope": Scope(m["scope"]), "provenance": Provenance(m["provenance"])})
        for m in judgement.measurements
    )


def _command(patch: Patch, report: Report) -> str:
    """Verifies the patch again as the run did, from its project directory."""
    application = report.application
    words = ["intelliperf", "verify", str(Path(patch.directory) / "patch.diff"), "--backend", report.backend]
    if report.device.emulated and not report.device.runs_on:
        words += ["--target", report.device.name.lower()]
    for build in application.build_commands:
        words += ["-b", wording.command_line(build)]
    if application.exit_status:
        words += ["--expect-exit", str(application.exit_status)]
    accepted = [a.candidate.declares for a in report.attempts if a.accepted and a.candidate is not None]
    words += ["--allow-geometry"] * any(d.geometry for d in accepted)
    words += ["--allow-kernels"] * any(d.kernels for d in accepted)
    launcher = ["--launcher", shlex.join(application.launcher.words)] if application.launcher.words else []
    directory = shlex.quote(str(application.project))
    return f"cd {directory} && {shlex.join([*words, *launcher, '--', *application.command])}"


def pull_request(patch: Patch, page: PatchPage, decisions: Sequence[Decision]) -> str:
    """Markdown for a pull request's description: what was proven, what was not."""
    lines = [f"# Speed up {page.title}", "", page.headline + ".", "", _quoted(page.rationale), "", "## Verdict", ""]
    for place in page.places:
        lines.append(f"- {place.place}: {place.outcome}, {place.at}")
        lines += [f"  - {gain.scope}: {gain.before} → {gain.after}, {gain.told}" for gain in place.gains]
    lines += ["", "## Left to the reviewer", "", *(f"- {item}" for item in page.risks or ("nothing known",))]
    if page.command:
        lines += ["", "## Reproduce", "", "```", page.command.replace("```", "` ` `"), "```"]
    comments = [f"- {d.reviewer}: {d.choice.value}: {visible(d.reason, 400)}" for d in decisions]
    if comments:
        lines += ["", "## Review", "", *comments]
    lines += ["", f"IntelliPerf-Run: {page.run}", f"IntelliPerf-Patch: {patch.id}" if patch.id else ""]
    return "\n".join(lines).rstrip() + "\n"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def judgement_place(report: Report) -> Place:
    """Where a run by hand judged: project, program and device by their own names."""
    application = report.application
    target = f":{report.device.name.lower()}" if report.device.emulated else ""
    return Place(application.project.name, Path(application.command[0]).name, f"{report.backend}{target}")
