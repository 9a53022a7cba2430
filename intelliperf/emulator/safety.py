"""Which misbehaviour a candidate brings in, by comparing the faults of two traced runs.

Faults are known by kind, kernel and the text of the source line, not by site or line number, which
move with every edit; a line that misbehaves in more places than before counts as new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from intelliperf.devices import models
from intelliperf.emulator.modulefacts import Location
from intelliperf.emulator.sourcelines import Project, chain_outside, source_text, users_chain
from intelliperf.emulator.tracefiles import Fault, Trace
from intelliperf.records import Check, CheckStatus
from intelliperf.sentences import counted

RACES = "races"
BOUNDS = "out of bounds"
UNINITIALISED = "uninitialised reads"
SYNCHRONISATION = "synchronisation"
_ALL = "all"  # how the coverage begins where nothing was left out

CHECKS: Mapping[str, tuple[str, ...]] = {
    RACES: ("race", "unacquired"),
    BOUNDS: ("out_of_bounds", "use_after_free", "invalid_free", "misaligned"),
    UNINITIALISED: ("uninitialized",),
    SYNCHRONISATION: ("deadlock", "divergent_barrier", "divergent_shuffle", "outside_mask", "trap", "assert"),
}
_TOLD = {SYNCHRONISATION: "barrier_after_end"}  # undefined by the languages, right on today's GPUs
_CAUSES = {
    "no_release_fence": "race (no release fence before the announcement)",
    "narrow_release_fence": "race (the release fence is of the block's scope)",
    "no_acquire_fence": "race (no acquire fence after the wait)",
    "narrow_atomic": "race (the atomic operation's scope is too narrow)",
    "lost_update": "race (an update that is not atomic)",
    "read_only_load": "race (a read-only load of what the launch writes)",
    "unordered_streams": "race (with a kernel of another stream that nothing orders)",
}
_SHOWN = 3
_ILLEGAL_ADDRESS = 700  # hipErrorIllegalAddress and CUDA's
_DECIDES = re.compile(r"cmpxchg|atomicrmw (?:u?max|u?min|fmax|fmin|or|and)")  # done again they change nothing
_ORDERING = frozenset({"barrier", "collective", "atomic", "reduction", "fence"})  # kinds of sites
_NEAR_LINES = 4
_LAMBDA_POSITION = re.compile(r":\d+:\d+\)")  # of a lambda in a kernel's name: an edit above moves it
_ARGUMENTS = re.compile(r"<[^<>]*>")


@dataclass(frozen=True)
class FaultLine:
    """A fault's line; without one it is known by kind and kernel alone."""

    name: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.name}:{self.line} ({self.text})" if self.line else "an unknown line"


@dataclass(frozen=True)
class LocatedFault:
    kind: str
    kernel: str  # display name
    scope: str | None
    place: FaultLine
    other: FaultLine | None
    count: int
    cause: str | None = None  # what it lacks, see `Fault`
    look: bool = False  # see `is_look`
    stale: str = ""  # see `stale_read`
    unordered: bool = False  # nothing in its kernel puts one thread's accesses before another's
    why: str | None = None  # of a trap, where the code tells
    memory_bytes: int | None = None  # of the allocation, where it is known

    @property
    def identity(self) -> tuple[str, str, str | None, str]:
        return self.kind, _LAMBDA_POSITION.sub(")", self.kernel), self.scope, self.place.text

    @property
    def ends(self) -> frozenset[tuple[str, int | None]]:
        """The text of both lines, as far as they are known, and how large the memory is: a text may mean another."""
        return frozenset((one.text, self.memory_bytes) for one in (self.place, self.other) if one and one.line)

    def __str__(self) -> str:
        words = _CAUSES.get(self.cause or "", self.kind.replace("_", "-")) + (f" ({self.why})" if self.why else "")
        scope = f" within a {self.scope}" if self.scope else ""
        place, against = self.place, self.other
        if against and not place.line:
            place, against = against, None
        other = f" against {against}" if against and against != place else ""
        return f"{words}{scope} at {place}{other} in {self.kernel}, {counted(self.count, 'time')}"


def located(trace: Trace, project: Project) -> tuple[LocatedFault, ...]:
    """The faults of a run with the user's lines."""
    return tuple(_locate(trace, fault, project) for fault in trace.faults)


def _locate(trace: Trace, fault: Fault, project: Project) -> LocatedFault:
    facts = trace.kernel_of(fault)
    return LocatedFault(
        kind=fault.kind,
        kernel=facts.name if facts else fault.kernel or "the host part",
        scope=fault.scope,
        place=_place(trace, fault.module, fault.site, project)
        or _shown(trace, fault.module, trace.stopped_at(fault), project)
        or FaultLine("", 0, ""),
        other=_place(trace, fault.module, fault.other_site, project),
        count=fault.count,
        cause=fault.cause,
        look=is_look(trace, fault, project),
        stale=stale_read(trace, fault),
        unordered=_unordered(trace, fault),
        why=fault.detail if fault.kind == "trap" else None,
        memory_bytes=fault.allocation_bytes,
    )


