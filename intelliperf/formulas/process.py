"""What no kernel can mend: formulas over the calls of the whole process. They diagnose, and change nothing."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from intelliperf.formulas.base import Formula, Symptom, Threshold
from intelliperf.records import Device, KernelProfile, Metric, SourceEvidence
from intelliperf.records.timeline import HostLine, ProcessFinding, Timeline
from intelliperf.sentences import times

WORTH_TELLING = Threshold(1.05, "times faster for the whole process: less is within what two clocks on one can tell")
_SHOWN_LINES = 4


@dataclass(frozen=True)
class Delay:
    """What a formula sees: the process's time were it all cured, in words, and how much each call site weighs."""

    cured_ns: float
    sentence: str
    cure: str
    sites: Mapping[int, str]  # site → what happens there, worst first


class ProcessFormula(Formula):
    """Base of the formulas of the whole process; subclasses fill in the class variables and `delay`."""

    diagnosis_only = True
    watched = Metric.DEVICE_TIME_NS
    needs = (Metric.DEVICE_TIME_NS,)
    rules: ClassVar[tuple[str, ...]] = ()

    @property
    def of_process(self) -> tuple[str, ...]:
        """See `protocols.Formula`."""
        return (self.name,)

    @abstractmethod
    def delay(self, timeline: Timeline) -> Delay | None:
        """None where the calls are as they should be. Whether it costs time is judged after."""

    def process_findings(self, timeline: Timeline) -> tuple[ProcessFinding, ...]:
        """See `protocols.Formula`."""
        seen, total = self.delay(timeline), timeline.process_ns
        if seen is None or total <= 0:
            return ()
        ceiling = total / max(seen.cured_ns, total * 1e-3)
        if ceiling < WORTH_TELLING.value:
            return ()
        sentence = f"{seen.sentence}: without that the process would be at most {times(ceiling)} as fast"
        return (ProcessFinding(self.name, sentence, ceiling, _lines(timeline, seen.sites), seen.cure),)

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        return None

    def excess(self, evidence: SourceEvidence) -> float:
        return 0.0


def heaviest(weights: Counter[int]) -> list[int]:
    """Call sites by falling weight."""
    return [site for site, weight in weights.most_common() if weight > 0]


def megabytes(size: float) -> str:
    for unit, each in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= each:
            return f"{size / each:.3g} {unit}"
    return f"{size:.0f} bytes"


def _lines(timeline: Timeline, sites: Mapping[int, str]) -> tuple[HostLine, ...]:
    """The first few; two sites of one line, as of an unrolled loop, stand once."""
    found: dict[tuple[object, ...], HostLine] = {}
    for site, what in _first(sites.items()):
        line = timeline.line(site)
        if line is not None:
            found.setdefault((line.file, line.line, line.by), HostLine(line.file, line.line, line.text, line.by, what))
    return tuple(found.values())


def _first(pairs: Iterable[tuple[int, str]]) -> Iterable[tuple[int, str]]:
    return list(pairs)[:_SHOWN_LINES]
