"""Is it faster, beyond noise and within what the device can do? Decides on measurements of the backend."""

from __future__ import annotations

import math
from collections.abc import Sequence

from intelliperf.records import Measurement, Outcome, Provenance, Scope
from intelliperf.sentences import number

_WHOLE = {Scope.APPLICATION: "all device time together", Scope.PROCESS: "the process from its start to its end"}
_FLOOR_SLACK = 0.98  # public peak rates are exceeded by a little at boost clocks


def time_refusal(
    measurements: Sequence[Measurement], floor_ns: float | None, shown: bool = False
) -> tuple[Outcome, str] | None:
    """The outcome and its reason, or None for a believable gain.

    `shown`: replays have shown the kernel's gain, so that only what contradicts them refuses.
    """
    kernels = [m for m in measurements if m.scope is Scope.KERNEL]
    whole = [m for m in measurements if m.scope in _WHOLE]
    if not kernels:
        return Outcome.NOT_FASTER, "the kernel could not be timed"
    for measurement in (*kernels, *whole):
        figures = measurement.baseline_ns, measurement.candidate_ns, measurement.low, measurement.high
        if not all(math.isfinite(figure) and figure > 0 for figure in figures):
            return Outcome.IMPLAUSIBLE, f"{measurement.scope.value} times of {measurement.candidate_ns} ns"
    for measurement in kernels:
        if (measurement.high if shown else measurement.low) <= 1.0:
            doubt, way_out = _in_doubt(measurement)
            return Outcome.NOT_FASTER, f"the kernel is {doubt}{_change(measurement)}{way_out}"
        if floor_ns is not None and measurement.candidate_ns < floor_ns * _FLOOR_SLACK:
            text = f"{measurement.candidate_ns:.0f} ns, but moving its data alone takes {floor_ns:.0f} ns"
            return Outcome.IMPLAUSIBLE, text
    for measurement in whole:
        if measurement.high < 1.0:
            return Outcome.SLOWER_OVERALL, f"{_WHOLE[measurement.scope]} is {_change(measurement)}"
    return None


def _in_doubt(measurement: Measurement) -> tuple[str, str]:
    """Words before and after the change where the interval holds both a gain and none; what could decide is named."""
    if not measurement.low <= 1.0 < measurement.ratio:
        return "", ""
    modelled = measurement.provenance is Provenance.MODELLED
    return "not shown to be faster: ", "; a larger input or a measurement on a GPU could decide" if modelled else ""


def _change(measurement: Measurement) -> str:
    return (
        f"{number(measurement.ratio)}× as fast ({measurement.provenance.value}, with at least 95 % between "
        f"{number(measurement.low)} and {number(measurement.high)}; "
        f"{measurement.baseline_ns:.0f} ns before, {measurement.candidate_ns:.0f} ns after)"
    )
