"""Our quantities from AMD's hardware counters, by architecture.

Counts are of the counted dispatches, averaged. A part of the chip is busy for the kernel's traced time times its
utilisation, or more: MEASURED where AMD's own expressions give that (LDS, VALU, waiting atomics), MODELLED where a
rate per cycle or the highest clock is taken for the real one. What no counter gives is absent: lanes of memory
instructions, distinct sectors and addresses, and on RDNA whatever lies between LDS and L2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from intelliperf.profiling.rocprofv3.blocks import RDNA_2_3, slots
from intelliperf.profiling.rocprofv3.recordings import Agent, Counted, CountedDispatch
from intelliperf.records import Device, KernelProfile, Metric, Provenance, Quantity
from intelliperf.rocm.codeobject import Accesses
from intelliperf.rocm.filling import filling
from intelliperf.rocm.metadata import KernelNeeds

_CDNA = (
    *("GRBM_GUI_ACTIVE", "SQ_WAVES", "SQ_INSTS_VALU", "SQ_ACTIVE_INST_VALU", "SQ_THREAD_CYCLES_VALU"),
    *("SQ_WAVE_CYCLES", "SQ_INSTS_LDS", "SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE"),
    *(f"TA_{kind}_{what}_WAVEFRONTS_sum" for what in ("READ", "WRITE", "ATOMIC") for kind in ("FLAT", "BUFFER")),
    *("TCP_TOTAL_CACHE_ACCESSES_sum", "TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum"),
    "TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES_sum",
    *("TCC_REQ_sum", "TCC_CYCLE_sum", "TCC_HIT_sum", "TCC_MISS_sum", "TCC_ATOMIC_sum"),
)
_RDNA = (
    *("GRBM_GUI_ACTIVE", "SQ_WAVES", "SQ_INSTS_VALU", "SQ_WAVE_CYCLES", "SQ_INSTS_LDS"),
    *("SQC_LDS_BANK_CONFLICT", "SQC_LDS_IDX_ACTIVE", "GL2C_HIT_sum", "GL2C_MISS_sum"),
)
_FABRIC = {"gfx908": "TCC_EA", "gfx90a": "TCC_EA", "gfx942": "TCC_EA0", "gfx950": "TCC_EA0"}
# MI100's fabric atomics have the later name already.
_FABRIC_ATOMICS = {**_FABRIC, "gfx908": "TCC_EA0"}


@dataclass(frozen=True)
class _Size:
    """Requests of one size: `counter` less those of `less`, times `size` bytes."""

    counter: str
    size: int
    less: tuple[str, ...] = ()

    def value(self, values: Mapping[str, float]) -> float:
        return self.size * (values[self.counter] - sum(values[name] for name in self.less))

    @property
    def counters(self) -> tuple[str, ...]:
        return (self.counter, *self.less)


def _written(fabric: str) -> tuple[_Size, ...]:
    large = f"{fabric}_WRREQ_64B_sum"
    return (_Size(large, 64), _Size(f"{fabric}_WRREQ_sum", 32, (large,)))


# As FETCH_SIZE and WRITE_SIZE of AMD's counter definitions, but for MI350: that expression counts its requests of
# 128 bytes as 64 (the recorded copy reads 8.4 MB and would have read 4.2), so each size is taken by its own counter.
# RDNA 4 has no counter that tells 128-byte writes apart, hence no entry.
_DRAM: Mapping[str, tuple[_Size, ...]] = {
    **{
        name: (
            _Size("TCC_EA_RDREQ_32B_sum", 32),
            _Size("TCC_EA_RDREQ_sum", 64, ("TCC_EA_RDREQ_32B_sum",)),
            *_written("TCC_EA"),
        )
        for name in ("gfx908", "gfx90a")
    },
    "gfx942": (
        _Size("TCC_BUBBLE_sum", 128),
        _Size("TCC_EA0_RDREQ_sum", 64, ("TCC_BUBBLE_sum", "TCC_EA0_RDREQ_32B_sum")),
        _Size("TCC_EA0_RDREQ_32B_sum", 32),
        *_written("TCC_EA0"),
    ),
    "gfx950": (
        *(_Size(f"TCC_EA0_RDREQ_{size}B_sum", size) for size in (32, 64, 128)),
        *_written("TCC_EA0"),
    ),
    **{
        name: (
            *(_Size(f"GL2C_EA_RDREQ_{size}B_sum", size) for size in (32, 64, 96, 128)),
            _Size("GL2C_EA_WRREQ_64B_sum", 64),
            _Size("GL2C_MC_WRREQ_sum", 32, ("GL2C_EA_WRREQ_64B_sum",)),
        )
        for name in RDNA_2_3
    },
}
# What one request from L1 to L2 moves: a copy of doubles on each of these moves exactly what it asks for.
_READ_LINE = {"gfx908": 64, "gfx90a": 64, "gfx942": 128, "gfx950": 128}
_WRITE_LINE = 64
_SEVERAL_DIES = frozenset({"gfx942", "gfx950"})
# AMD's own expressions for occupancy: CDNA counts in units of four cycles; both divide by 32 waves.
_OCCUPANCY_CYCLES = {**dict.fromkeys(_FABRIC, 4.0), **dict.fromkeys(RDNA_2_3, 1.0)}


def needed(architecture: str) -> tuple[str, ...]:
    """All counters that the formulas can use. Raises `UsageError` for an architecture that we do not know."""
    slots(architecture)
    common = _CDNA if architecture in _FABRIC else _RDNA
    sizes = [counter for size in _DRAM.get(architecture, ()) for counter in size.counters]
    fabric = _FABRIC_ATOMICS.get(architecture)
    atomics = (f"{fabric}_ATOMIC_sum", f"{fabric}_ATOMIC_LEVEL_sum") if fabric else ()
    return tuple(dict.fromkeys((*common, *sizes, *atomics)))


@dataclass(frozen=True)
class _Kernel:
    """Mean counters of a kernel's dispatches, and what is needed to judge them."""

    values: Mapping[str, float]
    architecture: str
    time_ns: float | None
    timing: Provenance  # of the time, and so of every part of it
    compute_units: int | None
    dies: int | None
    waves_per_unit: int | None
    wave_size: int
    private_bytes: int | None  # per work-item; None where it is not known
    device: Device
    accesses: Accesses | None

    def has(self, *names: str) -> bool:
        return all(name in self.values for name in names)

    def total(self, *names: str) -> float:
        return sum(self.values[name] for name in names)

    def cycles(self) -> tuple[float, Provenance] | None:
        """At most so many cycles does the kernel take on each unit.

        `GRBM_GUI_ACTIVE` also counts some microseconds before and after the kernel, which matters for short ones, so
        the time at the highest clock bounds it. On chips of several dies recordings have it added up or not: more than
        that bound is the sum of all dies (MI300X, SPX: 2,572,147 where one die has an eighth).
        """
        if self.time_ns is None:
            return None
        at_most = self.time_ns * self.device.limits.clock_hz / 1e9
        active = self.values.get("GRBM_GUI_ACTIVE", 0.0)
        if self.dies and active > at_most:
            active /= self.dies
        if self.dies and 0 < active <= at_most:
            return active, self.timing
        return (at_most, Provenance.MODELLED) if at_most > 0 else None

    def busy(self, metric: Metric, cycles: float, found: _Found, provenance: Provenance | None = None) -> None:
        """The kernel's time in the share in which one part of each compute unit works, `cycles` over all of them.

        At least so much: see `cycles`.
        """
        available = self.cycles()
        if available is None or not self.compute_units or self.time_ns is None:
            return
        each, origin = available
        share = min(1.0, cycles / (each * self.compute_units))
        found.keep(metric, self.time_ns * share, provenance or origin)


