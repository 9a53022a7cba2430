"""What every formula shares: how a symptom becomes a finding, and how much there is to gain.

A formula states what it needs, when it fires and why there, which lines it blames, and what is worth
knowing. Formulas are pure: they read records and return records.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from intelliperf.errors import MissingMetric
from intelliperf.records import (
    AccessKind,
    Device,
    Finding,
    KernelProfile,
    Metric,
    ProcessFinding,
    Quantity,
    SourceEvidence,
)
from intelliperf.records.timeline import Timeline
from intelliperf.sentences import percent, times


@dataclass(frozen=True)
class Threshold:
    """A limit and why it lies there."""

    value: float
    reason: str


@dataclass(frozen=True)
class Symptom:
    """What a formula sees in a kernel. `excess_ns` is the time that a perfect change would save."""

    value: float  # of the watched metric
    ideal: float
    excess_ns: float
    sentence: str  # without the shares, which are the same for all
    metric: Metric | None = None  # where it is not the formula's watched one
    left_ns: float | None = None  # the longest of the own parts afterwards; None: their sum less the excess
    further_parts: tuple[Metric, ...] = ()  # of the time that shrink, besides the formula's own


MINIMUM_EXCESS = Threshold(
    0.10,
    "a tenth of the time that the kernel is busy: a smaller part is within what time models and clocks can tell, "
    "and a rewrite seldom wins all of it",
)
MINIMUM_EXCESS_OF_ALL = Threshold(0.02, "below two hundredths of the kernel's time a timing run cannot show the gain")
MINIMUM_SAVED = Threshold(
    250.0, "ns of a dispatch: launches of one kernel of a few microseconds lie as far apart on an H200 (quartiles)"
)
MINIMUM_BLAME = Threshold(
    0.05, "a line with less than a twentieth of the whole excess is not worth an edit, unless all lines are such"
)
EMPTY_KERNEL = Threshold(2000.0, "ns that a kernel without work takes on current GPUs: no part of it is waiting")

_TIME_PARTS = (
    Metric.DISPATCH_TIME_NS,
    Metric.ISSUE_TIME_NS,
    Metric.LDS_TIME_NS,
    Metric.CONSTANT_TIME_NS,
    Metric.L1_TIME_NS,
    Metric.L2_TIME_NS,
    Metric.DRAM_TIME_NS,
    Metric.ATOMIC_TIME_NS,
    Metric.LATENCY_TIME_NS,
)

_TOLD_GAIN = 1.01  # of the application; below it only the kernel's own gain says something
_MOST_GAIN = 1_000.0  # what is left of less than a thousandth of the time is not told from nothing
_STEP_CYCLES = 4.0  # of a dependent arithmetic instruction: CDNA's 64 lanes over 16, Volta's and later ones' pipeline
OVERLAP = 2.5  # as in the runtime's time model, see emulator/runtime/demand.h


class Formula(ABC):
    """Base of all formulas; subclasses fill in the class variables, `symptom` and `excess`."""

    name: ClassVar[str]
    summary: ClassVar[str]  # one line for `intelliperf formulas`
    watched: ClassVar[Metric]
    needs: ClassVar[tuple[Metric, ...]]
    instead: ClassVar[tuple[Metric, ...]] = ()  # do as well where `needs` are not all there; the first is then watched
    knowledge: ClassVar[str]
    absent: ClassVar[Mapping[Metric, str]] = {}  # why a needed metric may not be there
    rules: ClassVar[tuple[str, ...]] = ()
    own_parts: ClassVar[tuple[Metric, ...]] = ()  # the time parts that the excess is taken from
    minimum_excess: ClassVar[Threshold] = MINIMUM_EXCESS
    diagnosis_only: ClassVar[bool] = False  # nothing is changed for it
    blames_kernel: ClassVar[bool] = False  # as a whole, where no line is to blame

    @abstractmethod
    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        """None where the kernel's counts are as they should be. Whether it costs time is judged after."""

    @abstractmethod
    def excess(self, evidence: SourceEvidence) -> float:
        """How much of the bottleneck one line causes, in the watched metric's unit; 0 for none."""

    def diagnose(self, profile: KernelProfile, device: Device) -> Finding | None:
        """None where the kernel does not show the bottleneck beyond the threshold.

        Raises `MissingMetric` where a needed quantity was not collected.
        """
        serves_instead = bool(self.instead) and profile.has(*self.instead)
        for metric in self.instead if serves_instead and not profile.has(*self.needs) else self.needs:
            if not profile.has(metric):
                why = f": {self.absent[metric]}" if metric in self.absent else ""
                raise MissingMetric(f"{self.name} needs {metric.value}, which {profile.kernel.name} lacks{why}")
        symptom = self.symptom(profile, device)
        if symptom is None or self._uncertain(profile, symptom):
            return None
        time_ns = value_of(profile, Metric.DEVICE_TIME_NS)
        saved = min(symptom.excess_ns, time_ns - floor_ns(profile, (*self.own_parts, *symptom.further_parts), symptom))
        if symptom.left_ns is None:  # given as time of its own parts, which others hide
            saved = min(saved, _shown(profile, self.own_parts, symptom.excess_ns))
        busy_ns = time_ns - optional(profile, Metric.LAUNCH_TIME_NS)
        if saved < self.minimum_excess.value * busy_ns or saved < MINIMUM_EXCESS_OF_ALL.value * time_ns:
            return None
        if saved < MINIMUM_SAVED.value:
            return None
        ceiling = amdahl(profile.share, saved / time_ns)
        return Finding(
            formula=self.name,
            profile=profile,
            sentence=f"{symptom.sentence}; {_shares(profile, saved / time_ns, ceiling)}",
            severity=profile.share * saved / time_ns,
            metric=symptom.metric or self.watched,
            value=symptom.value,
            ideal=symptom.ideal,
            gain_ceiling=ceiling,
        )

    def _uncertain(self, profile: KernelProfile, symptom: Symptom) -> bool:
        """Does the ideal lie within the error of what was counted? Relative, since a symptom may be a mean of it."""
        seen = profile.quantities.get(symptom.metric or self.watched)
        if seen is None or not seen.error or not seen.value or not symptom.value:
            return False
        return seen.error / seen.value >= abs(1 - symptom.ideal / symptom.value)

    def findings(self, profile: KernelProfile, device: Device) -> tuple[Finding, ...]:
        """See `protocols.Formula`."""
        finding = self.diagnose(profile, device)
        return () if finding is None else (finding,)

    @property
    def of_process(self) -> tuple[str, ...]:
        """See `protocols.Formula`."""
        return ()

    def process_findings(self, timeline: Timeline) -> tuple[ProcessFinding, ...]:
        """See `protocols.Formula`."""
        return ()

    def of(self, finding: Finding) -> Formula:
        """See `protocols.Formula`."""
        return self

    def blame(self, evidence: Sequence[SourceEvidence]) -> tuple[SourceEvidence, ...]:
        """See `protocols.Formula`. What is spread over many lines is the kernel's, and they follow it."""
        weighed = [(self.excess(item), item) for item in evidence]
        total = sum(weight for weight, _ in weighed)
        guilty = [(weight, item) for weight, item in weighed if weight > 0]
        guilty.sort(key=lambda pair: (-pair[0], str(pair[1].file), pair[1].line, pair[1].column))
        blamed = tuple(item for weight, item in guilty if weight >= MINIMUM_BLAME.value * total)
        if blamed or not (guilty or self.blames_kernel):
            return blamed
        kernel = tuple(item for item in evidence if item.access is AccessKind.KERNEL)
        return (*kernel, *(item for _, item in guilty))

    def value(self, profile: KernelProfile) -> Quantity:
        """The watched quantity. Raises `MissingMetric`."""
        if self.instead and not profile.has(self.watched) and profile.has(self.instead[0]):
            return profile.quantity(self.instead[0])
        return profile.quantity(self.watched)