def is_look(trace: Trace, fault: Fault, project: Project) -> bool:
    """A plain read of a number in global memory, just before an atomic operation that decides on the same.

    `if (*most < mine) atomicMax(most, mine);` is right whatever it reads: an old number costs no more than the
    operation. Not so with one that adds up, or in LDS, where the race is that of a missing barrier; but for a
    comparison that is repeated until nobody interfered.
    """
    facts = trace.modules.get(fault.module) if fault.module is not None else None
    if facts is None or fault.kind != "race":
        return False
    looks, decisions = [], []
    for number in (fault.site, fault.other_site):
        place = _place(trace, fault.module, number, project)
        if number is None or place is None:
            return False
        site = facts.sites[number]
        if site.kind == "load" and site.bytes in (1, 2, 4, 8):
            looks.append(place)
        if _DECIDES.fullmatch(site.operation) and (fault.space == "global" or site.operation == "cmpxchg"):
            decisions.append(place)
    if len(looks) != 1 or len(decisions) != 1:
        return False
    return looks[0].name == decisions[0].name and 0 <= decisions[0].line - looks[0].line <= _NEAR_LINES


def stale_read(trace: Trace, fault: Fault) -> str:
    """What a plain read of global memory may miss: an atomic "decision", or a "store"; empty: neither.

    Forests of labels are searched in this way while others join them, whoever writes them.
    """
    facts = trace.modules.get(fault.module) if fault.module is not None else None
    if facts is None or fault.kind != "race" or fault.space != "global" or fault.cause is not None:
        return ""
    if fault.site is None or fault.other_site is None:
        return ""
    first, second = facts.sites[fault.site], facts.sites[fault.other_site]
    missed = second if first.kind == "load" else first
    if (first.kind == "load") == (second.kind == "load"):
        return ""
    return "decision" if _DECIDES.fullmatch(missed.operation) else "store" if missed.kind == "store" else ""


def _unordered(trace: Trace, fault: Fault) -> bool:
    facts = trace.modules.get(fault.module) if fault.module is not None else None
    if facts is None:
        return False
    mine = (one for one in facts.sites if one.function == fault.kernel or one.function not in facts.kernels)
    return not any(one.kind in _ORDERING for one in mine)


def _place(trace: Trace, module: int | None, site: int | None, project: Project) -> FaultLine | None:
    facts = trace.modules.get(module) if module is not None else None
    if facts is None or site is None or site >= len(facts.sites):
        return None
    return _shown(trace, module, facts.sites[site].locations, project)


def _shown(trace: Trace, module: int | None, locations: Sequence[Location], project: Project) -> FaultLine | None:
    facts = trace.modules.get(module) if module is not None else None
    if facts is None:
        return None
    chain = users_chain(locations, Path(facts.source), project)
    if not chain:
        chain = chain_outside(locations, Path(facts.source))
    if chain:
        on_disk = project.on_disk(chain[0].file) or chain[0].file
        return FaultLine(chain[0].file.name, chain[0].line, source_text(on_disk, chain[0].line))
    if not locations:
        return None
    return FaultLine(Path(locations[0].file).name, locations[0].line, locations[0].function)


def fault_notes(trace: Trace, project: Project) -> tuple[str, ...]:
    """Each kind of misbehaviour that a run shows, with the first places; what all launches show alike is one fault."""
    alike: dict[object, LocatedFault] = {}
    told = {kind for kinds in CHECKS.values() for kind in kinds}  # what no gate looks at is for `check` alone
    for fault, seen in zip(located(trace, project), trace.faults, strict=True):
        if fault.kind not in told or wave_order_is_promised(_vendor_of(trace, seen), fault):
            continue
        key = fault.kind, template_of(fault.kernel), fault.scope, frozenset((fault.place, fault.other))
        alike[key] = replace(fault, count=alike[key].count + fault.count) if key in alike else fault
    placed = {(fault.kind, fault.kernel) for fault in alike.values() if fault.place.line}
    kinds: dict[str, list[LocatedFault]] = {}
    for fault in alike.values():
        damage = fault.kind == "out_of_bounds" and not fault.place.line  # found after a launch
        if damage and (fault.kind, fault.kernel) in placed:
            continue
        kinds.setdefault(fault.kind, []).append(fault)
    return tuple(
        f"the program as it is shows {len(faults)} distinct {kind.replace('_', '-')} fault{'s' * (len(faults) > 1)}: "
        f"{_listed(faults)}"
        for kind, faults in sorted(kinds.items())
    )


def template_of(kernel: str) -> str:
    """The kernel's name without template arguments, which all its instances have in common."""
    without = _ARGUMENTS.sub("", kernel)
    return without if without == kernel else template_of(without)


