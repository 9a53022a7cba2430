"""Profiles and evidence that the tests of the formulas diagnose."""

from __future__ import annotations

from pathlib import Path

from intelliperf.devices import models as devices
from intelliperf.formulas import FORMULAS
from intelliperf.records import (
    AccessKind,
    Geometry,
    Kernel,
    KernelProfile,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)

DEVICE = devices.record("mi300x")
KERNEL = Kernel("_Z1kv", "k()", Path("/p/app.hip"), 3)
GEOMETRY = Geometry((250, 1, 1), (256, 1, 1))
WAVES = 1000.0
# A kernel of 1000 waves that streams: 10 µs, of which 2 are the launch.
HEALTHY = {
    Metric.DEVICE_TIME_NS: 10000.0,
    Metric.LAUNCH_TIME_NS: 2000.0,
    Metric.ISSUE_TIME_NS: 500.0,
    Metric.LDS_TIME_NS: 0.0,
    Metric.L1_TIME_NS: 1500.0,
    Metric.L2_TIME_NS: 2000.0,
    Metric.DRAM_TIME_NS: 4000.0,
    Metric.ATOMIC_TIME_NS: 0.0,
    Metric.LATENCY_TIME_NS: 0.0,
    Metric.REQUESTS: 2 * WAVES,
    Metric.LANES: 2 * WAVES * 64,
    Metric.BYTES: 2 * WAVES * 256,
    Metric.SECTORS: 2 * WAVES * 8,
    Metric.SECTORS_IDEAL: 2 * WAVES * 8,
    Metric.DRAM_BYTES: 2 * WAVES * 256,
    Metric.LDS_REQUESTS: 0.0,
    Metric.LDS_PHASES: 0.0,
    Metric.LDS_PHASES_IDEAL: 0.0,
    Metric.CONSTANT_REQUESTS: 4 * WAVES,
    Metric.CONSTANT_ADDRESSES: 4 * WAVES,
    Metric.CONSTANT_TIME_NS: 0.0,
    Metric.ATOMIC_REQUESTS: 0.0,
    Metric.ATOMIC_LANES: 0.0,
    Metric.ATOMIC_SERIALIZATION: 0.0,
    Metric.ATOMIC_ADDRESSES: 0.0,
    Metric.DRAM_BYTES_COMPULSORY: 2 * WAVES * 256,
    Metric.LOCAL_REQUESTS: 0.0,
    Metric.LOCAL_TIME_NS: 0.0,
    Metric.ACTIVE_LANE_RATIO: 0.98,
    Metric.INSTRUCTIONS: 40 * WAVES,
    Metric.OCCUPANCY_LIMIT_RATIO: 1.0,
    Metric.WAVES_BY_REGISTERS: 32.0,
    Metric.WAVES_BY_LDS: 32.0,
    Metric.WAVES_BY_BLOCKS: 32.0,
    Metric.LANE_FILL_RATIO: 1.0,
    Metric.UNIT_FILL_RATIO: 0.82,  # 250 blocks on 304 compute units, and no more than one on any
    Metric.ROUND_FILL_RATIO: 0.1,
}

CONSTANTS_APART = {  # each lane its own entry of a table
    Metric.DEVICE_TIME_NS: 60000.0,
    Metric.CONSTANT_ADDRESSES: 128 * WAVES,
    Metric.CONSTANT_TIME_NS: 50000.0,
}


def profile(
    changes: dict[Metric, float] | None = None,
    share: float = 0.5,
    geometry: Geometry = GEOMETRY,
    without: tuple[Metric, ...] = (),
    provenance: Provenance = Provenance.MODELLED,
) -> KernelProfile:
    values = {metric: value for metric, value in {**HEALTHY, **(changes or {})}.items() if metric not in without}
    return KernelProfile(
        KERNEL,
        1,
        (geometry,),
        (values[Metric.DEVICE_TIME_NS],),
        provenance,
        share,
        {metric: Quantity(value, Provenance.MEASURED) for metric, value in values.items()},
    )


