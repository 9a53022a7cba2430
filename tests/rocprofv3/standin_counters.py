"""Hardware counters of gfx90a from the counts per instruction of the software gfx90a.

That device has no caches: each line that an instruction touches is a request of 64 bytes to L2 and to memory. Its
clock is its own model, so that cycles are its nanoseconds at 1.7 GHz. In that model all atomics stand in one queue,
four cycles for each lane on an address that others of its wave are on, too; every L1 waits as long. A compute unit
holds as many waves as registers and LDS have room for, from the first cycle to the last. What cannot be derived so is
not known to this tool, as a misspelt name is not.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLOCK_GHZ = 1.7
COMPUTE_UNITS = 110
ATOMIC_CYCLES = 4
L2_CHANNELS = 32
SIMDS, WAVES_PER_SIMD, REGISTERS, LDS_BYTES = 4, 8, 512, 64 << 10  # of a compute unit; registers of a lane
SLOTS = {"SQ": 8, "TA": 2, "TD": 2, "TCP": 4, "TCC": 4, "CPC": 2, "CPF": 2, "SPI": 6, "GRBM": 2}
_VECTOR = ("global_", "flat_", "buffer_", "scratch_")
_CONTROL = ("s_waitcnt", "s_nop", "s_endpgm", "s_barrier", "s_branch", "s_cbranch", "s_sleep", "s_setprio")
_SCALAR_MEMORY = ("s_load", "s_store", "s_buffer", "s_dcache", "s_memtime", "s_atomic")


class Unknown(Exception):
    """No such counter."""


@dataclass(frozen=True)
class Executed:
    """One instruction of one dispatch. Counts are of wave executions."""

    text: str
    executions: int
    lanes: int
    space: str = ""
    kind: str = ""
    lines: int = 0
    lds_cycles: int = 0
    lds_cycles_ideal: int = 0
    atomic_same_address: int = 0
    address: int | None = None  # in its code object

    @property
    def is_buffer(self) -> bool:
        return self.text.startswith(("buffer_", "scratch_"))


@dataclass(frozen=True)
class Ran:
    """One dispatch as the device recorded it; `kernel` is mangled, None for a kernel of the runtime."""

    number: int
    queue: int
    kernel: str | None
    grid: tuple[int, int, int]
    workgroup: tuple[int, int, int]
    lds_bytes: int
    scratch_bytes: int
    vgprs: int
    agprs: int
    sgprs: int
    start_ns: int
    end_ns: int
    waves: int
    instructions: tuple[Executed, ...]


def dispatches_in(path: Path) -> list[Ran]:
    found = []
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if entry["version"] != 1:
            raise SystemExit(f"{path} is of version {entry['version']}")
        found.append(_ran(entry))
    return found


def _ran(entry: dict[str, Any]) -> Ran:
    fields = Executed.__dataclass_fields__
    return Ran(
        number=entry["dispatch"],
        queue=entry["queue"],
        kernel=entry["kernel"],
        grid=tuple(entry["grid"]),
        workgroup=tuple(entry["workgroup"]),
        lds_bytes=entry["group_segment_bytes"],
        scratch_bytes=entry["private_segment_bytes"],
        vgprs=entry["vgprs"],
        agprs=entry["agprs"],
        sgprs=entry["sgprs"],
        start_ns=entry["start_ns"],
        end_ns=entry["end_ns"],
        waves=entry["waves"],
        instructions=tuple(
            Executed(**{key: value for key, value in one.items() if key in fields}) for one in entry["instructions"]
        ),
    )


def base_of(counter: str) -> str:
    return counter.removesuffix("_sum")


def fits(counters: Sequence[str]) -> bool:
    """Whether one pass of the hardware can take them."""
    slots = dict(SLOTS)
    for change in filter(None, os.environ.get("ROCPROFV3_STANDIN_SLOTS", "").split(",")):
        block, _, count = change.partition("=")
        slots[block] = int(count)
    used: dict[str, int] = {}
    for base in {base_of(counter) for counter in counters}:
        block = base.partition("_")[0]
        used[block] = used.get(block, 0) + 1
    return all(count <= slots.get(block, 0) for block, count in used.items())


def _executions(instructions: Iterable[Executed]) -> int:
    return sum(one.executions for one in instructions)


def _named(ran: Ran, *prefixes: str) -> list[Executed]:
    return [one for one in ran.instructions if one.text.startswith(prefixes)]


def _vector(ran: Ran, kind: str, buffer: bool | None = None) -> list[Executed]:
    return [
        one
        for one in _named(ran, *_VECTOR)
        if one.kind == kind and one.space in ("global", "scratch") and (buffer is None or one.is_buffer == buffer)
    ]


def _lines(ran: Ran, *kinds: str) -> int:
    return sum(one.lines for kind in kinds for one in _vector(ran, kind))


def _returning(ran: Ran) -> list[Executed]:
    return [one for one in _vector(ran, "atomic") if " glc" in one.text]


def _cycles(ran: Ran) -> int:
    return round((ran.end_ns - ran.start_ns) * CLOCK_GHZ)


def _resident(ran: Ran) -> int:
    """Waves that are there at a time."""
    in_group = -(-math.prod(ran.workgroup) // 64)
    by_registers = SIMDS * min(WAVES_PER_SIMD, REGISTERS // max(1, ran.vgprs + ran.agprs)) // in_group
    groups = min(by_registers, LDS_BYTES // ran.lds_bytes) if ran.lds_bytes else by_registers
    return min(ran.waves, max(1, groups) * in_group * COMPUTE_UNITS)


def _queued(ran: Ran) -> int:
    return min(_cycles(ran), ATOMIC_CYCLES * sum(one.atomic_same_address for one in _vector(ran, "atomic")))


def _lds(ran: Ran) -> list[Executed]:
    return [one for one in ran.instructions if one.space == "lds"]


def _scalar(ran: Ran) -> list[Executed]:
    return [one for one in _named(ran, "s_") if not one.text.startswith((*_CONTROL, *_SCALAR_MEMORY))]


_COUNTERS: dict[str, Callable[[Ran], float]] = {
    "GRBM_COUNT": _cycles,
    "GRBM_GUI_ACTIVE": _cycles,
    "SQ_WAVES": lambda ran: ran.waves,
    "SQ_WAVE_CYCLES": lambda ran: _resident(ran) * _cycles(ran) / 4,  # counted every fourth
    "SQ_INSTS": lambda ran: _executions(ran.instructions),
    "SQ_INSTS_VALU": lambda ran: _executions(_named(ran, "v_")),
    "SQ_INSTS_SALU": lambda ran: _executions(_scalar(ran)),
    "SQ_INSTS_SMEM": lambda ran: _executions(_named(ran, *_SCALAR_MEMORY)),
    "SQ_INSTS_LDS": lambda ran: _executions(_named(ran, "ds_")),
    "SQ_INSTS_VMEM_RD": lambda ran: _executions(_vector(ran, "load")),
    "SQ_INSTS_VMEM_WR": lambda ran: _executions(_vector(ran, "store")),
    "SQ_ACTIVE_INST_VALU": lambda ran: _executions(_named(ran, "v_")),
    "SQ_THREAD_CYCLES_VALU": lambda ran: sum(one.lanes for one in _named(ran, "v_")),
    "SQ_LDS_IDX_ACTIVE": lambda ran: sum(one.lds_cycles for one in _lds(ran)),
    "SQ_LDS_BANK_CONFLICT": lambda ran: sum(one.lds_cycles - one.lds_cycles_ideal for one in _lds(ran)),
    "TA_FLAT_READ_WAVEFRONTS": lambda ran: _executions(_vector(ran, "load", buffer=False)),
    "TA_FLAT_WRITE_WAVEFRONTS": lambda ran: _executions(_vector(ran, "store", buffer=False)),
    "TA_FLAT_ATOMIC_WAVEFRONTS": lambda ran: _executions(_vector(ran, "atomic", buffer=False)),
    "TA_BUFFER_READ_WAVEFRONTS": lambda ran: _executions(_vector(ran, "load", buffer=True)),
    "TA_BUFFER_WRITE_WAVEFRONTS": lambda ran: _executions(_vector(ran, "store", buffer=True)),
    "TA_BUFFER_ATOMIC_WAVEFRONTS": lambda ran: _executions(_vector(ran, "atomic", buffer=True)),
    "TCP_GATE_EN1": lambda ran: _cycles(ran) * COMPUTE_UNITS,
    "TCP_TOTAL_CACHE_ACCESSES": lambda ran: _lines(ran, "load", "store", "atomic"),
    "TCP_TCC_READ_REQ": lambda ran: _lines(ran, "load"),
    "TCP_TCC_WRITE_REQ": lambda ran: _lines(ran, "store"),
    "TCP_TCC_ATOMIC_WITH_RET_REQ": lambda ran: sum(one.lines for one in _returning(ran)),
    "TCP_TCC_ATOMIC_WITHOUT_RET_REQ": lambda ran: _lines(ran, "atomic") - sum(one.lines for one in _returning(ran)),
    "TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES": lambda ran: _queued(ran) * COMPUTE_UNITS,
    "TCC_REQ": lambda ran: _lines(ran, "load", "store", "atomic"),
    "TCC_CYCLE": lambda ran: _cycles(ran) * L2_CHANNELS,
    "TCC_HIT": lambda ran: 0,
    "TCC_MISS": lambda ran: _lines(ran, "load", "store", "atomic"),
    "TCC_ATOMIC": lambda ran: _lines(ran, "atomic"),
    "TCC_EA_RDREQ": lambda ran: _lines(ran, "load"),
    "TCC_EA_RDREQ_32B": lambda ran: 0,
    "TCC_EA_WRREQ": lambda ran: _lines(ran, "store"),
    "TCC_EA_WRREQ_64B": lambda ran: _lines(ran, "store"),
    "TCC_EA_ATOMIC": lambda ran: 0,
    "TCC_EA_ATOMIC_LEVEL": lambda ran: 0,
}
_REDUCED = ("TA_", "TCP_", "TCC_")  # blocks whose sum over instances has a name of its own


def counters_of(dispatches: Sequence[Ran], counter: str) -> list[float]:
    """One value per dispatch. Raises `Unknown`."""
    base = base_of(counter)
    if base not in _COUNTERS or (counter != base and not base.startswith(_REDUCED)):
        raise Unknown(counter)
    return [float(_COUNTERS[base](ran)) for ran in dispatches]
