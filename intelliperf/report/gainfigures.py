"""A gain as HTML with inline SVG: its interval, the pairs behind it, the counters before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from intelliperf.records import Application, KernelProfile, Measurement, Metric
from intelliperf.report import wording
from intelliperf.report.plaintext import visible
from intelliperf.sentences import duration, number

_MOST = 60  # measurements of one verdict
_MOST_PAIRS = 200
_NOT_COUNTED = frozenset({Metric.TIME_SHARE})


def gain_table(measurements: Sequence[Measurement], where: str, application: Application | None) -> str:
    """Each measurement with its interval on a scale that all of them share; the thin line is 1×."""
    if not measurements:
        return ""
    top = max(1.0, *(m.high for m in measurements))
    rows = "".join(_row(m, 100 / top, application) for m in measurements[:_MOST])
    titles = "".join(
        f'<th scope="col">{title}</th>' for title in ("scope", "before", "after", "gain, with its interval", "interval")
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Measurements at {escape(where)}">'
        f"<table><thead><tr>{titles}</tr></thead>{rows}</table></div>"
        + "".join(_pairs(m, application) for m in measurements[:_MOST])
    )


def _row(m: Measurement, scale: float, application: Application | None) -> str:
    told = f"{interval(m)}, {m.samples} {'sample' if m.samples == 1 else 'samples'}"
    low, width = m.low * scale, max((m.high - m.low) * scale, 0.8)
    drawn = (
        f'<svg class="interval" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(told)}; the thin line is 1×">'
        f'<line class="axis" x1="0" x2="100" y1="5" y2="5"/>'
        f'<line class="one" x1="{scale:.2f}" x2="{scale:.2f}" y1="0" y2="10"/>'
        f'<rect class="after" x="{low:.2f}" y="2" width="{width:.2f}" height="6"/></svg>'
    )
    before, after = duration(m.baseline_ns), duration(m.candidate_ns)
    cells = "".join(
        f"<td>{escape(text)}</td>" for text in (visible(wording.scope(m, application), 120), before, after, told)
    )
    return f"<tr>{cells}<td>{drawn}</td></tr>"


def _pairs(m: Measurement, application: Application | None) -> str:
    """Every pair's ratio as a dot, in the order in which they were measured from left to right."""
    if len(m.pairs) < 2:
        return ""
    pairs = m.pairs[:_MOST_PAIRS]
    low, high = min(1.0, *pairs), max(1.0, *pairs)
    span = (high - low) or 1.0

    def y(ratio: float) -> float:
        return 92 - 84 * (ratio - low) / span

    step = 96 / max(1, len(pairs) - 1)
    dots = "".join(
        f'<rect class="dot" x="{2 + step * i - 0.5:.2f}" y="{y(r) - 2:.2f}" width="1" height="4"/>'
        for i, r in enumerate(pairs)
    )
    lines = "".join(
        f'<line class="{kind}" x1="0" x2="100" y1="{y(value):.2f}" y2="{y(value):.2f}"/>'
        for kind, value in (("one", 1.0), ("median", m.ratio))
    )
    told = (
        f"{len(m.pairs)} pairs of {visible(wording.scope(m, application), 120)}: "
        f"{number(min(m.pairs))}× to {number(max(m.pairs))}×, median {number(m.ratio)}×; "
        f"{sum(r > 1 for r in m.pairs)} of them faster"
    )
    return (
        f"<figure><figcaption>{escape(told)}. From left to right as measured; the thin line is 1×, the thick one the "
        f'median.</figcaption><svg class="pairs" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(told)}">{lines}{dots}</svg></figure>'
    )


def interval(m: Measurement) -> str:
    """ "2.00× (1.95 to 2.05) modelled"."""
    between = f" ({m.low:.2f} to {m.high:.2f})" if m.high > m.low else ""
    return f"{m.ratio:.2f}×{between} {m.provenance.value}"


def counters(before: KernelProfile, after: KernelProfile) -> str:
    """Every quantity that both states have and that changed, the greatest change first; empty where there is none."""
    rows = list(_changed(before, after))
    if not rows:
        return ""
    titles = "".join(f'<th scope="col">{title}</th>' for title in ("counter", "before", "after", "change", "origin"))
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    name = escape(visible(before.kernel.name, 200))
    return (
        f"<details><summary>{len(rows)} counters of {name} changed</summary>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Counters of {name}">'
        f"<table><thead><tr>{titles}</tr></thead>{body}</table></div></details>"
    )


def _changed(before: KernelProfile, after: KernelProfile) -> Iterator[tuple[str, ...]]:
    found = []
    for metric, was in before.quantities.items():
        now = after.quantities.get(metric)
        if now is None or now.value == was.value or metric in _NOT_COUNTED:
            continue
        larger = max(abs(was.value), abs(now.value))
        found.append((abs(now.value - was.value) / larger, metric, was, now))
    for _, metric, was, now in sorted(found, key=lambda item: (-item[0], item[1].value)):
        change = f"{100 * (now.value / was.value - 1):+.3g} %" if was.value else "from nothing"
        yield metric.value, number(was.value), number(now.value), change, now.provenance.value
