"""How a launch fills the GPU, from what Nsight Compute says of its shape and of the kernel's needs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from intelliperf.records import Metric

WARP = 32
_BLOCKS, _THREADS, _UNITS = "launch__grid_size", "launch__block_size", "launch__sm_count"
_OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"
_BY_WARPS = "launch__occupancy_limit_warps"
# Blocks per multiprocessor that each resource allows by itself.
_LIMITS: Mapping[Metric, str] = {
    Metric.WAVES_BY_REGISTERS: "launch__occupancy_limit_registers",
    Metric.WAVES_BY_LDS: "launch__occupancy_limit_shared_mem",
    Metric.WAVES_BY_BLOCKS: "launch__occupancy_limit_blocks",
}
METRICS = (_BLOCKS, _THREADS, _UNITS, _OCCUPANCY, _BY_WARPS, *_LIMITS.values())


def filling(values: Mapping[str, float]) -> dict[Metric, float]:
    """Those that the metrics allow; empty without the launch's shape."""
    found: dict[Metric, float] = {}
    if _OCCUPANCY in values:
        found[Metric.OCCUPANCY_LIMIT_RATIO] = values[_OCCUPANCY] / 100
    if not all(name in values for name in (_BLOCKS, _THREADS, _UNITS)):
        return found
    found[Metric.LANE_FILL_RATIO] = lane_fill(values)
    blocks, units = values[_BLOCKS], values[_UNITS]
    found[Metric.UNIT_FILL_RATIO] = blocks / units / math.ceil(blocks / units)
    if all(name in values for name in (_BY_WARPS, *_LIMITS.values())):
        warps = math.ceil(values[_THREADS] / WARP)
        for metric, name in _LIMITS.items():
            found[metric] = min(values[name], values[_BY_WARPS]) * warps
        resident = min(values[name] for name in (_BY_WARPS, *_LIMITS.values()))
        rounds = blocks / (units * max(1.0, resident))
        found[Metric.ROUND_FILL_RATIO] = rounds / math.ceil(rounds)
    return found


def lane_fill(values: Mapping[str, float]) -> float:
    """Threads of a block to the lanes of its warps; 1 where the report does not have its size."""
    threads = values.get(_THREADS, WARP)
    return threads / (math.ceil(threads / WARP) * WARP)
