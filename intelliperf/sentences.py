"""What was found, in sentences with the numbers in them: for the model, the terminal and the report.

Pure functions from records to text. One sentence reads
`class · file:line · metric=value (ideal, worst) · share of kernel time · share of app time ·
expected local gain · what to watch · confidence · counter-evidence`; parts that the records do not
hold are left out, never made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.records import (
    AccessKind,
    Device,
    Finding,
    KernelProfile,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)

EMULATOR = "the emulator"
_SEPARATOR = " · "
_FOUR_DIGITS = 999.5  # what rounds to 1,000 would be 1e+03 in three digits
_SERVED_BY_CACHE = 0.9  # above this hit ratio an inefficient access costs little DRAM traffic
_FEW_LANES = 0.5  # below this share of active lanes divergence explains part of the inefficiency
NOT_TO_PATCH = "its text is not the project's to patch"


def counted(number: int, noun: str, plural: str = "s") -> str:
    """ "1 point", "1,200 points"."""
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def why_not_to_patch(profile: KernelProfile) -> str:
    """Of a kernel that a compiler made as the program ran; empty for others."""
    return next((note for note in profile.notes if NOT_TO_PATCH in note), "")


def device_in_short(device: Device) -> str:
    """Where a gate ran: "the emulator, as MI300X", "the software gfx90a" or "H100"."""
    if device.emulated and not device.runs_on:
        return f"{EMULATOR}, as {device.name}"
    return device.runs_on or device.name


@dataclass(frozen=True)
class Reading:
    """One efficiency figure of one access: `value` per request, against the best and worst possible."""

    name: str
    value: float
    ideal: float
    worst: float | None
    excess: float  # what an ideal access would save over the whole dispatch, in units of the numerator
    watch: Metric
    provenance: Provenance

    @property
    def gain(self) -> float:
        """How many times less of it an ideal access needs; 1 where it is ideal already."""
        return self.value / self.ideal if self.ideal > 0 and self.value > self.ideal else 1.0

    def __str__(self) -> str:
        worst = f", worst {number(self.worst)}" if self.worst is not None else ""
        return f"{self.name}={number(self.value)} (ideal {number(self.ideal)}{worst})"


@dataclass(frozen=True)
class _Ratio:
    """How a reading is made: needed and ideal totals, both per request of the same access."""

    name: str
    needed: Metric
    ideal: Metric
    requests: Metric


_RATIOS = (
    _Ratio("LDS bank cycles per request", Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL, Metric.LDS_REQUESTS),
    _Ratio(
        "same-address lanes per atomic request",
        Metric.ATOMIC_SERIALIZATION,
        Metric.ATOMIC_REQUESTS,
        Metric.ATOMIC_REQUESTS,
    ),
    _Ratio("32-byte sectors per request", Metric.SECTORS, Metric.SECTORS_IDEAL, Metric.REQUESTS),
    _Ratio(
        "constant addresses per request",
        Metric.CONSTANT_ADDRESSES,
        Metric.CONSTANT_REQUESTS,
        Metric.CONSTANT_REQUESTS,
    ),
    _Ratio("128-byte lines per request", Metric.LINES_128B, Metric.LINES_128B_IDEAL, Metric.REQUESTS),
)

_CLASSES: Mapping[tuple[MemorySpace, bool], str] = {
    (MemorySpace.SHARED, True): "contended LDS atomic",
    (MemorySpace.GLOBAL, True): "contended atomic",
    (MemorySpace.MIXED, True): "contended atomic",
    (MemorySpace.SHARED, False): "LDS access",
    (MemorySpace.CONSTANT, False): "read of constant memory",
    (MemorySpace.GLOBAL, False): "global access",
    (MemorySpace.MIXED, False): "memory access",
    (MemorySpace.LOCAL, False): "access to a thread's own memory",
}
_NOT_AN_ACCESS: Mapping[AccessKind, str] = {
    AccessKind.CODE: "instructions of a line",
    AccessKind.KERNEL: "kernel as a whole",
}


def number(value: float) -> str:
    """Short and unambiguous: 3, 3.5, 12,288, 4.1e+12."""
    if abs(value) >= 1e10:
        return f"{value:.3g}"
    if abs(value) >= _FOUR_DIGITS or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def duration(nanoseconds: float) -> str:
    """With the unit that leaves up to three digits before the point: 9.18 µs."""
    for limit, divisor, unit in ((1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if abs(nanoseconds) < limit / 1000 * _FOUR_DIGITS:
            return f"{nanoseconds / divisor:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def percent(share: float) -> str:
    """A share of 0..1 in whole or tenth percents."""
    return f"{share * 100:.0f} %" if share >= 0.0995 or share == 0 else f"{share * 100:.1f} %"


def times(gain: float) -> str:
    """As "5.27×" or "9,840×"; gains near 1 with as many digits as tell them from 1: "1.005×"."""
    if gain >= _FOUR_DIGITS:
        return f"{float(f'{gain:.3g}'):,.0f}×"
    return f"{gain:.3g}×" if gain >= 1.1 else f"{gain:.4g}×"


def span(seconds: float) -> str:
    """A time for people who wait: "5 s", "41 min", "3.5 h", "12 days"."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{number(float(f'{seconds / size:.2g}'))} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1g} s"


