"""The least time in which a GPU can do what was counted: a kernel that is said to be faster was not measured right.

Only what is beyond doubt counts. Not the original's DRAM traffic: a better kernel reads less of it. That leaves

- what must come out: bytes whose value the kernel changes have to be written at least once, by every kernel that
  computes the same, at the L2's rate at best, and at the DRAM's for what the L2 cannot hold back;
- what the timed kernel itself was counted doing: its own DRAM traffic at the peak rate, less one L2 of bytes, because
  Nsight Compute empties the caches before it counts and the application does not; its own arithmetic at the peak rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intelliperf.cuda import counters
from intelliperf.profiling.ncu import ProfiledKernel
from intelliperf.records import DeviceLimits, Metric


@dataclass(frozen=True)
class Counted:
    """One dispatch. None for what was not counted: absent is not zero, and bounds nothing."""

    changed_bytes: float | None = None  # distinct bytes that are different after it
    dram_bytes: float | None = None  # read and written, from emptied caches
    fp32_flops: float | None = None  # a fused multiply-add is two
    duration_ns: float | None = None


def dispatch_floor_ns(counted: Counted, limits: DeviceLimits) -> float:
    """0 where nothing is known."""
    bounds = [0.0]
    for moved in (counted.changed_bytes, counted.dram_bytes):
        if moved is not None:
            bounds.append((moved - limits.l2_bytes) / limits.dram_bytes_per_s)
    if counted.changed_bytes is not None and limits.l2_bytes_per_s:
        bounds.append(counted.changed_bytes / limits.l2_bytes_per_s)
    if counted.fp32_flops is not None and limits.fp32_flops_per_s:
        bounds.append(counted.fp32_flops / limits.fp32_flops_per_s)
    return max(bounds) * 1e9


def floor_ns(dispatches: Sequence[Counted], limits: DeviceLimits) -> float | None:
    """Of all dispatches together, for `validation.timing`; None where it bounds nothing."""
    return sum(dispatch_floor_ns(counted, limits) for counted in dispatches) or None


def counted(launch: ProfiledKernel) -> Counted:
    """What Nsight Compute saw one dispatch do."""
    quantities = counters.of_launch(launch)
    moved = quantities.get(Metric.DRAM_BYTES)
    duration = quantities.get(Metric.DEVICE_TIME_NS)
    return Counted(
        dram_bytes=moved.value if moved is not None else None,
        duration_ns=duration.value if duration is not None else None,
    )


def nearness(counted: Counted, limits: DeviceLimits) -> float | None:
    """What the counted dispatch reaches of the nearer of the two roofs, DRAM or arithmetic, as a share."""
    shares = []
    if counted.dram_bytes is not None:
        shares.append(counted.dram_bytes / limits.dram_bytes_per_s)
    if counted.fp32_flops is not None and limits.fp32_flops_per_s:
        shares.append(counted.fp32_flops / limits.fp32_flops_per_s)
    return max(shares) * 1e9 / counted.duration_ns if shares and counted.duration_ns else None


def told(counted: Counted, limits: DeviceLimits) -> str:
    """`nearness` for the report. Nsight Compute empties the caches before it counts and holds the clock free."""
    reached = nearness(counted, limits)
    if reached is None or counted.dram_bytes is None:
        return "not held against the roofline: the counters of DRAM traffic are missing"
    rate = limits.dram_bytes_per_s / 1e12
    return (
        f"from emptied caches its first dispatch moves {counted.dram_bytes / 1e6:.3g} MB of DRAM, "
        f"at {100 * reached:.2g} % of the peak rate of {rate:.3g} TB/s"
    )
