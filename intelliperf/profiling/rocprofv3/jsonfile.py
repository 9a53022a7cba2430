"""rocprofv3's JSON output (`rocprofv3-schema.json`): one record per hardware instance of a counter, added up here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from intelliperf.errors import ProtocolError
from intelliperf.profiling.rocprofv3.csvfiles import architecture_name, symbol_of
from intelliperf.profiling.rocprofv3.recordings import Agent, Copy, CountedDispatch, Dispatch, Extent, Shape

_ROOT = "rocprofiler-sdk-tool"
_GPU = 2  # rocprofiler_agent_type_t


class JsonRecording:
    """One parsed file; every member raises `ProtocolError` naming file and key where the schema is not kept."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        try:
            entries = json.loads(text)[_ROOT]
        except (ValueError, KeyError, TypeError) as error:
            raise ProtocolError(f"{source} is not JSON of rocprofv3: {error}") from error
        self._processes: Sequence[Mapping[str, Any]] = entries if isinstance(entries, list) else [entries]

    def dispatches(self) -> tuple[Dispatch, ...]:
        return tuple(self._each(self._dispatches))

    def copies(self) -> tuple[Copy, ...]:
        return tuple(self._each(self._copies))

    def counters(self) -> tuple[CountedDispatch, ...]:
        return tuple(self._each(self._counters))

    def agents(self) -> tuple[Agent, ...]:
        return tuple(dict.fromkeys(self._each(lambda process: [agent for agent, _ in _agents(process)])))

    def _each(self, read: Callable[[Mapping[str, Any]], list[Any]]) -> list[Any]:
        try:
            return [one for process in self._processes for one in read(process)]
        except KeyError as error:
            raise ProtocolError(f"{self._source}: no key {error.args[0]!r}") from error
        except (TypeError, ValueError) as error:
            raise ProtocolError(f"{self._source} is not as rocprofv3's schema says: {error}") from error

    def _dispatches(self, process: Mapping[str, Any]) -> list[Dispatch]:
        names, agents = _symbols(process), _numbers(process)
        found = []
        for record in process["buffer_records"]["kernel_dispatch"]:
            what = record["dispatch_info"]
            symbol = names[what["kernel_id"]]
            found.append(
                Dispatch(
                    symbol=symbol_of(str(symbol["kernel_name"])),
                    number=int(what["dispatch_id"]),
                    agent=agents[what["agent_id"]["handle"]],
                    start_ns=int(record["start_timestamp"]),
                    end_ns=int(record["end_timestamp"]),
                    grid=_extent(what["grid_size"]),
                    workgroup=_extent(what["workgroup_size"]),
                    lds_bytes=int(what["group_segment_size"]),
                    scratch_bytes=int(what["private_segment_size"]),
                    vgprs=_optional(symbol, "arch_vgpr_count"),
                    agprs=_optional(symbol, "accum_vgpr_count"),
                    sgprs=_optional(symbol, "sgpr_count"),
                )
            )
        return found

    def _copies(self, process: Mapping[str, Any]) -> list[Copy]:
        records = process["buffer_records"].get("memory_copy", [])
        return [
            Copy(_direction(process, one), int(one["start_timestamp"]), int(one["end_timestamp"])) for one in records
        ]

    def _counters(self, process: Mapping[str, Any]) -> list[CountedDispatch]:
        names, agents = _symbols(process), _numbers(process)
        counters = {entry["id"]["handle"]: str(entry["name"]) for entry in process["counters"]}
        found = []
        for record in process["callback_records"]["counter_collection"]:
            data = record["dispatch_data"]
            what = data["dispatch_info"]
            instances: dict[str, list[float]] = {}
            for one in record["records"]:
                handle = one["counter_id"]["handle"]
                if handle not in counters:
                    raise ProtocolError(f"{self._source}: the counter {handle} has a value, but no name")
                instances.setdefault(counters[handle], []).append(float(one["value"]))
            found.append(
                CountedDispatch(
                    symbol=symbol_of(str(names[what["kernel_id"]]["kernel_name"])),
                    shape=Shape(_items(what["grid_size"]), _items(what["workgroup_size"])),
                    number=int(what["dispatch_id"]),
                    agent=agents[what["agent_id"]["handle"]],
                    values={name: sum(values) for name, values in instances.items()},
                    instances={name: tuple(values) for name, values in instances.items()},
                    lds_bytes=int(record["lds_block_size_v"]),
                    scratch_bytes=int(what["private_segment_size"]),
                    vgprs=int(record["arch_vgpr_count"]),
                    agprs=_optional(record, "accum_vgpr_count"),
                    sgprs=int(record["sgpr_count"]),
                    start_ns=_optional(data, "start_timestamp"),
                    end_ns=_optional(data, "end_timestamp"),
                )
            )
        return sorted(found, key=lambda one: one.number)


def _symbols(process: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    return {entry["kernel_id"]: entry for entry in process["kernel_symbols"]}


def _agents(process: Mapping[str, Any]) -> list[tuple[Agent, int]]:
    found = []
    for position, entry in enumerate(process["agents"]):
        if entry["type"] != _GPU:
            continue
        agent = Agent(
            number=int(entry.get("logical_node_id", entry.get("node_id", position))),
            architecture=architecture_name(int(entry["gfx_target_version"])),
            compute_units=int(entry["cu_count"]),
            simds_per_compute_unit=int(entry["simd_per_cu"]),
            max_waves_per_simd=int(entry["max_waves_per_simd"]),
            wave_size=int(entry["wave_front_size"]),
            dies=max(1, int(entry["num_xcc"])),
            shader_engines=_optional(entry, "num_shader_banks"),
        )
        found.append((agent, int(entry["id"]["handle"])))
    return found


def _numbers(process: Mapping[str, Any]) -> dict[int, int]:
    return {handle: agent.number for agent, handle in _agents(process)}


def _direction(process: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """The operation's name by the file's own table; its number where the table lacks it."""
    kind, operation = record.get("kind"), record.get("operation")
    tables = process.get("strings", {}).get("buffer_records", [])
    if isinstance(kind, int) and isinstance(operation, int) and kind < len(tables):
        names = tables[kind].get("operations", [])
        if operation < len(names):
            return str(names[operation])
    return f"operation {operation}"


def _optional(entry: Mapping[str, Any], key: str) -> int | None:
    return int(entry[key]) if entry.get(key) is not None else None


def _extent(entry: Mapping[str, Any]) -> Extent:
    return int(entry["x"]), int(entry["y"]), int(entry["z"])


def _items(entry: Mapping[str, Any]) -> int:
    x, y, z = _extent(entry)
    return x * y * z
