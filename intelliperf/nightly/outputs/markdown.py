"""`summary.md` of a night: regressions, patches to review, new findings, problems; then what stayed the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from intelliperf.history.records import NightState, Regression
from intelliperf.nightly.outcome import NightReport, PatchOutcome, Step

_MAX_FINDINGS = 50
_MAX_COMMITS = 10
_MAX_DIFF = 60_000  # characters


def summary(report: NightReport) -> str:
    """Ends with a newline."""
    return "\n".join(_lines(report)) + "\n"


def headline(report: NightReport) -> str:
    """What is new, in one line."""
    findings = sum(len(place.new_findings) for target in report.targets for place in target.places)
    problems = sum(
        len(t.problems) + sum(p.step is Step.FAILED and p.problem not in t.problems for p in t.places)
        for t in report.targets
    )
    counted = (
        (problems, "problem", "problems"),
        (len(report.regressions), "regression", "regressions"),
        (len(report.to_review), "patch to review", "patches to review"),
        (findings, "new finding", "new findings"),
    )
    said = [f"{number} {one if number == 1 else many}" for number, one, many in counted if number]
    return ", ".join(said) or "nothing new"


def gain_of(measurements: tuple[Mapping[str, Any], ...], scope: str) -> str:
    """ "modelled 11.80× (11.20 to 12.10)", empty where that was not measured."""
    for item in measurements:
        if item["scope"] == scope:
            how = "modelled " if item["provenance"] == "modelled" else ""
            return f"{how}{item['ratio']:.2f}× ({item['low']:.2f} to {item['high']:.2f})"
    return ""


def _lines(report: NightReport) -> Iterator[str]:
    yield f"# Night {report.night}: {headline(report)}"
    yield ""
    places = [place for target in report.targets for place in target.places]
    counts = [(step, sum(place.step is step for place in places)) for step in Step]
    yield f"- {len(report.targets)} targets: " + ", ".join(f"{count} {step.value}" for step, count in counts if count)
    if report.state is not NightState.DONE:
        yield f"- ended early: {report.reason or report.state.value}"
    spent = report.spent
    yield f"- spent: {spent.minutes:.1f} min, {spent.device_minutes:.1f} device minutes, {spent.tokens:,} tokens"
    yield f"- {report.started_at} to {report.ended_at} on {report.host}, {report.pool}"
    yield f"- intelliperf {report.tool_version}"
    yield from _problems(report)
    if report.regressions:
        yield from ("", "## Slower than before")
        for regression in report.regressions:
            yield from _regression(regression)
    yield from _patches(report)
    yield from _findings(report)


def _problems(report: NightReport) -> Iterator[str]:
    said = [(target.name, problem) for target in report.targets for problem in target.problems]
    said += [
        (str(place.place), place.problem)
        for target in report.targets
        for place in target.places
        if place.step is Step.FAILED and place.problem not in target.problems
    ]
    if said:
        yield from ("", "## Problems", "")
        yield from (f"- {flat(where)}: {flat(problem)}" for where, problem in said)


def _regression(regression: Regression) -> Iterator[str]:
    yield from ("", f"### {flat(str(regression.place))}", "", flat(regression.sentence), "")
    for line in regression.lines[:_MAX_COMMITS]:
        place = code(f"{line['file']}:{line['line']}")
        yield f"- {place} {code(line['text'])}: {rise_of(line)}"
    if regression.commits:
        yield f"- in between: {'; '.join(flat(commit) for commit in regression.commits[:_MAX_COMMITS])}"


def rise_of(line: Mapping[str, Any]) -> str:
    """ "store sectors_32b 128 → 1024"; histories of earlier versions lack the access."""
    before = "new" if line["before"] is None else f"{line['before']:g} →"
    return f"{line.get('access', '')} {line['metric']} {before} {line['after']:g}".strip()


def _patches(report: NightReport) -> Iterator[str]:
    if not report.patches:
        return
    yield from ("", "## Patches", "", "| patch | target | formula | kernel | application | judged | state |")
    yield "|---|---|---|---|---|---|---|"
    for item in report.patches:
        patch = item.patch
        kernel = gain_of(item.judgements[0].measurements, "kernel") if item.judgements else ""
        whole = gain_of(item.judgements[0].measurements, "application") if item.judgements else ""
        judged = "; ".join(f"{j.place.workload} on {j.place.device}: {j.outcome}" for j in item.judgements)
        state = "new" if item in report.to_review else "refused elsewhere" if item.new else patch.standing.value
        cells = (str(patch.id), patch.target, patch.formula, kernel, whole, judged, state)
        yield "| " + " | ".join(cell(text) for text in cells) + " |"
    for item in report.to_review:
        yield from _folded(item)


def _folded(item: PatchOutcome) -> Iterator[str]:
    patch = item.patch
    yield from ("", "<details>", f"<summary>patch {patch.id}: {escaped(patch.kernel)}, {patch.formula}</summary>", "")
    left_open = sorted({text for judgement in item.judgements for text in judgement.not_checked})
    yield from (f"- not checked: {flat(text)}" for text in left_open)
    fence = "`" * max(3, 1 + _longest_run(patch.diff))
    shown = patch.diff if len(patch.diff) <= _MAX_DIFF else patch.diff[:_MAX_DIFF] + "\n… (cut; see patch.diff)"
    plain = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in shown)
    yield from ("", f"{fence}diff", plain.rstrip("\n"), fence, "", "</details>")


def _findings(report: NightReport) -> Iterator[str]:
    found = [(place.place, item) for target in report.targets for place in target.places for item in place.new_findings]
    if found:
        yield from ("", "## New findings", "")
        for place, item in found[:_MAX_FINDINGS]:
            yield f"- {flat(str(place))}: {code(item.kernel)}: {item.formula}: {flat(item.sentence)}"
        if len(found) > _MAX_FINDINGS:
            yield f"- and {len(found) - _MAX_FINDINGS} more in night.json"


def flat(text: str) -> str:
    """On one line, with nothing that Markdown or HTML would take for a command."""
    return escaped(" ".join(text.split())).replace("|", "\\|")


def escaped(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text).replace("&", "&amp;").replace("<", "&lt;")


def code(text: str) -> str:
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    fence = "`" * (1 + _longest_run(plain))
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def cell(text: str) -> str:
    return flat(text)


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
