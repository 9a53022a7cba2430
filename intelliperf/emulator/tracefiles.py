"""Readers of the record files that the emulator's runtime writes, see `runtime/abi.h`.

Strict: a file of another version, a torn record or a reference to nothing raises `ProtocolError`
with the file's name. Readers know nothing of metrics; `collect` and `lines` give them meaning.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from intelliperf.emulator.codeobjects import CodeObject, with_places
from intelliperf.emulator.modulefacts import (
    ABI_VERSION,
    KernelFacts,
    Location,
    ModuleFacts,
    locations_of,
    parse_module,
)
from intelliperf.errors import ProtocolError
from intelliperf.records import Geometry

SHAPES = (  # counts with an error, in the order of both
    *("requests", "lanes", "bytes", "global_requests", "shared_requests"),
    *("sectors", "sectors_ideal", "lines64", "lines128", "lines128_ideal", "quad_lines64", "line_runs128"),
    *("lds_phases", "lds_phases_ideal", "same_address", "distinct_addresses"),
)
_COUNTS = (
    *SHAPES,
    *("l1_hits", "l1_misses", "l2_hits", "l2_misses", "read_again"),
    *("out_of_bounds", "uninitialized", "races_inter", "races_intra"),
)
SITE_DTYPE = np.dtype(
    [("launch", "<u4"), ("site", "<u4"), *((name, "<u8") for name in _COUNTS), ("error", "<f8", (len(SHAPES),))]
)
BLOCK_DTYPE = np.dtype([("launch", "<u4"), ("block", "<u4"), ("executions", "<u8"), ("waves", "<u8")])

LIBRARY = "library "  # how the operation of a library's call begins, its function's name behind

Records = npt.NDArray[np.void]


@dataclass(frozen=True)
class KernelLaunch:
    """One dispatch. Totals are of the whole launch, estimated by the runtime where it was sampled."""

    index: int
    kernel: str
    module: int
    geometry: Geometry
    blocks: int
    traced_blocks: int
    analyzed_lanes: float  # accesses whose addresses were followed through caches and memory
    lanes: float  # of all accesses
    empty_blocks: int  # without any access
    time_ns: float
    time_from: str
    time_parts: Mapping[str, float]
    atomic_lanes: float
    atomic_addresses: float
    atomics_known: bool  # the addresses of all atomics were looked at
    atomic_hottest_lanes: float
    atomic_hottest_site: int | None
    atomic_hottest_by_site: Mapping[int, float]  # lanes on the hottest address of each site that was first to touch any
    dram_bytes: float
    dram_bytes_compulsory: float
    occupancy_waves: float
    occupancy_limit: str
    waves_by: Mapping[str, float]  # registers, lds, blocks → waves that it allows by itself
    local_requests: float | None  # None where the real target's code is not known
    local_ns: float | None
    spin_ns: float | None  # by which lanes that meet in loops that stand for LDS atomics delay it; None: not analysed
    repeated: bool  # not run: an earlier launch had told what it leaves in memory
    status: int

    def lane_fill(self, wave_size: int) -> float:
        """Threads of a block to the lanes of its waves, 0..1."""
        threads = math.prod(self.geometry.block)
        return threads / (math.ceil(threads / wave_size) * wave_size)


@dataclass(frozen=True)
class Transfer:
    index: int
    operation: str
    bytes: int
    time_ns: float


_DAMAGE = re.compile(
    r"kernel=(?P<kernel>\S+) allocation_bytes=(?P<allocation_bytes>\d+) address_offset=(?P<address_offset>-?\d+)"
)


@dataclass(frozen=True)
class Fault:
    """One distinct misbehaviour; sites index the module's table, None where there is none."""

    kind: str
    launch: int | None
    kernel: str
    module: int | None
    site: int | None
    other_site: int | None
    scope: str | None
    space: str | None
    count: int
    address_offset: int | None
    allocation_bytes: int | None
    cause: str | None = None
    block: tuple[int, int, int] | None = None
    thread: int | None = None
    other_block: tuple[int, int, int] | None = None
    other_thread: int | None = None
    value: int | None = None  # 4 bytes there before the access
    resident: int | None = None  # of a deadlock: blocks that fit on the device, where others were not begun
    detail: str | None = None
    same_value: bool = False  # of two stores: the second changed nothing
    code_offset: int | None = None  # in the module's code object, of an instruction that stops


