"""From access sites to the user's own lines, see `sourcelines`."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from intelliperf.emulator.codelines import code_lines, kernel_line, local_lines
from intelliperf.emulator.collect import kernel_of
from intelliperf.emulator.ir.doubts import HOISTED, NEIGHBOURS, ORDER, TURNS, WIDE
from intelliperf.emulator.modulefacts import ModuleFacts, SiteFacts
from intelliperf.emulator.sourcelines import (
    Elsewhere,
    Project,
    absent_file_of,
    file_of,
    on_disk,
    source_text,
    users_chain,
)
from intelliperf.emulator.totals import (
    ATOMIC_KINDS,
    Estimate,
    Group,
    Totals,
    groups_of,
    launch_weights,
    mean_per_dispatch,
    records_of,
    site_totals,
)
from intelliperf.emulator.tracefiles import KernelLaunch, Trace
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
from intelliperf.sentences import percent

_KINDS: Mapping[str, AccessKind] = {
    "load": AccessKind.LOAD,
    "range_load": AccessKind.LOAD,
    "store": AccessKind.STORE,
    "range_store": AccessKind.STORE,
    "atomic": AccessKind.ATOMIC,
    "reduction": AccessKind.REDUCTION,
    "barrier": AccessKind.BARRIER,
    "collective": AccessKind.COLLECTIVE,
}

_SPINS = "spins"
_DOUBTS: Mapping[str, str] = {
    _SPINS: "estimate, at least so much: a compare-and-swap loop, retried as often as other threads come first",
    ORDER: "estimate: it depends on which thread comes first",
    TURNS: "estimate: lanes leave the loop at different turns, and where they meet depends on how it is unrolled",
    HOISTED: "estimate, at most so much: it may be loaded once before the loop",
    WIDE: "estimate: lanes are missing from an access of more than a word to the LDS",
    NEIGHBOURS: "estimate, at most so much: an unrolled loop may access neighbours in the LDS together",
}
_NAMED_FILES = 3  # in one message
_NEARLY = 0.95  # of what is scaled up from the blocks that were watched
_AS_LONG = 0.5  # of the longest queue: without that one, this would be most of the time

_Chosen = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True)
class LineKey:
    """What makes two sites one line of evidence."""

    file: Path
    line: int
    column: int
    access: AccessKind
    space: MemorySpace
    operation: str
    element_bytes: int


@dataclass
class _Line:
    chain: tuple[Frame, ...]
    by_launch: dict[int, Totals] = field(default_factory=dict)
    atomic_lanes: dict[int, float] = field(default_factory=dict)  # by launch: of all its lines
    hottest_lanes: dict[int, float] = field(default_factory=dict)
    time: Estimate = field(default_factory=Estimate)
    others: dict[tuple[str, int], None] = field(default_factory=dict)  # files and lines merged into this access
    merged: bool = False
    doubts: set[str] = field(default_factory=set)

    def note_doubts(self, site: SiteFacts, shared: bool) -> None:
        self.doubts.update(site.doubts)
        if site.spins and shared:
            self.doubts.add(_SPINS)

    def unsure(self, totals: Totals) -> str:
        """In words, why hardware's counts may be others. Lanes that are together at every access never part."""
        doubts = self.doubts - ({TURNS, WIDE} if totals.lanes >= totals.lanes_possible else set())
        return "; ".join(words for doubt, words in _DOUBTS.items() if doubt in doubts)

    def note_others(self, site: SiteFacts, source: Path, project: Project) -> None:
        """Remember the other lines that the site's access was merged from."""
        self.merged |= site.also is not None
        for locations in site.also or ():
            chain = users_chain(locations, source, project)
            if chain and (chain[0].file, chain[0].line) != (self.chain[0].file, self.chain[0].line):
                self.others[chain[0].file.name, chain[0].line] = None

    def shared_with(self) -> str:
        """In words, the other lines of the access; empty where it is of one line only."""
        if not self.merged:
            return ""
        here = self.chain[0].file.name
        named = [str(line) if file == here else f"{file}:{line}" for file, line in self.others]
        if not named:
            return "merged with another access of the same kind"
        return f"one access with line{'s' * (len(named) > 1)} {', '.join(named)}"