class _Found:
    def __init__(self) -> None:
        self.quantities: dict[Metric, Quantity] = {}
        self.notes: list[str] = []

    def keep(self, metric: Metric, value: float | None, provenance: Provenance = Provenance.MEASURED) -> None:
        if value is not None:
            self.quantities[metric] = Quantity(value, provenance)


def with_quantities(
    profile: KernelProfile,
    counted: Counted,
    accesses: Accesses | None,
    device: Device,
    needs: KernelNeeds | None = None,
) -> KernelProfile:
    """The profile with what the counters tell of its kernel; unchanged where none of its dispatches was counted.

    `accesses` are the kernel's memory instructions (`codeobject`), without which nothing is known about bytes
    asked for; `needs` its registers (`metadata`). What is absent for a reason that the user can change is noted.
    """
    dispatches = counted.of(profile.kernel.symbol)
    if not dispatches:
        return profile
    kernel = _kernel(profile, counted, dispatches, accesses, device)
    found = _Found()
    found.keep(Metric.DEVICE_TIME_NS, kernel.time_ns, profile.time_provenance)
    for part in (_instructions, _lds, _memory, _atomics, _l2, _dram):
        part(kernel, found)
    agent = _agent(counted, dispatches)
    if agent is not None:
        for metric, value in filling(dispatches, agent, device, needs).items():
            found.keep(metric, value, Provenance.STATIC)
    for metric, value in (_static(needs) if needs is not None else {}).items():
        found.keep(metric, value, Provenance.STATIC)
    note = f"counters of {len(dispatches)} of {profile.dispatches} dispatches"
    return replace(
        profile,
        quantities={**profile.quantities, **found.quantities},
        notes=(*profile.notes, note, *counted.notes, *found.notes),
    )


