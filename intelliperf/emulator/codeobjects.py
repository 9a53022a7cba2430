"""Where the instructions of a GPU's own code come from: inline chains from a code object's DWARF 4 or 5.

What the runtime records of such a module has addresses instead of places, and the code object beside it.
"""

from __future__ import annotations

import bisect
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.lineprogram import LineProgram
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

from intelliperf.errors import ProtocolError

KEY = "code_object"  # of a module's metadata: the name of its file
_FUNCTIONS = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")

DwarfPlace = tuple[str, int, int]  # file, line, column


@dataclass(frozen=True)
class _Row:
    address: int
    place: DwarfPlace | None  # None where a sequence ends


@dataclass
class _Function:
    """One function, or one place where it was put into another."""

    name: str
    ranges: Sequence[tuple[int, int]]
    call: DwarfPlace | None  # None of a function itself
    inlined: list[_Function] = field(default_factory=list)

    def holds(self, address: int) -> bool:
        return any(begin <= address < end for begin, end in self.ranges)


class CodeObject:
    """Lines of one code object, by address from its beginning. Raises `ProtocolError` for a damaged file."""

    def __init__(self, content: bytes) -> None:
        try:
            file = ELFFile(io.BytesIO(content))
            self._dwarf: DWARFInfo | None = file.get_dwarf_info() if file.has_dwarf_info() else None
        except ELFError as error:
            raise ProtocolError(f"this is not a code object: {error}") from error

    def chain(self, address: int) -> list[dict[str, str | int]]:
        """The inline chain from the innermost frame outwards; empty where nothing is known."""
        at = bisect.bisect_right(self._addresses, address) - 1
        place = self._rows[at].place if at >= 0 else None
        if place is None:
            return []
        nested = self._functions_around(address)
        found = []
        for function in reversed(nested):
            found.append(_location(place, function.name))
            place = function.call or place
        return found or [_location(place, "")]

    def place(self, address: int) -> DwarfPlace | None:
        """Of the instruction, in the outermost function; None where nothing is known."""
        chain = self.chain(address)
        return (str(chain[-1]["file"]), int(chain[-1]["line"]), int(chain[-1]["column"])) if chain else None

    def definition(self, symbol: str) -> DwarfPlace | None:
        """Where a function is written; None where that is not known."""
        return self._definitions.get(symbol)

    @cached_property
    def _units(self) -> Sequence[CompileUnit]:
        return list(self._dwarf.iter_CUs()) if self._dwarf is not None else []

    @cached_property
    def _rows(self) -> Sequence[_Row]:
        rows = [row for unit in self._units for row in self._rows_of(unit)]
        return sorted(rows, key=lambda row: (row.address, row.place is not None))

    @cached_property
    def _addresses(self) -> Sequence[int]:
        return [row.address for row in self._rows]

    @cached_property
    def _functions(self) -> Sequence[_Function]:
        return [function for unit in self._units for function in self._functions_of(unit.get_top_DIE(), unit)]

    @cached_property
    def _definitions(self) -> Mapping[str, DwarfPlace]:
        found: dict[str, DwarfPlace] = {}
        for unit in self._units:
            for entry in unit.iter_DIEs():
                attributes = entry.attributes
                if entry.tag != "DW_TAG_subprogram" or "DW_AT_decl_line" not in attributes:
                    continue
                place = self._place(unit, attributes, "decl")
                for key in ("DW_AT_linkage_name", "DW_AT_name"):
                    if key in attributes and place is not None:
                        found.setdefault(attributes[key].value.decode(), place)
        return found

    def _functions_around(self, address: int) -> list[_Function]:
        """From the outermost to the innermost."""
        found: list[_Function] = []
        level: Sequence[_Function] = self._functions
        while (inner := next((one for one in level if one.holds(address)), None)) is not None:
            found.append(inner)
            level = inner.inlined
        return found

    def _rows_of(self, unit: CompileUnit) -> Iterator[_Row]:
        assert self._dwarf is not None
        program = self._dwarf.line_program_for_CU(unit)
        if program is None:
            return
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                yield _Row(state.address, None)
            else:
                yield _Row(state.address, (self._file(unit, program, state.file), state.line, state.column))

    def _functions_of(self, entry: DIE, unit: CompileUnit) -> list[_Function]:
        """Those below an entry, through blocks of scope."""
        found = []
        for child in entry.iter_children():
            below = self._functions_of(child, unit)
            ranges = self._ranges(child, unit) if child.tag in _FUNCTIONS else ()
            if ranges:
                call = self._place(unit, child.attributes, "call") if child.tag == _FUNCTIONS[1] else None
                found.append(_Function(_name(child), ranges, call, below))
            else:
                found += below
        return found

    def _ranges(self, entry: DIE, unit: CompileUnit) -> Sequence[tuple[int, int]]:
        attributes = entry.attributes
        if "DW_AT_ranges" in attributes:
            return self._listed_ranges(entry, unit)
        if "DW_AT_low_pc" not in attributes or "DW_AT_high_pc" not in attributes:
            return ()
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        return ((low, high.value if high.form == "DW_FORM_addr" else low + high.value),)

    def _listed_ranges(self, entry: DIE, unit: CompileUnit) -> Sequence[tuple[int, int]]:
        assert self._dwarf is not None
        lists = self._dwarf.range_lists()
        if lists is None:
            return ()
        top = unit.get_top_DIE().attributes
        base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
        found = []
        for one in lists.get_range_list_at_offset(entry.attributes["DW_AT_ranges"].value, unit):
            if isinstance(one, BaseAddressEntry):
                base = one.base_address
            else:
                start = 0 if getattr(one, "is_absolute", False) else base
                found.append((start + one.begin_offset, start + one.end_offset))
        return found

    def _place(self, unit: CompileUnit, attributes: Mapping[str, Any], kind: str) -> DwarfPlace | None:
        assert self._dwarf is not None
        number, line = attributes.get(f"DW_AT_{kind}_file"), attributes.get(f"DW_AT_{kind}_line")
        program = self._dwarf.line_program_for_CU(unit)
        if number is None or line is None or program is None:
            return None
        column = attributes.get(f"DW_AT_{kind}_column")
        return (self._file(unit, program, number.value), line.value, column.value if column is not None else 0)

    def _file(self, unit: CompileUnit, program: LineProgram, number: int) -> str:
        header = program.header
        modern = header["version"] >= 5
        files = header["file_entry"]
        at = number if modern else number - 1
        if not 0 <= at < len(files):
            return ""
        directories = header["include_directory"]
        directory = files[at].dir_index if modern else files[at].dir_index - 1
        parts = [_text(directories[directory])] if 0 <= directory < len(directories) else []
        top = unit.get_top_DIE().attributes
        if "DW_AT_comp_dir" in top:
            parts.insert(0, top["DW_AT_comp_dir"].value.decode())
        return os.path.normpath(Path(*parts, _text(files[at].name)))


