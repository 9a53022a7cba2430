"""Bars and the heat map of a report, as inline SVG in percentages, so that they fit any width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from intelliperf.records import Application, Device, Finding, Measurement, Metric, SourceEvidence
from intelliperf.report import wording
from intelliperf.sentences import duration, main_reading, percent

_AROUND = 3  # lines shown before and after one that is blamed


def bar(share: float, kind: str, label: str) -> str:
    """A bar of `share` (0..1) of the width there is; `label` is for those who do not see it."""
    width = f"{100 * min(1.0, max(share, 0.004)):.2f}%"
    return (
        f'<svg role="img" aria-label="{escape(label)}"><rect class="track" width="100%" height="100%" rx="2"/>'
        f'<rect class="{kind}" width="{width}" height="100%" rx="2"/></svg>'
    )


def gain_bars(measurement: Measurement, device: Device, application: Application) -> str:
    """Before and after on one scale, that of the longer."""
    longer = max(measurement.baseline_ns, measurement.candidate_ns) or 1.0
    rows = []
    for name, ns in (("before", measurement.baseline_ns), ("after", measurement.candidate_ns)):
        told = duration(ns)
        rows.append(f'<span class="muted">{name}</span>{bar(ns / longer, name, f"{name}: {told}")}')
        rows.append(f'<span class="figure">{escape(told)}</span>')
    title = f"{wording.scope(measurement, application)}: {wording.gain(measurement, device)}"
    return f'<figure><figcaption>{escape(title)}</figcaption><div class="bars">{"".join(rows)}</div></figure>'


def heat_map(
    finding: Finding, evidence: Sequence[SourceEvidence], sources: Mapping[Path, str], device: Device
) -> Iterator[str]:
    """The lines that are blamed, hotter where more of the kernel's excess comes from them, with the lines around them.

    `sources`: the text of each file; a line is shown alone where its file is not there or has another text by now.
    """
    weights = weights_of(finding, evidence, device)
    for file in dict.fromkeys(item.file for item in evidence):
        own: dict[int, float] = {}
        texts: dict[int, str] = {}
        for item in (one for one in evidence if one.file == file):
            own[item.line] = own.get(item.line, 0.0) + weights.get(id(item), 0.0)
            texts[item.line] = item.text.rstrip()
        lines = sources.get(file, "").splitlines()
        if all(number <= len(lines) and lines[number - 1].strip() == text.strip() for number, text in texts.items()):
            texts |= {
                n: lines[n - 1] for at in own for n in range(max(1, at - _AROUND), min(len(lines), at + _AROUND) + 1)
            }
        rows = "".join(_heat_row(number, texts[number], own.get(number)) for number in sorted(texts))
        yield f'<figure><figcaption>{escape(file.name)}</figcaption><div class="code">{rows}</div></figure>'


def _heat_row(number: int, text: str, weight: float | None) -> str:
    shown = text.encode("utf-8", "replace").decode("utf-8").expandtabs(4)
    if weight is None:
        return f'<div><span class="at">{number}</span><span></span><span>{escape(shown)}</span></div>'
    drawn = bar(weight, "heat", f"{percent(weight)} of what is blamed") if weight > 0 else "<span></span>"
    return f'<div><span class="at">{number}</span>{drawn}<span class="hot">{escape(shown)}</span></div>'


def weights_of(finding: Finding, evidence: Sequence[SourceEvidence], device: Device) -> dict[int, float]:
    """Of each item, by `id`, its part (0..1) of what all of them do too much; empty where nobody counted that.

    What the lines need beyond an ideal access, else the metric that found, else their time.
    """
    excess = {id(item): _excess(finding, item, device) for item in evidence}
    found, time = ({id(i): _value(i, metric) for i in evidence} for metric in (finding.metric, Metric.TIME_SHARE))
    for parts in (excess, found, time):
        total = sum(parts.values())
        if total > 0:
            return {key: value / total for key, value in parts.items()}
    return {}


def _excess(finding: Finding, item: SourceEvidence, device: Device) -> float:
    reading = main_reading(finding, item, device)
    return reading.excess if reading is not None else 0.0


def _value(item: SourceEvidence, metric: Metric) -> float:
    quantity = item.quantities.get(metric)
    return quantity.value if quantity is not None else 0.0
