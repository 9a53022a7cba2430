"""Every memory access of a kernel by the user's own line, from its machine code and line table.

What an instruction did when it ran is not known here: nothing but what belongs to the whole kernel is told of a line.
Where several lines share it, each gets its part by its PC samples, else an equal one; either is marked as modelled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from intelliperf.rocm.codeobject import tool_output, width_of
from intelliperf.rocm.samples import SampledKernel, line_evidence
from intelliperf.rocm.symbols import plain

_LABEL = re.compile(r"^(?P<at>[0-9a-f]{8,}) <(?P<name>[^>]+)>:")
_ACCESS = re.compile(
    r"^\s+(?P<text>(?P<space>global|flat|buffer|ds)_(?P<what>load|storexchg|store|read|write|atomic|pk_add|add|sub|min|max|and|or|xor|"
    r"inc|dec|cmpst|wrxchg)\w*)(?P<operands>[^/]*)//\s*(?P<address>[0-9A-F]+)"
)
_OF_THE_KERNEL = (
    *(Metric.VGPRS, Metric.SGPRS, Metric.SPILLED_REGISTERS, Metric.SCRATCH_BYTES, Metric.LDS_BYTES),
    *(Metric.WAVES_BY_REGISTERS, Metric.WAVES_BY_LDS, Metric.WAVES_BY_BLOCKS),
    *(Metric.OCCUPANCY_RATIO, Metric.OCCUPANCY_LIMIT_RATIO),
    *(Metric.LANE_FILL_RATIO, Metric.UNIT_FILL_RATIO, Metric.ROUND_FILL_RATIO),
)
_ATOMIC_BYTES = 4  # where the name says nothing
_LOADS, _STORES = ("load", "read"), ("store", "write")
_RETURNS = re.compile(r"\b(?:glc|sc0|TH_ATOMIC_RETURN)\b")


@dataclass(frozen=True)
class Seen:
    """What is known of the kernel as a whole, and where its waves were found."""

    whole: Mapping[Metric, Quantity]
    sampled: SampledKernel
    wave_size: int


@dataclass(frozen=True)
class Instruction:
    address: int
    text: str  # "global_atomic_add_f32"
    access: AccessKind
    space: MemorySpace
    width: int  # bytes per lane


def parse_disassembly(text: str) -> dict[str, tuple[Instruction, ...]]:
    """The memory instructions of each function, by symbol."""
    found: dict[str, list[Instruction]] = {}
    current: list[Instruction] = []
    for line in text.splitlines():
        if label := _LABEL.match(line):
            current = found.setdefault(plain(label["name"]), [])
        elif access := _ACCESS.match(line):
            current.append(_instruction(access))
    return {symbol: tuple(items) for symbol, items in found.items()}


def _instruction(access: re.Match[str]) -> Instruction:
    name, what = access["text"], access["what"]
    space = {"ds": MemorySpace.SHARED, "flat": MemorySpace.MIXED}.get(access["space"], MemorySpace.GLOBAL)
    if what in _LOADS:
        kind = AccessKind.LOAD
    elif what in _STORES:
        kind = AccessKind.STORE
    else:
        returns = "_rtn" in name or _RETURNS.search(access["operands"]) is not None
        kind = AccessKind.ATOMIC if returns else AccessKind.REDUCTION
    return Instruction(int(access["address"], 16), name, kind, space, width_of(name) or _ATOMIC_BYTES)


def kernel_lines(
    code: Sequence[bytes], kernel: Kernel, project: Path, seen: Seen, scratch: Path
) -> tuple[SourceEvidence, ...]:
    """One entry per line and instruction, per sampled line, and one for the kernel. Raises `SourceNotFound`."""
    for number, content in enumerate(code):
        path = scratch / f"{number}.co"
        path.write_bytes(content)
        listing = tool_output("llvm-objdump", "-d", str(path))
        items = parse_disassembly(listing).get(plain(kernel.symbol))
        if items is not None:
            accesses = _located(items, _chains(path, [item.address for item in items]), kernel, project, seen)
            sampled = line_evidence(seen.sampled, kernel, seen.whole, seen.wave_size, _text)
            return (*_kernel_evidence(path, listing, kernel, project, seen), *accesses, *sampled)
    raise SourceNotFound(f"{kernel.name}: its machine code was not found in the program")


def _kernel_evidence(path: Path, listing: str, kernel: Kernel, project: Path, seen: Seen) -> Iterator[SourceEvidence]:
    """The kernel at the line that it begins at, if that lies in the project."""
    labels = {
        plain(label["name"]): int(label["at"], 16) for line in listing.splitlines() if (label := _LABEL.match(line))
    }
    start = labels[plain(kernel.symbol)]
    outermost = _symbolized(path, [start]).get(start, [])[-1:]
    # Line tables alone do not tell where a function begins: then it is the line of its first instruction.
    begins = [
        Frame(Path(frame["StartFileName"] or frame["FileName"]), frame["StartLine"] or frame["Line"], 0, kernel.name)
        for frame in outermost
        if frame["FileName"] and frame["Line"]
    ]
    for frame in _in_project(begins, project):
        yield SourceEvidence(
            kernel=kernel,
            file=frame.file,
            line=frame.line,
            column=frame.column,
            text=_text(frame.file, frame.line),
            access=AccessKind.KERNEL,
            space=MemorySpace.NONE,
            operation="kernel",
            element_bytes=0,
            chain=(frame,),
            quantities={metric: seen.whole[metric] for metric in _OF_THE_KERNEL if metric in seen.whole},
        )


def _chains(path: Path, addresses: Sequence[int]) -> dict[int, tuple[Frame, ...]]:
    """Inline chains by address, innermost first."""
    return {
        address: tuple(
            Frame(Path(frame["FileName"]), frame["Line"], frame["Column"], frame["FunctionName"])
            for frame in frames
            if frame["FileName"] and frame["Line"]
        )
        for address, frames in _symbolized(path, addresses).items()
    }


def _symbolized(path: Path, addresses: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    if not addresses:
        return {}
    words = ("--inlining", "--output-style=JSON", *(f"0x{address:x}" for address in addresses))
    told = json.loads(tool_output("llvm-symbolizer", f"--obj={path}", *words))
    return {int(entry["Address"], 16): entry.get("Symbol", []) for entry in told}


def _located(
    items: Sequence[Instruction],
    chains: Mapping[int, tuple[Frame, ...]],
    kernel: Kernel,
    project: Path,
    seen: Seen,
) -> tuple[SourceEvidence, ...]:
    if items and not any(chains.values()):
        raise SourceNotFound(f"{kernel.name}: the binary has no line information; compile it with -gline-tables-only")
    places: dict[tuple[tuple[Frame, ...], str], Instruction] = {}
    for item in items:
        chain = _in_project(chains.get(item.address, ()), project)
        if chain:
            places.setdefault((chain, item.text), item)
    if items and not places:
        raise SourceNotFound(f"{kernel.name}: none of its accesses lies in a source of {project}")
    atomics = {
        key: seen.sampled.share(key[0][0].file, key[0][0].line)
        for key, item in places.items()
        if _is_global_atomic(item)
    }
    shares = {key: share / sum(atomics.values()) for key, share in atomics.items()} if any(atomics.values()) else {}
    return tuple(
        _evidence(kernel, key[0], item, seen, _Part(len(atomics), shares.get(key) if shares else None))
        for key, item in places.items()
    )


@dataclass(frozen=True)
class _Part:
    """Of the time that the kernel's atomics take together."""

    of: int
    by_samples: float | None

    @property
    def share(self) -> float:
        return 1.0 / self.of if self.by_samples is None else self.by_samples