def space_of(record: np.void, site: SiteFacts) -> MemorySpace:
    if site.constant:
        return MemorySpace.CONSTANT
    if not record["shared_requests"]:
        return MemorySpace.GLOBAL
    return MemorySpace.MIXED if record["global_requests"] else MemorySpace.SHARED


def kernel_lines(trace: Trace, symbol: str, directory: Path) -> tuple[SourceEvidence, ...]:
    """Every access of the kernel by the user's line, by falling modelled cost; then what has no time of its own.

    A kernel without any line in the project, as a library of headers has, gets the lines of the files that it is in.
    Counts are per dispatch; `TIME_SHARE` is of the kernel's time. Raises `SourceNotFound` where the
    kernel was not traced or no site of it leads to a file that somebody wrote.
    """
    groups = groups_of(launch for launch in trace.launches if launch.status == 0).get(symbol, ())
    traced = [launch for group in groups for launch in group.traced]
    if not traced:
        raise SourceNotFound(f"{symbol}: no dispatch of this kernel was traced")
    project = Project(directory)
    merged = _merge(trace, groups, traced, project)
    if not merged.lines and merged.orphans:
        project = Elsewhere(directory)
        merged = _merge(trace, groups, traced, project)
    facts = trace.module_of(traced[0]).kernels.get(symbol)
    kernel = kernel_of(symbol, facts)
    if not merged.lines and merged.orphans:
        raise SourceNotFound(f"{kernel.name}: {_where(tuple(merged.orphans.values()))}")
    represented = [launch for group in groups if group.traced for launch in group.launches]
    time_ns = sum(launch.time_ns for launch in represented) / len(represented)
    evidence = [
        _evidence(kernel, place, line, mean_per_dispatch(groups, line.by_launch), project, time_ns)
        for place, line in merged.lines.items()
    ]
    evidence += code_lines(trace, groups, kernel, project)
    evidence += local_lines(trace, groups, kernel, project)
    evidence += kernel_line(trace, groups, kernel, project)
    return tuple(sorted(evidence, key=_order))


def _where(orphans: Collection[Path | None]) -> str:
    """Where accesses are made, if in no file that could be shown. None: nobody knows."""
    files = sorted({file for file in orphans if file is not None})
    if not files:
        return f"the compiler's optimiser kept no source line of its {len(orphans)} access sites"
    absent = [file for file in files if not file.is_file()]
    if absent:
        return f"it is in {_named(absent)}, which is not on this disk: built elsewhere, or made by exec"
    return f"the program compiles its text as it runs, and it is in no file of the project: {_named(files)} is a copy"


def outside_note(found: Sequence[SourceEvidence], directory: Path) -> str:
    """In words, that a kernel's lines are in files outside the project; empty where one is in it."""
    project = Project(directory)
    files = sorted({line.file.resolve() for line in found})
    if not files or any(on_disk(project, line.file) is not None for line in found):
        return ""
    common = os.path.commonpath([directory, *(file.parent for file in files)])
    remedy = f"; --project-directory {common} would hold both" if common != os.sep else ""
    return f"its lines are in {_named(files)}, outside the project {directory}{remedy}"


def _named(files: Sequence[Path]) -> str:
    return ", ".join(str(file) for file in files[:_NAMED_FILES]) + (", …" if len(files) > _NAMED_FILES else "")


@dataclass
class _Merged:
    """A kernel's accesses by line, and its sites without one: in which file they are."""

    lines: dict[LineKey, _Line] = field(default_factory=dict)
    orphans: dict[tuple[int, int], Path | None] = field(default_factory=dict)
    requests: float = 0.0
    unplaced: float = 0.0  # of the requests those of sites that nobody can place in any file


