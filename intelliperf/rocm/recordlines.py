"""Every memory access of a kernel by the user's own line, from what it recorded while it ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.counting import sampling
from intelliperf.errors import SourceNotFound
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
from intelliperf.rocm.lines import in_project, source_text
from intelliperf.rocm.machinesites import MachineAccess, Module
from intelliperf.rocm.recording import RecordedDispatch, Recording
from intelliperf.rocm.symbols import plain

# By metric: the count, and the count whose spread over work-groups tells the error of a sample.
_GLOBAL = {
    Metric.REQUESTS: "global_requests",
    Metric.LANES: "global_lanes",
    Metric.BYTES: "global_bytes",
    Metric.SECTORS: "sectors",
    Metric.SECTORS_IDEAL: "sectors_ideal",
    Metric.LINES_64B: "lines64",
    Metric.LINES_128B: "lines128",
    Metric.LINES_128B_IDEAL: "lines128_ideal",
}
_LDS = {
    Metric.LDS_REQUESTS: "lds_requests",
    Metric.LDS_PHASES: "lds_phases",
    Metric.LDS_PHASES_IDEAL: "lds_phases_ideal",
}
_ATOMIC = {
    Metric.ATOMIC_REQUESTS: "executions",
    Metric.ATOMIC_LANES: "lanes",
    Metric.ATOMIC_SERIALIZATION: "same_address",
}
_LOCAL = {Metric.LOCAL_REQUESTS: "private_requests"}
_SPREAD = {
    "sectors": ("sectors", "sectors_sq"),
    "sectors_ideal": ("sectors", "sectors_sq"),
    "lds_phases": ("lds_phases", "phases_sq"),
    "lds_phases_ideal": ("lds_phases", "phases_sq"),
}
INSTRUMENTATION = "compiler instrumentation"
_ATOMICS = (AccessKind.ATOMIC, AccessKind.REDUCTION)


@dataclass
class _Line:
    """Counts per dispatch, with the half-widths of their errors."""

    access: MachineAccess
    chain: tuple[Frame, ...]
    values: dict[str, float] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)

    def add(self, figures: Mapping[str, float], dispatch: RecordedDispatch, weight: float) -> None:
        scale = dispatch.groups / dispatch.recorded_groups * weight / _share_kept(dispatch)
        for name, value in figures.items():
            total, squares = _SPREAD.get(name, ("executions", "requests_sq"))
            error = sampling.relative(figures[total], figures[squares], dispatch.recorded_groups, dispatch.groups)
            self.values[name] = self.values.get(name, 0.0) + value * scale
            self.errors[name] = self.errors.get(name, 0.0) + value * scale * error


def recorded_lines(
    recording: Recording, kernel: Kernel, project: Path, whole: Mapping[Metric, Quantity], names: Sequence[str] | None
) -> tuple[SourceEvidence, ...]:
    """One entry per line and instruction that ran. Raises `SourceNotFound`.

    `whole` is what is known of the kernel; `names` are the memory instructions of the program as it is, where these are
    known, to which those that recorded are held.
    """
    lines, elsewhere = _collect(recording, project)
    if not lines and elsewhere:
        raise SourceNotFound(f"{kernel.name}: none of its accesses lies in a source of {project}")
    way = _way(recording, kernel, names)
    sampled = any(one.recorded_groups < one.groups for one in recording.recorded)
    whole_records = all(one.complete for one in recording.recorded)
    provenance = Provenance.MEASURED if whole_records else Provenance.MODELLED
    contended = sum(line.values["same_address"] for line in lines if _queues(line))
    atomic_lanes = sum(line.values["lanes"] for line in lines if _queues(line))
    found = []
    for line in lines:
        quantities = _quantities(line, recording.recorded[0].wave_size, provenance, sampled)
        if _queues(line):
            quantities |= _of_atomics(line, provenance, whole, contended, atomic_lanes)
        found.append(_evidence(kernel, line, quantities, way))
    return tuple(found)


def _collect(recording: Recording, project: Path) -> tuple[list[_Line], int]:
    lines: dict[tuple[object, ...], _Line] = {}
    elsewhere = 0
    weights = _weights(recording.dispatches)
    for dispatch in recording.recorded:
        for access, figures in zip(recording.accesses, dispatch.figures, strict=True):
            if not figures["executions"]:
                continue
            chain = in_project(_at_home(access.site.chain, recording), project)
            if not chain:
                elsewhere += 1
                continue
            key = (chain, access.operation.name, _space(figures))
            line = lines.setdefault(key, _Line(access, chain))
            line.add(figures, dispatch, weights[dispatch.grid, dispatch.block])
    return list(lines.values()), elsewhere


def _at_home(chain: Iterable[Frame], recording: Recording) -> tuple[Frame, ...]:
    """With the files of the application, not of the copy in which it was built with records."""
    outside = recording.workspace.outside
    return tuple(Frame(outside(at.file), at.line, at.column, at.function) for at in chain if at.line)


def _weights(dispatches: Sequence[RecordedDispatch]) -> dict[tuple[object, object], float]:
    """By shape, what makes the sum over recorded dispatches a mean per dispatch of the kernel."""
    launched = Counter((one.grid, one.block) for one in dispatches)
    recorded = Counter((one.grid, one.block) for one in dispatches if one.figures and one.recorded_groups)
    represented = sum(count for shape, count in launched.items() if recorded[shape])
    return {shape: launched[shape] / recorded[shape] / represented for shape in recorded}


def _share_kept(dispatch: RecordedDispatch) -> float:
    return dispatch.kept_words / dispatch.wanted_words if dispatch.wanted_words else 1.0


def _space(figures: Mapping[str, float]) -> MemorySpace:
    touched = [
        space
        for space, name in (
            (MemorySpace.GLOBAL, "global_requests"),
            (MemorySpace.SHARED, "lds_requests"),
            (MemorySpace.LOCAL, "private_requests"),
        )
        if figures[name]
    ]
    return touched[0] if len(touched) == 1 else MemorySpace.MIXED


def _queues(line: _Line) -> bool:
    return line.access.operation.access in _ATOMICS and line.values["global_requests"] > 0


def _quantities(line: _Line, wave_size: int, provenance: Provenance, sampled: bool) -> dict[Metric, Quantity]:
    names: dict[Metric, str] = {}
    for requests, group in (("global_requests", _GLOBAL), ("lds_requests", _LDS), ("private_requests", _LOCAL)):
        if line.values[requests]:
            names |= group
    if line.access.operation.access in _ATOMICS:
        names |= _ATOMIC
    found = {
        metric: Quantity(line.values[name], provenance, line.errors[name] if sampled else None)
        for metric, name in names.items()
    }
    lanes = line.values["lanes"] / (line.values["executions"] * wave_size)
    return {**found, Metric.ACTIVE_LANE_RATIO: Quantity(lanes, provenance)}


def _of_atomics(
    line: _Line, provenance: Provenance, whole: Mapping[Metric, Quantity], contended: float, lanes: float
) -> dict[Metric, Quantity]:
    """The kernel's stall time is shared out by lanes that queue for an address."""
    found = {
        Metric.ATOMIC_ADDRESSES: Quantity(line.values["distinct_addresses"], provenance),
        Metric.ATOMIC_HOTTEST_SHARE: Quantity(min(1.0, line.values["hottest_lanes"] / lanes), provenance),
    }
    stalled = whole.get(Metric.ATOMIC_STALL_NS)
    if stalled is not None and contended:
        share = line.values["same_address"] / contended
        origin = stalled.provenance if share == 1.0 else Provenance.MODELLED
        found[Metric.DEVICE_TIME_NS] = Quantity(stalled.value * share, origin)
    return found


