"""Where waves were found, line by line: PC samples of rocprofv3 as evidence.

A sample is one wave at one moment, so that a line's share of a kernel's samples is its share of the kernel's time, to
within the error of drawing so many. At a wait the line is that of the instruction that waits, not of the access that it
waits for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from intelliperf.errors import ApplicationFailed, BackendUnavailable, ProtocolError
from intelliperf.profiling.rocprofv3 import LineSamples, PcSample, Rocprof, by_line, check_sampling, sample_pcs
from intelliperf.records import Application, Kernel
from intelliperf.rocm.linetimes import LineTime, LineTimes, none
from intelliperf.rocm.symbols import plain

_INTERVALS = {"host_trap": 100, "stochastic": 1 << 16}  # microseconds; cycles: tens of microseconds
_FEWEST = 20  # samples of a kernel; fewer say nothing about shares
NAMES = {"stochastic": "stochastic", "host_trap": "host trap"}


@dataclass(frozen=True)
class Samples:
    """Of all kernels of one run; `why` there are none, if there are none."""

    found: tuple[PcSample, ...]
    method: str
    why: str = ""

    def of(self, kernel: Kernel) -> tuple[PcSample, ...]:
        return tuple(one for one in self.found if one.symbol is not None and plain(one.symbol) == plain(kernel.symbol))


def take(
    rocprof: Rocprof,
    application: Application,
    method: str,
    architecture: str,
    deadline_s: float,
    logs: Path,
    launcher: Sequence[str],
) -> Samples:
    try:
        check_sampling(rocprof, architecture, method)
        found = sample_pcs(rocprof, application, method, _INTERVALS[method], deadline_s, logs, launcher)
    except (ApplicationFailed, BackendUnavailable, ProtocolError) as error:
        return Samples((), method, str(error))
    return Samples(found, method)


def sampled_lines(samples: Samples, kernel: Kernel, project: Path) -> LineTimes:
    own = samples.of(kernel)
    if samples.found and not any(one.symbol for one in samples.found):
        return none("the samples do not tell their kernels: no dispatches were traced beside them")
    if samples.found and len(own) < _FEWEST:
        return none(f"{len(own)} samples hit {kernel.name}, too few to tell its lines by")
    if not samples.found:
        return none(samples.why or "no sample was taken")
    root = project.resolve()

    @cache  # few files, and a hundred thousand samples
    def inside(file: str) -> bool:
        return root in Path(file).resolve().parents

    found = by_line(own, inside)
    if not found:
        return none("the samples carry no line of the project: is the program built with -g?")
    way = f"{len(own):,} {NAMES[samples.method]} samples"
    lines = {(Path(one.file).resolve(), one.line): _line_time(one, len(own), way) for one in found}
    return LineTimes(way, lines)


def _line_time(here: LineSamples, total: int, way: str) -> LineTime:
    share = here.samples / total
    told = f"{100 * share:.0f} % of {way}"
    if here.stalls:
        worst, count = max(here.stalls.items(), key=lambda item: item[1])
        told += f", {100 * count / here.samples:.0f} % of which wait for {worst.replace('_', ' ')}"
    return LineTime(share, 1.96 * math.sqrt(share * (1.0 - share) / total), told, here.lanes / here.samples)
