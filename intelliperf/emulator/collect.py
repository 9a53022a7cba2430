"""From record files to `KernelProfile`s: counts of whole launches, averaged over dispatches.

Every count is per dispatch: launches of one kernel and geometry are taken as alike, each that was watched stands for
those around it, and geometries weigh by their number of dispatches. Counts come from instructions that ran, hence
MEASURED, with an error where they were sampled: where not all requests were looked at, or not all launches that
differ. What a cache model says is MODELLED, and so are times.
`REQUESTS` to `LINES_128B_IDEAL` of a kernel are of its loads and stores in global memory, `LDS_REQUESTS`
to `LDS_PHASES_IDEAL` of those in LDS; atomics have their own metrics, in either memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from intelliperf.counting import sampling
from intelliperf.dropins.toolchain import include_directory, is_ours, standins_directory
from intelliperf.emulator.generated import generated_note, model_lines
from intelliperf.emulator.launchless import library_note, why_no_kernel
from intelliperf.emulator.modulefacts import KernelFacts, ModuleFacts, SiteFacts
from intelliperf.emulator.safety import fault_notes
from intelliperf.emulator.sourcelines import Project
from intelliperf.emulator.tracefiles import SHAPES, KernelLaunch, Records, Trace
from intelliperf.errors import ApplicationFailed
from intelliperf.profiling.ranking import TRANSFERS, other_time
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import Geometry, Kernel, KernelProfile, Metric, Provenance, Quantity

TIME_PARTS: Mapping[str, Metric] = {
    "launch": Metric.LAUNCH_TIME_NS,
    "dispatch": Metric.DISPATCH_TIME_NS,
    "issue": Metric.ISSUE_TIME_NS,
    "lds": Metric.LDS_TIME_NS,
    "l1": Metric.L1_TIME_NS,
    "l2": Metric.L2_TIME_NS,
    "dram": Metric.DRAM_TIME_NS,
    "atomic": Metric.ATOMIC_TIME_NS,
    "latency": Metric.LATENCY_TIME_NS,
}
ATOMIC_KINDS = ("atomic", "reduction")
_FLOAT_ATOMICS = ("atomicrmw fadd", "atomicrmw fsub", "cmpxchg")
ACCESS_KINDS = ("load", "store", "range_load", "range_store")

_GLOBAL = {
    Metric.REQUESTS: "global_requests",
    Metric.SECTORS: "sectors",
    Metric.SECTORS_IDEAL: "sectors_ideal",
    Metric.LINES_64B: "lines64",
    Metric.LINES_128B: "lines128",
    Metric.LINES_128B_IDEAL: "lines128_ideal",
}
_SHARED = {
    Metric.LDS_REQUESTS: "shared_requests",
    Metric.LDS_PHASES: "lds_phases",
    Metric.LDS_PHASES_IDEAL: "lds_phases_ideal",
}
_GLOBAL_ATOMIC = {
    Metric.ATOMIC_REQUESTS: "requests",
    Metric.ATOMIC_LANES: "lanes",
    Metric.ATOMIC_SERIALIZATION: "same_address",
}
_LDS_ATOMIC = {
    Metric.LDS_ATOMIC_REQUESTS: "requests",
    Metric.LDS_ATOMIC_LANES: "lanes",
    Metric.LDS_ATOMIC_SERIALIZATION: "same_address",
}
_MODELLED = (Metric.DRAM_SECTORS_AGAIN,)  # by the model of the caches
_ERROR_OF = {name: number for number, name in enumerate(SHAPES)}
_BORROWED_ERROR = 0.5  # relative, of counts that a launch of another shape lends, by their threads


@dataclass
class Estimate:
    """A sum with the half-width of its error; errors of sites add up, which is the most that they can come to."""

    value: float = 0.0
    error: float = 0.0

    def add(self, value: float, error: float = 0.0, weight: float = 1.0) -> None:
        self.value += value * weight
        self.error += error * weight


@dataclass
class Totals:
    """Estimates of one site, line or kernel; `requests` and `lanes` are of both memory spaces."""

    estimates: dict[Metric, Estimate] = field(default_factory=dict)
    requests: float = 0.0
    lanes: float = 0.0
    lanes_possible: float = 0.0
    l1_hits: float = 0.0
    l1_accesses: float = 0.0
    l2_hits: float = 0.0
    l2_accesses: float = 0.0

    def add(self, metric: Metric, value: float, error: float = 0.0, weight: float = 1.0) -> None:
        self.estimates.setdefault(metric, Estimate()).add(value, error, weight)

    def absorb(self, other: Totals, weight: float) -> None:
        for metric, estimate in other.estimates.items():
            self.add(metric, estimate.value, estimate.error, weight)
        for name in ("requests", "lanes", "lanes_possible", "l1_hits", "l1_accesses", "l2_hits", "l2_accesses"):
            setattr(self, name, getattr(self, name) + weight * getattr(other, name))

    def value(self, metric: Metric) -> float:
        return self.estimates[metric].value if metric in self.estimates else 0.0

    def quantities(self) -> dict[Metric, Quantity]:
        """Counts, and ratios where their denominator is not zero: absent is not zero."""
        found = {
            metric: Quantity(
                estimate.value,
                Provenance.MODELLED if metric in _MODELLED else Provenance.MEASURED,
                estimate.error or None,
            )
            for metric, estimate in self.estimates.items()
        }
        if self.lanes_possible > 0:
            ratio = self.lanes / self.lanes_possible
            unsure = [self.estimates[metric] for metric in (Metric.LANES, Metric.REQUESTS) if metric in self.estimates]
            error = ratio * sum(estimate.error / estimate.value for estimate in unsure if estimate.value > 0)
            found[Metric.ACTIVE_LANE_RATIO] = Quantity(ratio, Provenance.MEASURED, error or None)
        if self.l1_accesses > 0:
            found[Metric.L1_HIT_RATIO] = Quantity(self.l1_hits / self.l1_accesses, Provenance.MODELLED)
        if self.l2_accesses > 0:
            found[Metric.L2_HIT_RATIO] = Quantity(self.l2_hits / self.l2_accesses, Provenance.MODELLED)
        return found


def site_totals(record: np.void, site: SiteFacts, wave_size: int, by_line: bool) -> Totals:
    """One site of one launch.

    `by_line` gives an atomic the access metrics too and its own ones whatever memory it is in, since a
    line's evidence stands for itself; in the sum over a kernel they would be mistaken for other accesses.
    """
    totals = Totals()
    atomic = site.kind in ATOMIC_KINDS
    shared = _share(record, "shared_requests")
    if atomic and by_line:
        _add_part(totals, record, _GLOBAL_ATOMIC, 1.0)
    elif atomic:
        _add_part(totals, record, _GLOBAL_ATOMIC, 1.0 - shared)
        _add_part(totals, record, _LDS_ATOMIC, shared)
        _add_counts(totals, record, {Metric.LDS_ATOMIC_PHASES: "lds_phases"})
    if by_line or not atomic:
        _add_counts(totals, record, {**_GLOBAL, **_SHARED, Metric.DRAM_SECTORS_AGAIN: "read_again"})
        _add_part(totals, record, {Metric.LANES: "lanes", Metric.BYTES: "bytes"}, 1.0 - shared)
    totals.requests = float(record["requests"])
    totals.lanes = float(record["lanes"])
    totals.lanes_possible = totals.lanes if site.one_lane else totals.requests * wave_size
    totals.l1_hits = float(record["l1_hits"])
    totals.l1_accesses = totals.l1_hits + float(record["l1_misses"])
    totals.l2_hits = float(record["l2_hits"])
    totals.l2_accesses = totals.l2_hits + float(record["l2_misses"])
    return totals


def _share(record: np.void, name: str) -> float:
    requests = float(record["requests"])
    return float(record[name]) / requests if requests else 0.0


def _add_counts(totals: Totals, record: np.void, fields: Mapping[Metric, str]) -> None:
    _add_part(totals, record, fields, 1.0)


def _add_part(totals: Totals, record: np.void, fields: Mapping[Metric, str], share: float) -> None:
    """Of counts that a record keeps for both memories together, lanes of an instruction that touched both are shared
    out by its requests."""
    if share <= 0:
        return
    for metric, name in fields.items():
        error = float(record["error"][_ERROR_OF[name]]) if name in _ERROR_OF else 0.0
        totals.add(metric, float(record[name]) * share, error * share)


@dataclass(frozen=True)
class Group:
    """The launches of one kernel with one geometry."""

    kernel: str
    geometry: Geometry
    launches: tuple[KernelLaunch, ...]

    @property
    def threads(self) -> int:
        return math.prod(self.geometry.grid) * math.prod(self.geometry.block)

    @cached_property  # there may be 100 000 launches
    def traced(self) -> tuple[KernelLaunch, ...]:
        return tuple(launch for launch in self.launches if launch.traced_blocks > 0)


def groups_of(launches: Iterable[KernelLaunch]) -> dict[str, tuple[Group, ...]]:
    """Per kernel, its groups in order of first launch."""
    found: dict[tuple[str, Geometry], list[KernelLaunch]] = {}
    for launch in launches:
        found.setdefault((launch.kernel, launch.geometry), []).append(launch)
    by_kernel: dict[str, list[Group]] = {}
    for (kernel, geometry), members in found.items():
        by_kernel.setdefault(kernel, []).append(Group(kernel, geometry, tuple(members)))
    return {kernel: tuple(groups) for kernel, groups in by_kernel.items()}


def launch_weights(groups: Sequence[Group]) -> dict[int, float]:
    """Per traced launch, the weight that makes the sum over them a mean per dispatch of the kernel.

    It stands for the launches of its shape to which it is nearest in order; a shape that was not traced at all is
    stood for by the shape nearest in size, in proportion to its threads.
    """
    dispatches = sum(len(group.launches) for group in groups)
    weights: dict[int, float] = {}
    for group in groups:
        places = [place for place, launch in enumerate(group.launches) if launch.traced_blocks > 0]
        for number, place in enumerate(places):
            before = (places[number - 1] + place) / 2 if number else -0.5
            after = (place + places[number + 1]) / 2 if number + 1 < len(places) else len(group.launches) - 0.5
            weights[group.launches[place].index] = (after - before) / dispatches
    for lender, ratio, count in _borrowed(groups):
        weights[lender.traced[-1].index] += ratio * count / dispatches
    return weights


def _borrowed(groups: Sequence[Group]) -> list[tuple[Group, float, int]]:
    """For each shape that was not traced: whose counts it takes, how many times of them, and its dispatches."""
    traced = [group for group in groups if group.traced]
    found = []
    for group in groups:
        if group.traced or not traced:
            continue
        lender = min(traced, key=lambda other: abs(math.log(group.threads / other.threads)))
        found.append((lender, group.threads / lender.threads, len(group.launches)))
    return found


def mean_per_dispatch(groups: Sequence[Group], by_launch: Mapping[int, Totals]) -> Totals:
    """Of traced launches by their index; one that is absent counted nothing.

    Launches that were not watched differ from those that were as much as these differ among themselves.
    """
    totals = Totals()
    weights = launch_weights(groups)
    for index, launch in by_launch.items():
        totals.absorb(launch, weights[index])
    dispatches = sum(len(group.launches) for group in groups)
    for group in groups:
        if group.traced and len(group.traced) < len(group.launches):
            watched = [by_launch.get(launch.index, Totals()) for launch in group.traced]
            for metric in totals.estimates:
                half_width = sampling.of_mean([launch.value(metric) for launch in watched], len(group.launches))
                totals.add(metric, 0.0, half_width, len(group.launches) / dispatches)
    for lender, ratio, count in _borrowed(groups):
        for metric, estimate in by_launch.get(lender.traced[-1].index, Totals()).estimates.items():
            totals.add(metric, 0.0, estimate.value * ratio * _BORROWED_ERROR, count / dispatches)
    return totals


def records_of(trace: Trace, launch: KernelLaunch) -> Records:
    found: Records = trace.sites[trace.sites["launch"] == launch.index]
    return found


def kernel_totals(trace: Trace, groups: Sequence[Group]) -> Totals:
    """All sites of a kernel, per dispatch. Zero counts are present: the kernel was watched."""
    totals = Totals()
    for metric in (*_GLOBAL, *_SHARED, *_GLOBAL_ATOMIC, *_LDS_ATOMIC):
        totals.add(metric, 0.0)
    for metric in (Metric.LANES, Metric.BYTES, Metric.LDS_ATOMIC_PHASES):
        totals.add(metric, 0.0)
    by_launch: dict[int, Totals] = {}
    for launch in (launch for group in groups for launch in group.traced):
        module = trace.module_of(launch)
        own = by_launch.setdefault(launch.index, Totals())
        for record in records_of(trace, launch):
            site = module.sites[int(record["site"])]
            if site.kind in ATOMIC_KINDS or site.kind in ACCESS_KINDS:
                own.absorb(site_totals(record, site, module.wave_size, by_line=False), 1.0)
    totals.absorb(mean_per_dispatch(groups, by_launch), 1.0)
    return totals


def float_atomics(trace: Trace, groups: Sequence[Group]) -> Quantity:
    """Sites that add floating-point numbers atomically; a compare-and-swap may be part of a loop that does."""
    sites = set()
    for launch in (launch for group in groups for launch in group.traced):
        module = trace.module_of(launch)
        sites |= {
            int(record["site"])
            for record in records_of(trace, launch)
            if module.sites[int(record["site"])].operation in _FLOAT_ATOMICS
        }
    return Quantity(float(len(sites)), Provenance.MEASURED)


def instruction_quantities(trace: Trace, groups: Sequence[Group]) -> dict[Metric, Quantity]:
    """Per dispatch, of the emulated program: a wave's instruction counts as often as the wave runs its block."""
    weights = launch_weights(groups)
    waves = lanes = possible = 0.0
    for launch in (launch for group in groups for launch in group.traced):
        module = trace.module_of(launch)
        lengths = np.array([block.operations for block in module.blocks], dtype=float)
        rows = block_records_of(trace, launch)
        if not len(rows):
            continue
        weight = weights[launch.index]
        executed = float((lengths[rows["block"]] * rows["waves"]).sum()) * weight
        waves += executed
        lanes += float((lengths[rows["block"]] * rows["executions"]).sum()) * weight
        possible += executed * module.wave_size
    found = {Metric.INSTRUCTIONS: waves, Metric.LANE_INSTRUCTIONS: lanes}
    if possible > 0:
        found[Metric.ACTIVE_LANE_RATIO] = min(1.0, lanes / possible)
    return {metric: Quantity(value, Provenance.MODELLED) for metric, value in found.items()}


