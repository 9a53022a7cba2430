"""Kernels that became slower than their own history, and the lines that did it.

Times that were measured go through `change`; a suspicion is for the night to settle by a comparison. Modelled times and
exact counts need no statistics: on the same inputs, more is more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intelliperf.history.records import LineCounts, Point, RegressionKind, WatchedPlace
from intelliperf.nightly.change import change_at_end
from intelliperf.records.metrics import Metric, Provenance, Quantity
from intelliperf.sentences import duration, number

# Counts of what a kernel makes the memory do. More instructions alone may be a feature.
_COUNTS = (
    Metric.SECTORS,
    Metric.LDS_PHASES,
    Metric.ATOMIC_SERIALIZATION,
    Metric.LDS_ATOMIC_SERIALIZATION,
    Metric.LOCAL_REQUESTS,
    Metric.DRAM_BYTES,
)
_MAX_LINES = 10


@dataclass(frozen=True)
class Suspect:
    """A kernel that seems slower. `settled`: needs no comparison."""

    place: WatchedPlace
    symbol: str
    kernel: str
    kind: RegressionKind
    metric: str
    before: float
    after: float
    good: Point
    bad: Point
    settled: bool

    @property
    def sentence(self) -> str:
        times = self.kind is not RegressionKind.COUNTS
        spelled = (duration(self.before), duration(self.after)) if times else (number(self.before), number(self.after))
        change = f"{100 * (self.after / self.before - 1):.1f} %" if self.before else "from nothing"
        how = {
            RegressionKind.TIME: "measured time",
            RegressionKind.MODEL: "modelled time",
            RegressionKind.COUNTS: self.metric,
        }[self.kind]
        return f"{self.kernel}: {how} {spelled[0]} → {spelled[1]} (+{change.removeprefix('+')})"


def suspect(place: WatchedPlace, kernel: str, symbol: str, segment: Sequence[Point], smallest: float) -> Suspect | None:
    """What the last point of the segment gives away. `smallest`: relative; less is not worth a word."""
    if len(segment) < 2:
        return None
    if segment[-1].provenance is Provenance.MEASURED:
        return _measured(place, kernel, symbol, segment, smallest)
    comparable = [point for point in segment if point.tool_version == segment[-1].tool_version]
    return _modelled(place, kernel, symbol, comparable, smallest) if len(comparable) > 1 else None


def _measured(
    place: WatchedPlace, kernel: str, symbol: str, segment: Sequence[Point], smallest: float
) -> Suspect | None:
    change = change_at_end([point.total_ns for point in segment])
    if change is None or change.ratio < 1 + smallest:
        return None
    good, bad = segment[change.first - 1], segment[change.first]
    kind = RegressionKind.TIME
    metric = Metric.DEVICE_TIME_NS.value
    return Suspect(place, symbol, kernel, kind, metric, change.before, change.after, good, bad, change.certain)


def _modelled(
    place: WatchedPlace, kernel: str, symbol: str, segment: Sequence[Point], smallest: float
) -> Suspect | None:
    """Against the best of the segment, so that many small steps add up."""
    *earlier, bad = segment
    best = min(point.total_ns for point in earlier)
    if bad.total_ns > best * (1 + smallest):
        good = [point for point in earlier if point.total_ns <= best * (1 + smallest / 10)][-1]
        metric = Metric.DEVICE_TIME_NS.value
        return Suspect(
            place, symbol, kernel, RegressionKind.MODEL, metric, good.total_ns, bad.total_ns, good, bad, True
        )
    good = earlier[-1]
    for counted in _COUNTS:
        before, after = good.counters.get(counted), bad.counters.get(counted)
        if before is not None and after is not None and _rose(before, after, smallest):
            kind = RegressionKind.COUNTS
            return Suspect(place, symbol, kernel, kind, counted.value, before.value, after.value, good, bad, True)
    return None


def _rose(before: Quantity, after: Quantity, smallest: float) -> bool:
    """Beyond what sampling of blocks leaves open: by thrice both half-widths of 95 %, which chance alone exceeds in
    less than one of 10 million counts. A count without an error is exact.
    """
    most, least = before.value + 3 * (before.error or 0.0), after.value - 3 * (after.error or 0.0)
    return least > most * (1 + smallest) and least > most


def segment_of(points: Sequence[Point], changed_at: Sequence[int]) -> list[Point]:
    """The points since the last regression, whose visit begins the new level."""
    begins = [number for number, point in enumerate(points) if point.visit in changed_at]
    return list(points[begins[-1] :]) if begins else list(points)


def changed_lines(before: Sequence[LineCounts], after: Sequence[LineCounts], symbol: str) -> tuple[dict[str, Any], ...]:
    """The kernel's accesses whose counters rose, the greatest rise first, each with the count that rose most; then
    those whose modelled time alone did.

    Lines are known by their text, so that those that only moved are not among them. An edited line is held against the
    vanished one that made the same kind of access, in their order; what has no counterpart is new.
    """
    old, new = _by_text(before, symbol), _by_text(after, symbol)
    vanished = {key: value for key, value in old.items() if key not in new}
    risen = []
    for key, (line, counters) in new.items():
        same = key if key in old else next((k for k in vanished if _kind(k) == _kind(key)), None)
        earlier = {} if same is None else old[same][1]
        if same is not None:
            vanished.pop(same, None)
        rises = {
            m: counters[m] - earlier.get(m, 0.0)
            for m in (*_LINE_COUNTS, Metric.DEVICE_TIME_NS)
            if m in counters and counters[m] > earlier.get(m, 0.0) * 1.001
        }
        if rises:
            # The modelled time follows from the counts: it is told of where none of them rose.
            most = max(rises, key=lambda m: (m in _LINE_COUNTS, rises[m] / max(counters[m], 1.0)))
            shown = {
                "file": line.file,
                "line": line.line,
                "text": line.text,
                "access": line.access,
                "metric": most.value,
                "before": earlier.get(most),
                "after": counters[most],
            }
            risen.append(((most not in _LINE_COUNTS, -rises[most]), shown))
    risen.sort(key=lambda item: item[0])
    return tuple(shown for _, shown in risen[:_MAX_LINES])


_LINE_COUNTS = (
    Metric.SECTORS,
    Metric.LDS_PHASES,
    Metric.ATOMIC_SERIALIZATION,
    Metric.REQUESTS,
    Metric.DRAM_SECTORS_AGAIN,
)


def _kind(key: tuple[str, str, str, str]) -> tuple[str, str, str]:
    file, _, access, operation = key
    return file, access, operation


def _by_text(
    lines: Sequence[LineCounts], symbol: str
) -> Mapping[tuple[str, str, str, str], tuple[LineCounts, dict[Metric, float]]]:
    found: dict[tuple[str, str, str, str], tuple[LineCounts, dict[Metric, float]]] = {}
    for line in lines:
        if line.symbol == symbol:
            key = (line.file, line.text, line.access, line.operation.partition(" (")[0])  # without its samples
            kept, counters = found.setdefault(key, (line, {}))
            for metric in (*_LINE_COUNTS, Metric.DEVICE_TIME_NS):
                if metric in line.counters:
                    counters[metric] = counters.get(metric, 0.0) + line.counters[metric].value
    return found