def _static(needs: KernelNeeds) -> dict[Metric, float]:
    """Exact, where the profiler tells what hardware allocates in its granules."""
    exact: dict[Metric, float] = {
        Metric.VGPRS: needs.vgprs,
        Metric.SGPRS: needs.sgprs,
        Metric.SPILLED_REGISTERS: needs.vgpr_spills + needs.sgpr_spills,
    }
    return exact if needs.dynamic_stack else {**exact, Metric.SCRATCH_BYTES: needs.scratch_bytes}


def _kernel(
    profile: KernelProfile,
    counted: Counted,
    dispatches: tuple[CountedDispatch, ...],
    accesses: Accesses | None,
    device: Device,
) -> _Kernel:
    common = set.intersection(*(set(one.values) for one in dispatches))
    times = profile.device_time_ns
    agent = _agent(counted, dispatches)
    architecture = agent.architecture if agent else device.architecture
    return _Kernel(
        values={name: sum(one.values[name] for one in dispatches) / len(dispatches) for name in common},
        architecture=architecture,
        time_ns=sum(times) / len(times) if times else None,
        timing=profile.time_provenance,
        compute_units=agent.compute_units if agent else device.limits.compute_units,
        dies=agent.dies if agent else None if architecture in _SEVERAL_DIES else 1,
        waves_per_unit=agent.max_waves_per_compute_unit if agent else device.limits.max_waves_per_compute_unit,
        wave_size=agent.wave_size if agent else device.wave_size,
        private_bytes=max(one.scratch_bytes for one in dispatches if one.scratch_bytes is not None)
        if all(one.scratch_bytes is not None for one in dispatches)
        else None,
        device=device,
        accesses=accesses,
    )


def _agent(counted: Counted, dispatches: tuple[CountedDispatch, ...]) -> Agent | None:
    """By number; a recording of one GPU leaves no choice."""
    found = counted.agent(dispatches[0].agent)
    return counted.agents[0] if found is None and len(counted.agents) == 1 else found


def _instructions(kernel: _Kernel, found: _Found) -> None:
    """Of the vector ALU, whose lanes are the only ones that are counted."""
    if kernel.has("SQ_INSTS_VALU"):
        found.keep(Metric.INSTRUCTIONS, kernel.values["SQ_INSTS_VALU"])
    if kernel.has("SQ_ACTIVE_INST_VALU", "SQ_THREAD_CYCLES_VALU") and kernel.values["SQ_ACTIVE_INST_VALU"]:
        lanes = kernel.values["SQ_THREAD_CYCLES_VALU"] / kernel.values["SQ_ACTIVE_INST_VALU"]
        found.keep(Metric.ACTIVE_LANE_RATIO, lanes / kernel.wave_size)
        if kernel.has("SQ_INSTS_VALU"):
            found.keep(Metric.LANE_INSTRUCTIONS, lanes * kernel.values["SQ_INSTS_VALU"])
    if kernel.has("SQ_ACTIVE_INST_VALU"):
        kernel.busy(Metric.ISSUE_TIME_NS, kernel.values["SQ_ACTIVE_INST_VALU"], found)
    scale, available = _OCCUPANCY_CYCLES.get(kernel.architecture), kernel.cycles()
    if kernel.has("SQ_WAVE_CYCLES") and scale and available and kernel.compute_units and kernel.waves_per_unit:
        cycles, origin = available
        slots = cycles * kernel.compute_units * kernel.waves_per_unit
        found.keep(Metric.OCCUPANCY_RATIO, min(1.0, scale * kernel.values["SQ_WAVE_CYCLES"] / slots), origin)


