"""rocprofv3's CSV files of ROCm 6.2 to 7.x, and the wide tables of rocprofiler-compute.

Columns are found by name. What is tolerated: agents as "1" or "Agent 4"; `Stream_Id`, `Accum_VGPR_Count` and the
register columns absent; a `Guid` column more; counts in exponent notation; one row per counter, or one column per
counter. What is not: a missing name, geometry, counter or value, which is a `ProtocolError` naming column and file.
"""

from __future__ import annotations

import re
from dataclasses import replace

from intelliperf.errors import ProtocolError
from intelliperf.profiling.rocprofv3.blocks import SLOTS, block_of
from intelliperf.profiling.rocprofv3.recordings import Agent, Copy, CountedDispatch, Dispatch, Shape
from intelliperf.profiling.rocprofv3.tables import Row, rows

# Spellings of the same column: rocprofv3 since 6.3, rocprofv3 6.2, rocprofiler-compute.
_LDS = ("LDS_Block_Size", "Group_Segment_Size", "LDS_Per_Workgroup")
_SCRATCH = ("Scratch_Size", "Private_Segment_Size", "Scratch_Per_Workitem")
_VGPRS = ("VGPR_Count", "Arch_VGPR")
_AGPRS = ("Accum_VGPR_Count", "Accum_VGPR")
_SGPRS = ("SGPR_Count", "SGPR")
_DISPATCH = ("Dispatch_Id", "Dispatch_ID")
_AGENT = ("Agent_Id", "GPU_ID")
_DESCRIPTOR = re.compile(r"( \[clone \.kd\]| \(\.kd\)|\.kd)$")
_BLOCKS = frozenset(block for limits in SLOTS.values() for block in limits) | {"TCA"}


def symbol_of(kernel_name: str) -> str:
    """Without the mark of a kernel descriptor, which some versions leave on."""
    return _DESCRIPTOR.sub("", kernel_name)


def parse_kernel_trace(text: str, source: str) -> tuple[Dispatch, ...]:
    return tuple(_dispatch(row) for row in rows(text, source))


def _dispatch(row: Row) -> Dispatch:
    start, end = row.time("Start_Timestamp"), row.time("End_Timestamp")
    if start is None or end is None:
        raise ProtocolError(f"{row.source}, line {row.line}: the timestamps are rounded, so that there is no duration")
    return Dispatch(
        symbol=symbol_of(row.text("Kernel_Name")),
        number=row.integer(*_DISPATCH),
        agent=row.trailing_number(*_AGENT),
        start_ns=start,
        end_ns=end,
        grid=row.extent("Grid_Size"),
        workgroup=row.extent("Workgroup_Size"),
        lds_bytes=row.integer(*_LDS),
        scratch_bytes=row.integer(*_SCRATCH),
        vgprs=row.optional(*_VGPRS),
        agprs=row.optional(*_AGPRS),
        sgprs=row.optional(*_SGPRS),
    )


def parse_copies(text: str, source: str) -> tuple[Copy, ...]:
    """A memory copy trace. Its times are whole numbers in all versions."""
    return tuple(
        Copy(row.text("Direction", "Name"), row.integer("Start_Timestamp"), row.integer("End_Timestamp"))
        for row in rows(text, source)
    )


def parse_agents(text: str, source: str) -> tuple[Agent, ...]:
    """The GPUs of an agent file; numbered as the other files of the same run do it."""
    return tuple(_agent(row) for row in rows(text, source) if row.text("Agent_Type") == "GPU")


def _agent(row: Row) -> Agent:
    name = row.text("Name")
    return Agent(
        number=row.integer("Logical_Node_Id", "Node_Id"),
        architecture=name if name.startswith("gfx") else architecture_name(row.integer("Gfx_Target_Version")),
        compute_units=row.integer("Cu_Count"),
        simds_per_compute_unit=row.integer("Simd_Per_Cu"),
        max_waves_per_simd=row.integer("Max_Waves_Per_Simd"),
        wave_size=row.integer("Wave_Front_Size"),
        dies=max(1, row.integer("Num_Xcc")),
        shader_engines=row.optional("Num_Shader_Banks"),
    )


def architecture_name(target_version: int) -> str:
    """The kernel driver's number by name: 90010 → "gfx90a", 110000 → "gfx1100"."""
    major, minor, stepping = target_version // 10000, target_version // 100 % 100, target_version % 100
    return f"gfx{major}{minor}{stepping:x}"


def parse_counters(text: str, source: str) -> tuple[CountedDispatch, ...]:
    """Counters per dispatch, in the order of dispatching, from the long or the wide format."""
    found: dict[tuple[int, int], CountedDispatch] = {}
    for row in rows(text, source):
        counted = _counted(row)
        key = (counted.agent, counted.number)
        before = found.setdefault(key, counted)
        if before is not counted:
            found[key] = _joined(before, counted, row)
    return tuple(sorted(found.values(), key=lambda one: one.number))


def _joined(before: CountedDispatch, more: CountedDispatch, row: Row) -> CountedDispatch:
    if before.symbol != more.symbol or before.shape != more.shape:
        raise ProtocolError(f"{row.source}, line {row.line}: two kernels have the dispatch number {more.number}")
    twice = before.values.keys() & more.values.keys()
    if twice:
        raise ProtocolError(f"{row.source}, line {row.line}: {min(twice)} comes twice for dispatch {more.number}")
    return replace(before, values={**before.values, **more.values})


def _counted(row: Row) -> CountedDispatch:
    timed = row.has("Start_Timestamp") and row.has("End_Timestamp")
    return CountedDispatch(
        symbol=symbol_of(row.text("Kernel_Name")),
        shape=Shape(row.integer("Grid_Size"), row.integer("Workgroup_Size")),
        number=row.integer(*_DISPATCH),
        agent=row.trailing_number(*_AGENT),
        values=_values(row),
        lds_bytes=row.optional(*_LDS),
        scratch_bytes=row.optional(*_SCRATCH),
        vgprs=row.optional(*_VGPRS),
        agprs=row.optional(*_AGPRS),
        sgprs=row.optional(*_SGPRS),
        start_ns=row.time("Start_Timestamp") if timed else None,
        end_ns=row.time("End_Timestamp") if timed else None,
    )


def _values(row: Row) -> dict[str, float]:
    if "Counter_Name" in row.cells or "Counter_Value" in row.cells:
        return {row.text("Counter_Name"): row.number("Counter_Value")}
    named = [name for name in row.cells if block_of(name) in _BLOCKS]
    if not named:
        raise ProtocolError(f"{row.source}: no column Counter_Name, and none that is named like a counter")
    return {name: row.number(name) for name in named if row.has(name)}