def _in_project(chain: Sequence[Frame], project: Path) -> tuple[Frame, ...]:
    """From the first place in the project outwards; empty where there is none."""
    for position, frame in enumerate(chain):
        if project.resolve() in frame.file.resolve().parents:
            return tuple(chain[position:])
    return ()


def _is_global_atomic(item: Instruction) -> bool:
    return item.access in (AccessKind.ATOMIC, AccessKind.REDUCTION) and item.space is not MemorySpace.SHARED


def _evidence(kernel: Kernel, chain: tuple[Frame, ...], item: Instruction, seen: Seen, part: _Part) -> SourceEvidence:
    quantities: dict[Metric, Quantity] = {}
    told = seen.sampled.told(chain[0].file, chain[0].line)
    remarks = [f"the line has {told}"] if told else []
    stalled = seen.whole.get(Metric.ATOMIC_STALL_NS)
    if stalled is not None and _is_global_atomic(item):
        provenance = stalled.provenance if part.of == 1 else Provenance.MODELLED
        quantities[Metric.DEVICE_TIME_NS] = Quantity(stalled.value * part.share, provenance)
        if part.of > 1:
            how = "by the samples on their lines" if part.by_samples is not None else "in equal parts"
            remarks.append(f"one of {part.of} atomics, which share the kernel's stall time {how}")
    operation = f"{item.text} ({'; '.join(remarks)})" if remarks else item.text
    return SourceEvidence(
        kernel=kernel,
        file=chain[0].file,
        line=chain[0].line,
        column=chain[0].column,
        text=_text(chain[0].file, chain[0].line),
        access=item.access,
        space=item.space,
        operation=operation,
        element_bytes=item.width,
        chain=chain,
        quantities=quantities,
    )


def _text(file: Path, line: int) -> str:
    try:
        return file.read_text("utf-8", "replace").splitlines()[line - 1].strip()
    except (OSError, IndexError):
        return ""