class Trace:
    """All records of one process, read on demand from its directory."""

    def __init__(self, directory: Path, cut_off: bool = False) -> None:
        """`cut_off`: the process may have been killed; what it wrote until then is read."""
        self.directory = directory
        self._end: Mapping[str, Any] = {} if cut_off and not (directory / "end.json").exists() else self._read_end()

    def _read_end(self) -> Mapping[str, Any]:
        path = self.directory / "end.json"
        if not path.exists():
            raise IncompleteTrace(f"{self.directory}: no end.json: the process was killed before it could end in order")
        end = _object(path, path.read_text())
        if end.get("abi") != ABI_VERSION:
            raise ProtocolError(f"{path}: records of version {end.get('abi')!r}, this reader knows {ABI_VERSION}")
        return end

    @property
    def complete(self) -> bool:
        return self._end.get("complete") is True

    @property
    def died_in_host_code(self) -> bool:
        """A signal ended it outside of every call of the GPU's API, and so outside of every kernel."""
        return self._end.get("complete") is False and self._end.get("in_host_code") is True

    @property
    def stopped_after(self) -> int | None:
        """Launches after which the runtime has ended the process, as it was asked to; None where it ended by itself."""
        return int(self._end.get("stopped_after", 0)) or None

    @property
    def asked(self) -> tuple[str, ...]:
        """What differs from run to run and was asked for before a launch: the program's input may come from it."""
        bits = int(self._end.get("asked", 0))
        return tuple(
            what for bit, what in enumerate(("the time of day", "random numbers of the machine")) if bits >> bit & 1
        )

    @property
    def host_ns_at_end(self) -> float:
        """The host's own work since its last call that was noted."""
        return float(self._end.get("host_ns", 0.0))

    @cached_property
    def modules(self) -> Mapping[int, ModuleFacts]:
        found = {}
        for path in sorted(self.directory.glob("module-*.json")):
            number = path.stem.removeprefix("module-")
            if not number.isdigit():
                raise ProtocolError(f"{path}: not a module's number")
            found[int(number)] = parse_module(path, with_places(_object(path, path.read_text()), self.directory))
        return found

    @cached_property
    def _rows(self) -> tuple[KernelLaunch | Transfer, ...]:
        path = self.directory / "launches.jsonl"
        return tuple(parse_launch(path, row) for row in _json_lines(path))

    @property
    def launches(self) -> tuple[KernelLaunch, ...]:
        return tuple(row for row in self._rows if isinstance(row, KernelLaunch))

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        return tuple(row for row in self._rows if isinstance(row, Transfer))

    @cached_property
    def sites(self) -> Records:
        records = _binary(self.directory / "sites.bin", SITE_DTYPE)
        self._check_references(records, "site", {n: len(m.sites) for n, m in self.modules.items()}, "sites.bin")
        return records

    @cached_property
    def blocks(self) -> Records:
        records = _binary(self.directory / "blocks.bin", BLOCK_DTYPE)
        self._check_references(records, "block", {n: len(m.blocks) for n, m in self.modules.items()}, "blocks.bin")
        return records

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        path = self.directory / "faults.jsonl"
        if not path.exists():
            return ()
        found = (parse_fault(path, row) for row in _json_lines(path))
        return tuple(fault for fault in found if not self._is_one_statement(fault))

    def _is_one_statement(self, fault: Fault) -> bool:
        """Copies of one store, as of an unrolled loop, by which several threads store the same value."""
        if not fault.same_value or fault.module is None or fault.site is None or fault.other_site is None:
            return False
        sites = self.modules[fault.module].sites
        first, second = sites[fault.site].locations, sites[fault.other_site].locations
        return bool(first) and first == second

    def kernel_of(self, fault: Fault) -> KernelFacts | None:
        """Of the module that it was seen in, else of any that has the kernel."""
        modules = self.modules.values() if fault.module is None else [self.modules[fault.module]]
        return next((module.kernels[fault.kernel] for module in modules if fault.kernel in module.kernels), None)

    def stopped_at(self, fault: Fault) -> tuple[Location, ...]:
        """The inline chain of the instruction that stopped a GPU's own code; empty for any other fault."""
        if fault.module is None or fault.code_offset is None:
            return ()
        code = CodeObject((self.directory / f"module-{fault.module}.co").read_bytes())
        return locations_of(code.chain(fault.code_offset))

    @cached_property
    def launch_by_index(self) -> Mapping[int, KernelLaunch]:
        return {launch.index: launch for launch in self.launches}

    def module_of(self, launch: KernelLaunch) -> ModuleFacts:
        if launch.module not in self.modules:
            raise ProtocolError(f"{self.directory}: launch {launch.index} names an absent module {launch.module}")
        return self.modules[launch.module]

    def _check_references(self, records: Records, field: str, sizes: Mapping[int, int], name: str) -> None:
        for number in sorted(set(records["launch"].tolist())):  # np.unique would load numpy's masked arrays
            launch = self.launch_by_index.get(number)
            if launch is None:
                raise ProtocolError(
                    f"{self.directory / name}: a record of launch {number}, which is not a kernel launch"
                )
            self.module_of(launch)
            largest = int(records[field][records["launch"] == number].max())
            if largest >= sizes[launch.module]:
                raise ProtocolError(f"{self.directory / name}: {field} {largest} is beyond module {launch.module}'s")