def with_places(row: Mapping[str, Any], directory: Path) -> Mapping[str, Any]:
    """A module's metadata, with what its code object tells of each address; unchanged for any other module."""
    name = row.get(KEY)
    if name is None:
        return row
    try:
        code = CodeObject((directory / str(name)).read_bytes())
    except OSError as error:
        raise ProtocolError(f"{directory / str(name)}: {error}") from error
    places: list[list[dict[str, str | int]]] = []
    blocks = []
    for block in row["blocks"]:
        blocks.append({**block, "location": len(places)})
        places.append(code.chain(int(block["address"])))
    return {
        **row,
        "sites": [{**site, "locations": code.chain(int(site["address"]))} for site in row["sites"]],
        "blocks": blocks,
        "locations": places,
        "kernels": {
            symbol: _local_places(_defined(kernel, code.definition(symbol) or code.place(int(kernel["address"]))), code)
            for symbol, kernel in row["kernels"].items()
        },
    }


def _defined(kernel: Mapping[str, Any], place: DwarfPlace | None) -> Mapping[str, Any]:
    return kernel if place is None else {**kernel, "file": place[0], "line": place[1]}


def _local_places(kernel: Mapping[str, Any], code: CodeObject) -> Mapping[str, Any]:
    def located(access: Mapping[str, Any]) -> Mapping[str, Any]:
        chain = code.chain(int(access["address"]))
        return {**access, "chain": [(place["file"], place["line"], place["column"]) for place in chain]}

    static = kernel["static"]
    return {**kernel, "static": {**static, "local": [located(access) for access in static["local"]]}}


def _location(place: DwarfPlace, function: str) -> dict[str, str | int]:
    return {"file": place[0], "line": place[1], "column": place[2], "function": function}


def _name(entry: DIE) -> str:
    for one in _origins(entry):
        for key in ("DW_AT_linkage_name", "DW_AT_name"):
            if key in one.attributes:
                return str(one.attributes[key].value.decode())
    return ""


def _origins(entry: DIE) -> Iterable[DIE]:
    yield entry
    for key in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if key in entry.attributes:
            yield from _origins(entry.get_DIE_from_attribute(key))


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
