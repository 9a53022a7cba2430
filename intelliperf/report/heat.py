"""How much of a program's traffic each line causes, before a change and after it, from counts that a run kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from intelliperf.records import Report, SourceEvidence
from intelliperf.records.metrics import Metric, Quantity
from intelliperf.report.sidebyside import Heat, Heats
from intelliperf.sentences import number, percent

SourceLine = tuple[str, int]  # path in the project, line
_SHOWN: tuple[tuple[Metric, str], ...] = (
    (Metric.SECTORS, "32-byte sectors"),
    (Metric.LDS_PHASES, "LDS bank cycles"),
    (Metric.ATOMIC_SERIALIZATION, "lanes of atomics on one address"),
    (Metric.WAITING_SAMPLES, "samples of warps that wait"),
)
_SAMPLED = (Metric.WAITING_SAMPLES,)  # a number of samples says nothing about another run's


def before(report: Report) -> Heats:
    """Of all counted lines of the improved kernels; in an older report, of those that its findings blame."""
    every = (*report.evidence, *(e for d in report.diagnoses for e in d.evidence))
    # Several findings may blame the same line.
    once = {(e.kernel.symbol, e.file, e.line, e.column, e.operation): e for e in every}
    return _of(report.lines_before or tuple(once.values()), report.application.project)


def after(report: Report) -> Heats:
    """On the scale of the counts before: a line that does a tenth of what all did then has a tenth of a bar."""
    project = report.application.project
    return _of(report.lines_after, project, _totals(_counted(report.lines_before, project)))


def of_counts(counted: Iterable[tuple[SourceLine, Mapping[Metric, Quantity]]]) -> Heats:
    return _heat(list(counted), None)


def _of(lines: Sequence[SourceEvidence], project: Path, totals: Mapping[Metric, float] | None = None) -> Heats:
    return _heat(_counted(lines, project), totals)


def _counted(lines: Sequence[SourceEvidence], project: Path) -> list[tuple[SourceLine, Mapping[Metric, Quantity]]]:
    return [(_place(item, project), item.quantities) for item in lines]


def _place(item: SourceEvidence, project: Path) -> SourceLine:
    file = item.file.relative_to(project) if project in item.file.parents else item.file
    return file.as_posix(), item.line


def _totals(counted: Iterable[tuple[SourceLine, Mapping[Metric, Quantity]]]) -> dict[Metric, float]:
    totals: dict[Metric, float] = defaultdict(float)
    for _, quantities in counted:
        for metric, _name in _SHOWN:
            if metric in quantities:
                totals[metric] += quantities[metric].value
    return totals


def _heat(
    counted: Sequence[tuple[SourceLine, Mapping[Metric, Quantity]]], totals: Mapping[Metric, float] | None
) -> Heats:
    """`share` is the line's largest share of what all counted lines did, over all counts."""
    sums: dict[SourceLine, dict[Metric, float]] = defaultdict(lambda: defaultdict(float))
    for place, quantities in counted:
        for metric, _name in _SHOWN:
            if metric in quantities:
                sums[place][metric] += quantities[metric].value
    own = _totals(counted)
    before = {metric: total for metric, total in (totals or {}).items() if total and metric not in _SAMPLED}
    scale = {metric: before.get(metric, own[metric]) for metric in own}
    of_what = {m: _of_what(m, totals is None, m in before) for m in own}
    found = {}
    for place, values in sums.items():
        known = [(m, name) for m, name in _SHOWN if values.get(m)]
        if known:
            told = "; ".join(
                f"{number(values[m])} {name}, {percent(values[m] / scale[m])} of {of_what[m]}" for m, name in known
            )
            found[place] = Heat(min(1.0, max(values[m] / scale[m] for m, _name in known)), told)
    return found


def _of_what(metric: Metric, is_before: bool, in_both: bool) -> str:
    if is_before:
        return "all"
    return "all before" if in_both else "all after" if metric in _SAMPLED else "all, none before"