def block_records_of(trace: Trace, launch: KernelLaunch) -> Records:
    found: Records = trace.blocks[trace.blocks["launch"] == launch.index]
    return found


def _launch_quantities(groups: Sequence[Group]) -> dict[Metric, Quantity]:
    """What the runtime computed per launch: time parts, hottest address, traffic, private memory."""
    weights = launch_weights(groups)
    launches = [launch for group in groups for launch in group.traced]

    def mean(values: Iterable[float]) -> float:
        return sum(value * weights[launch.index] for value, launch in zip(values, launches, strict=True))

    found = {
        metric: Quantity(mean(launch.time_parts.get(part, 0.0) for launch in launches), Provenance.MODELLED)
        for part, metric in TIME_PARTS.items()
        if all(part in launch.time_parts for launch in launches)
    }
    found[Metric.DRAM_BYTES] = Quantity(mean(launch.dram_bytes for launch in launches), Provenance.MODELLED)
    compulsory = mean(launch.dram_bytes_compulsory for launch in launches)
    found[Metric.DRAM_BYTES_COMPULSORY] = Quantity(compulsory, Provenance.MODELLED)
    for metric, values in (
        (Metric.LOCAL_REQUESTS, [launch.local_requests for launch in launches]),
        (Metric.LOCAL_TIME_NS, [launch.local_ns for launch in launches]),
    ):
        told = [value for value in values if value is not None]
        if len(told) == len(launches):
            found[metric] = Quantity(mean(told), Provenance.MODELLED)
    known = Provenance.MEASURED if all(launch.atomics_known for launch in launches) else Provenance.MODELLED
    found[Metric.ATOMIC_ADDRESSES] = Quantity(mean(ln.atomic_addresses for ln in launches), known)
    lanes = mean(launch.atomic_lanes for launch in launches)
    if lanes > 0:
        hottest = mean(launch.atomic_hottest_lanes for launch in launches)
        found[Metric.ATOMIC_HOTTEST_SHARE] = Quantity(min(1.0, hottest / lanes), known)
    return found


