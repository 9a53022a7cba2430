"""Every memory access of a kernel by the user's own line, from ncu's counts per instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.cuda.counters import GLOBAL, GLOBAL_ATOMICS, LOCAL, SHARED, SHARED_ATOMICS, counts_of, static_figures
from intelliperf.cuda.inlining import FrameLine, Located
from intelliperf.cuda.launches import WARP, filling, lane_fill
from intelliperf.errors import SourceNotFound
from intelliperf.profiling.ncu import Instruction, ProfiledKernel
from intelliperf.project.recipes import is_python
from intelliperf.records import (
    AccessKind,
    Application,
    Frame,
    Kernel,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)

_LOADS = ("LDG", "LD", "LDS", "LDL")
_STALLS = "smsp__pcsamp_warps_issue_stalled_"
_SAMPLES = "smsp__pcsamp_sample_count"
_FEWEST_SAMPLES = 20  # fewer say nothing about shares
SHOWN_LOSS = 0.02  # of all lane slots that the kernel's instructions take: a line that loses less is left out
SHOWN_WAIT = 0.02  # of all samples of the kernel's warps


def kernel_lines(
    profiled: ProfiledKernel,
    chains: Mapping[int, Located],
    kernel: Kernel,
    application: Application,
    serialization: float | None,
) -> tuple[SourceEvidence, ...]:
    """One entry per line, operation and width; counts are of the profiled launch.

    `serialization` is the kernel's `ATOMIC_SERIALIZATION`, shared out by lanes. Raises `SourceNotFound` where
    the binary has no lines or none lies in the project.
    """
    project = application.project
    memory = [item for item in profiled.instructions if _kind(item) is not None]
    if memory and all(item.file is None for item in memory):
        how = _remedy(application, "compile it with -lineinfo")
        raise SourceNotFound(f"{kernel.name}: the binary has no line information; {how}")
    groups: dict[tuple[tuple[FrameLine, ...], str, float], list[Instruction]] = {}
    for item in memory:
        chain = _in_project(_places(item, chains), project)
        if chain:
            width = item.metrics.get("memory_access_size_type", 0.0)
            groups.setdefault((chain, item.operation, width), []).append(item)
    if memory and not groups:
        native = "inline chains are known where the build compiles for this very GPU, e.g. -arch=native"
        how = _remedy(application, "" if chains else native)
        where = f"none of its accesses lies in a source of {project}"
        raise SourceNotFound(f"{kernel.name}: {'; '.join(filter(None, (where, how)))}")
    all_lanes = counts_of(memory).get(Metric.ATOMIC_LANES, 0.0)
    accesses = tuple(
        _evidence(kernel, chain, width, items, serialization, all_lanes)
        for (chain, _, width), items in sorted(groups.items(), key=lambda group: group[0][0][0])
    )
    return (*accesses, *_code_lines(profiled, chains, kernel, project))


def _remedy(application: Application, of_build: str) -> str:
    """No build flag changes what a Python program compiles as it runs."""
    if not is_python(application.command[0], application.directory):
        return of_build
    triton = "a Triton kernel's lines and patches need --backend emulator"
    return f"{triton}; of an extension's kernel, {of_build}" if of_build else triton


def _code_lines(
    profiled: ProfiledKernel, chains: Mapping[int, Located], kernel: Kernel, project: Path
) -> list[SourceEvidence]:
    """Lines whose instructions many lanes sit out, or at which warps wait; and the kernel as a whole, on its first line
    of code. A warp waits where a value is used, which is not always the line that loads it.
    """
    groups: dict[tuple[FrameLine, ...], list[Instruction]] = {}
    for item in profiled.instructions:
        chain = _in_project(_places(item, chains), project)
        if chain:
            groups.setdefault(chain[:1], []).append(item)
    slots = WARP * sum(item.metrics["inst_executed"] for item in profiled.instructions)
    full = WARP * lane_fill(profiled.metrics)
    samples = sum(item.metrics.get(_SAMPLES, 0.0) for item in profiled.instructions)
    found = []
    for number, (chain, items) in enumerate(groups.items()):
        executed = sum(item.metrics["inst_executed"] for item in items)
        lanes = sum(item.metrics.get("thread_inst_executed", 0.0) for item in items)
        counts = {
            Metric.INSTRUCTIONS: executed,
            Metric.LANE_INSTRUCTIONS: lanes,
            Metric.LANES_LOST: max(0.0, executed * full - lanes),
            Metric.ACTIVE_LANE_RATIO: lanes / (executed * full) if executed else 1.0,
        }
        if number == 0:
            found.append(_plain(kernel, chain, AccessKind.KERNEL, _whole(profiled)))
        shown = counts if counts[Metric.LANES_LOST] > SHOWN_LOSS * slots else {}
        waiting = sum(_waiting(items).values())
        if samples >= _FEWEST_SAMPLES and waiting > SHOWN_WAIT * samples:
            shown = {**shown, Metric.WAITING_SAMPLES: waiting}
        if shown:
            found.append(_plain(kernel, chain, AccessKind.CODE, shown))
    return found


def _whole(profiled: ProfiledKernel) -> dict[Metric, float]:
    return {**filling(profiled.metrics), **static_figures(profiled.metrics)}


def _plain(
    kernel: Kernel, chain: tuple[FrameLine, ...], access: AccessKind, counts: Mapping[Metric, float]
) -> SourceEvidence:
    file, line = chain[0]
    return SourceEvidence(
        kernel=kernel,
        file=Path(file),
        line=line,
        column=0,
        text=_text(Path(file), line),
        access=access,
        space=MemorySpace.NONE,
        operation=access.value,
        element_bytes=0,
        chain=tuple(Frame(Path(place), at, 0, kernel.name) for place, at in chain),
        quantities={metric: Quantity(value, Provenance.MEASURED) for metric, value in counts.items()},
    )


def _places(item: Instruction, chains: Mapping[int, Located]) -> tuple[FrameLine, ...]:
    """The inline chain where the binary on disk holds this very instruction: the driver may have recompiled it."""
    located = chains.get(item.offset)
    if located is not None and located.opcode == item.opcode:
        return located.places
    return ((item.file, item.line),) if item.file is not None and item.line else ()


def _in_project(chain: Sequence[FrameLine], project: Path) -> tuple[FrameLine, ...]:
    """The chain from the first place in the project outwards; empty where there is none."""
    for position, (file, _) in enumerate(chain):
        path = Path(file)
        if path == project or project in path.parents or project.resolve() in path.resolve().parents:
            return tuple(chain[position:])
    return ()


def _kind(item: Instruction) -> AccessKind | None:
    operation = item.operation
    if operation in ("RED", "REDG"):
        return AccessKind.REDUCTION
    if operation in GLOBAL_ATOMICS | SHARED_ATOMICS:
        return AccessKind.ATOMIC
    if operation in GLOBAL | SHARED | LOCAL:
        return AccessKind.LOAD if operation in _LOADS else AccessKind.STORE
    return None


def _evidence(
    kernel: Kernel,
    chain: tuple[FrameLine, ...],
    width: float,
    items: Sequence[Instruction],
    serialization: float | None,
    all_lanes: float,
) -> SourceEvidence:
    kind = _kind(items[0])
    if kind is None:
        raise ValueError(f"{items[0].sass} accesses no memory")
    counts = counts_of(items)
    if serialization is not None and all_lanes > 0 and Metric.ATOMIC_LANES in counts:
        counts[Metric.ATOMIC_SERIALIZATION] = serialization * counts[Metric.ATOMIC_LANES] / all_lanes
    if Metric.LDS_ATOMIC_PHASES in counts:
        # A line's atomics are of the memory that it touches, see `Metric`.
        counts[Metric.ATOMIC_SERIALIZATION] = counts[Metric.LDS_ATOMIC_PHASES]
        counts[Metric.ATOMIC_REQUESTS] = counts[Metric.LDS_ATOMIC_REQUESTS]
        counts[Metric.ATOMIC_LANES] = counts[Metric.LDS_ATOMIC_LANES]
    file, line = chain[0]
    operation = items[0].operation
    space = MemorySpace.SHARED if operation in SHARED | SHARED_ATOMICS else MemorySpace.GLOBAL
    return SourceEvidence(
        kernel=kernel,
        file=Path(file),
        line=line,
        column=0,
        text=_text(Path(file), line),
        access=kind,
        space=MemorySpace.LOCAL if operation in LOCAL else space,
        operation=f"{items[0].opcode} ({_stall(items)})" if _stall(items) else items[0].opcode,
        element_bytes=int(width // 8),
        chain=tuple(Frame(Path(place), at, 0, kernel.name) for place, at in chain),
        quantities={metric: Quantity(value, Provenance.MEASURED) for metric, value in counts.items()},
    )


def _stall(items: Sequence[Instruction]) -> str:
    """The most frequent reason for which warps wait at these instructions, with its share of their samples."""
    samples = sum(item.metrics.get(_SAMPLES, 0.0) for item in items)
    reasons = _waiting(items)
    if not reasons or samples < _FEWEST_SAMPLES:
        return ""
    worst = max(reasons, key=lambda reason: reasons[reason])
    return f"{100 * reasons[worst] / samples:.0f} % of {samples:.0f} samples wait for {worst.replace('_', ' ')}"


def _waiting(items: Sequence[Instruction]) -> dict[str, float]:
    """Samples by the reason for which the warp could not issue."""
    reasons: dict[str, float] = {}
    for item in items:
        for name, value in item.metrics.items():
            if name.startswith(_STALLS) and not name.endswith("_not_issued") and not name.endswith("_selected"):
                reasons[name.removeprefix(_STALLS)] = reasons.get(name.removeprefix(_STALLS), 0.0) + value
    return reasons


def _text(file: Path, line: int) -> str:
    try:
        return file.read_text("utf-8", "replace").splitlines()[line - 1].strip()
    except (OSError, IndexError):
        return ""