class IncompleteTrace(ProtocolError):
    """The process ended without writing `end.json`."""


def parse_launch(path: Path, row: Mapping[str, Any]) -> KernelLaunch | Transfer:
    try:
        if row["operation"] != "kernel":
            name = f"{LIBRARY}{row['name']}" if row["operation"] == "library" else str(row["operation"])
            return Transfer(int(row["index"]), name, int(row["bytes"]), float(row["time_ns"]))
        return _kernel_launch(row)
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"{path}: malformed record: {error!r}") from error


def _kernel_launch(row: Mapping[str, Any]) -> KernelLaunch:
    hottest = row["atomic_hottest_site"]
    return KernelLaunch(
        index=int(row["index"]),
        kernel=str(row["kernel"]),
        module=int(row["module"]),
        geometry=Geometry(_triple(row["grid"]), _triple(row["block"]), int(row["dynamic_lds"])),
        blocks=int(row["blocks"]),
        traced_blocks=int(row["traced_blocks"]),
        analyzed_lanes=float(row["events"]),
        lanes=float(row["all_events"]),
        empty_blocks=int(row["empty_blocks"]),
        time_ns=float(row["time_ns"]),
        time_from=str(row["time_from"]),
        time_parts={str(name): float(value) for name, value in row["time_parts"].items()},
        atomic_lanes=float(row["atomic_lanes"]),
        atomic_addresses=float(row["atomic_addresses"]),
        atomics_known=bool(row["atomics_known"]),
        atomic_hottest_lanes=float(row["atomic_hottest_lanes"]),
        atomic_hottest_site=None if hottest is None or int(hottest) < 0 else int(hottest),
        atomic_hottest_by_site={int(site): float(lanes) for site, lanes in row["atomic_hottest_by_site"]},
        dram_bytes=float(row["dram_read_bytes"]) + float(row["dram_write_bytes"]),
        dram_bytes_compulsory=float(row["dram_once_bytes"]) + float(row["dram_write_bytes"]),
        occupancy_waves=float(row["occupancy_waves"]),
        occupancy_limit=str(row["occupancy_limit"]),
        waves_by={name: float(row[f"waves_by_{name}"]) for name in ("registers", "lds", "blocks")},
        local_requests=None if row["local_requests"] is None else float(row["local_requests"]),
        local_ns=None if row["local_ns"] is None else float(row["local_ns"]),
        spin_ns=None if row["spin_ns"] is None else float(row["spin_ns"]),
        repeated=bool(row["repeated"]),
        status=int(row["status"]),
    )


def parse_fault(path: Path, row: Mapping[str, Any]) -> Fault:
    damage = _DAMAGE.fullmatch(str(row.get("detail")))
    if damage is not None:  # found after a launch, behind an allocation
        row = {**row, **damage.groupdict(), "detail": None}
    try:
        return Fault(
            kind=str(row["kind"]),
            launch=_optional(row.get("launch")),
            kernel=str(row.get("kernel") or ""),
            module=_optional(row.get("module")),
            site=_optional(row.get("site")),
            other_site=_optional(row.get("other_site")),
            scope=row.get("scope"),
            space=row.get("space"),
            count=int(row.get("count", 1)),
            address_offset=None if row.get("address_offset") is None else int(row["address_offset"]),
            allocation_bytes=_optional(row.get("allocation_bytes")),
            cause=row.get("cause"),
            block=None if row.get("block") is None else _triple(row["block"]),
            thread=_optional(row.get("thread")),
            other_block=None if row.get("other_block") is None else _triple(row["other_block"]),
            other_thread=_optional(row.get("other_thread")),
            value=row.get("value"),
            resident=_optional(row.get("resident")),
            detail=row.get("detail"),
            same_value=bool(row.get("same_value", False)),
            code_offset=_optional(row.get("code_offset")),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"{path}: malformed fault: {error!r}") from error


def _optional(value: Any) -> int | None:
    """Absent, null and the runtime's "none" (-1 or all ones) are the same."""
    return None if value is None or int(value) < 0 or int(value) == 0xFFFFFFFF else int(value)


def _triple(value: Any) -> tuple[int, int, int]:
    x, y, z = value
    return int(x), int(y), int(z)


def _object(path: Path, text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ProtocolError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ProtocolError(f"{path}: expected an object")
    return value


def _json_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    if not path.exists():
        raise ProtocolError(f"{path} is missing")
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield _object(path, line)


def _binary(path: Path, dtype: np.dtype[np.void]) -> Records:
    if not path.exists():
        raise ProtocolError(f"{path} is missing")
    size = path.stat().st_size
    if size % dtype.itemsize:
        raise ProtocolError(f"{path}: {size} bytes are not a whole number of {dtype.itemsize}-byte records")
    return np.fromfile(path, dtype=dtype)
