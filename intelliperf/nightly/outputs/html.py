"""`night.html`: the same as the summary, in one file that asks no other host for anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from intelliperf.nightly.outcome import NightReport, Step
from intelliperf.nightly.outputs.markdown import gain_of, headline, rise_of

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
table{border-collapse:collapse;display:block;overflow-x:auto}
td,th{border-bottom:1px solid #8886;padding:.3rem .8rem;text-align:left;vertical-align:top}
pre{overflow-x:auto;padding:.5rem;background:#8881}
code{overflow-wrap:anywhere}
.bad{font-weight:600}
"""
_MAX_DIFF = 200_000  # characters


def page(report: NightReport) -> str:
    title = f"Night {report.night}: {headline(report)}"
    body = "\n".join(_body(report))
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def _body(report: NightReport) -> Iterator[str]:
    yield (
        f"<p>{escape(report.started_at)} to {escape(report.ended_at)} on {escape(report.host)}, {escape(report.pool)}, "
        f"{report.spent.device_minutes:.1f} device minutes, {report.spent.tokens:,} tokens. {escape(report.reason)}</p>"
    )
    for regression in report.regressions:
        yield f"<h2>Slower: {_shown(str(regression.place))}</h2><p class=bad>{_shown(regression.sentence)}</p>"
        yield _listed(
            f"<code>{_shown(line['file'])}:{line['line']}</code> <code>{_shown(line['text'])}</code>: "
            f"{_shown(rise_of(line))}"
            for line in regression.lines
        )
        yield _listed(_shown(commit) for commit in regression.commits)
    for item in report.patches:
        patch = item.patch
        yield f"<h2>Patch {patch.id}: {_shown(patch.target)}, {_shown(patch.kernel)}, {_shown(patch.formula)}</h2>"
        yield _listed(
            f"{_shown(str(j.place))}: <b>{_shown(j.outcome)}</b> {_shown(j.detail)} "
            f"{_shown(gain_of(j.measurements, 'kernel'))}"
            for j in item.judgements
        )
        yield _listed(f"not checked: {_shown(text)}" for j in item.judgements[:1] for text in j.not_checked)
        cut = "\n… (cut; see patch.diff)" if len(patch.diff) > _MAX_DIFF else ""
        yield f"<details><summary>diff</summary><pre>{_shown(patch.diff[:_MAX_DIFF] + cut)}</pre></details>"
    yield "<h2>Targets</h2><table><tr><th>target<th>workload<th>device<th>tonight<th>new findings</tr>"
    for target in report.targets:
        for place in target.places:
            said = place.problem if place.step in (Step.FAILED, Step.SKIPPED) else ", ".join(place.changed)
            findings = "<br>".join(
                f"<code>{_shown(f.kernel)}</code> {_shown(f.formula)}: {_shown(f.sentence)}" for f in place.new_findings
            )
            yield (
                f"<tr><td>{_shown(target.name)}<td>{_shown(place.place.workload)}<td>{_shown(place.place.device)}"
                f"<td>{place.step.value} {_shown(said)}<td>{findings}</tr>"
            )
        if target.problems:
            yield f"<tr><td>{_shown(target.name)}<td colspan=4 class=bad>{_shown('; '.join(target.problems))}</tr>"
    yield "</table>"


def _listed(items: Iterable[str]) -> str:
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{listed}</ul>" if listed else ""


def _shown(text: object) -> str:
    """Escaped, with control characters made visible."""
    return escape("".join(c if c.isprintable() or c in "\n\t" else "�" for c in str(text)))