def _merge(trace: Trace, groups: Sequence[Group], traced: Sequence[KernelLaunch], project: Project) -> _Merged:
    weights = launch_weights(groups)
    merged = _Merged()
    lines = merged.lines
    for launch in traced:
        module = trace.module_of(launch)
        costs = SiteCosts(trace, launch, module)
        for record in records_of(trace, launch):
            number = int(record["site"])
            site = module.sites[number]
            if site.kind not in _KINDS:
                continue
            chain = users_chain(site.locations, Path(module.source), project)
            weight = weights[launch.index]
            requests = float(record["requests"]) * weight
            merged.requests += requests
            if not chain:
                source = Path(module.source)
                file = file_of(site.locations, source) or absent_file_of(site.locations, source)
                merged.orphans[launch.module, number] = file
                merged.unplaced += requests if file is None else 0.0
                continue
            line = lines.setdefault(_place(site, record, chain), _Line(chain))
            line.note_others(site, Path(module.source), project)
            line.note_doubts(site, bool(record["shared_requests"]))
            own = line.by_launch.setdefault(launch.index, Totals())
            own.absorb(site_totals(record, site, module.wave_size, by_line=True), 1.0)
            line.time.add(costs.of(record, site), weight=weight)
            if site.kind in ATOMIC_KINDS and record["global_requests"]:
                line.atomic_lanes[launch.index] = launch.atomic_lanes * weight
                if lanes := launch.atomic_hottest_by_site.get(number, 0.0):
                    most = line.hottest_lanes.get(launch.index, 0.0)
                    line.hottest_lanes[launch.index] = max(most, lanes * weight)
    return merged


def unplaced_note(trace: Trace, symbol: str, directory: Path) -> str:
    """The share of a kernel's wave-level accesses that no line can be given; empty if there is none."""
    groups = groups_of(launch for launch in trace.launches if launch.status == 0).get(symbol, ())
    traced = [launch for group in groups for launch in group.traced]
    merged = _merge(trace, groups, traced, Project(directory))
    if not merged.unplaced:
        return ""
    share = percent(merged.unplaced / merged.requests)
    return f"{share} of its accesses are in no line's figures: the compiler's optimiser kept no source line of theirs"


def _place(site: SiteFacts, record: np.void, chain: Sequence[Frame]) -> LineKey:
    frame = chain[0]
    return LineKey(
        frame.file, frame.line, frame.column, _KINDS[site.kind], space_of(record, site), site.operation, site.bytes
    )


class SiteCosts:
    """The launch's modelled time shared out over its sites, part by part.

    Each part of the time goes to the sites in proportion to what it is made of: LDS phases, sectors,
    lanes on one address. Parts overlap, so what is shared out is scaled to the launch's time less its
    launch overhead. For ordering lines; the split of latency and issue by requests is rough.
    """

    def __init__(self, trace: Trace, launch: KernelLaunch, module: ModuleFacts) -> None:
        records = records_of(trace, launch)
        atomics = np.array([module.sites[int(site)].kind in ATOMIC_KINDS for site in records["site"]], dtype=bool)
        barriers = np.array([module.sites[int(site)].kind == "barrier" for site in records["site"]], dtype=bool)
        constant = np.array([module.sites[int(site)].constant for site in records["site"]], dtype=bool)
        queued = _queued(launch, module, records, atomics & (records["global_requests"] > 0))
        parts = launch.time_parts
        busy = max(0.0, launch.time_ns - parts.get("launch", 0.0))
        shared_out = sum(value for name, value in parts.items() if name != "launch")
        factor = busy / shared_out if shared_out > 0 else 0.0
        memory = parts.get("l1", 0.0) + parts.get("l2", 0.0) + parts.get("dram", 0.0)
        self._per_phase = _rate(parts.get("lds", 0.0) * factor, records["lds_phases"])
        apart = constant & (records["distinct_addresses"] > records["requests"])
        self._per_address = _rate(parts.get("constant", 0.0) * factor, records["distinct_addresses"][apart])
        self._per_sector = _rate(memory * factor, records["sectors"])
        self._per_lane = _rate(parts.get("atomic", 0.0) * factor, records["same_address"][queued])
        self._waits = {int(site) for site in records["site"][queued]}
        waiting = parts.get("latency", 0.0) + parts.get("issue", 0.0)
        self._per_request = _rate(waiting * factor, records["requests"][~barriers & (apart | ~constant)])

    def of(self, record: np.void, site: SiteFacts) -> float:
        """Nanoseconds of the launch."""
        if site.kind == "barrier":
            return 0.0  # what it waits for is the cost of other lines
        if site.constant and record["distinct_addresses"] <= record["requests"]:
            return 0.0  # an operand of another instruction
        if site.constant:
            return (
                float(record["distinct_addresses"]) * self._per_address + float(record["requests"]) * self._per_request
            )
        cost = (
            float(record["lds_phases"]) * self._per_phase
            + float(record["sectors"]) * self._per_sector
            + float(record["requests"]) * self._per_request
        )
        if int(record["site"]) in self._waits:
            cost += float(record["same_address"]) * self._per_lane
        return cost