def value_of(profile: KernelProfile, metric: Metric) -> float:
    return profile.quantity(metric).value


def optional(profile: KernelProfile, metric: Metric) -> float:
    """For time parts, which only a model can tell: 0 where a device does not split its time."""
    return profile.quantities[metric].value if metric in profile.quantities else 0.0


def floor_ns(profile: KernelProfile, own: Sequence[Metric], symptom: Symptom) -> float:
    """No change to the `own` parts can bring the kernel below its launch and its largest part that is left.

    Holds for times that add up as well as for times that overlap, where the symptom says what is left.
    """
    others = [optional(profile, part) for part in _TIME_PARTS if part not in own]
    left = symptom.left_ns
    if left is None:
        left = sum(optional(profile, part) for part in own) - symptom.excess_ns
    return optional(profile, Metric.LAUNCH_TIME_NS) + max([*others, left, 0.0])


def busy_ns(parts: Iterable[float]) -> float:
    """How long parts take that work side by side: the longest sets the pace, but never perfectly (`OVERLAP`)."""
    longest = max(parts := tuple(parts), default=0.0)
    return longest * sum((part / longest) ** OVERLAP for part in parts) ** (1 / OVERLAP) if longest > 0 else 0.0


def _shown(profile: KernelProfile, own: Sequence[Metric], excess_ns: float) -> float:
    """How much is saved if the own parts lose so much together, each in proportion; all where none is told apart."""
    total = sum(optional(profile, part) for part in own)
    if total <= 0:
        return excess_ns
    left = max(0.0, 1.0 - excess_ns / total)
    return shrunk(profile, {part: optional(profile, part) * left for part in own})[0]


