"""Every memory access of a kernel by the user's own line, from its machine code and line table.

What an instruction did when it ran is not known here: nothing but what belongs to the whole kernel is told of a line,
and where several lines share it, each gets an equal part that is marked as modelled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import SourceNotFound, ToolchainError
from intelliperf.process import output_of
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
from intelliperf.rocm.codeobject import find_tool
from intelliperf.rocm.instructions import Operation, operation
from intelliperf.rocm.symbols import plain

_DEADLINE_S = 120.0
_LABEL = re.compile(r"^[0-9a-f]{8,} <(?P<name>[^>]+)>:")
_LISTED = re.compile(r"^\s+(?P<name>[a-z]\w+)(?P<operands>[^/]*)//\s*(?P<address>[0-9A-F]+)")
_RETURNS = re.compile(r"\b(?:glc|sc0|th:TH_ATOMIC_RETURN)\b")


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


def memory_instructions(code: Sequence[bytes], kernel: Kernel, scratch: Path) -> tuple[Path, tuple[Instruction, ...]]:
    """Of the kernel, with the code object that holds it. Raises `SourceNotFound`."""
    for number, content in enumerate(code):
        path = scratch / f"{number}.co"
        path.write_bytes(content)
        items = parse_disassembly(_tool("llvm-objdump", "-d", str(path))).get(plain(kernel.symbol))
        if items is not None:
            return path, items
    raise SourceNotFound(f"{kernel.name}: its machine code was not found in the program")


def kernel_lines(
    code: Sequence[bytes],
    kernel: Kernel,
    project: Path,
    whole: Mapping[Metric, Quantity],
    scratch: Path,
    way: str = "",
) -> tuple[SourceEvidence, ...]:
    """One entry per line and instruction. `whole` is what is known of the kernel, `way` how this came.

    Raises `SourceNotFound`.
    """
    path, all_items = memory_instructions(code, kernel, scratch)
    items = [item for item in all_items if item.operation.space is not MemorySpace.LOCAL]
    return _located(items, _chains(path, items), kernel, project, whole, way)


def _tool(name: str, *arguments: str) -> str:
    done, out, err = output_of([str(find_tool(name)), *arguments], _DEADLINE_S)
    if not done.ok:
        raise ToolchainError(f"{name} failed: {err.strip()[-300:] or done.describe()}")
    return out


def _chains(path: Path, items: Sequence[Instruction]) -> dict[int, tuple[Frame, ...]]:
    """Inline chains by address, innermost first."""
    if not items:
        return {}
    addresses = [f"0x{item.address:x}" for item in items]
    told = json.loads(_tool("llvm-symbolizer", f"--obj={path}", "--inlining", "--output-style=JSON", *addresses))
    return {
        int(entry["Address"], 16): tuple(
            Frame(Path(frame["FileName"]), frame["Line"], frame["Column"], frame["FunctionName"])
            for frame in entry.get("Symbol", ())
            if frame["FileName"] and frame["Line"]
        )
        for entry in told
    }


def _located(
    items: Sequence[Instruction],
    chains: Mapping[int, tuple[Frame, ...]],
    kernel: Kernel,
    project: Path,
    whole: Mapping[Metric, Quantity],
    way: str,
) -> tuple[SourceEvidence, ...]:
    if items and not any(chains.values()):
        raise SourceNotFound(f"{kernel.name}: the binary has no line information; compile it with -gline-tables-only")
    places: dict[tuple[tuple[Frame, ...], str], Instruction] = {}
    for item in items:
        chain = in_project(chains.get(item.address, ()), project)
        if chain:
            places.setdefault((chain, item.text), item)
    if items and not places:
        raise SourceNotFound(f"{kernel.name}: none of its accesses lies in a source of {project}")
    atomics = sum(1 for item in places.values() if _is_global_atomic(item))
    return tuple(_evidence(kernel, chain, item, whole, atomics, way) for (chain, _), item in places.items())


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
    kernel: Kernel,
    chain: tuple[Frame, ...],
    item: Instruction,
    whole: Mapping[Metric, Quantity],
    atomics: int,
    way: str,
) -> SourceEvidence:
    quantities: dict[Metric, Quantity] = {}
    told = item.text
    stalled = whole.get(Metric.ATOMIC_STALL_NS)
    if stalled is not None and _is_global_atomic(item):
        provenance = stalled.provenance if atomics == 1 else Provenance.MODELLED
        quantities[Metric.DEVICE_TIME_NS] = Quantity(stalled.value / atomics, provenance)
        if atomics > 1:
            told += f" (one of {atomics} atomics, which share the kernel's stall time in equal parts)"
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
