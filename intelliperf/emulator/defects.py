"""What watched runs show to be wrong with a program, in words, with both lines and how to see it again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.emulator.ir.calls import STOPS
from intelliperf.emulator.modulefacts import Location, ModuleFacts, SiteFacts
from intelliperf.emulator.safety import is_look, template_of
from intelliperf.emulator.sourcelines import Project, chain_outside, source_text, users_chain
from intelliperf.emulator.tracefiles import Fault, Trace
from intelliperf.emulator.watching import Watched
from intelliperf.processes.endings import last_output
from intelliperf.records import Defect, DefectLevel, SourcePoint
from intelliperf.sentences import counted, duration

_STREAMS = "unordered_streams"
_BETWEEN = {"wave": "lanes of one wave", "block": "threads of one block", "grid": "blocks"}
# kind → rule, level, what it is, what to do about it
_PLAIN: dict[str, tuple[str, DefectLevel, str, str]] = {
    "out_of_bounds": (
        "out-of-bounds", DefectLevel.ERROR, "access out of bounds", "check the index against the size first",
    ),
    "use_after_free": (
        "use-after-free", DefectLevel.ERROR, "access to memory that was freed before",
        "free memory after the last kernel that uses it has ended",
    ),
    "invalid_launch": (
        "invalid-launch", DefectLevel.ERROR, "the device refuses the launch",
        "check the launch's error code, and stay within the device's limits",
    ),
    "doubtful_launch": (
        "launch-near-limit", DefectLevel.WARNING, "the device may refuse the launch for its registers",
        "limit the kernel's registers with __launch_bounds__, and check the launch's error code",
    ),
    "invalid_free": (
        "invalid-free", DefectLevel.ERROR, "frees unallocated memory", "free each allocation once, by its base",
    ),
    "uninitialized": (
        "uninitialised-read", DefectLevel.ERROR, "reads uninitialised memory", "initialise all of it first",
    ),
    "divergent_barrier": (
        "divergent-barrier", DefectLevel.ERROR, "threads of one block wait at different barriers",
        "make all threads of the block reach the same __syncthreads()",
    ),
    "misaligned": (
        "misaligned-access", DefectLevel.ERROR, "address is not aligned as the access requires",
        "use a narrower type, or keep the pointer's offset a multiple of the type's alignment",
    ),
    "divergent_shuffle": (
        "divergent-shuffle", DefectLevel.WARNING, "shuffle reads from an inactive lane",
        "make the lanes that are read from take part in the same shuffle",
    ),
    "outside_mask": (
        "lane-outside-mask", DefectLevel.WARNING, "a lane takes part that the mask of its call does not name",
        "name in the mask all lanes that make the call, and no others",
    ),
    "shuffle_from_ended": (
        "shuffle-from-ended-lane", DefectLevel.NOTE, "shuffle reads from a lane that has exited",
        "discard such values, or keep all lanes of the wave active for the shuffle",
    ),
    "barrier_after_end": (
        "barrier-after-exit", DefectLevel.WARNING,
        "threads of the block ended before this barrier, which is defined only where all threads come to it",
        "let threads without work skip the work, not the barrier",
    ),
    "trap": ("trap", DefectLevel.ERROR, "device code traps", "see the line"),
    "assert": ("assertion", DefectLevel.ERROR, "a device assertion failed", "see the line"),
    "unacquired": (
        "missing-acquire", DefectLevel.WARNING, "no acquire fence between waiting for a value and reading the data",
        "put __threadfence() between the loop that waits and the read, or load with acquire order",
    ),
}  # fmt: skip
# cause → rule, what it is, what to do about it
_RACES: dict[str | None, tuple[str, str, str]] = {
    "no_release_fence": (
        "missing-release", "no release fence between the store and the flag that announces it",
        "put __threadfence() between the store and the atomic operation that announces it",
    ),
    "narrow_release_fence": (
        "narrow-fence", "the fence before the announcement reaches the block only",
        "use __threadfence() instead of __threadfence_block(), or device (agent) scope",
    ),
    "no_acquire_fence": (
        "missing-acquire", "the value was announced, but an older copy of it may still be read",
        "put __threadfence() between the loop that waits and the read, or load with acquire order",
    ),
    "narrow_atomic": (
        "narrow-atomic", "the scope of the atomic operation does not reach the other thread",
        "use device scope: atomicAdd() instead of atomicAdd_block(), __HIP_MEMORY_SCOPE_AGENT",
    ),
    "lost_update": (
        "lost-update", "the value is read, changed and stored in steps that another thread can come between",
        "use an atomic operation",
    ),
    "read_only_load": (
        "read-only-load", "the launch writes what it reads through the read-only cache",
        "do not use __ldg() or const __restrict__ for memory that the same launch writes",
    ),
    _STREAMS: (
        "unordered-streams", "a kernel of another stream accesses the same memory, and neither waits for the other",
        "record an event behind the first kernel and have the second one's stream wait for it, or use one stream",
    ),
    None: ("race", "nothing orders the two accesses", ""),
}  # fmt: skip
_BARRIER = "put a barrier between the two, or use an atomic operation"
_WIDTH = {"wave": 1, "block": 2, "grid": 3}  # of the scopes of races
_ORDER = "pass the value on with a fence on both sides, use an atomic operation, or split the kernel in two"
_SYNCWARP = "put __syncwarp() between the two"
# In a Triton program, by rule and, of plain races, by scope.
_TRITON = {
    "race wave": "put tl.debug_barrier() between the two",
    "race block": "put tl.debug_barrier() between the two, or use an atomic operation",
    "race grid": 'pass the value on by atomics with sem="release" and sem="acquire", or split the kernel in two',
    "wave-order": "put tl.debug_barrier() between the two",
    "missing-release": 'announce the store by an atomic operation with sem="release" or sem="acq_rel"',
    "missing-acquire": 'wait by an atomic operation with sem="acquire" or sem="acq_rel"',
    "narrow-fence": 'announce the store with scope="gpu"',
    "narrow-atomic": 'use scope="gpu"',
    "divergent-barrier": "have all parts of the program come to the same tl.debug_barrier()",
}
# What a program says of time is another chip's own.
_TIMED = re.compile(
    r"[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(?:[munµ]?s(?:ec\w*)?\b|[KMGT]i?B/s|[KMGT]?FLOP\w*|[KMGT]?Hz|x\b|×|%)", re.I
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def defects_of(runs: Sequence[Watched], project: Project, vendor: str) -> tuple[Defect, ...]:
    """Each once, with the schedule that shows it first; errors first."""
    defects = each_once(
        (fault, replace(_describe(trace, fault, project, vendor), schedule=run.schedule.name))
        for run in runs
        for trace, fault in run.faults
    )
    rank = list(DefectLevel)
    told = [one for one in defects if not _is_trace_of(one, defects)]
    return tuple(sorted(_notes_joined(told), key=lambda defect: rank.index(defect.level)))


def each_once(told: Iterable[tuple[Fault, Defect]]) -> list[Defect]:
    """Of races of the same two lines the one of the widest scope: what mends a narrower one leaves it.

    So does it where the same store races in a wider scope with another line.
    """
    found: dict[object, tuple[int, Defect]] = {}
    for fault, defect in told:
        key = defect.rule, defect.kernel, defect.point, defect.other
        width = _WIDTH.get(fault.scope or "", 0)
        known_width, known = found.get(key, (width, defect))
        shown = defect if width > known_width else known
        found[key] = max(width, known_width), replace(shown, count=max(known.count, defect.count))
    wider = {store: defect.remedy for width, defect in found.values() if width > 1 for store in _stores(defect)}
    return _each_line_once(
        (width, replace(one, remedy=next((wider[store] for store in _stores(one) if store in wider), one.remedy)))
        if width == 1
        else (width, one)
        for width, one in found.values()
    )


def _each_line_once(told: Iterable[tuple[int, Defect]]) -> list[Defect]:
    """One of what the same lines do wrong in all instances of a template, with the kernels and pairs it stands for."""
    alike: dict[object, list[tuple[int, Defect]]] = {}
    for number, (width, defect) in enumerate(told):
        key = (defect.rule, defect.level, template_of(defect.kernel), defect.lines) if defect.lines else number
        alike.setdefault(key, []).append((width, defect))
    return [_stands_for([one for _, one in group], max(group, key=lambda one: one[0])[1]) for group in alike.values()]


def _stands_for(group: Sequence[Defect], shown: Defect) -> Defect:
    kernels = dict.fromkeys(one.kernel for one in group)
    count = sum(one.count for one in group)
    pairs = max(sum(one.kernel == kernel for one in group) for kernel in kernels)
    return replace(shown, count=count, also=tuple(one for one in kernels if one != shown.kernel), pairs=pairs)


def _stores(race: Defect) -> Iterator[object]:
    """What it is told by, and may be told of another race as well."""
    for point in (race.point, race.other):
        if point is not None and point.does == "writes":
            yield race.rule, race.kernel, point


def _notes_joined(defects: Iterable[Defect]) -> Iterable[Defect]:
    """Notes of one rule on one kernel are one note, at its first place: they say the same of each."""
    joined: dict[object, list[Defect]] = {}
    for number, defect in enumerate(defects):
        key = (defect.rule, defect.kernel) if defect.level is DefectLevel.NOTE else number
        joined.setdefault(key, []).append(defect)
    for first, *others in joined.values():
        places = f"; so do {counted(len(others), 'other pair')} of accesses of this kernel" if others else ""
        yield replace(first, what=first.what + places, count=sum(one.count for one in (first, *others)))


def _is_trace_of(defect: Defect, others: Iterable[Defect]) -> bool:
    """Memory that is found damaged after a kernel of which the access is told, too."""
    same = (one for one in others if one.rule == defect.rule and one.kernel == defect.kernel and one.point)
    return defect.rule == _PLAIN["out_of_bounds"][0] and defect.point is None and any(same)


def _describe(trace: Trace, fault: Fault, project: Project, vendor: str) -> Defect:
    facts = trace.kernel_of(fault)
    rule, level, what, remedy = _judge(trace, fault, project, vendor)
    launch = trace.launch_by_index.get(fault.launch) if fault.launch is not None else None
    point = _point(trace, fault, fault.site, project) or _stop(trace, fault, project)
    if point and Path(point.file).suffix == ".py":
        remedy = _TRITON.get(f"{rule} {fault.scope}", _TRITON.get(rule, remedy))
    return Defect(
        rule=rule,
        level=level,
        what=what,
        remedy=remedy,
        kernel=facts.name if facts else fault.kernel or "the host part",
        point=point,
        other=_point(trace, fault, fault.other_site, project),
        thread=_thread(fault.block, fault.thread) if fault.launch is not None else None,
        other_thread=_thread(fault.other_block, fault.other_thread),
        memory=_memory(fault),
        launch=trace.launches.index(launch) + 1 if launch else None,
        geometry=launch.geometry if launch else None,
        count=fault.count,
    )


def _judge(trace: Trace, fault: Fault, project: Project, vendor: str) -> tuple[str, DefectLevel, str, str]:
    if fault.kind == "deadlock":
        return _deadlock(fault)
    if fault.kind != "race":
        rule, level, what, remedy = _PLAIN[fault.kind]
        return rule, level, f"{what}: {fault.detail}" if fault.detail else what, remedy
    rule, what, remedy = _RACES[fault.cause]
    between = "kernels of two streams" if fault.cause == _STREAMS else _BETWEEN[fault.scope or "grid"]
    sentence = f"race between {between}: {what}"
    if fault.scope == "wave" and vendor == "amd" and fault.cause is None:
        return "wave-order", DefectLevel.NOTE, f"{sentence}; lanes of AMD waves run in step", _SYNCWARP
    if fault.cause is None and is_look(trace, fault, project):
        return "benign-look", DefectLevel.NOTE, f"{sentence}; an atomic operation decides afterwards", ""
    scoped = {"wave": _SYNCWARP, "block": _BARRIER}.get(fault.scope or "", _ORDER)
    return rule, DefectLevel.ERROR, sentence, remedy or scoped


def _deadlock(fault: Fault) -> tuple[str, DefectLevel, str, str]:
    if fault.resident is not None:
        what = f"blocks wait for blocks that cannot begin: {fault.resident:,} fit on the device at once"
        return "not-resident", DefectLevel.ERROR, what, "launch no more blocks than are resident, or do not wait"
    what = "no thread can make progress: they wait for what never comes, or at barriers that others have passed by"
    return "deadlock", DefectLevel.ERROR, what, "have all threads that are waited for come there"


def _thread(block: tuple[int, int, int] | None, thread: int | None) -> str | None:
    return None if block is None or thread is None else f"block {block}, thread {thread}"


def _memory(fault: Fault) -> str | None:
    space = "LDS" if fault.space == "shared" else "device memory"
    if fault.kind in ("out_of_bounds", "use_after_free"):
        if not fault.allocation_bytes:
            return f"{space} outside any allocation"
        return f"byte {fault.address_offset:,} of {fault.allocation_bytes:,} bytes of {space}"
    if fault.value is None:
        return None
    held = f", which held {fault.value:#x}"
    if not fault.allocation_bytes:
        return space + held
    return f"byte {fault.address_offset:,} of an allocation of {fault.allocation_bytes:,} bytes{held}"


def _point(trace: Trace, fault: Fault, number: int | None, project: Project) -> SourcePoint | None:
    facts = trace.modules.get(fault.module) if fault.module is not None else None
    if facts is None or number is None or number >= len(facts.sites):
        return None
    site = facts.sites[number]
    return _point_at(facts, site.locations, _does(site), project)


def _stop(trace: Trace, fault: Fault, project: Project) -> SourcePoint | None:
    facts = trace.modules.get(fault.module) if fault.module is not None else None
    return _point_at(facts, trace.stopped_at(fault), "stops", project) if facts else None


def _point_at(facts: ModuleFacts, locations: Sequence[Location], does: str, project: Project) -> SourcePoint | None:
    source = Path(facts.source)
    chain = users_chain(locations, source, project)
    if not chain:
        chain, does = chain_outside(locations, source), f"{does}; not a line of the project"
    if not chain:
        return None
    frame = chain[0]
    on_disk = project.on_disk(frame.file) or frame.file
    name = on_disk.relative_to(project.directory) if on_disk.is_relative_to(project.directory) else frame.file
    return SourcePoint(str(name), frame.line, frame.column, source_text(on_disk, frame.line), does)


def _does(site: SiteFacts) -> str:
    if site.operation in STOPS:
        return "stops"
    verbs = {"load": "reads", "range_load": "reads", "store": "writes", "range_store": "writes"}
    return verbs.get(site.kind, "updates" if site.kind in ("atomic", "reduction") else "waits")


def other_output(
    runs: Iterable[Watched], other_chip: bool = False, repeated: Callable[[Watched], Watched] | None = None
) -> tuple[Defect, ...]:
    """Where the program says something else under another order, beyond what two runs in one order differ by.

    `repeated` makes a run once more: what it then says differently, like a time, does not depend on the order.
    """
    first, again, *others = runs
    steady = [a if a == b else None for a, b in zip(_lines(first), _lines(again), strict=False)]
    cause = "the size of waves" if other_chip else "the order of threads"
    found = []
    for run in others:
        differing = [
            (number, expected, seen)
            for number, (expected, seen) in enumerate(zip(steady, _lines(run), strict=False))
            if expected is not None and not _alike(expected, seen, other_chip)
        ]
        confirming = _lines(repeated(run)) if differing and repeated else None
        for number, expected, seen in differing:
            if confirming is None or confirming[number : number + 1] == [seen]:
                what = f"line {number + 1} of the output is {seen[:120]!r}, in order it is {expected[:120]!r}"
                found.append(_output_defect(f"the result depends on {cause}: {what}", run))
                break
        if run.completed.describe() != first.completed.describe() and not run.completed.timed_out:
            what = f"the program ends with {run.completed.describe()}, in order with {first.completed.describe()}"
            found.append(_output_defect(what, run))
    return tuple(found)


def unfinished(runs: Sequence[Watched]) -> tuple[Defect, ...]:
    """Runs that timed out: what they would have shown is not known, and a program that never ends is wrong."""
    in_order = runs[0].completed
    only_here = (
        f"it ended after {duration(in_order.seconds * 1e9)} in order: mend the other errors first, then look for a "
        "wait or a loop that depends on the order"
    )
    return tuple(
        Defect(
            "timeout", DefectLevel.ERROR, f"the program {run.completed.describe()}",
            only_here if not in_order.timed_out else
            run.reached or "raise --run-timeout, or look for threads that wait for others which cannot run",
            kernel="the program", schedule=run.schedule.name,
        )
        for run in runs
        if run.completed.timed_out
    )  # fmt: skip


def nothing_ran(runs: Sequence[Watched], project: Project) -> tuple[Defect, ...]:
    """Where no run has a kernel: such a program is not found healthy."""
    if any(trace.launches for run in runs for trace in run.traces) or any(run.completed.timed_out for run in runs):
        return ()
    first = runs[0].completed
    what, remedy = "no kernel ran, so that nothing was checked", "or run a command that launches kernels"
    remedy = f"look at what the launches return, {remedy}" if first.ok else f"see why the program fails, {remedy}"
    if not first.ok:
        what += f": the program ended with {first.describe()}{last_output(first, project.directory)}"
    return (
        Defect(
            "nothing-ran", DefectLevel.ERROR, what, remedy, kernel="the program", schedule=runs[0].schedule.name
        ),
    )  # fmt: skip


def _output_defect(what: str, run: Watched) -> Defect:
    return Defect(
        "order-dependence", DefectLevel.WARNING, what, "see the races, or what the program leaves to chance",
        kernel="the program", schedule=run.schedule.name,
    )  # fmt: skip


def _lines(run: Watched) -> list[str]:
    return run.text.splitlines()


def _alike(a: str, b: str, other_chip: bool) -> bool:
    """Equal but for rounding: sums of floats differ by the order that they are taken in."""
    if other_chip:
        a, b = _TIMED.sub("", a), _TIMED.sub("", b)
    if a == b:
        return True
    if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
        return False
    pairs = zip(map(float, _NUMBER.findall(a)), map(float, _NUMBER.findall(b)), strict=True)
    return all(abs(x - y) <= 1e-3 * max(abs(x), abs(y)) for x, y in pairs)
