"""Per-line counts of the software gfx90a, as a profiler of instructions gives them: line tables of the code object.

The other instrument is the product's emulator, which never sees a machine instruction.
"""

from __future__ import annotations

import io
import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from intelliperf.processes.process import output_of

_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_DEADLINE_S = 60.0
_TWO_ACCESSES = ("ds_read2", "ds_write2")


@dataclass(frozen=True, order=True)
class Place:
    kernel: str  # mangled
    line: str  # file's name and line, of the outermost frame in the project
    space: str  # global, lds
    kind: str  # load, store, atomic


@dataclass
class Figures:
    """Sums over the dispatches of a kernel; one access may be several instructions."""

    executions: int = 0
    lanes: int = 0
    bytes: int = 0
    lines: int = 0
    lds_cycles: int = 0
    lds_cycles_ideal: int = 0
    same_address: int = 0

    def add(self, other: Figures) -> None:
        for name in (entry.name for entry in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def code_objects(binary: Path, into: Path) -> list[Path]:
    """The gfx90a code objects of a HIP binary, one per translation unit."""
    with binary.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".hip_fatbin").data()
    found = []
    at = section.find(_MAGIC)
    while at >= 0:
        (entries,) = struct.unpack_from("<Q", section, at + len(_MAGIC))
        place = at + len(_MAGIC) + 8
        for _ in range(entries):
            offset, size, length = struct.unpack_from("<QQQ", section, place)
            name = section[place + 24 : place + 24 + length].decode()
            place += 24 + length
            if "gfx90a" in name:
                found.append(into / f"{len(found)}.co")
                found[-1].write_bytes(section[at + offset : at + offset + size])
        at = section.find(_MAGIC, place)
    return found


def kernels_in(code_object: Path) -> set[str]:
    symbols = ELFFile(io.BytesIO(code_object.read_bytes())).get_section_by_name(".dynsym")
    return {symbol.name[: -len(".kd")] for symbol in symbols.iter_symbols() if symbol.name.endswith(".kd")}


def device_lines(
    dispatches: Iterable[dict[str, Any]], objects: Sequence[Path], project: Path, as_written: bool = False
) -> dict[Place, Figures]:
    """Of the project's kernels; other kernels, such as HIP's own fills, are left out.

    `as_written`: what is inlined from the project counts where it is written, not where it is called, and an
    instruction that makes two accesses of the LDS (`ds_read2`, `ds_write2`) counts as two.
    """
    found: dict[Place, Figures] = defaultdict(Figures)
    by_kernel = {kernel: code_object for code_object in objects for kernel in kernels_in(code_object)}
    lines: dict[tuple[Path, int], str | None] = {}
    for dispatch in dispatches:
        code_object = by_kernel.get(dispatch["kernel"])
        if code_object is None:
            continue
        counted = [entry for entry in dispatch["instructions"] if entry.get("space") in ("global", "lds")]
        unknown = [entry["address"] for entry in counted if (code_object, entry["address"]) not in lines]
        for address, line in _symbolized(code_object, unknown, project, as_written).items():
            lines[code_object, address] = line
        for entry in counted:
            line = lines[code_object, entry["address"]]
            if line is None:
                continue
            place = Place(dispatch["kernel"], line, entry["space"], entry["kind"])
            accesses = 2 if as_written and entry["text"].startswith(_TWO_ACCESSES) else 1
            found[place].add(
                Figures(
                    entry["executions"] * accesses,
                    entry["lanes"] * accesses,
                    entry["lanes"] * entry["bytes"],
                    entry.get("lines", 0),
                    entry.get("lds_cycles", 0),
                    entry.get("lds_cycles_ideal", 0),
                    entry.get("atomic_same_address", 0),
                )
            )
    return dict(found)


def _symbolized(code_object: Path, addresses: Sequence[int], project: Path, innermost: bool) -> dict[int, str | None]:
    if not addresses:
        return {}
    argv = ["llvm-symbolizer-19", f"--obj={code_object}", "--output-style=JSON", *map(hex, addresses)]
    done, out, err = output_of(argv, _DEADLINE_S)
    assert done.ok, err
    return {
        int(entry["Address"], 16): _users_line(entry["Symbol"][:: 1 if innermost else -1], project)
        for entry in json.loads(out)
    }


def _users_line(frames: Sequence[dict[str, Any]], project: Path) -> str | None:
    """The first frame in the project."""
    for frame in frames:
        file = Path(frame["FileName"])
        if file.is_absolute() and project in file.resolve().parents:
            return f"{file.name}:{frame['Line']}"
    return None
