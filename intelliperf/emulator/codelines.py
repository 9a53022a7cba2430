"""What a kernel's lines do besides shared accesses: how full the waves run them, and private memory they need.

A line's own instructions are those of the basic blocks that are mostly of that line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.emulator.collect import (
    block_records_of,
    instruction_quantities,
    occupancy_quantities,
    static_quantities,
)
from intelliperf.emulator.modulefacts import LocalFacts, Location
from intelliperf.emulator.sourcelines import Project, on_disk, source_text, users_chain
from intelliperf.emulator.totals import Group, launch_weights
from intelliperf.emulator.tracefiles import KernelLaunch, Trace
from intelliperf.records import (
    AccessKind,
    Frame,
    Kernel,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)

SHOWN_LOSS = 0.02  # of all lane slots that the kernel's instructions take: a line that loses less is left out


@dataclass
class _Code:
    chain: tuple[Frame, ...]
    waves: float = 0.0  # instructions of waves
    lanes: float = 0.0
    lost: float = 0.0  # lanes that a wave has but that did not take part


def code_lines(trace: Trace, groups: Sequence[Group], kernel: Kernel, project: Project) -> list[SourceEvidence]:
    """Lines whose instructions many lanes of their waves sit out."""
    lines: dict[tuple[Path, int], _Code] = {}
    slots = 0.0
    for launch, weight in _traced(groups):
        module = trace.module_of(launch)
        full = launch.lane_fill(module.wave_size) * module.wave_size
        for record in block_records_of(trace, launch):
            block = module.blocks[int(record["block"])]
            waves = block.operations * float(record["waves"]) * weight
            lanes = block.operations * float(record["executions"]) * weight
            slots += waves * module.wave_size
            chain = users_chain(block.locations, Path(module.source), project)
            if not chain:
                continue
            line = lines.setdefault((chain[0].file, chain[0].line), _Code(chain))
            line.waves += waves
            line.lanes += lanes
            line.lost += max(0.0, waves * full - lanes)
    return [
        _evidence(
            (kernel, line.chain, AccessKind.CODE, MemorySpace.NONE, "instructions"), project, _code_quantities(line)
        )
        for line in lines.values()
        if line.lost > SHOWN_LOSS * slots
    ]


def _code_quantities(line: _Code) -> dict[Metric, float]:
    return {
        Metric.INSTRUCTIONS: line.waves,
        Metric.LANE_INSTRUCTIONS: line.lanes,
        Metric.LANES_LOST: line.lost,
        Metric.ACTIVE_LANE_RATIO: line.lanes / (line.lanes + line.lost),
    }


def local_lines(trace: Trace, groups: Sequence[Group], kernel: Kernel, project: Project) -> list[SourceEvidence]:
    """Lines at which the real target's code keeps registers or arrays in memory."""
    found: dict[tuple[tuple[Frame, ...], AccessKind, str], tuple[float, int]] = {}
    for launch, weight in _traced(groups):
        module = trace.module_of(launch)
        facts = module.kernels.get(launch.kernel)
        if facts is None or facts.static is None:
            continue
        waves = {int(row["block"]): float(row["waves"]) for row in block_records_of(trace, launch)}
        for local in facts.static.local or ():
            locations = tuple(Location(file, line, column, facts.name) for file, line, column in local.place)
            chain = users_chain(locations, Path(module.source), project)
            if not chain:
                continue
            times = sum(waves.get(block, 0.0) for block in local.blocks) / len(local.blocks) * weight
            for access, number, size in _parts(local):
                key = (chain, access, "spilled register" if local.spills else "array in scratch memory")
                before, width = found.get(key, (0.0, 0))
                found[key] = (before + times * number, max(width, size // number))
    return [
        _evidence(
            (kernel, chain, access, MemorySpace.LOCAL, operation), project, {Metric.LOCAL_REQUESTS: requests}, width
        )
        for (chain, access, operation), (requests, width) in found.items()
        if requests > 0
    ]


def _parts(local: LocalFacts) -> Iterator[tuple[AccessKind, int, int]]:
    if local.loads:
        yield AccessKind.LOAD, local.loads, local.load_bytes
    if local.stores:
        yield AccessKind.STORE, local.stores, local.store_bytes


def kernel_line(trace: Trace, groups: Sequence[Group], kernel: Kernel, project: Project) -> list[SourceEvidence]:
    """The line that defines the kernel, if it is in the project."""
    traced = [launch for group in groups for launch in group.traced]
    module = trace.module_of(traced[0])
    if kernel.file is None or kernel.line is None:
        return []
    location = Location(str(kernel.file), kernel.line, 0, kernel.name)
    chain = users_chain((location,), Path(module.source), project)
    if not chain:
        return []
    quantities = {
        **occupancy_quantities(groups, module),
        **instruction_quantities(trace, groups),
        **static_quantities(module.kernels.get(kernel.symbol)),
    }
    values = {metric: quantity.value for metric, quantity in quantities.items()}
    return [_evidence((kernel, chain, AccessKind.KERNEL, MemorySpace.NONE, "kernel"), project, values)]


def _traced(groups: Sequence[Group]) -> Iterator[tuple[KernelLaunch, float]]:
    """Traced launches with the factor that makes their sums a mean per dispatch."""
    weights = launch_weights(groups)
    for launch in (launch for group in groups for launch in group.traced):
        yield launch, weights[launch.index]


def _evidence(
    what: tuple[Kernel, tuple[Frame, ...], AccessKind, MemorySpace, str],
    project: Project,
    values: dict[Metric, float],
    element_bytes: int = 0,
) -> SourceEvidence:
    kernel, chain, access, space, operation = what
    frame = chain[0]
    return SourceEvidence(
        kernel=kernel,
        file=frame.file,
        line=frame.line,
        column=frame.column,
        text=source_text(on_disk(project, frame.file) or frame.file, frame.line),
        access=access,
        space=space,
        operation=operation,
        element_bytes=element_bytes,
        chain=chain,
        quantities={metric: Quantity(value, Provenance.MODELLED) for metric, value in values.items()},
    )
