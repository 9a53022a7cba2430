"""Every memory access of a kernel by the user's own line, from its machine code and line table.

What an instruction did when it ran is not known here: nothing but what belongs to the whole kernel is told of a line.
Where several lines share it, each gets its part by the time found on it, else an equal one; either is marked as
modelled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from intelliperf.rocm.codeobject import tool_output
from intelliperf.rocm.instructions import Operation, operation
from intelliperf.rocm.linetimes import LineTimes, line_evidence
from intelliperf.rocm.surroundings import stripped
from intelliperf.rocm.symbols import plain

_LABEL = re.compile(r"^(?P<at>[0-9a-f]{8,}) <(?P<name>[^>]+)>:")
_LISTED = re.compile(r"^\s+(?P<name>[a-z]\w+)(?P<operands>[^/]*)//\s*(?P<address>[0-9A-F]+)")
_OF_THE_KERNEL = (
    *(Metric.VGPRS, Metric.SGPRS, Metric.SPILLED_REGISTERS, Metric.SCRATCH_BYTES, Metric.LDS_BYTES),
    *(Metric.WAVES_BY_REGISTERS, Metric.WAVES_BY_LDS, Metric.WAVES_BY_BLOCKS),
    *(Metric.OCCUPANCY_RATIO, Metric.OCCUPANCY_LIMIT_RATIO),
    *(Metric.LANE_FILL_RATIO, Metric.UNIT_FILL_RATIO, Metric.ROUND_FILL_RATIO),
)
_RETURNS = re.compile(r"\b(?:glc|sc0|(?:th:)?TH_ATOMIC_RETURN)\b")


@dataclass(frozen=True)
class Seen:
    """What is known of the kernel as a whole, and where its waves spent their time."""

    whole: Mapping[Metric, Quantity]
    times: LineTimes
    wave_size: int


@dataclass(frozen=True)
class Instruction:
    address: int
    operation: Operation

    @property
    def text(self) -> str:
        return self.operation.name


def parse_disassembly(text: str) -> dict[str, tuple[Instruction, ...]]:
    """The memory instructions of each function, by symbol."""
    found: dict[str, list[Instruction]] = {}
    current: list[Instruction] = []
    for line in text.splitlines():
        if label := _LABEL.match(line):
            current = found.setdefault(plain(label["name"]), [])
        elif listed := _LISTED.match(line):
            known = operation(listed["name"], bool(_RETURNS.search(listed["operands"])))
            if known is not None:
                current.append(Instruction(int(listed["address"], 16), known))
    return {symbol: tuple(items) for symbol, items in found.items()}


@dataclass(frozen=True)
class Code:
    """A kernel's machine code: the object that holds it, its listing, and its memory instructions."""

    path: Path
    listing: str
    items: tuple[Instruction, ...]


def kernel_code(objects: Sequence[bytes], kernel: Kernel, scratch: Path) -> Code:
    """Raises `SourceNotFound` where none of the code objects holds it."""
    problem = ""
    for number, content in enumerate(objects):
        path = scratch / f"{number}.co"
        path.write_bytes(content)
        listing = tool_output("llvm-objdump", "-d", str(path))
        items = parse_disassembly(listing).get(plain(kernel.symbol))
        if items is not None:
            return Code(path, listing, items)
        problem = problem or stripped(listing)
    raise SourceNotFound(f"{kernel.name}: {problem or 'its machine code was not found in the program'}")


def kernel_lines(code: Code, kernel: Kernel, project: Path, seen: Seen, way: str = "") -> tuple[SourceEvidence, ...]:
    """One entry per line and instruction; `way` tells how this came. Raises `SourceNotFound`."""
    items = [item for item in code.items if item.operation.space is not MemorySpace.LOCAL]
    return _located(items, chains(code.path, [item.address for item in items]), kernel, project, seen, way)


def beside_accesses(code: Code, kernel: Kernel, project: Path, seen: Seen) -> tuple[SourceEvidence, ...]:
    """One entry per line with time, and one for the kernel."""
    timed = line_evidence(seen.times, kernel, seen.whole, seen.wave_size, source_text)
    return (*_kernel_evidence(code, kernel, project, seen), *timed)


