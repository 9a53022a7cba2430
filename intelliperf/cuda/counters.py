"""Our quantities from the metrics of Nsight Compute.

Counts per line are ncu's source counters, exact and deterministic. Busy times of a part of the chip are its
utilisation (`…pct_of_peak_sustained_elapsed`) times the kernel's duration. All figures are of the profiled
launches, averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from intelliperf.cuda import launches as launch_shapes
from intelliperf.profiling.ncu import Instruction, ProfiledKernel
from intelliperf.records import KernelProfile, Metric, Provenance, Quantity

DURATION = "gpu__time_duration.sum"
_BUSY: Mapping[Metric, str] = {
    Metric.ISSUE_TIME_NS: "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
    Metric.LDS_TIME_NS: "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    Metric.L2_TIME_NS: "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    Metric.DRAM_TIME_NS: "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}
_ALL_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
_SHARED_WAVEFRONTS = _BUSY[Metric.LDS_TIME_NS]
_RATIOS: Mapping[Metric, tuple[str, float]] = {
    Metric.L1_HIT_RATIO: ("l1tex__t_sector_hit_rate.pct", 0.01),
    Metric.L2_HIT_RATIO: ("lts__t_sector_hit_rate.pct", 0.01),
    Metric.OCCUPANCY_RATIO: ("sm__warps_active.avg.pct_of_peak_sustained_active", 0.01),
    Metric.ACTIVE_LANE_RATIO: ("smsp__thread_inst_executed_per_inst_executed.ratio", 1 / 32),
    Metric.INSTRUCTIONS: ("smsp__inst_executed.sum", 1.0),
    Metric.LANE_INSTRUCTIONS: ("thread_inst_executed", 1.0),
}
_STATIC: Mapping[Metric, str] = {
    Metric.VGPRS: "launch__registers_per_thread",
    Metric.LDS_BYTES: "launch__shared_mem_per_block",
}
_DRAM = ("dram__bytes_read.sum", "dram__bytes_write.sum")
_ATOMIC_SECTORS = tuple(f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum" for op in ("red", "atom"))
_ATOMIC_REQUESTS = tuple(f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum" for op in ("red", "atom"))
# Sectors of atomics at the busiest slice of L2: lanes that share an address queue at one slice.
_BUSIEST_SLICE = tuple(f"lts__t_sectors_op_{op}.max" for op in ("red", "atom"))
# One lane of a same-address float atomic, measured on an H100: 10 million lanes in 17.55 ms.
SAME_ADDRESS_NS = 1.75

METRICS = (
    DURATION,
    *_BUSY.values(),
    _ALL_WAVEFRONTS,
    *(name for name, _ in _RATIOS.values()),
    *_STATIC.values(),
    *_DRAM,
    *_ATOMIC_SECTORS,
    *_ATOMIC_REQUESTS,
    *_BUSIEST_SLICE,
    *launch_shapes.METRICS,
)

GLOBAL = frozenset({"LDG", "STG", "LD", "ST"})
SHARED = frozenset({"LDS", "STS"})
GLOBAL_ATOMICS = frozenset({"RED", "REDG", "ATOM", "ATOMG"})
SHARED_ATOMICS = frozenset({"ATOMS"})
LOCAL = frozenset({"LDL", "STL"})


def counts_of(instructions: Iterable[Instruction]) -> dict[Metric, float]:
    """What these memory instructions did, by our names; only what they have."""
    total: dict[Metric, float] = {}

    def add(metric: Metric, value: float) -> None:
        total[metric] = total.get(metric, 0.0) + value

    for item in instructions:
        executed = item.metrics.get("inst_executed", 0.0)
        lanes = item.metrics.get("thread_inst_executed_true", item.metrics.get("thread_inst_executed", 0.0))
        width = item.metrics.get("memory_access_size_type", 0.0) / 8
        if item.operation in GLOBAL and "memory_l2_theoretical_sectors_global" in item.metrics:
            add(Metric.REQUESTS, executed)
            add(Metric.LANES, lanes)
            add(Metric.BYTES, lanes * width)
            add(Metric.SECTORS, item.metrics["memory_l2_theoretical_sectors_global"])
            add(Metric.SECTORS_IDEAL, item.metrics.get("memory_l2_theoretical_sectors_global_ideal", 0.0))
        elif item.operation in SHARED and "memory_l1_wavefronts_shared" in item.metrics:
            add(Metric.LDS_REQUESTS, executed)
            add(Metric.LDS_PHASES, item.metrics["memory_l1_wavefronts_shared"])
            add(Metric.LDS_PHASES_IDEAL, item.metrics.get("memory_l1_wavefronts_shared_ideal", 0.0))
        elif item.operation in LOCAL:
            add(Metric.LOCAL_REQUESTS, executed)
        elif item.operation in GLOBAL_ATOMICS:
            add(Metric.ATOMIC_REQUESTS, executed)
            add(Metric.ATOMIC_LANES, lanes)
        elif item.operation in SHARED_ATOMICS:
            add(Metric.LDS_ATOMIC_REQUESTS, executed)
            add(Metric.LDS_ATOMIC_LANES, lanes)
            add(Metric.LDS_ATOMIC_PHASES, item.metrics.get("memory_l1_wavefronts_shared", 0.0))
    return total


def static_figures(values: Mapping[str, float]) -> dict[Metric, float]:
    """What the compiled kernel needs of a multiprocessor."""
    return {metric: values[name] for metric, name in _STATIC.items() if name in values}


def with_quantities(profile: KernelProfile, launches: Sequence[ProfiledKernel]) -> KernelProfile:
    """The profile with what ncu saw in these launches of the kernel; unchanged where there are none."""
    if not launches:
        return profile
    seen = [of_launch(launch) for launch in launches]
    common = set.intersection(*(set(one) for one in seen))
    quantities = {
        metric: Quantity(sum(one[metric].value for one in seen) / len(seen), seen[0][metric].provenance)
        for metric in common
    }
    note = f"counters of {len(seen)} of {profile.dispatches} dispatches"
    return replace(profile, quantities={**profile.quantities, **quantities}, notes=(*profile.notes, note))


def of_launch(launch: ProfiledKernel) -> dict[Metric, Quantity]:
    """What ncu saw in one launch, by our names; what it did not see is absent."""
    values = launch.metrics
    found: dict[Metric, Quantity] = {}

    def keep(metric: Metric, value: float, provenance: Provenance = Provenance.MEASURED) -> None:
        found[metric] = Quantity(value, provenance)

    for metric, (name, factor) in _RATIOS.items():
        if name in values:
            keep(metric, values[name] * factor)
    for metric, value in static_figures(values).items():
        keep(metric, value, Provenance.STATIC)
    for metric, value in launch_shapes.filling(values).items():
        keep(metric, value, Provenance.STATIC)
    if all(name in values for name in _DRAM):
        keep(Metric.DRAM_BYTES, sum(values[name] for name in _DRAM))
    duration = values.get(DURATION)
    if duration is not None:
        keep(Metric.DEVICE_TIME_NS, duration)
        for metric, name in _BUSY.items():
            if name in values:
                keep(metric, duration * values[name] / 100)
        if _ALL_WAVEFRONTS in values and _SHARED_WAVEFRONTS in values:
            keep(Metric.L1_TIME_NS, duration * max(0.0, values[_ALL_WAVEFRONTS] - values[_SHARED_WAVEFRONTS]) / 100)
    for metric, value in _complete(counts_of(launch.instructions)).items():
        keep(metric, value)
    _atomics(values, duration, keep)
    return found


def _complete(counts: dict[Metric, float]) -> dict[Metric, float]:
    """With zeros for kinds of access that the kernel's instructions do not make: that is a count, not absence."""
    every = (
        *(Metric.REQUESTS, Metric.LANES, Metric.BYTES, Metric.SECTORS, Metric.SECTORS_IDEAL),
        *(Metric.LDS_REQUESTS, Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL),
        *(Metric.LDS_ATOMIC_REQUESTS, Metric.LDS_ATOMIC_LANES, Metric.LDS_ATOMIC_PHASES),
        *(Metric.ATOMIC_REQUESTS, Metric.ATOMIC_LANES, Metric.LOCAL_REQUESTS),
    )
    return {metric: counts.get(metric, 0.0) for metric in every}


def _atomics(values: Mapping[str, float], duration: float | None, keep: object) -> None:
    if not callable(keep) or not all(name in values for name in _ATOMIC_SECTORS):
        return
    # L1 passes an atomic on sector by sector, and each lane by itself where lanes share an address.
    keep(Metric.ATOMIC_SERIALIZATION, sum(values[name] for name in _ATOMIC_SECTORS))
    if duration is not None and all(name in values for name in _BUSIEST_SLICE):
        queued = sum(values[name] for name in _BUSIEST_SLICE) * SAME_ADDRESS_NS
        keep(Metric.ATOMIC_TIME_NS, min(duration, queued), Provenance.MODELLED)
