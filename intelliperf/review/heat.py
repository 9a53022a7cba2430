"""How much of a program's traffic each line of the original causes, from counts that a run or a night kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from intelliperf.history.records import Survey
from intelliperf.metrics import Metric, Quantity
from intelliperf.records import Report, SourceEvidence
from intelliperf.review.diffview import Heat

Place = tuple[str, int]  # path in the project, line
_SHOWN: tuple[tuple[Metric, str], ...] = (
    (Metric.SECTORS, "32-byte sectors"),
    (Metric.LDS_PHASES, "LDS bank cycles"),
    (Metric.ATOMIC_SERIALIZATION, "lanes of atomics on one address"),
)


def of_report(report: Report) -> Mapping[Place, Heat]:
    """Of the lines that its findings blame. Others were counted, too, but a report does not keep them."""
    every = (*report.evidence, *(e for d in report.diagnoses for e in d.evidence))
    once = {(e.kernel.symbol, e.file, e.line, e.column, e.operation): e for e in every}  # several findings may blame it
    return _heat((_place(item, report.application.project), item.quantities) for item in once.values())


def of_survey(survey: Survey) -> Mapping[Place, Heat]:
    return _heat(((line.file, line.line), line.counters) for line in survey.lines)


def _place(item: SourceEvidence, project: Path) -> Place:
    file = item.file.relative_to(project) if project in item.file.parents else item.file
    return file.as_posix(), item.line


def _heat(counted: Iterable[tuple[Place, Mapping[Metric, Quantity]]]) -> Mapping[Place, Heat]:
    """`share` is the line's largest share of what all counted lines did, over the three counts."""
    sums: dict[Place, dict[Metric, float]] = defaultdict(lambda: defaultdict(float))
    totals: dict[Metric, float] = defaultdict(float)
    for place, quantities in counted:
        for metric, _name in _SHOWN:
            if metric in quantities:
                sums[place][metric] += quantities[metric].value
                totals[metric] += quantities[metric].value
    found = {}
    for place, values in sums.items():
        known = [(m, name) for m, name in _SHOWN if values.get(m)]
        if known:
            told = "; ".join(f"{values[m]:,.0f} {name}, {values[m] / totals[m]:.0%} of all" for m, name in known)
            found[place] = Heat(max(values[m] / totals[m] for m, _name in known), told)
    return found
