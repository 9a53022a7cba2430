"""rocpd: the SQLite databases that rocprofv3 writes by default since ROCm 7.

The vendor's views are asked first. Where a file has none, or others, the tables are, whose names end in the
recording's identifier ("rocpd_kernel_dispatch_00a1…"). Nothing of ROCm's own Python module is needed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from intelliperf.errors import ProtocolError
from intelliperf.profiling.rocprofv3.csvfiles import architecture_name, symbol_of
from intelliperf.profiling.rocprofv3.recordings import Agent, Copy, CountedDispatch, Dispatch, Shape

_KERNELS_VIEW = """
    SELECT s.kernel_name AS kernel_name, k.dispatch_id, {agent} AS agent, k.start, k.end,
           k.grid_x, k.grid_y, k.grid_z, k.workgroup_x, k.workgroup_y, k.workgroup_z, k.lds_size, k.scratch_size,
           s.arch_vgpr_count, s.accum_vgpr_count, s.sgpr_count
    FROM kernels k JOIN kernel_symbols s ON s.id = k.kernel_id AND s.guid = k.guid ORDER BY k.start"""
_KERNELS_TABLES = """
    SELECT s.kernel_name, k.dispatch_id, a.logical_index AS agent, k.start, k.end,
           k.grid_size_x AS grid_x, k.grid_size_y AS grid_y, k.grid_size_z AS grid_z,
           k.workgroup_size_x AS workgroup_x, k.workgroup_size_y AS workgroup_y, k.workgroup_size_z AS workgroup_z,
           k.group_segment_size AS lds_size, k.private_segment_size AS scratch_size,
           s.arch_vgpr_count, s.accum_vgpr_count, s.sgpr_count
    FROM {kernel_dispatch} k JOIN {info_kernel_symbol} s ON s.id = k.kernel_id
    JOIN {info_agent} a ON a.id = k.agent_id ORDER BY k.start"""
_COUNTERS_VIEW = """
    SELECT s.kernel_name AS kernel_name, c.dispatch_id, {agent} AS agent, c.start, c.end, c.grid_size,
           c.workgroup_size, c.lds_block_size AS lds_size, c.scratch_size, c.vgpr_count AS arch_vgpr_count,
           c.accum_vgpr_count, c.sgpr_count, c.counter_name, c.value
    FROM counters_collection c JOIN kernel_symbols s ON s.id = c.kernel_id AND s.guid = c.guid
    ORDER BY c.dispatch_id"""
_COUNTERS_TABLES = """
    SELECT s.kernel_name, k.dispatch_id, a.logical_index AS agent, k.start, k.end,
           k.grid_size_x * k.grid_size_y * k.grid_size_z AS grid_size,
           k.workgroup_size_x * k.workgroup_size_y * k.workgroup_size_z AS workgroup_size,
           k.group_segment_size AS lds_size, k.private_segment_size AS scratch_size,
           s.arch_vgpr_count, s.accum_vgpr_count, s.sgpr_count, p.name AS counter_name, SUM(e.value) AS value
    FROM {pmc_event} e JOIN {info_pmc} p ON p.id = e.pmc_id
    JOIN {kernel_dispatch} k ON k.event_id = e.event_id
    JOIN {info_kernel_symbol} s ON s.id = k.kernel_id JOIN {info_agent} a ON a.id = k.agent_id
    GROUP BY k.id, p.name ORDER BY k.dispatch_id"""
_COPIES_VIEW = "SELECT name, start, end FROM memory_copies ORDER BY start"
_COPIES_TABLES = """
    SELECT s.string AS name, c.start, c.end FROM {memory_copy} c JOIN {string} s ON s.id = c.name_id ORDER BY c.start"""
_AGENTS = "SELECT name, logical_index, extdata FROM {info_agent} WHERE type = 'GPU' ORDER BY logical_index"


def read_dispatches(path: Path) -> tuple[Dispatch, ...]:
    with _opened(path) as database:
        return tuple(
            Dispatch(
                symbol=symbol_of(row["kernel_name"]),
                number=row["dispatch_id"],
                agent=row["agent"],
                start_ns=row["start"],
                end_ns=row["end"],
                grid=(row["grid_x"], row["grid_y"], row["grid_z"]),
                workgroup=(row["workgroup_x"], row["workgroup_y"], row["workgroup_z"]),
                lds_bytes=row["lds_size"],
                scratch_bytes=row["scratch_size"],
                vgprs=row["arch_vgpr_count"],
                agprs=row["accum_vgpr_count"],
                sgprs=row["sgpr_count"],
            )
            for row in database.rows(("kernels", "kernel_symbols"), _KERNELS_VIEW, _KERNELS_TABLES)
        )


def read_copies(path: Path) -> tuple[Copy, ...]:
    with _opened(path) as database:
        rows = database.rows(("memory_copies",), _COPIES_VIEW, _COPIES_TABLES)
        return tuple(Copy(row["name"], row["start"], row["end"]) for row in rows)


def read_counters(path: Path) -> tuple[CountedDispatch, ...]:
    """In the order of dispatching, each counter added up over its instances."""
    with _opened(path) as database:
        found: dict[tuple[int, int], list[sqlite3.Row]] = {}
        for row in database.rows(("counters_collection", "kernel_symbols"), _COUNTERS_VIEW, _COUNTERS_TABLES):
            found.setdefault((row["dispatch_id"], row["agent"]), []).append(row)
        return tuple(_counted(rows, str(path)) for rows in found.values())


def _counted(rows: Sequence[sqlite3.Row], source: str) -> CountedDispatch:
    first = rows[0]
    values = {row["counter_name"]: float(row["value"]) for row in rows}
    if len(values) != len(rows):
        raise ProtocolError(f"{source}: a counter comes twice for dispatch {first['dispatch_id']}")
    return CountedDispatch(
        symbol=symbol_of(first["kernel_name"]),
        shape=Shape(first["grid_size"], first["workgroup_size"]),
        number=first["dispatch_id"],
        agent=first["agent"],
        values=values,
        lds_bytes=first["lds_size"],
        scratch_bytes=first["scratch_size"],
        vgprs=first["arch_vgpr_count"],
        agprs=first["accum_vgpr_count"],
        sgprs=first["sgpr_count"],
        start_ns=first["start"],
        end_ns=first["end"],
    )


def read_agents(path: Path) -> tuple[Agent, ...]:
    with _opened(path) as database:
        return tuple(_agent(row, str(path)) for row in database.from_tables(_AGENTS))


def _agent(row: sqlite3.Row, source: str) -> Agent:
    try:
        more: dict[str, Any] = json.loads(row["extdata"])
        name = str(row["name"])
        return Agent(
            number=int(row["logical_index"]),
            architecture=name if name.startswith("gfx") else architecture_name(int(more["gfx_target_version"])),
            compute_units=int(more["cu_count"]),
            simds_per_compute_unit=int(more["simd_per_cu"]),
            max_waves_per_simd=int(more["max_waves_per_simd"]),
            wave_size=int(more["wave_front_size"]),
            dies=max(1, int(more["num_xcc"])),
            shader_engines=int(more["num_shader_banks"]) if "num_shader_banks" in more else None,
        )
    except KeyError as error:
        raise ProtocolError(f"{source}: an agent's extdata lacks {error.args[0]!r}") from error
    except (ValueError, TypeError) as error:
        raise ProtocolError(f"{source}: an agent's extdata cannot be read: {error}") from error


class _Database:
    def __init__(self, connection: sqlite3.Connection, source: str) -> None:
        self._connection = connection
        self._source = source
        self._names = {
            str(name)
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        }

    def rows(self, views: Sequence[str], by_view: str, by_tables: str) -> list[sqlite3.Row]:
        """By the views where all are there and have the columns, else by the tables."""
        if all(view in self._names for view in views):
            agent = self._agent_column(views[0])
            if agent is not None:
                try:
                    return self._query(by_view.format(agent=agent))
                except sqlite3.OperationalError:
                    pass  # a view of another release: the tables tell the same
        return self.from_tables(by_tables)

    def _agent_column(self, view: str) -> str | None:
        """The releases spell the index differently; copies have none."""
        columns = {row[1] for row in self._connection.execute(f"PRAGMA table_info('{view}')")}
        known = ("agent_log_index", "agent_logical_index")
        return next((name for name in known if name in columns), None if "dispatch_id" in columns else "")

    def from_tables(self, query: str) -> list[sqlite3.Row]:
        try:
            return self._query(query.format_map(_TableNames(self._names, self._source)))
        except sqlite3.OperationalError as error:
            raise ProtocolError(f"{self._source}: not a rocpd database of a known schema: {error}") from error

    def _query(self, query: str) -> list[sqlite3.Row]:
        return self._connection.execute(query).fetchall()


class _TableNames(dict[str, str]):
    """ "kernel_dispatch" → the file's table of that name, whatever its suffix."""

    def __init__(self, names: set[str], source: str) -> None:
        super().__init__()
        self._all = names
        self._source = source

    def __missing__(self, key: str) -> str:
        plain = f"rocpd_{key}"
        if plain in self._all:
            return f'"{plain}"'
        suffixed = [name for name in self._all if name.startswith(f"{plain}_") and _is_suffix(name[len(plain) + 1 :])]
        if len(suffixed) != 1:
            found = f"{len(suffixed)} tables" if suffixed else "no table"
            raise ProtocolError(f"{self._source}: {found} {plain}_<id>; rocprofv3 of ROCm 7 writes exactly one")
        return f'"{suffixed[0]}"'


def _is_suffix(text: str) -> bool:
    return bool(text) and set(text) <= set("0123456789abcdefABCDEF_-")


@contextmanager
def _opened(path: Path) -> Iterator[_Database]:
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise ProtocolError(f"{path} cannot be opened: {error}") from error
    try:
        connection.row_factory = sqlite3.Row
        yield _Database(connection, str(path))
    except sqlite3.DatabaseError as error:
        raise ProtocolError(f"{path} is not a rocpd database: {error}") from error
    finally:
        connection.close()
