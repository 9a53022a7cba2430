"""What one translation unit's device code is made of: the metadata of its container, as the records repeat it.

Sites, basic blocks and kernels, the latter with what the real target's compiler says of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from intelliperf.emulator.resources import LocalCounts, Resources
from intelliperf.errors import ProtocolError

ABI_VERSION = 5
_COMBINED = 16  # kSiteCombined of the runtime
_SPINS = 64  # flag of ir.memory
_CONSTANT, _CHAINED = 512, 2048  # likewise, of a load
FIXED = "fixed"  # of a device variable: neither kernels nor the host can write it


@dataclass(frozen=True)
class Location:
    file: str
    line: int
    column: int
    function: str


@dataclass(frozen=True)
class SiteFacts:
    """One instrumented instruction. `locations` run from the innermost inlined frame outwards."""

    kind: str
    bytes: int
    function: str
    operation: str
    type: str
    locations: tuple[Location, ...]
    also: tuple[tuple[Location, ...], ...] | None = None  # other places merged into it; empty: not known which
    flags: int = 0
    by: str = ""  # of an atomic: the compiler whose code says how it is done, or the table that does
    doubts: tuple[str, ...] = ()  # why hardware may make it otherwise, see `ir.doubts`

    @property
    def spins(self) -> bool:
        """In LDS it is a loop round a compare-and-swap."""
        return bool(self.flags & _SPINS)

    @property
    def constant(self) -> bool:
        """A load by the constant cache, or by AMD's scalar cache."""
        return self.kind == "load" and bool(self.flags & _CONSTANT)

    @property
    def chained(self) -> bool:
        """A load that waits for one in an earlier turn of its loop."""
        return self.kind == "load" and bool(self.flags & _CHAINED)

    @property
    def one_lane(self) -> bool:
        """One lane of a wave does it for all that are on one address."""
        return bool(self.flags & _COMBINED)


@dataclass(frozen=True)
class BlockFacts:
    """One basic block: its operations by kind, and where most of them come from, innermost frame first."""

    function: str
    mix: Mapping[str, int]
    locations: tuple[Location, ...]

    @property
    def operations(self) -> int:
        return sum(self.mix.values())


@dataclass(frozen=True)
class LocalFacts(LocalCounts):
    """They run as often as `blocks` do on average. `place` is empty where the compiler gives no position."""

    place: tuple[tuple[str, int, int], ...]  # file, line, column; innermost first
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class StaticFacts(Resources):
    """`local` is None where the compiler does not tell."""

    local: tuple[LocalFacts, ...] | None


@dataclass(frozen=True)
class Quantity:
    """A plain number that a kernel is handed, see `ir.quantities`: in an argument or in a device variable."""

    parameter: int | str  # index, or the variable's name
    offset: int
    bytes: int
    encoding: str
    divisors: tuple[int, ...]
    open: bool
    compared: bool
    constants: tuple[int, ...]
    mask: bool = False  # other numbers are masked with it
    bound: bool = False  # others are cut to it


@dataclass(frozen=True)
class KernelFacts:
    symbol: str
    name: str
    file: str | None
    line: int | None
    end_line: int | None
    static_lds: int
    static: StaticFacts | None
    quantities: tuple[Quantity, ...] = ()  # among its arguments
    reads_grid: bool = False  # its code asks for the number of blocks
    elements: int = 0  # of the largest tensor that a program of it works on; 0 where that is not known
    only_read: tuple[int, ...] = ()  # parameters that are pointers which nothing is stored through
    only_written: tuple[int, ...] = ()  # or loaded
    numbers: frozenset[str] = frozenset()  # the encodings of those that its pointers lead to


@dataclass(frozen=True)
class ModuleFacts:
    """The metadata of one container: sites, basic blocks and kernels of one translation unit."""

    source: str
    language: str
    target: str
    wave_size: int
    device: Mapping[str, str | int | float]
    sites: tuple[SiteFacts, ...]
    blocks: tuple[BlockFacts, ...]
    kernels: Mapping[str, KernelFacts]
    quantities: tuple[Quantity, ...] = ()  # of its device variables that kernels only read
    numbers: frozenset[str] = frozenset()  # the encodings of those that its device variables hold