def _lds(kernel: _Kernel, found: _Found) -> None:
    """Cycles cannot be told apart by instruction, so all of them must be of loads and stores, or be zero."""
    prefix = "SQ" if kernel.architecture in _FABRIC else "SQC"
    active, conflict = f"{prefix}_LDS_IDX_ACTIVE", f"{prefix}_LDS_BANK_CONFLICT"
    if not kernel.has("SQ_INSTS_LDS", active, conflict):
        return
    requests, cycles, lost = kernel.total("SQ_INSTS_LDS"), kernel.total(active), kernel.total(conflict)
    if kernel.architecture in _FABRIC:
        kernel.busy(Metric.LDS_TIME_NS, cycles, found)
    if requests > 0 and not _only_moves_in_lds(kernel.accesses):
        what = "its code is not known" if kernel.accesses is None else "it also uses LDS for other things"
        found.notes.append(f"LDS cycles of loads and stores are not known: {what}")
        return
    found.keep(Metric.LDS_REQUESTS, requests)
    found.keep(Metric.LDS_PHASES, cycles)
    found.keep(Metric.LDS_PHASES_IDEAL, max(0.0, cycles - lost))


def _only_moves_in_lds(accesses: Accesses | None) -> bool:
    return accesses is not None and not (accesses.flat or accesses.lds_atomics or accesses.lds_shuffles)


def _memory(kernel: _Kernel, found: _Found) -> None:
    reads = ("TA_FLAT_READ_WAVEFRONTS_sum", "TA_BUFFER_READ_WAVEFRONTS_sum")
    writes = ("TA_FLAT_WRITE_WAVEFRONTS_sum", "TA_BUFFER_WRITE_WAVEFRONTS_sum")
    if not kernel.has(*reads, *writes):
        return
    if kernel.has("TCP_TOTAL_CACHE_ACCESSES_sum"):
        # An L1 looks up one line per cycle.
        looked_up = kernel.values["TCP_TOTAL_CACHE_ACCESSES_sum"]
        kernel.busy(Metric.L1_TIME_NS, looked_up, found, Provenance.MODELLED)
    line = _READ_LINE.get(kernel.architecture)
    if line is None or not kernel.has("TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum"):
        return
    read, written = line * kernel.values["TCP_TCC_READ_REQ_sum"], _WRITE_LINE * kernel.values["TCP_TCC_WRITE_REQ_sum"]
    found.keep(Metric.L1_L2_BYTES, read + written)
    if kernel.private_bytes != 0:
        found.notes.append(
            "accesses to global memory are not known: counters do not tell those to private memory apart"
        )
        return
    loads, stores = kernel.total(*reads), kernel.total(*writes)
    found.keep(Metric.REQUESTS, loads + stores)
    accesses = kernel.accesses
    if accesses is None or accesses.unknown_widths:
        found.notes.append("bytes asked for are not known: the kernel's code, or the width of an access, is not")
        return
    asked_read = _at_most(loads, accesses.load_widths, kernel.wave_size)
    asked_written = _at_most(stores, accesses.store_widths, kernel.wave_size)
    if asked_read is None or asked_written is None:
        found.notes.append("bytes asked for are not known: the kernel's code lacks loads or stores that were counted")
        return
    found.keep(Metric.BYTES_AT_MOST, asked_read + asked_written)
    found.keep(Metric.L1_L2_EXCESS_BYTES, max(0.0, read - asked_read) + max(0.0, written - asked_written))