def visible_ns(profile: KernelProfile, part: Metric, excess_ns: float) -> float:
    """How much of a part's excess shows, where the others work at the same time."""
    before = optional(profile, part)
    return shrunk(profile, {part: max(0.0, before - excess_ns)})[0]


def stepping_ns(profile: KernelProfile, device: Device) -> float:
    """How much of a modelled latency is a wave's own instructions, one after another, at the pace of a wave alone."""
    if not profile.has(Metric.INSTRUCTIONS, Metric.LATENCY_TIME_NS):
        return 0.0
    waves = sum(waves_of(profile, device)) / max(1, len(profile.geometries))
    steps = value_of(profile, Metric.INSTRUCTIONS) / waves if waves else 0.0
    return min(value_of(profile, Metric.LATENCY_TIME_NS), steps * _STEP_CYCLES / device.limits.clock_hz * 1e9)


def waves_of(profile: KernelProfile, device: Device) -> list[int]:
    """Of each launch geometry."""
    return [
        math.prod(geometry.grid) * math.ceil(math.prod(geometry.block) / device.wave_size)
        for geometry in profile.geometries
    ]


def waiting_ns(profile: KernelProfile) -> float:
    """The time that waves wait, where a model tells it; else no more than all the time that the kernel is busy."""
    if profile.has(Metric.LATENCY_TIME_NS):
        return value_of(profile, Metric.LATENCY_TIME_NS)
    launch_ns = value_of(profile, Metric.LAUNCH_TIME_NS) if profile.has(Metric.LAUNCH_TIME_NS) else EMPTY_KERNEL.value
    return max(0.0, value_of(profile, Metric.DEVICE_TIME_NS) - launch_ns)


def shrunk(profile: KernelProfile, after: Mapping[Metric, float]) -> tuple[float, float]:
    """What is saved if the parts shrink to the values of `after`, and the longest of these.

    Waiting that no model tells is `waiting_ns` for whoever shrinks it, and nothing that hides another part.
    """

    def before(part: Metric) -> float:
        return waiting_ns(profile) if part is Metric.LATENCY_TIME_NS and part in after else optional(profile, part)

    parts = {part: before(part) for part in (*_TIME_PARTS, *after)}
    saved = busy_ns(parts.values()) - busy_ns({**parts, **after}.values())
    return max(0.0, saved), max(after.values(), default=0.0)


def amdahl(share: float, saved: float) -> float:
    """Gain of the whole if a part of `share` loses the fraction `saved` of its time."""
    left = 1.0 - min(1.0, max(0.0, share)) * min(1.0, max(0.0, saved))
    return 1.0 / max(left, 1.0 / _MOST_GAIN)


def _as_fast(gain: float) -> str:
    return f"{times(gain)} as fast{' or more' if gain >= _MOST_GAIN else ''}"


def _shares(profile: KernelProfile, saved: float, ceiling: float) -> str:
    kind = profile.time_provenance.value
    alone = f"make it {_as_fast(ceiling)}"
    if ceiling < _TOLD_GAIN:
        alone = f"make the kernel {_as_fast(amdahl(1.0, saved))} and save less than 1 % of the application's"
    return (
        f"that is {percent(saved)} of this kernel's {kind} time, and the kernel has {percent(profile.share)} of the "
        f"application's device time: removing this alone would {alone}"
    )


def count(quantity: Quantity) -> str:
    """A count for people, with its sampling error if it has one: "10,000,000", "9,980,000 ± 2.1 %", "up to 900"."""
    if quantity.error and quantity.error >= quantity.value:
        return f"up to {quantity.value + quantity.error:,.0f}"
    text = f"{quantity.value:,.0f}"
    if quantity.error and quantity.value:
        text += f" ± {percent(quantity.error / quantity.value)}"
    return text