def parse_module(path: Path, row: Mapping[str, Any]) -> ModuleFacts:
    if row.get("abi") != ABI_VERSION:
        raise ProtocolError(f"{path}: metadata of version {row.get('abi')!r}, this reader knows {ABI_VERSION}")
    try:
        return ModuleFacts(
            source=str(row["source"]),
            language=str(row["language"]),
            target=str(row["target"]),
            wave_size=int(row["wave_size"]),
            device=row["device"],
            sites=tuple(_site(site) for site in row["sites"]),
            blocks=_blocks(row),
            kernels={symbol: _kernel(symbol, kernel) for symbol, kernel in row["kernels"].items()},
            quantities=tuple(_quantity(name, one) for name, facts in row["symbols"].items() for one in _open(facts)),
            numbers=_encodings(row["symbols"].values()),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"{path}: malformed metadata: {error!r}") from error


def _open(symbol: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """What a device variable consists of, unless all of it stands in the program's text."""
    return () if symbol.get(FIXED) else symbol.get("quantities", ())


def _site(row: Mapping[str, Any]) -> SiteFacts:
    return SiteFacts(
        kind=str(row["kind"]),
        bytes=int(row["bytes"]),
        function=str(row["function"]),
        operation=str(row["operation"]),
        type=str(row.get("type", "")),
        locations=locations_of(row["locations"]),
        also=None if "also" not in row else tuple(locations_of(places) for places in row["also"]),
        flags=int(row.get("flags", 0)),
        by=str(row.get("by", "")),
        doubts=tuple(map(str, row.get("doubts", ()))),
    )


def _blocks(row: Mapping[str, Any]) -> tuple[BlockFacts, ...]:
    named = [locations_of(places) for places in row["locations"]]
    return tuple(
        BlockFacts(str(block["function"]), block["mix"], () if block["location"] is None else named[block["location"]])
        for block in row["blocks"]
    )


def locations_of(places: Sequence[Mapping[str, Any]]) -> tuple[Location, ...]:
    return tuple(
        Location(str(place["file"]), int(place["line"]), int(place["column"]), str(place["function"]))
        for place in places
    )


def _kernel(symbol: str, row: Mapping[str, Any]) -> KernelFacts:
    static = row["static"]
    return KernelFacts(
        symbol=symbol,
        name=str(row["name"]),
        file=row.get("file") or None,
        line=row.get("line") or None,
        end_line=row.get("end_line") or None,
        static_lds=int(row["static_lds"]),
        static=None if static is None else _static(static),
        quantities=tuple(_quantity(one["parameter"], one) for one in row.get("quantities", ())),
        reads_grid=bool(row.get("reads_grid")),
        elements=int(row.get("elements", 0)),
        only_read=tuple(map(int, row.get("only_read", ()))),
        only_written=tuple(map(int, row.get("only_written", ()))),
        numbers=_encodings(one for one in row.get("parameters", ()) if one.get("pointer")),
    )


def _encodings(described: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(
        str(number.get("encoding", ""))
        for one in described
        for number in (*filter(None, [one.get("number")]), *(one.get("members") or ()))
    )


def _quantity(parameter: int | str, row: Mapping[str, Any]) -> Quantity:
    return Quantity(
        parameter=parameter,
        offset=int(row["offset"]),
        bytes=int(row["bytes"]),
        encoding=str(row["encoding"]),
        divisors=tuple(map(int, row["divisors"])),
        open=bool(row["open"]),
        compared=bool(row["compared"]),
        mask=bool(row.get("mask")),
        bound=bool(row.get("bound")),
        constants=tuple(map(int, row["constants"])),
    )


def _static(row: Mapping[str, Any]) -> StaticFacts:
    numbers = {item.name: int(row[item.name]) for item in fields(Resources) if item.name != "architecture"}
    local = None if row["local"] is None else tuple(_local(access) for access in row["local"])
    return StaticFacts(architecture=str(row["architecture"]), **numbers, local=local)


def _local(row: Mapping[str, Any]) -> LocalFacts:
    numbers = {item.name: int(row[item.name]) for item in fields(LocalCounts)}
    place = tuple((str(file), int(line), int(column)) for file, line, column in row["chain"])
    return LocalFacts(**numbers, place=place, blocks=tuple(int(block) for block in row["blocks"]))
