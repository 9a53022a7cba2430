"""How a dispatch fills the GPU, by its shape and by what its waves need. Nothing here is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from intelliperf.profiling.rocprofv3.recordings import Agent, CountedDispatch
from intelliperf.records import Device, Metric
from intelliperf.rocm.metadata import KernelNeeds

_LDS_GRANULE = 512  # bytes


@dataclass(frozen=True)
class _Registers:
    """The vector registers of a SIMD, per lane. `unified`: accumulation registers come out of the same file."""

    each: int
    granule: int
    unified: bool

    def waves(self, vgprs: int, agprs: int) -> int:
        needed = _rounded(vgprs, 4) + agprs if self.unified else max(vgprs, agprs)
        return self.each // max(self.granule, _rounded(needed, self.granule))


# LLVM's AMDGPU user guide and its AMDGPUBaseInfo. RDNA's depend on the mode that a kernel was compiled for.
_REGISTERS = {
    "gfx908": _Registers(256, 4, unified=False),
    **dict.fromkeys(("gfx90a", "gfx942", "gfx950"), _Registers(512, 8, unified=True)),
}


def filling(
    dispatches: Sequence[CountedDispatch], agent: Agent, device: Device, needs: KernelNeeds | None = None
) -> dict[Metric, float]:
    """Means over the dispatches; what cannot be told for one of them is left out.

    `needs`: what the compiler says of the kernel, which is exact; without it registers are as the dispatches tell.
    """
    each = [_of(one, agent, device, needs) for one in dispatches]
    common = set.intersection(*(set(one) for one in each)) if each else set()
    return {metric: sum(one[metric] for one in each) / len(each) for metric in common}


def _of(dispatch: CountedDispatch, agent: Agent, device: Device, needs: KernelNeeds | None) -> dict[Metric, float]:
    threads, held = dispatch.shape.workgroup_items, agent.max_waves_per_compute_unit
    blocks = math.ceil(dispatch.shape.grid_items / threads)
    waves = math.ceil(threads / agent.wave_size)
    units = agent.compute_units
    found: dict[Metric, float] = {
        Metric.LANE_FILL_RATIO: threads / (waves * agent.wave_size),
        Metric.UNIT_FILL_RATIO: blocks / units / math.ceil(blocks / units),
    }
    if dispatch.scratch_bytes == 0:
        found[Metric.LOCAL_REQUESTS] = 0.0
    by_registers = _waves_of_a_simd(dispatch, agent, needs)
    if by_registers is None:
        return found
    blocks_by_registers = by_registers * agent.simds_per_compute_unit // waves
    if agent.architecture not in _REGISTERS or dispatch.lds_bytes is None:
        # On RDNA LDS and block slots depend on the mode that the kernel was compiled for.
        found[Metric.WAVES_BY_REGISTERS] = min(blocks_by_registers, held // waves) * waves
        return found
    allowed = {
        Metric.WAVES_BY_REGISTERS: blocks_by_registers,
        Metric.WAVES_BY_LDS: _blocks_by_lds(dispatch.lds_bytes, device, held),
        Metric.WAVES_BY_BLOCKS: held // waves,
    }
    resident = min(*allowed.values(), held // waves)
    found.update({metric: min(count, held // waves) * waves for metric, count in allowed.items()})
    found[Metric.OCCUPANCY_LIMIT_RATIO] = resident * waves / held
    rounds = blocks / (units * max(1, resident))
    found[Metric.ROUND_FILL_RATIO] = rounds / math.ceil(rounds)
    return found


def _waves_of_a_simd(dispatch: CountedDispatch, agent: Agent, needs: KernelNeeds | None) -> int | None:
    known = needs.waves_per_simd() if needs is not None else None
    file = _REGISTERS.get(agent.architecture)
    if known is None and file is not None and dispatch.vgprs is not None:
        known = file.waves(dispatch.vgprs, dispatch.agprs or 0)
    return None if known is None else min(agent.max_waves_per_simd, known)


def _blocks_by_lds(size: int, device: Device, unlimited: int) -> int:
    return device.limits.lds_bytes_per_compute_unit // _rounded(size, _LDS_GRANULE) if size else unlimited


def _rounded(value: int, granule: int) -> int:
    return math.ceil(value / granule) * granule
