"""rocprofv3's output files in each release's dialect: CSV, JSON and rocpd."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import which
from typing import Any

import standin_samples
from standin_arguments import Job
from standin_counters import COMPUTE_UNITS, Ran, counters_of

AGENT, CPU = 1, 0
UUID = "00001a2b_03c4_75d6_a7e8_1122334455ff"
GUID = UUID.replace("_", "-")
AGENT_FACTS = {
    "max_waves_per_simd": 8,
    "lds_size_in_kb": 64,
    "wave_front_size": 64,
    "num_xcc": 1,
    "cu_count": COMPUTE_UNITS,
    "num_shader_banks": 8,
    "simd_per_cu": 4,
    "gfx_target_version": 90010,
}


@dataclass(frozen=True)
class Recording:
    """What one process did, and what was asked about it."""

    pid: int
    release: str
    dispatches: list[Ran]
    counters: list[str]
    job: Job
    zero: bool
    application: tuple[str, ...] = ()

    @cached_property
    def names(self) -> dict[str, str]:
        """Mangled → as the tool prints it: with the descriptor's mark, or demangled."""
        mangled = [ran.kernel or "" for ran in self.dispatches]
        if self.job.mangled:
            return {name: f"{name}.kd" for name in mangled}
        program = which("c++filt")
        if program is None or not mangled:
            return {name: name for name in mangled}
        done = subprocess.run([program, *mangled], capture_output=True, text=True, check=True)
        return dict(zip(mangled, done.stdout.splitlines(), strict=True))

    @cached_property
    def counted(self) -> list[tuple[Ran, dict[str, float]]]:
        """Dispatches that pass the filter, which sees names as they are printed."""
        pattern = re.compile(self.job.include or ".*")
        chosen = [ran for ran in self.dispatches if pattern.search(self.names[ran.kernel or ""])]
        values = {name: counters_of(chosen, name) for name in self.counters}
        return [
            (ran, {name: 0.0 if self.zero else values[name][position] for name in self.counters})
            for position, ran in enumerate(chosen)
        ]

    def agent(self, number: int = AGENT) -> str | int:
        return f"Agent {number}" if self.release >= "7.0" else number


