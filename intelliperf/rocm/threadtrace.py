"""What traced waves did, instruction by instruction: rocprofv3's thread trace as evidence.

The first dispatch of a kernel, on one compute unit: its waves stand for all. A line's share of their cycles is its
share of the kernel's time; at a wait the line is that of the instruction that waits, as it is with samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from intelliperf.errors import ApplicationFailed, BackendUnavailable, ProtocolError
from intelliperf.profiling.rocprofv3 import LineCycles, Rocprof, TracedInstruction, cycles_by_line, trace_threads
from intelliperf.records import Application, Kernel
from intelliperf.rocm.linetimes import LineTime, LineTimes, none
from intelliperf.rocm.symbols import plain

_NAMED_SHARE = 0.01


def trace_lines(
    rocprof: Rocprof,
    application: Application,
    kernel: Kernel,
    project: Path,
    architecture: str,
    deadline_s: float,
    logs: Path,
    launcher: Sequence[str],
) -> LineTimes:
    try:
        found = trace_threads(rocprof, application, kernel.symbol, architecture, deadline_s, logs, launcher)
    except (ApplicationFailed, BackendUnavailable, ProtocolError) as error:
        return none(str(error))
    return traced_lines(found, kernel, project)


def traced_lines(traced: Sequence[TracedInstruction], kernel: Kernel, project: Path) -> LineTimes:
    ran = [one for one in traced if one.hits]
    own = [one for one in ran if one.symbol is not None and plain(one.symbol) == plain(kernel.symbol)]
    total = sum(one.cycles for one in own)
    if not total:
        return none(f"no wave of {kernel.name} ran on the traced compute unit")
    root = project.resolve()
    found = cycles_by_line(own, lambda file: root in Path(file).resolve().parents)
    if not found:
        return none("the thread trace carries no line of the project: is the program built with -g?")
    waves = min(own, key=lambda one: one.address).hits
    way = f"a thread trace of {waves:,} wave{'s' * (waves > 1)} of its first launch on one compute unit"
    elsewhere = 1.0 - total / sum(one.cycles for one in ran)
    if elsewhere >= _NAMED_SHARE:
        way += f", where {100 * elsewhere:.0f} % of the cycles were of other functions"
    lines = {(Path(one.file).resolve(), one.line): _line_time(one, total) for one in found}
    return LineTimes(way, lines)


def _line_time(here: LineCycles, total: int) -> LineTime:
    share = here.cycles / total
    told = f"{100 * share:.0f} % of the cycles of the traced waves"
    if here.stalls and here.cycles:
        worst, cycles = max(here.stalls.items(), key=lambda item: item[1])
        told += f", {100 * here.stall_cycles / here.cycles:.0f} % of which stall"
        told += f", {100 * cycles / here.stall_cycles:.0f} % of these at {worst}"
    return LineTime(share, None, told)