def _evidence(kernel: Kernel, line: _Line, quantities: Mapping[Metric, Quantity], way: str) -> SourceEvidence:
    place = line.chain[0]
    operation = line.access.operation
    return SourceEvidence(
        kernel=kernel,
        file=place.file,
        line=place.line,
        column=place.column,
        text=source_text(place.file, place.line),
        access=operation.access,
        space=_space(line.values),
        operation=operation.name,
        element_bytes=operation.width,
        chain=line.chain,
        quantities=quantities,
        found_by=way,
    )


def _way(recording: Recording, kernel: Kernel, names: Sequence[str] | None) -> str:
    """What these figures are, and what they lack."""
    recorded, launched = recording.recorded, len(recording.dispatches)
    groups, seen = sum(one.groups for one in recorded), sum(one.recorded_groups for one in recorded)
    share = "all" if groups == seen else f"{seen:,} of"
    parts = [
        f"{INSTRUMENTATION}: every access of {share} {groups:,} work-groups of {len(recorded)} of "
        f"{launched} dispatch{'es' * (launched > 1)}"
    ]
    if not all(one.complete for one in recorded):
        kept, wanted = sum(one.kept_words for one in recorded), sum(one.wanted_words for one in recorded)
        parts.append(f"the records of these had room for {100 * kept / wanted:.1f} % of their accesses, scaled up")
    holding = [one for one in recording.modules if any(one.identity == ran.identity for ran in recorded)]
    parts += [text for module in holding for text in _gaps(module, kernel, names)]
    return "; ".join(parts)


def _gaps(module: Module, kernel: Kernel, names: Sequence[str] | None) -> Iterable[str]:
    if module.unresolved:
        yield f"{len(module.unresolved)} accesses are left out, whose machine instructions are not known"
    if module.unrecorded:
        yield f"not recorded: {', '.join(sorted(set(module.unrecorded)))}"
    lost = sum(1 for access in module.accesses if not any(at.line for at in access.site.chain))
    if lost:
        yield f"{lost} machine instructions have no line"
    if module.indirect_calls:
        yield f"{module.indirect_calls} calls through pointers were not followed"
    if names is None:
        yield "the program's own machine code was not found, to which that of the records could be held"
        return
    own = Counter(module.order.get(plain(kernel.symbol), ()))
    different = (own - Counter(names)).total() + (Counter(names) - own).total()
    if different:
        yield f"{different} memory instructions of the program as it is are others than those that recorded"