def _table(path: Path, header: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    with path.open("w", newline="") as text:
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerows([list(header), *lines])


def _items(extent: tuple[int, int, int]) -> int:
    x, y, z = extent
    return x * y * z


def write_csv(recording: Recording, prefix: Path) -> None:
    _agents(recording, _beside(prefix, "agent_info.csv"))
    if recording.job.kernel_trace and recording.dispatches:
        _trace(recording, _beside(prefix, "kernel_trace.csv"))
    if recording.counters and recording.counted:
        _counters(recording, _beside(prefix, "counter_collection.csv"))
    if recording.job.sampling:
        _samples(recording, prefix)
    if recording.job.thread_trace:
        _threads(recording, prefix.parent)


def _beside(prefix: Path, ending: str) -> Path:
    return prefix.with_name(f"{prefix.name}_{ending}")


def _agents(recording: Recording, path: Path) -> None:
    spelled = {key: "_".join(part.capitalize() for part in key.split("_")) for key in AGENT_FACTS}
    header = ["Node_Id", *(["Logical_Node_Id"] if recording.release >= "6.4" else []), "Agent_Type"]
    first = [[number] * (2 if recording.release >= "6.4" else 1) for number in (CPU, AGENT)]
    lines = [
        [*first[0], "CPU", *(0 for _ in AGENT_FACTS), "A CPU"],
        [*first[1], "GPU", *AGENT_FACTS.values(), "gfx90a"],
    ]
    _table(path, [*header, *spelled.values(), "Name"], lines)


def _trace(recording: Recording, path: Path) -> None:
    old, new = recording.release < "6.3", recording.release >= "7.0"
    header = [
        *("Kind", "Agent_Id", "Queue_Id", *(["Stream_Id"] if new else []), "Thread_Id", "Dispatch_Id", "Kernel_Id"),
        *("Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp"),
        *(("Private_Segment_Size", "Group_Segment_Size") if old else ("LDS_Block_Size", "Scratch_Size")),
        *(() if old else ("VGPR_Count", *(("Accum_VGPR_Count",) if recording.release >= "6.4" else ()), "SGPR_Count")),
        *(f"{what}_Size_{axis}" for what in ("Workgroup", "Grid") for axis in "XYZ"),
    ]
    lines = []
    for ran in recording.dispatches:
        memory = (ran.scratch_bytes, ran.lds_bytes) if old else (ran.lds_bytes, ran.scratch_bytes)
        registers = [ran.vgprs, *([ran.agprs] if recording.release >= "6.4" else []), ran.sgprs]
        lines.append(
            [
                *("KERNEL_DISPATCH", recording.agent(), ran.queue + 1, *([0] if new else []), recording.pid),
                *(ran.number + 1, _kernel_id(recording, ran), recording.names[ran.kernel or ""], ran.number + 1),
                *(ran.start_ns, ran.end_ns, *memory, *([] if old else registers), *ran.workgroup, *ran.grid),
            ]
        )
    _table(path, header, lines)


def _kernel_id(recording: Recording, ran: Ran) -> int:
    return 10 + list(recording.names).index(ran.kernel or "")


def _counters(recording: Recording, path: Path) -> None:
    timed = recording.release >= "6.3"
    header = [
        *("Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size"),
        *((("Kernel_Id",) if timed else ()) + ("Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size")),
        *("VGPR_Count", *(("Accum_VGPR_Count",) if recording.release >= "6.4" else ()), "SGPR_Count"),
        *("Counter_Name", "Counter_Value", *(("Start_Timestamp", "End_Timestamp") if timed else ())),
    ]
    lines = []
    for ran, values in recording.counted:
        for name, value in values.items():
            lines.append(
                [
                    *(ran.number + 1, ran.number + 1, recording.agent(), ran.queue + 1, recording.pid, recording.pid),
                    *(_items(ran.grid), *([_kernel_id(recording, ran)] if timed else [])),
                    *(recording.names[ran.kernel or ""], _items(ran.workgroup), ran.lds_bytes, ran.scratch_bytes),
                    *(ran.vgprs, *([ran.agprs] if recording.release >= "6.4" else []), ran.sgprs),
                    *(name, _Spelled(f"{value:.8e}" if recording.release < "6.3" else f"{value:.6f}")),
                    *((ran.start_ns, ran.end_ns) if timed else ()),
                ]
            )
    _table(path, header, lines)


class _Spelled(float):
    """A number that is written as it was spelled."""

    def __new__(cls, text: str) -> _Spelled:
        self = super().__new__(cls, text)
        self.text = text
        return self

    text: str

    def __repr__(self) -> str:
        return self.text


def _samples(recording: Recording, prefix: Path) -> None:
    method, interval = recording.job.sampling["method"], recording.job.sampling["interval"]
    with tempfile.TemporaryDirectory() as name:
        lines = [
            row
            for ran in recording.dispatches
            for row in standin_samples.rows(ran, method, interval, recording.application, Path(name))
        ]
    header = [*standin_samples.HEADER, *(standin_samples.STALLS if method == "stochastic" else ())]
    if lines:  # the real one writes no file without samples
        _table(_beside(prefix, f"pc_sampling_{method}.csv"), header, lines)


def _threads(recording: Recording, directory: Path) -> None:
    """Of the first dispatch of each kernel that passes the filter, beside what the viewer would read."""
    traced: set[str | None] = set()
    with tempfile.TemporaryDirectory() as name:
        for ran, _ in recording.counted:
            if ran.kernel in traced:
                continue
            traced.add(ran.kernel)
            place = directory / f"ui_output_agent_{recording.pid}_dispatch_{ran.number + 1}"
            place.mkdir()
            (place / "code.json").write_text("{}")
            path = directory / f"stats_{place.name}.csv"
            _table(path, standin_samples.THREADS, standin_samples.thread_rows(ran, recording.application, Path(name)))


def write_json(recording: Recording, prefix: Path) -> None:
    """Each value in two parts, as two instances of the hardware would count it."""
    handles = {name: 100 + number for number, name in enumerate(recording.counters)}
    symbols = [
        {
            "kernel_id": _kernel_id(recording, ran),
            "kernel_name": f"{ran.kernel}.kd",
            "formatted_kernel_name": recording.names[ran.kernel or ""],
            "arch_vgpr_count": ran.vgprs,
            "accum_vgpr_count": ran.agprs,
            "sgpr_count": ran.sgprs,
        }
        for ran in {ran.kernel: ran for ran in recording.dispatches}.values()
    ]
    process = {
        "metadata": {"pid": recording.pid},
        "agents": [
            {"id": {"handle": 500 + CPU}, "type": 1, "node_id": CPU, "logical_node_id": CPU},
            {"id": {"handle": 500 + AGENT}, "type": 2, "node_id": AGENT, "logical_node_id": AGENT, **AGENT_FACTS},
        ],
        "counters": [{"id": {"handle": handle}, "name": name} for name, handle in handles.items()],
        "strings": {"buffer_records": []},
        "kernel_symbols": symbols,
        "buffer_records": {
            "kernel_dispatch": [
                {"start_timestamp": ran.start_ns, "end_timestamp": ran.end_ns, "dispatch_info": _info(recording, ran)}
                for ran in (recording.dispatches if recording.job.kernel_trace else [])
            ]
        },
        "callback_records": {
            "counter_collection": [
                {
                    "dispatch_data": {"dispatch_info": _info(recording, ran)},
                    "records": [
                        {"counter_id": {"handle": handles[name]}, "value": part}
                        for name, value in values.items()
                        for part in (value // 2, value - value // 2)
                    ],
                    "arch_vgpr_count": ran.vgprs,
                    "sgpr_count": ran.sgprs,
                    "lds_block_size_v": ran.lds_bytes,
                }
                for ran, values in recording.counted
            ]
        },
    }
    _beside(prefix, "results.json").write_text(json.dumps({"rocprofiler-sdk-tool": [process]}))


def _info(recording: Recording, ran: Ran) -> dict[str, Any]:
    return {
        "agent_id": {"handle": 500 + AGENT},
        "kernel_id": _kernel_id(recording, ran),
        "dispatch_id": ran.number + 1,
        "private_segment_size": ran.scratch_bytes,
        "group_segment_size": ran.lds_bytes,
        "workgroup_size": dict(zip("xyz", ran.workgroup, strict=True)),
        "grid_size": dict(zip("xyz", ran.grid, strict=True)),
    }


_TABLES = """
CREATE TABLE "rocpd_string_{u}" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE "rocpd_info_agent_{u}" (id INTEGER PRIMARY KEY, guid TEXT, type TEXT, absolute_index INTEGER,
  logical_index INTEGER, type_index INTEGER, name TEXT, extdata TEXT);
CREATE TABLE "rocpd_info_kernel_symbol_{u}" (id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT,
  sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER);
CREATE TABLE "rocpd_kernel_dispatch_{u}" (id INTEGER PRIMARY KEY, guid TEXT, agent_id INTEGER, kernel_id INTEGER,
  dispatch_id INTEGER, "start" INTEGER, "end" INTEGER, private_segment_size INTEGER, group_segment_size INTEGER,
  workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER,
  grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
CREATE TABLE "rocpd_info_pmc_{u}" (id INTEGER PRIMARY KEY, guid TEXT, name TEXT);
CREATE TABLE "rocpd_pmc_event_{u}" (id INTEGER PRIMARY KEY, guid TEXT, event_id INTEGER, pmc_id INTEGER, value REAL);
CREATE TABLE "rocpd_memory_copy_{u}" (id INTEGER PRIMARY KEY, guid TEXT, name_id INTEGER,
  "start" INTEGER, "end" INTEGER);
"""
_VIEWS = """
CREATE VIEW kernel_symbols AS SELECT * FROM "rocpd_info_kernel_symbol_{u}";
CREATE VIEW memory_copies AS SELECT s.string AS name, m."start", m."end" FROM "rocpd_memory_copy_{u}" m
  JOIN "rocpd_string_{u}" s ON s.id = m.name_id;
CREATE VIEW kernels AS SELECT k.id, k.guid, s.display_name AS name, a.logical_index AS agent_log_index, k.kernel_id,
  k.dispatch_id, k."start", k."end", k."end" - k."start" AS duration, k.grid_size_x AS grid_x, k.grid_size_y AS grid_y,
  k.grid_size_z AS grid_z, k.workgroup_size_x AS workgroup_x, k.workgroup_size_y AS workgroup_y,
  k.workgroup_size_z AS workgroup_z, k.group_segment_size AS lds_size, k.private_segment_size AS scratch_size
  FROM "rocpd_kernel_dispatch_{u}" k JOIN "rocpd_info_kernel_symbol_{u}" s ON s.id = k.kernel_id
  JOIN "rocpd_info_agent_{u}" a ON a.id = k.agent_id;
CREATE VIEW counters_collection AS SELECT MIN(e.id) AS id, k.guid, k.dispatch_id, k.kernel_id,
  a.logical_index AS agent_log_index, k.grid_size_x * k.grid_size_y * k.grid_size_z AS grid_size,
  s.display_name AS kernel_name, k.workgroup_size_x * k.workgroup_size_y * k.workgroup_size_z AS workgroup_size,
  k.group_segment_size AS lds_block_size, k.private_segment_size AS scratch_size, s.arch_vgpr_count AS vgpr_count,
  s.accum_vgpr_count, s.sgpr_count, p.name AS counter_name, SUM(e.value) AS value, k."start", k."end"
  FROM "rocpd_pmc_event_{u}" e JOIN "rocpd_info_pmc_{u}" p ON p.id = e.pmc_id
  JOIN "rocpd_kernel_dispatch_{u}" k ON k.event_id = e.event_id
  JOIN "rocpd_info_kernel_symbol_{u}" s ON s.id = k.kernel_id JOIN "rocpd_info_agent_{u}" a ON a.id = k.agent_id
  GROUP BY k.dispatch_id, p.name;
"""


def write_rocpd(recording: Recording, prefix: Path, views: bool = True) -> None:
    path = _beside(prefix, "results.db")
    database = sqlite3.connect(path)
    database.executescript(_TABLES.format(u=UUID) + (_VIEWS.format(u=UUID) if views else ""))

    def insert(table: str, *row: Any) -> None:
        places = ", ".join("?" for _ in row)
        database.execute(f'INSERT INTO "rocpd_{table}_{UUID}" VALUES ({places})', row)

    insert("info_agent", 1, GUID, "CPU", CPU, CPU, 0, "A CPU", "{}")
    insert("info_agent", 2, GUID, "GPU", AGENT, AGENT, 0, "gfx90a", json.dumps(AGENT_FACTS))
    for ran in {ran.kernel: ran for ran in recording.dispatches}.values():
        shown = recording.names[ran.kernel or ""]
        registers = (ran.sgprs, ran.vgprs, ran.agprs)
        insert("info_kernel_symbol", _kernel_id(recording, ran), GUID, f"{ran.kernel}.kd", shown, *registers)
    kept = recording.dispatches if recording.job.kernel_trace else [ran for ran, _ in recording.counted]
    for ran in kept:
        place = (*ran.workgroup, *ran.grid)
        insert(
            "kernel_dispatch",
            *(ran.number + 1, GUID, 2, _kernel_id(recording, ran), ran.number + 1, ran.start_ns, ran.end_ns),
            *(ran.scratch_bytes, ran.lds_bytes, *place, 1000 + ran.number),
        )
    for number, name in enumerate(recording.counters, 1):
        insert("info_pmc", number, GUID, name)
    for ran, values in recording.counted:
        for number, value in enumerate(values.values(), 1):
            for part in (value // 2, value - value // 2):
                insert("pmc_event", None, GUID, 1000 + ran.number, number, part)
    database.commit()
    database.close()


WRITERS: dict[str, Callable[[Recording, Path], None]] = {
    "csv": write_csv,
    "json": write_json,
    "rocpd": write_rocpd,
}
