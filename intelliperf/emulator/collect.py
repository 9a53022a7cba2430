"""From record files to `KernelProfile`s: counts of whole launches, averaged over dispatches.

Counts come from instructions that ran (see `totals`), hence MEASURED, with an error where they were sampled: where not
all requests were looked at, or not all launches that differ. What a cache model says is MODELLED, and so are times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from intelliperf.dropins.toolchain import include_directory, is_ours, standins_directory
from intelliperf.emulator.generated import generated_note, model_lines
from intelliperf.emulator.launchless import library_note, tuning_note, why_no_kernel
from intelliperf.emulator.modulefacts import KernelFacts, ModuleFacts, SiteFacts
from intelliperf.emulator.safety import fault_notes, tolerance_note
from intelliperf.emulator.sourcelines import Project
from intelliperf.emulator.totals import Group, groups_of, kernel_totals, launch_weights, records_of
from intelliperf.emulator.tracefiles import KernelLaunch, Records, Trace
from intelliperf.errors import ApplicationFailed
from intelliperf.profiling.ranking import TRANSFERS, other_time
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import Kernel, KernelProfile, Metric, Provenance, Quantity
from intelliperf.sentences import counted

TIME_PARTS: Mapping[str, Metric] = {
    "launch": Metric.LAUNCH_TIME_NS,
    "dispatch": Metric.DISPATCH_TIME_NS,
    "issue": Metric.ISSUE_TIME_NS,
    "lds": Metric.LDS_TIME_NS,
    "constant": Metric.CONSTANT_TIME_NS,
    "l1": Metric.L1_TIME_NS,
    "l2": Metric.L2_TIME_NS,
    "dram": Metric.DRAM_TIME_NS,
    "atomic": Metric.ATOMIC_TIME_NS,
    "latency": Metric.LATENCY_TIME_NS,
}
_FLOAT_ATOMICS = ("atomicrmw fadd", "atomicrmw fsub", "cmpxchg")


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


def chained_loads(trace: Trace, groups: Sequence[Group]) -> dict[Metric, Quantity]:
    """Nothing where there are no loads."""
    weights = launch_weights(groups)
    chained = loads = 0.0
    for launch in (launch for group in groups for launch in group.traced):
        module = trace.module_of(launch)
        for record in records_of(trace, launch):
            site = module.sites[int(record["site"])]
            requests = float(record["requests"]) * weights[launch.index] * (site.kind == "load")
            loads += requests
            chained += requests * site.chained
    return {Metric.CHAINED_LOAD_RATIO: Quantity(chained / loads, Provenance.MODELLED)} if loads > 0 else {}


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
        (Metric.LDS_SPIN_TIME_NS, [launch.spin_ns for launch in launches]),
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
    facts = module.kernels.get(launch.kernel)
    own = min(1.0, facts.elements / threads) if facts is not None and facts.elements else 1.0
    return {
        Metric.OCCUPANCY_RATIO: ratio,
        Metric.OCCUPANCY_LIMIT_RATIO: ratio,
        **{metric: launch.waves_by[name] for name, metric in _WAVES_BY.items()},
        Metric.LANE_FILL_RATIO: launch.lane_fill(module.wave_size) * own,
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
        quantities.update(chained_loads(trace, groups))
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
        notes.append(f"occupancy limited by {', '.join(limits)}")
    if facts is not None and facts.static is None:
        notes.append(f"registers unknown: no compile for the real target of {Path(module.source).name}")
    return tuple(notes)


def _atomics_notes(sites: Sequence[SiteFacts]) -> list[str]:
    """Whose instructions the counts of a kernel's atomics are."""
    combined = sum(site.one_lane for site in sites)
    how = f": {combined} of {len(sites)} aggregated to one lane per wave" if combined else ""
    return [f"atomics modelled as compiled by {by}{how}" for by in sorted({site.by for site in sites})]


def _sampling_notes(groups: Sequence[Group], traced: Sequence[KernelLaunch]) -> list[str]:
    notes = []
    lanes, seen = sum(launch.lanes for launch in traced), sum(launch.analyzed_lanes for launch in traced)
    if seen < lanes:
        notes.append(
            f"all requests and lanes counted; {100 * seen / lanes:.2g} % of them traced "
            "through the caches; other per-request figures are sampled, ± their error"
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


def application_profile(
    trace: Trace, exit_status: int, project: Path, tolerates: bool = False, said: str = ""
) -> ApplicationProfile:
    """All kernels by falling device time. Raises `ApplicationFailed` where none was launched, with what it `said`."""
    launches = [launch for launch in trace.launches if launch.status == 0]
    faults = (*fault_notes(trace, Project(project)), *tolerance_note(trace, tolerates))
    if not launches:
        failed = {ln.kernel: kernel_of(ln.kernel, trace.module_of(ln).kernels.get(ln.kernel)) for ln in trace.launches}
        names = ", ".join(sorted(kernel.name for kernel in failed.values()))
        why = "".join(f"; {note}" for note in faults)
        raise ApplicationFailed(
            f"every launch of {names} fails, which the application does not look at{why}"
            if failed
            else why_no_kernel(trace.directory, trace.transfers) + said
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
        notes=(
            *stopped_note(trace),
            *seed_note(trace),
            *faults,
            *library_note(trace.directory),
            *tuning_note(trace.directory),
        ),
        other_time=other_time(
            ((_described(copy.operation), copy.time_ns) for copy in trace.transfers), device_time, Provenance.MODELLED
        ),
    )


def stopped_note(trace: Trace) -> tuple[str, ...]:
    """What was not seen of a program that was ended early."""
    if trace.stopped_after is None:
        return ()
    told = counted(trace.stopped_after, "launch", "es")
    return (f"the program was ended after {told}, as --stop-after-launches asks: shares and times are of these alone",)


def seed_note(trace: Trace) -> tuple[str, ...]:
    """Of a program whose input may be another one in each run."""
    if not trace.asked:
        return ()
    return (
        f"the program asks for {' and '.join(trace.asked)} before it launches kernels: where its input comes from "
        "that, the counts are those of this run, and runs outside IntelliPerf have others",
    )


def _with_model_lines(profile: KernelProfile, made: Mapping[str, tuple[str, ...]]) -> KernelProfile:
    lines = made.get(profile.kernel.symbol)
    return profile if lines is None else replace(profile, notes=(*profile.notes, generated_note(lines)))


def _described(operation: str) -> str:
    if operation.startswith("library "):
        return f"{operation.removeprefix('library ')} (a library's kernel, its time a roofline's)"
    return TRANSFERS.get(operation, operation)