_WAVES_BY = {"registers": Metric.WAVES_BY_REGISTERS, "lds": Metric.WAVES_BY_LDS, "blocks": Metric.WAVES_BY_BLOCKS}


def occupancy_quantities(groups: Sequence[Group], module: ModuleFacts) -> dict[Metric, Quantity]:
    """How the launches fill compute units, from their shapes and the real target's compile.

    Launches weigh by the time that they are busy, so that the small ones among them do not speak for the large.
    """
    weights = launch_weights(groups)
    launches = [launch for group in groups for launch in group.traced]
    times = {
        launch.index: (launch.time_ns - launch.time_parts.get("launch", 0.0)) * weights[launch.index]
        for launch in launches
    }
    sums: dict[Metric, float] = {}
    for launch in launches:
        share = times[launch.index] / (sum(times.values()) or 1.0)
        for metric, value in _filling(launch, module).items():
            sums[metric] = sums.get(metric, 0.0) + value * share
    return {metric: Quantity(value, Provenance.MODELLED) for metric, value in sums.items()}


def _filling(launch: KernelLaunch, module: ModuleFacts) -> dict[Metric, float]:
    held, units = int(module.device["max_waves_per_compute_unit"]), int(module.device["compute_units"])
    threads = math.prod(launch.geometry.block)
    waves = math.ceil(threads / module.wave_size)
    resident = max(1.0, launch.occupancy_waves // waves)
    rounds = launch.blocks / (units * resident)
    ratio = min(1.0, launch.occupancy_waves / held)
    return {
        Metric.OCCUPANCY_RATIO: ratio,
        Metric.OCCUPANCY_LIMIT_RATIO: ratio,
        **{metric: launch.waves_by[name] for name, metric in _WAVES_BY.items()},
        Metric.LANE_FILL_RATIO: launch.lane_fill(module.wave_size),
        Metric.UNIT_FILL_RATIO: launch.blocks / units / math.ceil(launch.blocks / units),
        Metric.ROUND_FILL_RATIO: rounds / math.ceil(rounds),
    }


def static_quantities(facts: KernelFacts | None) -> dict[Metric, Quantity]:
    """Registers, spills and LDS of the real target's compile; empty where that was not made."""
    if facts is None or facts.static is None:
        return {}
    static = facts.static
    values = {
        Metric.VGPRS: static.vgprs,
        Metric.SGPRS: static.sgprs,
        Metric.SPILLED_REGISTERS: static.vgpr_spills + static.sgpr_spills,
        Metric.SCRATCH_BYTES: static.scratch_bytes,
        Metric.LDS_BYTES: static.lds_bytes,
    }
    if not static.architecture.startswith("gfx"):
        del values[Metric.SGPRS]  # NVIDIA has no scalar registers of this kind
    return {metric: Quantity(float(value), Provenance.STATIC) for metric, value in values.items()}


def kernel_profile(trace: Trace, groups: Sequence[Group], device_time_ns: float) -> KernelProfile:
    """One kernel's profile; counts only where one of its launches was traced."""
    launches = [launch for group in groups for launch in group.launches]
    module = trace.module_of(launches[0])
    facts = module.kernels.get(launches[0].kernel)
    times = tuple(launch.time_ns for launch in launches)
    share = sum(times) / device_time_ns if device_time_ns > 0 else 0.0
    quantities = {
        Metric.DEVICE_TIME_NS: Quantity(sum(times) / len(times), Provenance.MODELLED),
        Metric.TIME_SHARE: Quantity(share, Provenance.MODELLED),
        **static_quantities(facts),
    }
    if any(group.traced for group in groups):
        quantities.update(kernel_totals(trace, groups).quantities())
        quantities.update(_launch_quantities(groups))
        if not stands_in(facts):
            quantities.update(occupancy_quantities(groups, module))
        quantities.update(instruction_quantities(trace, groups))
        quantities[Metric.ATOMIC_FLOAT_SITES] = float_atomics(trace, groups)
    return KernelProfile(
        kernel=kernel_of(launches[0].kernel, facts),
        dispatches=len(launches),
        geometries=tuple(group.geometry for group in groups),
        device_time_ns=times,
        time_provenance=Provenance.MODELLED,
        share=share,
        quantities=quantities,
        notes=_notes(groups, module, facts),
    )


def kernel_of(symbol: str, facts: KernelFacts | None) -> Kernel:
    if facts is None:
        return Kernel(symbol=symbol, name=symbol)
    # A lambda's type is named by where it stands.
    name = facts.name.replace(f"{include_directory()}/", "").replace(f"{standins_directory()}/", "")
    return Kernel(symbol, name, Path(facts.file) if facts.file else None, facts.line)


def stands_in(facts: KernelFacts | None) -> bool:
    """Is it a kernel of our headers, in place of a library's? What it is launched with tells nothing of the library."""
    return facts is not None and facts.file is not None and is_ours(facts.file)


def _notes(groups: Sequence[Group], module: ModuleFacts, facts: KernelFacts | None) -> tuple[str, ...]:
    notes = []
    traced = [launch for group in groups for launch in group.traced]
    notes += _sampling_notes(groups, traced)
    notes += _atomics_notes([site for site in module.sites if site.by and site.function == groups[0].kernel])
    limits = sorted({launch.occupancy_limit for launch in traced if launch.occupancy_limit})
    if stands_in(facts):
        notes.append("the emulator's stand-in for a library's kernel: its time and shape are not the library's")
    elif limits:
        notes.append(f"occupancy is limited by {', '.join(limits)}")
    if facts is not None and facts.static is None:
        notes.append(f"registers unknown: no compile for the real target of {Path(module.source).name}")
    return tuple(notes)


def _atomics_notes(sites: Sequence[SiteFacts]) -> list[str]:
    """Whose instructions the counts of a kernel's atomics are."""
    combined = sum(site.one_lane for site in sites)
    how = f": in {combined} of {len(sites)} one lane acts for all of its wave" if combined else ""
    return [f"atomics are issued as by {by}{how}" for by in sorted({site.by for site in sites})]


def _sampling_notes(groups: Sequence[Group], traced: Sequence[KernelLaunch]) -> list[str]:
    notes = []
    lanes, seen = sum(launch.lanes for launch in traced), sum(launch.analyzed_lanes for launch in traced)
    if seen < lanes:
        notes.append(
            f"all requests and their lanes were counted; {100 * seen / lanes:.2g} % of them were followed through "
            "the caches, and what else a request does is told from a sample, ± its error"
        )
    blocks, empty = sum(launch.blocks for launch in traced), sum(launch.empty_blocks for launch in traced)
    if 2 * empty > blocks:
        notes.append(f"{empty:,} of {blocks:,} blocks access no memory")
    untraced = sum(len(group.launches) - len(group.traced) for group in groups if group.traced)
    if untraced:
        repeated = sum(launch.repeated for group in groups if group.traced for launch in group.launches)
        told = f"; {repeated} of them had been run before on the same memory and were not run again" if repeated else ""
        notes.append(f"{untraced} further dispatches of the same shapes were timed as the traced ones{told}")
    borrowing = [group for group in groups if not group.traced]
    if borrowing and traced:
        notes.append(
            f"{sum(len(group.launches) for group in borrowing)} dispatches of {len(borrowing)} other shapes were not "
            "watched: they are taken to be like those of the nearest size, in proportion to their threads"
        )
    return notes


def application_profile(trace: Trace, exit_status: int, project: Path) -> ApplicationProfile:
    """All kernels by falling device time. Raises `ApplicationFailed` where none was launched."""
    launches = [launch for launch in trace.launches if launch.status == 0]
    faults = fault_notes(trace, Project(project))
    if not launches:
        failed = {ln.kernel: kernel_of(ln.kernel, trace.module_of(ln).kernels.get(ln.kernel)) for ln in trace.launches}
        names = ", ".join(sorted(kernel.name for kernel in failed.values()))
        why = "".join(f"; {note}" for note in faults)
        raise ApplicationFailed(
            f"every launch of {names} fails, which the application does not look at{why}"
            if failed
            else why_no_kernel(trace.directory)
        )
    device_time = sum(launch.time_ns for launch in launches) + sum(copy.time_ns for copy in trace.transfers)
    profiles = [kernel_profile(trace, groups, device_time) for groups in groups_of(launches).values()]
    made = model_lines(project)
    profiles = [_with_model_lines(profile, made) for profile in profiles]
    profiles.sort(key=lambda profile: (-profile.share, profile.kernel.symbol))
    return ApplicationProfile(
        kernels=tuple(profiles),
        device_time_ns=device_time,
        exit_status=exit_status,
        notes=(*faults, *library_note(trace.directory)),
        other_time=other_time(
            ((_described(copy.operation), copy.time_ns) for copy in trace.transfers), device_time, Provenance.MODELLED
        ),
    )


def _with_model_lines(profile: KernelProfile, made: Mapping[str, tuple[str, ...]]) -> KernelProfile:
    lines = made.get(profile.kernel.symbol)
    return profile if lines is None else replace(profile, notes=(*profile.notes, generated_note(lines)))


def _described(operation: str) -> str:
    if operation.startswith("library "):
        return f"{operation.removeprefix('library ')} (a library's kernel, its time a roofline's)"
    return TRANSFERS.get(operation, operation)