def _queued(
    launch: KernelLaunch, module: ModuleFacts, records: np.ndarray[tuple[int, ...], np.dtype[np.void]], atomics: _Chosen
) -> _Chosen:
    """Atomics that the queue consists of: all, or those of the lines whose own hottest addresses keep memory that long.

    Queues of several addresses run beside each other: without the longest, the next one is as good as the time.
    """
    hottest = launch.atomic_hottest_site
    queues = float(module.device["atomic_queues"])  # an address with more than the share of one outlasts the others
    if hottest is None or launch.atomic_hottest_lanes * queues < launch.atomic_lanes:
        return atomics
    own = launch.atomic_hottest_by_site
    long = {site for site, lanes in own.items() if lanes >= _AS_LONG * launch.atomic_hottest_lanes}
    of_lines = np.zeros(len(records), dtype=bool)
    for site in long | {hottest}:
        there = module.sites[site].locations
        of_line = atomics & np.array([module.sites[int(n)].locations == there for n in records["site"]], dtype=bool)
        if float(records["same_address"][of_line].sum()) < _NEARLY * own.get(site, 0.0):
            return atomics  # several lines make that queue
        of_lines |= of_line
    return of_lines


def _rate(nanoseconds: float, counts: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> float:
    total = float(counts.sum())
    return nanoseconds / total if total > 0 else 0.0


def _evidence(
    kernel: Kernel, place: LineKey, line: _Line, totals: Totals, project: Project, time_ns: float
) -> SourceEvidence:
    quantities = {metric: quantity for metric, quantity in totals.quantities().items() if _applies(metric, place)}
    if place.access in (AccessKind.BARRIER, AccessKind.COLLECTIVE):
        quantities = {Metric.REQUESTS: Quantity(totals.requests, Provenance.MEASURED)}
    if place.access in (AccessKind.ATOMIC, AccessKind.REDUCTION) and any(line.atomic_lanes.values()):
        share = min(1.0, sum(line.hottest_lanes.values()) / sum(line.atomic_lanes.values()))
        quantities[Metric.ATOMIC_HOTTEST_SHARE] = Quantity(share, Provenance.MEASURED)
    quantities[Metric.DEVICE_TIME_NS] = Quantity(line.time.value, Provenance.MODELLED)
    if time_ns > 0:
        quantities[Metric.TIME_SHARE] = Quantity(min(1.0, line.time.value / time_ns), Provenance.MODELLED)
    return SourceEvidence(
        kernel=kernel,
        file=place.file,
        line=place.line,
        column=place.column,
        text=source_text(on_disk(project, place.file) or place.file, place.line),
        access=place.access,
        space=place.space,
        operation=place.operation,
        element_bytes=place.element_bytes,
        chain=line.chain,
        quantities=quantities,
        shared_with=line.shared_with(),
        unsure=line.unsure(totals) if place.access not in (AccessKind.BARRIER, AccessKind.COLLECTIVE) else "",
    )


_OF_CONSTANTS = (Metric.CONSTANT_REQUESTS, Metric.CONSTANT_ADDRESSES)
_OF_ATOMICS = (Metric.ATOMIC_REQUESTS, Metric.ATOMIC_LANES, Metric.ATOMIC_SERIALIZATION)


def _applies(metric: Metric, place: LineKey) -> bool:
    """Without this an LDS access would show 0 sectors as if it had been looked at."""
    shared_only = {Metric.LDS_REQUESTS, Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL}
    if metric is Metric.ACTIVE_LANE_RATIO:
        return True
    if metric in _OF_CONSTANTS or place.space is MemorySpace.CONSTANT:
        return metric in _OF_CONSTANTS and place.space is MemorySpace.CONSTANT
    if metric in _OF_ATOMICS:
        return place.access in (AccessKind.ATOMIC, AccessKind.REDUCTION)
    if metric in shared_only:
        return place.space is not MemorySpace.GLOBAL
    return place.space is not MemorySpace.SHARED


def _order(evidence: SourceEvidence) -> tuple[float, str, int, int]:
    time = evidence.quantities.get(Metric.DEVICE_TIME_NS)
    return -time.value if time is not None else 0.0, str(evidence.file), evidence.line, evidence.column