def _vendor_of(trace: Trace, fault: Fault) -> str:
    """Of the chip that the fault's module was built for; empty where that is not known."""
    if fault.module is None or fault.module not in trace.modules:
        return ""
    return models.record(trace.modules[fault.module].target).vendor


def tolerance_note(trace: Trace, tolerates: bool) -> tuple[str, ...]:
    """What may let a program continue whose kernels are ended by an access; empty where none is."""
    if not any(launch.status == _ILLEGAL_ADDRESS for launch in trace.launches):
        return ()
    if tolerates:
        return ("it accesses memory that no GPU would have mapped: more than 2 MiB away from any allocation",)
    return ("--tolerate continues where a GPU would have memory mapped",)


def introduced(reference: Sequence[LocatedFault], candidate: Sequence[LocatedFault]) -> tuple[LocatedFault, ...]:
    """Faults of the candidate whose line does not misbehave in as many places of the reference."""
    may_miss = {(one.kernel, one.scope) for one in reference if one.stale}
    missed = [one for one in reference if one.stale == "store" and one.unordered]
    stores = {(one.kernel, one.scope, end) for one in missed for end in one.ends}
    before: dict[object, int] = {}
    for identity, _ in {(fault.identity, fault.place.line) for fault in reference}:
        before[identity] = before.get(identity, 0) + 1
    new: list[LocatedFault] = []
    seen: dict[object, set[int]] = {}
    for fault in candidate:
        if fault.stale == "decision" and (fault.kernel, fault.scope) in may_miss:
            continue  # the original reads as plainly what others change, or worse
        if fault.stale == "store" and any((fault.kernel, fault.scope, end) in stores for end in fault.ends):
            continue  # the original's reads may miss that store, or that read a store, and nothing ever orders them
        lines = seen.setdefault(fault.identity, set())
        if fault.place.line in lines:
            continue
        lines.add(fault.place.line)
        if len(lines) > before.get(fault.identity, 0):
            new.append(fault)
    return tuple(new)


def wave_order_is_promised(vendor: str, fault: LocatedFault) -> bool:
    """Lanes of an AMD wave run in lock-step; NVIDIA's since sm_70 may not."""
    return vendor == "amd" and fault.kind == "race" and fault.scope == "wave" and fault.cause is None


def compare(
    reference: Sequence[LocatedFault], candidate: Sequence[LocatedFault], vendor: str, coverage: str
) -> tuple[Check, ...]:
    """One check per class of faults; what the reference does already is in the detail."""
    new = introduced(reference, candidate)
    return tuple(_check(name, kinds, reference, new, vendor, coverage) for name, kinds in CHECKS.items())


def _check(
    name: str,
    kinds: Sequence[str],
    reference: Iterable[LocatedFault],
    new: Iterable[LocatedFault],
    vendor: str,
    coverage: str,
) -> Check:
    mine = [fault for fault in new if fault.kind in kinds]
    looks = [fault for fault in mine if fault.look]
    tolerated = [fault for fault in mine if fault not in looks and wave_order_is_promised(vendor, fault)]
    fatal = [fault for fault in mine if fault not in tolerated and fault not in looks]
    if fatal:
        return Check(name, CheckStatus.FAILED, f"the candidate introduces {_listed(fatal)}")
    existing = [fault for fault in reference if fault.kind in kinds]
    parts = [f"none new in {coverage}"]
    if existing:
        parts.append(f"the original has {_listed(existing)}")
    if looks:
        parts.append(f"looks at a number before an atomic operation decides on it: {_listed(looks)}")
    if tolerated:
        parts.append(f"relies on the lock-step of AMD waves: {_listed(tolerated)}")
    unseen = [] if coverage.startswith(_ALL) else [f"only {coverage}"]
    if told := [fault for fault in new if fault.kind == _TOLD.get(name)]:
        unseen.append(f"whether threads may end before a barrier, as they may on today's GPUs: {_listed(told)}")
    return Check(name, CheckStatus.PASSED, "; ".join(parts), unseen="; ".join(unseen))


def _listed(faults: Sequence[LocatedFault]) -> str:
    shown = "; ".join(str(fault) for fault in faults[:_SHOWN])
    more = len(faults) - _SHOWN
    return f"{shown}; and {more} more" if more > 0 else shown


def coverage_of(trace: Trace) -> str:
    """How much of the run was watched access by access."""
    launches = trace.launches
    traced = sum(launch.traced_blocks for launch in launches)
    total = sum(launch.blocks for launch in launches)
    seen, done = sum(launch.analyzed_lanes for launch in launches), sum(launch.lanes for launch in launches)
    if traced == total and seen >= done:
        return f"{_ALL} {counted(total, 'block')}, every access"
    partly = f", {min(99.0, 100 * seen / done):.2g} % of their launches' accesses" if seen < done else ""
    return f"{traced:,} of {total:,} blocks traced{partly}"
