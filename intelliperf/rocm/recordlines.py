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
from intelliperf.rocm.agreement import Agreement, Held, Kind, agreement, hold, kind_of
from intelliperf.rocm.lines import Code, in_project, source_text
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

    @property
    def kind(self) -> Kind:
        return kind_of(self.access.operation.access, _space(self.values))

    def scale(self, factor: float) -> None:
        """No error is larger than what it is of: a count is not negative."""
        for name, value in self.values.items():
            self.values[name] = value * factor
            self.errors[name] = min(self.errors[name], value) * factor

    def add(self, figures: Mapping[str, float], dispatch: RecordedDispatch, weight: float) -> None:
        scale = dispatch.groups / dispatch.recorded_groups * weight / _share_kept(dispatch)
        for name, value in figures.items():
            total, squares = _SPREAD.get(name, ("executions", "requests_sq"))
            error = sampling.relative(figures[total], figures[squares], dispatch.recorded_groups, dispatch.groups)
            self.values[name] = self.values.get(name, 0.0) + value * scale
            self.errors[name] = self.errors.get(name, 0.0) + value * scale * error


@dataclass(frozen=True)
class Recorded:
    """`evidence`: one entry per line and instruction that ran. Of `left_out` no figures are given, for the reason."""

    evidence: tuple[SourceEvidence, ...]
    left_out: Mapping[Kind, str]


def recorded_lines(
    recording: Recording, kernel: Kernel, project: Path, whole: Mapping[Metric, Quantity], code: Code | None
) -> Recorded:
    """Raises `SourceNotFound`.

    `whole` is what is known of the kernel, its counters among them, and `code` is that of the program as it is, None
    where it was not found. To both what was recorded is held.
    """
    lines, elsewhere = _collect(recording, project)
    if not lines and elsewhere:
        raise SourceNotFound(f"{kernel.name}: none of its accesses lies in a source of {project}")
    same = agreement(code, _accesses_of(kernel, recording), project) if code is not None else None
    held = _held(recording, lines, whole, elsewhere, same)
    way = "; ".join([_way(recording, kernel, code, same), *(one.remark for one in held.values() if one.remark)])
    sampled = any(one.recorded_groups < one.groups for one in recording.recorded)
    exact = all(one.complete for one in recording.recorded)
    contended = sum(line.values["same_address"] for line in lines if _queues(line))
    atomic_lanes = sum(line.values["lanes"] for line in lines if _queues(line))
    found = []
    for line in lines:
        factor = held.get(line.kind, Held()).factor
        if factor is None:
            continue
        line.scale(factor)
        differs = "" if same is None else same.different.get((line.chain[0].file, line.chain[0].line), "")
        provenance = Provenance.MEASURED if exact and not differs else Provenance.MODELLED
        quantities = _quantities(line, recording.recorded[0].wave_size, provenance, sampled)
        if _queues(line):
            quantities |= _of_atomics(line, provenance, whole, contended * factor, atomic_lanes * factor)
        found.append(_evidence(kernel, line, quantities, f"{way}; {differs}" if differs else way))
    return Recorded(tuple(found), {kind: one.remark for kind, one in held.items() if one.factor is None})


def _accesses_of(kernel: Kernel, recording: Recording) -> Iterable[tuple[MachineAccess, tuple[Frame, ...]]]:
    """Of the modules that ran; functions that several kernels call count with each."""
    ran = {one.identity for one in recording.recorded}
    for module in recording.modules:
        if module.identity in ran:
            for access in module.accesses:
                if access.site.function == plain(kernel.symbol) or access.site.function not in module.kernels:
                    yield access, _at_home(access.site.chain, recording)


def _held(
    recording: Recording,
    lines: Sequence[_Line],
    whole: Mapping[Metric, Quantity],
    elsewhere: int,
    same: Agreement | None,
) -> dict[Kind, Held]:
    """Counters are of the whole kernel: where some of its accesses have no line, lines cannot be held to them."""
    ran = {one.identity for one in recording.recorded}
    lost = any(
        module.unresolved or module.unrecorded or module.indirect_calls
        for module in recording.modules
        if module.identity in ran
    )
    if elsewhere or lost:
        return {}
    requests: dict[Kind, list[tuple[float, float]]] = {}
    for line in lines:
        requests.setdefault(line.kind, []).append((line.values["executions"], line.errors["executions"]))
    sampled = any(one.recorded_groups < one.groups or not one.complete for one in recording.recorded)
    return hold(requests, whole, sampled, same.kinds if same is not None else frozenset())


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


def _way(recording: Recording, kernel: Kernel, code: Code | None, same: Agreement | None) -> str:
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
    if recording.compiler:
        parts.append(f"built by {recording.compiler}")
    if same is not None and (recording.compiler or same.different):
        parts.append(same.describe())
    names = [item.text for item in code.items] if code is not None else None
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