def _at_most(requests: float, widths: frozenset[int], wave_size: int) -> float | None:
    if requests == 0:
        return 0.0
    return requests * wave_size * max(widths) if widths else None


def _atomics(kernel: _Kernel, found: _Found) -> None:
    """Lanes and addresses are not counted, but how long an L1 waits for a line that another atomic holds is."""
    requests = ("TA_FLAT_ATOMIC_WAVEFRONTS_sum", "TA_BUFFER_ATOMIC_WAVEFRONTS_sum")
    if not kernel.has(*requests):
        return
    found.keep(Metric.ATOMIC_REQUESTS, kernel.total(*requests))
    if kernel.accesses is not None and kernel.accesses.atomics:
        # Each turn of a compare-and-swap loop lets one lane per address through.
        only_swaps = kernel.accesses.swaps and kernel.accesses.swaps == kernel.accesses.float_atomics
        lanes = 1 if only_swaps else kernel.wave_size
        found.keep(Metric.ATOMIC_LANES_AT_MOST, kernel.total(*requests) * lanes)
        found.keep(Metric.ATOMIC_FLOAT_SITES, kernel.accesses.float_atomics, Provenance.STATIC)
    if kernel.has("TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES_sum"):
        kernel.busy(Metric.ATOMIC_STALL_NS, kernel.values["TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES_sum"], found)
    note = fabric_atomics(kernel.values, kernel.architecture)
    if note:
        found.notes.append(note)


def fabric_atomics(values: Mapping[str, float], architecture: str) -> str | None:
    """What is known of atomics beyond L2, in words; None where there are no atomics at all or no counters.

    Contended atomics mostly stay in L2: then AMD's latency, level over count, is zero over zero and tells nothing.
    """
    fabric = _FABRIC_ATOMICS.get(architecture)
    count, level = f"{fabric}_ATOMIC_sum", f"{fabric}_ATOMIC_LEVEL_sum"
    if fabric is None or not all(name in values for name in (count, level, "TCC_ATOMIC_sum")):
        return None
    if not values["TCC_ATOMIC_sum"]:
        return None
    if not values[count]:
        return f"all {values['TCC_ATOMIC_sum']:,.0f} atomic requests stayed in L2: their latency is not measured"
    left, cycles = values[count], values[level] / values[count]
    return f"{left:,.0f} of {values['TCC_ATOMIC_sum']:,.0f} atomic requests left L2, in {cycles:,.0f} cycles each"


def _l2(kernel: _Kernel, found: _Found) -> None:
    hits, misses = (
        ("TCC_HIT_sum", "TCC_MISS_sum") if kernel.architecture in _FABRIC else ("GL2C_HIT_sum", "GL2C_MISS_sum")
    )
    if kernel.has(hits, misses) and kernel.total(hits, misses):
        found.keep(Metric.L2_HIT_RATIO, kernel.values[hits] / kernel.total(hits, misses))
    if kernel.has("TCC_REQ_sum", "TCC_CYCLE_sum") and kernel.values["TCC_CYCLE_sum"] and kernel.time_ns is not None:
        # A channel takes one request per cycle.
        share = kernel.values["TCC_REQ_sum"] / kernel.values["TCC_CYCLE_sum"]
        found.keep(Metric.L2_TIME_NS, kernel.time_ns * min(1.0, share), Provenance.MODELLED)


def _dram(kernel: _Kernel, found: _Found) -> None:
    sizes = _DRAM.get(kernel.architecture)
    if sizes is None or not kernel.has(*(counter for size in sizes for counter in size.counters)):
        return
    if kernel.has("GL2C_HIT_sum", "GL2C_MISS_sum") and not kernel.total("GL2C_HIT_sum", "GL2C_MISS_sum"):
        found.notes.append(
            "the counters of L2 read zero although the kernel ran: set a stable power state (amd-smi set --perf-level "
            "STABLE_STD)"
        )
        return
    moved = sum(size.value(kernel.values) for size in sizes)
    found.keep(Metric.DRAM_BYTES, moved)
    rate = kernel.device.limits.dram_bytes_per_s
    if rate > 0:
        found.keep(Metric.DRAM_TIME_NS, moved / rate * 1e9, Provenance.MODELLED)
