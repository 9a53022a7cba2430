"""Too few resident waves to hide how long memory takes to answer."""

from __future__ import annotations

import math
from collections.abc import Mapping

from intelliperf.formulas.base import Formula, Symptom, Threshold, shrunk, value_of, waiting_ns
from intelliperf.records import Device, KernelProfile, Metric, SourceEvidence
from intelliperf.sentences import duration, percent

RESIDENT_OF_HELD = Threshold(
    0.5, "half of the waves that a compute unit can hold hide the usual latency; more of them seldom help"
)

_LIMITS: Mapping[Metric, str] = {
    Metric.WAVES_BY_REGISTERS: "registers",
    Metric.WAVES_BY_LDS: "LDS",
    Metric.WAVES_BY_BLOCKS: "the number of blocks",
}


class Occupancy(Formula):
    """The waves that a kernel's own needs let be resident, against those that a compute unit holds.

    The ceiling is Little's law: with k times the waves under way, waiting takes a k-th at best. Waves that the grid
    does not have cannot be resident: what it lacks is `launchConfig`'s.
    """

    name = "occupancy"
    summary = "registers, LDS or block size let too few waves be resident to hide latency"
    watched = Metric.OCCUPANCY_LIMIT_RATIO
    needs = (Metric.DEVICE_TIME_NS, Metric.OCCUPANCY_LIMIT_RATIO, *_LIMITS)
    own_parts = (Metric.LATENCY_TIME_NS,)
    blames_kernel = True
    rules = ("triton_warps", "triton_tiles", "triton_stages")
    knowledge = (
        "A compute unit hides the latency of memory by running other waves meanwhile; how many it can hold depends on "
        "the registers of a thread, the LDS of a block and the size of a block, whichever allows fewest. LDS: use less "
        "of it (smaller tiles, narrower types, reuse one array for two phases), or share it among more threads of a "
        "larger block. Registers: __launch_bounds__ with a minimum of blocks or waves, smaller tiles per thread, less "
        "unrolling; but a compiler that spills in exchange loses more than it wins. Block size: one that leaves "
        "part of the slots unused (a compute unit of 32 waves holds one block of 17) wastes them. Latency can also be "
        "hidden within a wave, with no more waves: several independent loads under way per thread, wider loads, the "
        "next tile loaded while this one is worked on. Occupancy is a means: only the time tells."
    )

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        resident = value_of(profile, Metric.OCCUPANCY_LIMIT_RATIO)
        held = device.limits.max_waves_per_compute_unit
        possible = min(1.0, _offered(profile, device) / held)
        if resident >= RESIDENT_OF_HELD.value or possible <= resident or resident <= 0:
            return None
        wait_ns = waiting_ns(profile)
        best_ns = wait_ns * resident / possible
        excess_ns, left_ns = shrunk(profile, {Metric.LATENCY_TIME_NS: best_ns})
        known = "" if profile.has(Metric.LATENCY_TIME_NS) else "at most "
        return Symptom(
            value=resident,
            ideal=possible,
            excess_ns=excess_ns,
            left_ns=left_ns,
            sentence=(
                f"{_limits(profile)} let {resident * held:.0f} of {held} waves be resident on a compute unit "
                f"({percent(resident)}; this launch could fill {percent(possible)}); waiting takes {known}"
                f"{duration(wait_ns)}, and {duration(best_ns)} at best with all of them"
            ),
        )

    def excess(self, evidence: SourceEvidence) -> float:
        return 0.0


def _offered(profile: KernelProfile, device: Device) -> float:
    """Waves per compute unit that the largest launch brings."""
    waves = (
        math.prod(geometry.grid) * math.ceil(math.prod(geometry.block) / device.wave_size)
        for geometry in profile.geometries
    )
    return max(waves, default=0) / device.limits.compute_units


def _limits(profile: KernelProfile) -> str:
    allowed = {name: value_of(profile, metric) for metric, name in _LIMITS.items()}
    least = min(allowed.values())
    return " and ".join(name for name, waves in allowed.items() if waves == least)
