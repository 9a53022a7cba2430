"""An instruction roofline of one kernel, before and after: lane instructions per second over those per DRAM byte.

After Ding and Williams, "An Instruction Roofline Model for GPUs" (PMBS 2019). Instructions take the place of
floating-point operations, since they are counted for every kernel. The flat roof is half the chip's fp32 peak, as a
fused multiply-add is one instruction and two operations; the slanted one is the DRAM's bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from intelliperf.records import DeviceLimits, KernelProfile, Metric
from intelliperf.sentences import number

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 560, 312, 64, 44, 28


@dataclass(frozen=True)
class Point:
    """Of one dispatch on average."""

    intensity: float  # lane instructions per byte of DRAM traffic
    rate: float  # lane instructions per second
    provenance: str  # of the time


def point(profile: KernelProfile) -> Point | None:
    """None where instructions, DRAM bytes or time are missing, or nothing was moved."""
    instructions = profile.quantities.get(Metric.LANE_INSTRUCTIONS)
    moved = profile.quantities.get(Metric.DRAM_BYTES)
    time_ns = math.fsum(profile.device_time_ns) / len(profile.device_time_ns) if profile.device_time_ns else 0.0
    if instructions is None or moved is None or min(instructions.value, moved.value, time_ns) <= 0:
        return None
    rate = instructions.value / (time_ns * 1e-9)
    return Point(instructions.value / moved.value, rate, profile.time_provenance.value)


def roofline(before: KernelProfile, after: KernelProfile, limits: DeviceLimits) -> str:
    """Inline SVG with its text; empty where a figure is missing."""
    first, last = point(before), point(after)
    if first is None or last is None or not limits.fp32_flops_per_s:
        return ""
    peak = limits.fp32_flops_per_s / 2
    ridge = peak / limits.dram_bytes_per_s
    xs, ys = (first.intensity, last.intensity, ridge), (first.rate, last.rate, peak)
    axis_x, axis_y = _Axis(xs, _LEFT, _WIDTH - 16), _Axis(ys, _HEIGHT - _BOTTOM, _TOP)
    low_x, high_x = axis_x.ends
    roofs = [
        (low_x, low_x * limits.dram_bytes_per_s),
        (ridge, peak),
        (high_x, peak),
    ]
    drawn = [axis_x.ticks_below(_HEIGHT - _BOTTOM, _TOP), axis_y.ticks_left(_LEFT, _WIDTH - 16)]
    path = " ".join(f"{axis_x.at(x):.1f},{axis_y.at(max(y, axis_y.ends[0])):.1f}" for x, y in roofs)
    drawn.append(f'<polyline class="roof" points="{path}"/>')
    spots = [(axis_x.at(p.intensity), axis_y.at(p.rate)) for p in (first, last)]
    (x1, y1), (x2, y2) = spots
    drawn.append(f'<line class="way" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
    drawn.append(f'<rect class="before" x="{x1 - 5:.1f}" y="{y1 - 5:.1f}" width="10" height="10"/>')
    drawn.append(f'<circle class="after" cx="{x2:.1f}" cy="{y2:.1f}" r="6"/>')
    told = "; ".join(_told(name, p, limits) for name, p in (("before (square)", first), ("after (circle)", last)))
    name = escape(before.kernel.name)
    words = (
        f'<text x="{_WIDTH - 16}" y="{_HEIGHT - 6}" text-anchor="end">lane instructions per byte of DRAM traffic</text>'
        f'<text x="4" y="{_TOP - 14}">lane instructions per second</text>'
    )
    return (
        f"<figure><figcaption>Roofline of {name}, times {first.provenance}</figcaption>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Roofline of {name}">'
        f'<svg class="plot" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(told)}">{"".join(drawn)}{words}</svg></div><p>{escape(told)}.</p></figure>'
    )


def _told(name: str, p: Point, limits: DeviceLimits) -> str:
    roof = min((limits.fp32_flops_per_s or 0.0) / 2, p.intensity * limits.dram_bytes_per_s)
    return (
        f"{name}: {number(p.intensity)} per byte, {number(p.rate)} per second, {100 * p.rate / roof:.2g} % of the roof"
    )


class _Axis:
    """Logarithmic, over whole decades."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low = math.floor(math.log10(min(values)) - 0.05)
        self._high = max(self._low + 1, math.ceil(math.log10(max(values)) + 0.05))
        self._start, self._end = start, end

    @property
    def ends(self) -> tuple[float, float]:
        return 10.0**self._low, 10.0**self._high

    def at(self, value: float) -> float:
        part = (math.log10(value) - self._low) / (self._high - self._low)
        return self._start + part * (self._end - self._start)

    def _decades(self) -> range:
        return range(self._low, self._high + 1)

    def ticks_below(self, bottom: float, top: float) -> str:
        return "".join(
            f'<line class="grid" x1="{self.at(10.0**d):.1f}" x2="{self.at(10.0**d):.1f}" y1="{bottom}" y2="{top}"/>'
            f'<text x="{self.at(10.0**d):.1f}" y="{bottom + 16}" text-anchor="middle">{_power(d)}</text>'
            for d in self._decades()
        )

    def ticks_left(self, left: float, right: float) -> str:
        return "".join(
            f'<line class="grid" y1="{self.at(10.0**d):.1f}" y2="{self.at(10.0**d):.1f}" x1="{left}" x2="{right}"/>'
            f'<text x="{left - 6}" y="{self.at(10.0**d) + 4:.1f}" text-anchor="end">{_power(d)}</text>'
            for d in self._decades()
        )


def _power(decade: int) -> str:
    return {-2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100", 3: "1,000"}.get(decade, f"1e{decade}")
