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

from intelliperf.records import DeviceLimits


@dataclass(frozen=True)
class Counted:
    """One dispatch. None for what was not counted: absent is not zero, and bounds nothing."""

    changed_bytes: float | None = None  # distinct bytes that are different after it
    dram_bytes: float | None = None  # read and written, from emptied caches
    fp32_flops: float | None = None  # a fused multiply-add is two


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


def nearness(counted: Counted, time_ns: float, limits: DeviceLimits) -> float | None:
    """What a dispatch reaches of the nearer of the two roofs, DRAM or arithmetic, as a share; for the report.

    From all DRAM traffic that was counted, so that it can exceed 1 for a kernel whose data stay in the L2.
    """
    shares = []
    if counted.dram_bytes is not None:
        shares.append(counted.dram_bytes / limits.dram_bytes_per_s)
    if counted.fp32_flops is not None and limits.fp32_flops_per_s:
        shares.append(counted.fp32_flops / limits.fp32_flops_per_s)
    return max(shares) * 1e9 / time_ns if shares else None
