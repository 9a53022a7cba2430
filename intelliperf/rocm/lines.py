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
from intelliperf.rocm.symbols import plain

_LABEL = re.compile(r"^[0-9a-f]{8,} <(?P<name>[^>]+)>:")
_ACCESS = re.compile(
    r"^\s+(?P<text>(?P<space>global|flat|buffer|ds)_(?P<what>load|storexchg|store|read|write|atomic|pk_add|add|sub|min|max|and|or|xor|"
    r"inc|dec|cmpst|wrxchg)\w*)(?P<operands>[^/]*)//\s*(?P<address>[0-9A-F]+)"
)
_ATOMIC_BYTES = 4  # where the name says nothing
_LOADS, _STORES = ("load", "read"), ("store", "write")
_RETURNS = re.compile(r"\b(?:glc|sc0|TH_ATOMIC_RETURN)\b")


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
    code: Sequence[bytes], kernel: Kernel, project: Path, whole: Mapping[Metric, Quantity], scratch: Path
) -> tuple[SourceEvidence, ...]:
    """One entry per line and instruction. `whole` is what is known of the kernel. Raises `SourceNotFound`."""
    for number, content in enumerate(code):
        path = scratch / f"{number}.co"
        path.write_bytes(content)
        items = parse_disassembly(tool_output("llvm-objdump", "-d", str(path))).get(plain(kernel.symbol))
        if items is not None:
            return _located(items, _chains(path, items), kernel, project, whole)
    raise SourceNotFound(f"{kernel.name}: its machine code was not found in the program")


def _chains(path: Path, items: Sequence[Instruction]) -> dict[int, tuple[Frame, ...]]:
    """Inline chains by address, innermost first."""
    if not items:
        return {}
    addresses = [f"0x{item.address:x}" for item in items]
    told = json.loads(tool_output("llvm-symbolizer", f"--obj={path}", "--inlining", "--output-style=JSON", *addresses))
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
    atomics = sum(1 for item in places.values() if _is_global_atomic(item))
    return tuple(_evidence(kernel, chain, item, whole, atomics) for (chain, _), item in places.items())


def _in_project(chain: Sequence[Frame], project: Path) -> tuple[Frame, ...]:
    """From the first place in the project outwards; empty where there is none."""
    for position, frame in enumerate(chain):
        if project.resolve() in frame.file.resolve().parents:
            return tuple(chain[position:])
    return ()


def _is_global_atomic(item: Instruction) -> bool:
    return item.access in (AccessKind.ATOMIC, AccessKind.REDUCTION) and item.space is not MemorySpace.SHARED


def _evidence(
    kernel: Kernel, chain: tuple[Frame, ...], item: Instruction, whole: Mapping[Metric, Quantity], atomics: int
) -> SourceEvidence:
    quantities: dict[Metric, Quantity] = {}
    operation = item.text
    stalled = whole.get(Metric.ATOMIC_STALL_NS)
    if stalled is not None and _is_global_atomic(item):
        provenance = stalled.provenance if atomics == 1 else Provenance.MODELLED
        quantities[Metric.DEVICE_TIME_NS] = Quantity(stalled.value / atomics, provenance)
        if atomics > 1:
            operation += f" (one of {atomics} atomics, which share the kernel's stall time in equal parts)"
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