def contended(time_ns: float = 200000.0) -> dict[Metric, float]:
    lanes = WAVES * 64
    return {
        Metric.DEVICE_TIME_NS: time_ns,
        Metric.ATOMIC_TIME_NS: lanes * 1.65,
        Metric.ATOMIC_REQUESTS: WAVES,
        Metric.ATOMIC_LANES: lanes,
        Metric.ATOMIC_SERIALIZATION: lanes,
        Metric.ATOMIC_ADDRESSES: 1.0,
        Metric.ATOMIC_HOTTEST_SHARE: 1.0,
    }


CONFLICTS = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.LDS_TIME_NS: 20000.0,
    Metric.LDS_REQUESTS: 2 * WAVES,
    Metric.LDS_PHASES: 66 * WAVES,
    Metric.LDS_PHASES_IDEAL: 4 * WAVES,
}
SCATTERED = {
    Metric.DEVICE_TIME_NS: 40000.0,
    Metric.SECTORS: 2 * WAVES * 64,
    Metric.L1_TIME_NS: 12000.0,
    Metric.L2_TIME_NS: 10000.0,
    Metric.DRAM_TIME_NS: 16000.0,
    Metric.DRAM_BYTES: 2 * WAVES * 1024,
    Metric.DRAM_BYTES_COMPULSORY: 2 * WAVES * 1024,  # lines count whole
}
AGAIN = {Metric.DEVICE_TIME_NS: 30000.0, Metric.DRAM_TIME_NS: 25000.0, Metric.DRAM_BYTES: 10 * WAVES * 256}
SPILLED = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.LOCAL_REQUESTS: 10 * WAVES,
    Metric.LOCAL_TIME_NS: 18000.0,
    Metric.VGPRS: 128.0,
    Metric.SPILLED_REGISTERS: 40.0,
    Metric.SCRATCH_BYTES: 160.0,
}
DIVERGED = {Metric.DEVICE_TIME_NS: 30000.0, Metric.ISSUE_TIME_NS: 24000.0, Metric.ACTIVE_LANE_RATIO: 0.25}
THIN = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.LATENCY_TIME_NS: 24000.0,
    Metric.OCCUPANCY_LIMIT_RATIO: 0.0625,
    Metric.WAVES_BY_LDS: 2.0,
}
HALF_EMPTY = {
    Metric.DEVICE_TIME_NS: 30000.0,
    Metric.ISSUE_TIME_NS: 24000.0,
    Metric.LANE_FILL_RATIO: 0.5,
    Metric.ACTIVE_LANE_RATIO: 0.5,
}


def ceiling_ns(name: str, seen: KernelProfile) -> float:
    """The time that a formula says could be saved at most."""
    finding = FORMULAS[name].diagnose(seen, DEVICE)
    assert finding is not None
    return (1 - 1 / finding.gain_ceiling) * finding.profile.quantity(Metric.DEVICE_TIME_NS).value


PARTS = [metric for metric in Metric if metric.value.endswith("_time_ns") and metric in HEALTHY]
PARTS = [part for part in PARTS if part.name.split("_")[0] not in ("DEVICE", "LAUNCH", "LOCAL")]


def side_by_side_ns(parts: dict[Metric, float]) -> float:
    """As the runtime joins the parts of a kernel's time."""
    return sum(part**2.5 for part in parts.values()) ** 0.4


def saved_ns(seen: KernelProfile, after: dict[Metric, float]) -> float:
    """What a kernel gains whose parts shrink so."""
    before = {part: seen.quantity(part).value for part in PARTS}
    return side_by_side_ns(before) - side_by_side_ns({**before, **after})


def evidence(line: int, access: AccessKind, space: MemorySpace, **counts: float) -> SourceEvidence:
    quantities = {Metric[name]: Quantity(value, Provenance.MEASURED) for name, value in counts.items()}
    return SourceEvidence(KERNEL, Path("/p/app.hip"), line, 1, "", access, space, "", 4, (), quantities)