def interval_of_time(least_s: float, most_s: float) -> str:
    """ "35 to 48 min"."""
    least, most = span(least_s), span(most_s)
    if least == most:
        return f"about {least}"
    value, _, unit = least.rpartition(" ")
    return f"{value if most.endswith(f' {unit}') else least} to {most}"


def readings(evidence: SourceEvidence, device: Device | None = None) -> tuple[Reading, ...]:
    """Every efficiency figure that the evidence's quantities allow."""
    return tuple(
        _reading(evidence, ratio, device)
        for ratio in _RATIOS
        if all(metric in evidence.quantities for metric in (ratio.needed, ratio.ideal, ratio.requests))
        and evidence.quantities[ratio.requests].value > 0
    )


def _reading(evidence: SourceEvidence, ratio: _Ratio, device: Device | None) -> Reading:
    needed, ideal = evidence.quantity(ratio.needed), evidence.quantity(ratio.ideal)
    requests = evidence.quantity(ratio.requests).value
    return Reading(
        name=ratio.name,
        value=needed.value / requests,
        ideal=ideal.value / requests,
        worst=_worst(evidence, ratio.needed, device),
        excess=max(0.0, needed.value - ideal.value),
        watch=ratio.needed,
        provenance=needed.provenance,
    )


def _worst(evidence: SourceEvidence, metric: Metric, device: Device | None) -> float | None:
    """The most that one request can need: every lane on its own, or all on one bank or address."""
    if device is None or evidence.element_bytes <= 0:
        return None
    sectors_per_lane = max(1, -(-evidence.element_bytes // 32))
    words_per_lane = max(1, -(-evidence.element_bytes // 4))
    worst = {
        Metric.LDS_PHASES: device.wave_size * words_per_lane,
        Metric.ATOMIC_SERIALIZATION: device.wave_size,
        Metric.SECTORS: device.wave_size * sectors_per_lane,
        Metric.LINES_128B: device.wave_size,
        Metric.CONSTANT_ADDRESSES: device.wave_size,
    }
    return float(worst[metric])


_RELATED: Mapping[Metric, Metric] = {
    Metric.LDS_PHASES_IDEAL: Metric.LDS_PHASES,
    Metric.LDS_REQUESTS: Metric.LDS_PHASES,
    Metric.CONSTANT_REQUESTS: Metric.CONSTANT_ADDRESSES,
    # A line's ATOMIC_* are of the memory that it touches; only a kernel tells the two apart.
    Metric.LDS_ATOMIC_LANES: Metric.ATOMIC_SERIALIZATION,
    Metric.LDS_ATOMIC_REQUESTS: Metric.ATOMIC_SERIALIZATION,
    Metric.LDS_ATOMIC_SERIALIZATION: Metric.ATOMIC_SERIALIZATION,
    Metric.LDS_ATOMIC_PHASES: Metric.LDS_PHASES,
    Metric.ATOMIC_LANES: Metric.ATOMIC_SERIALIZATION,
    Metric.ATOMIC_REQUESTS: Metric.ATOMIC_SERIALIZATION,
    Metric.ATOMIC_ADDRESSES: Metric.ATOMIC_SERIALIZATION,
    Metric.ATOMIC_HOTTEST_SHARE: Metric.ATOMIC_SERIALIZATION,
    Metric.ATOMIC_TIME_NS: Metric.ATOMIC_SERIALIZATION,
    Metric.REQUESTS: Metric.SECTORS,
    Metric.SECTORS_IDEAL: Metric.SECTORS,
    Metric.BYTES: Metric.SECTORS,
    Metric.DRAM_BYTES: Metric.SECTORS,
    Metric.LINES_64B: Metric.LINES_128B,
    Metric.LINES_128B_IDEAL: Metric.LINES_128B,
}


def main_reading(finding: Finding, evidence: SourceEvidence, device: Device | None = None) -> Reading | None:
    """The reading that speaks of the finding's own metric, else the one with the largest gain."""
    found = readings(evidence, device)
    wanted = _RELATED.get(finding.metric, finding.metric)
    for reading in found:
        if reading.watch is wanted:
            return reading
    return max(found, key=lambda reading: reading.gain, default=None)


def line_sentence(
    finding: Finding,
    evidence: SourceEvidence,
    all_evidence: Sequence[SourceEvidence] = (),
    device: Device | None = None,
    shown: Callable[[Path], str] = Path.as_posix,
) -> str:
    """The sentence of one source line.

    `all_evidence` gives the denominator of its share, `shown` the name under which a file is known.
    """
    reading = main_reading(finding, evidence, device)
    parts = [
        f"{finding.formula}: {_access_class(evidence)}",
        place(evidence, shown),
        *([str(reading)] if reading else []),
        *_atomic_parts(evidence),
        *figures(evidence, finding.metric),
        *_share_parts(finding, evidence, reading, all_evidence, device),
        *([f"up to {number(reading.gain)}× fewer on this line"] if reading and reading.gain > 1 else []),
        *([f"watch {reading.watch.value}"] if reading else [f"watch {finding.metric.value}"]),
        confidence(_provenance(evidence, reading)),
        *counter_evidence(evidence, finding.profile),
    ]
    return _SEPARATOR.join(parts)


def finding_sentence(finding: Finding) -> str:
    """The sentence of the whole finding."""
    profile = finding.profile
    sampled = f"{profile.dispatches} dispatch{'es' if profile.dispatches != 1 else ''}"
    return _SEPARATOR.join(
        (
            f"{finding.formula}: {finding.sentence}",
            f"kernel {profile.kernel.name}, {sampled}",
            f"{finding.metric.value}={number(finding.value)} (ideal {number(finding.ideal)})",
            f"{percent(profile.share)} of the application's device time",
            f"{times(finding.gain_ceiling)} for the whole application, were this alone removed",
            f"time is {profile.time_provenance.value}",
        )
    )


def place(evidence: SourceEvidence, shown: Callable[[Path], str] = Path.as_posix) -> str:
    """`file:line:column in function`, with the inline chain where there is one."""
    here = f"{shown(evidence.file)}:{evidence.line}:{evidence.column}"
    if not evidence.chain:
        return here
    if evidence.shared_with:
        here = f"{here} ({evidence.shared_with})"
    if evidence.unsure:
        here = f"{here} ({evidence.unsure})"
    callers = [f"{frame.function} at {shown(frame.file)}:{frame.line}" for frame in evidence.chain[1:]]
    inlined = f" inlined into {', '.join(callers)}" if callers else ""
    return f"{here} in {evidence.chain[0].function}{inlined}"


def counter_evidence(evidence: SourceEvidence, profile: KernelProfile) -> tuple[str, ...]:
    """What speaks against the line being worth a change."""
    found = []
    for metric, cache in ((Metric.L1_HIT_RATIO, "L1"), (Metric.L2_HIT_RATIO, "L2")):
        ratio = _either(evidence, profile, metric)
        if evidence.space is not MemorySpace.SHARED and ratio is not None and ratio.value >= _SERVED_BY_CACHE:
            found.append(f"but {percent(ratio.value)} of it hits {cache}")
    lanes = _either(evidence, profile, Metric.ACTIVE_LANE_RATIO)
    if evidence.access in _NOT_AN_ACCESS:
        lanes = None  # that is the finding
    if lanes is not None and lanes.value < _FEW_LANES:
        found.append(f"but only {percent(lanes.value)} of the lanes are active")
    spilled = profile.quantities.get(Metric.SPILLED_REGISTERS)
    if evidence.space is MemorySpace.LOCAL or evidence.access is AccessKind.KERNEL:
        spilled = None
    if spilled is not None and spilled.value > 0:
        found.append(f"but the kernel also spills {number(spilled.value)} registers")
    return tuple(found)


def confidence(provenance: Provenance) -> str:
    """How far the figure can be trusted, from where it comes from."""
    return {
        Provenance.MEASURED: "confidence high: counted or measured",
        Provenance.MODELLED: "confidence medium: modelled",
        Provenance.STATIC: "confidence low: read from the program text",
    }[provenance]


def _access_class(evidence: SourceEvidence) -> str:
    if evidence.access in _NOT_AN_ACCESS:
        return _NOT_AN_ACCESS[evidence.access]
    atomic = evidence.access in (AccessKind.ATOMIC, AccessKind.REDUCTION)
    name = _CLASSES[(evidence.space, atomic)]
    return f"{name} ({evidence.operation}), {_bytes(evidence)}"


def _bytes(evidence: SourceEvidence) -> str:
    return f"{evidence.element_bytes} byte{'s' if evidence.element_bytes != 1 else ''} per lane"


def _atomic_parts(evidence: SourceEvidence) -> list[str]:
    parts = []
    if Metric.ATOMIC_ADDRESSES in evidence.quantities:
        parts.append(f"{number(evidence.quantity(Metric.ATOMIC_ADDRESSES).value)} distinct addresses")
    if Metric.ATOMIC_HOTTEST_SHARE in evidence.quantities:
        hottest = evidence.quantity(Metric.ATOMIC_HOTTEST_SHARE).value
        parts.append(f"the hottest takes {percent(hottest)} of the operations")
    return parts


# What a figure is called that has no ideal per request, and how it is written.
_FIGURES: Mapping[Metric, tuple[str, Callable[[float], str]]] = {
    Metric.ACTIVE_LANE_RATIO: ("lanes that take part", percent),
    Metric.LANES_LOST: ("lanes that sit out, over all instructions", number),
    Metric.LOCAL_REQUESTS: ("loads and stores of a thread's own memory", number),
    Metric.DRAM_SECTORS_AGAIN: ("32-byte sectors read from memory again", number),
    Metric.VGPRS: ("registers per thread", number),
    Metric.SPILLED_REGISTERS: ("spilled registers", number),
    Metric.LDS_BYTES: ("bytes of LDS per block", number),
    Metric.OCCUPANCY_LIMIT_RATIO: ("waves that can be resident", percent),
    Metric.LANE_FILL_RATIO: ("lanes that the launch fills", percent),
    Metric.UNIT_FILL_RATIO: ("blocks per compute unit, mean to busiest", percent),
    Metric.ROUND_FILL_RATIO: ("of its rounds of blocks the launch fills", percent),
}


def figures(evidence: SourceEvidence, watched: Metric | None = None) -> list[str]:
    """What a line did that has no ideal per request: of all its instructions or of a kernel everything, of an access
    what speaks of the metric that is watched."""
    whole = evidence.access in _NOT_AN_ACCESS
    return [
        f"{name} {written(evidence.quantities[metric].value)}"
        for metric, (name, written) in _FIGURES.items()
        if metric in evidence.quantities
        and (whole or metric is Metric.LOCAL_REQUESTS or watched is _WATCHED_BY.get(metric, metric))
    ]


_WATCHED_BY: Mapping[Metric, Metric] = {Metric.DRAM_SECTORS_AGAIN: Metric.DRAM_BYTES}


def _share_parts(
    finding: Finding,
    evidence: SourceEvidence,
    reading: Reading | None,
    all_evidence: Sequence[SourceEvidence],
    device: Device | None,
) -> list[str]:
    parts = []
    if Metric.TIME_SHARE in evidence.quantities:
        share = evidence.quantity(Metric.TIME_SHARE)
        parts.append(f"{percent(share.value)} of kernel time ({share.provenance.value})")
    if reading is not None and all_evidence:
        total = _total(all_evidence, lambda item: _excess(item, reading.watch, device))
        if total > 0:
            parts.append(f"{percent(reading.excess / total)} of the kernel's excess")
    parts.append(f"kernel has {percent(finding.profile.share)} of app device time")
    return parts


def _excess(evidence: SourceEvidence, watch: Metric, device: Device | None) -> float:
    return sum(reading.excess for reading in readings(evidence, device) if reading.watch is watch)


def _total(items: Sequence[SourceEvidence], measure: Callable[[SourceEvidence], float]) -> float:
    return sum(measure(item) for item in items)


def _either(evidence: SourceEvidence, profile: KernelProfile, metric: Metric) -> Quantity | None:
    return evidence.quantities.get(metric) or profile.quantities.get(metric)


def _provenance(evidence: SourceEvidence, reading: Reading | None) -> Provenance:
    if reading is not None:
        return reading.provenance
    kinds = {quantity.provenance for quantity in evidence.quantities.values()}
    order = (Provenance.STATIC, Provenance.MODELLED, Provenance.MEASURED)  # the weakest speaks
    return next((kind for kind in order if kind in kinds), Provenance.STATIC)