def _kernel_evidence(code: Code, kernel: Kernel, project: Path, seen: Seen) -> Iterator[SourceEvidence]:
    """The kernel at the line that it begins at, if that lies in the project."""
    labels = {
        plain(label["name"]): int(label["at"], 16)
        for line in code.listing.splitlines()
        if (label := _LABEL.match(line))
    }
    start = labels[plain(kernel.symbol)]
    outermost = _symbolized(code.path, [start]).get(start, [])[-1:]
    # Line tables alone do not tell where a function begins: then it is found above its first instruction.
    begins = [
        Frame(Path(frame["StartFileName"] or frame["FileName"]), frame["StartLine"] or frame["Line"], 0, kernel.name)
        for frame in outermost
        if frame["FileName"] and frame["Line"]
    ]
    for first in in_project(begins, project):
        known = bool(outermost[0]["StartLine"])
        frame = first if known else replace(first, line=head_line(first.file, first.line, kernel.name))
        yield SourceEvidence(
            kernel=kernel,
            file=frame.file,
            line=frame.line,
            column=frame.column,
            text=source_text(frame.file, frame.line),
            access=AccessKind.KERNEL,
            space=MemorySpace.NONE,
            operation="kernel",
            element_bytes=0,
            chain=(frame,),
            quantities={metric: seen.whole[metric] for metric in _OF_THE_KERNEL if metric in seen.whole},
        )


def head_line(file: Path, line: int, name: str) -> int:
    """The line that names the function whose body has this `line`; `line` where the source does not show it."""
    plainly = re.split(r"[<(]", name.replace("(anonymous namespace)::", ""))[0].rpartition("::")[2]
    if not plainly:
        return line
    head = re.compile(rf"\b{re.escape(plainly)}\s*\(")
    try:
        texts = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return line
    above = range(min(line, len(texts)), 0, -1)
    return next((at for at in above if head.search(texts[at - 1].partition("//")[0])), line)


def chains(path: Path, addresses: Sequence[int]) -> dict[int, tuple[Frame, ...]]:
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
    by_address: Mapping[int, tuple[Frame, ...]],
    kernel: Kernel,
    project: Path,
    seen: Seen,
    way: str,
) -> tuple[SourceEvidence, ...]:
    if items and not any(by_address.values()):
        raise SourceNotFound(f"{kernel.name}: the binary has no line information; compile it with -gline-tables-only")
    places: dict[tuple[tuple[Frame, ...], str], Instruction] = {}
    for item in items:
        chain = in_project(by_address.get(item.address, ()), project)
        if chain:
            places.setdefault((chain, item.text), item)
    if items and not places:
        raise SourceNotFound(f"{kernel.name}: none of its accesses lies in a source of {project}")
    atomics = {
        key: seen.times.share(key[0][0].file, key[0][0].line) for key, item in places.items() if _is_global_atomic(item)
    }
    shares = {key: share / sum(atomics.values()) for key, share in atomics.items()} if any(atomics.values()) else {}
    return tuple(
        _evidence(kernel, key[0], item, seen, _Part(len(atomics), shares.get(key) if shares else None), way)
        for key, item in places.items()
    )


@dataclass(frozen=True)
class _Part:
    """Of the time that the kernel's atomics take together."""

    of: int
    by_time: float | None

    @property
    def share(self) -> float:
        return 1.0 / self.of if self.by_time is None else self.by_time


def in_project(chain: Sequence[Frame], project: Path) -> tuple[Frame, ...]:
    """From the first place in the project outwards; empty where there is none."""
    for position, frame in enumerate(chain):
        if project.resolve() in frame.file.resolve().parents:
            return tuple(chain[position:])
    return ()


def _is_global_atomic(item: Instruction) -> bool:
    return (
        item.operation.access in (AccessKind.ATOMIC, AccessKind.REDUCTION)
        and item.operation.space is not MemorySpace.SHARED
    )


def _evidence(
    kernel: Kernel, chain: tuple[Frame, ...], item: Instruction, seen: Seen, part: _Part, way: str
) -> SourceEvidence:
    quantities: dict[Metric, Quantity] = {}
    time = seen.times.told(chain[0].file, chain[0].line)
    remarks = [f"the line has {time}"] if time else []
    stalled = seen.whole.get(Metric.ATOMIC_STALL_NS)
    if stalled is not None and _is_global_atomic(item):
        provenance = stalled.provenance if part.of == 1 else Provenance.MODELLED
        quantities[Metric.DEVICE_TIME_NS] = Quantity(stalled.value * part.share, provenance)
        if part.of > 1:
            how = "by the time on their lines" if part.by_time is not None else "in equal parts"
            remarks.append(f"one of {part.of} atomics, which share the kernel's stall time {how}")
    told = f"{item.text} ({'; '.join(remarks)})" if remarks else item.text
    return SourceEvidence(
        kernel=kernel,
        file=chain[0].file,
        line=chain[0].line,
        column=chain[0].column,
        text=source_text(chain[0].file, chain[0].line),
        access=item.operation.access,
        space=item.operation.space,
        operation=told,
        element_bytes=item.operation.width_in_all,
        chain=chain,
        quantities=quantities,
        found_by=way,
    )


def source_text(file: Path, line: int) -> str:
    try:
        return file.read_text("utf-8", "replace").splitlines()[line - 1].strip()
    except (OSError, IndexError):
        return ""
