"""Where waves were found, line by line: PC samples of rocprofv3 as evidence.

A sample is one wave at one moment, so that a line's share of a kernel's samples is its share of the kernel's time. An
interrupt finds many waves at once, which often stand at the same place: what is drawn by chance is the moment, and the
error of a share is that of so many moments. At a wait the line is that of the instruction that waits, not of the access
that it waits for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from intelliperf.counting.sampling import t95
from intelliperf.errors import ApplicationFailed, BackendUnavailable, ProtocolError
from intelliperf.profiling.rocprofv3 import LineSamples, PcSample, Rocprof, by_line, check_sampling, sample_pcs
from intelliperf.records import Application, Device, DeviceLimits, Kernel
from intelliperf.rocm.linetimes import LineTime, LineTimes, none
from intelliperf.rocm.symbols import plain

# The least intervals that rocprofv3 -L lists for MI200 and MI300, in microseconds and in cycles (a power of two).
_LEAST = {"host_trap": 1, "stochastic": 256}
_MOMENTS = 30  # interrupts that one launch of the kernel should see
# Of all kernels of a run; each is a row of some 250 bytes in rocprofv3's file. A device full of waves, 75 ms long,
# filled 640 MB at an interval of 100 us.
_MOST_SAMPLES = 400_000
_ASSUMED_NS = 100_000.0  # of a kernel whose duration is not known
_FEWEST = 20  # samples of a kernel; fewer say nothing about shares
NAMES = {"stochastic": "stochastic", "host_trap": "host trap"}


@dataclass(frozen=True)
class Samples:
    """Of all kernels of one run; `why` there are none, if there are none."""

    found: tuple[PcSample, ...]
    method: str
    why: str = ""
    interval_ns: float = 0.0

    def of(self, kernel: Kernel) -> tuple[PcSample, ...]:
        symbol = plain(kernel.symbol)
        return tuple(one for one in self.found if one.symbol is not None and plain(one.symbol) == symbol)


def interval_for(method: str, kernel_ns: float | None, run_ns: float, device: DeviceLimits) -> int:
    """In the method's own unit, such that one launch sees some thirty interrupts, if the device can.

    Rarer where the run's whole device time `run_ns` would give more samples than anybody needs to read.
    """
    least = _LEAST[method]
    waves = max(1, device.compute_units * device.max_waves_per_compute_unit)
    each_ns = max((kernel_ns or _ASSUMED_NS) / _MOMENTS, run_ns * waves / _MOST_SAMPLES)
    wanted = each_ns / 1e3 if method == "host_trap" else each_ns * device.clock_hz / 1e9
    fitting = int(max(wanted, least))
    return fitting if method == "host_trap" else 1 << (fitting.bit_length() - 1)


def take(
    rocprof: Rocprof,
    application: Application,
    method: str,
    interval: int,
    device: Device,
    deadline_s: float,
    logs: Path,
    launcher: Sequence[str],
) -> Samples:
    try:
        check_sampling(rocprof, device.architecture, method)
        found = sample_pcs(rocprof, application, method, interval, deadline_s, logs, launcher)
    except (ApplicationFailed, BackendUnavailable, ProtocolError) as error:
        return Samples((), method, str(error))
    unit_ns = 1e3 if method == "host_trap" else 1e9 / max(1.0, device.limits.clock_hz)
    return Samples(found, method, "", interval * unit_ns)


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
    moments = _moments(own, samples.interval_ns)
    several = len(set(moments))
    way = f"{len(own):,} {NAMES[samples.method]} samples"
    way += f" at {several:,} moments" if several < len(own) else ""

    @cache
    def shown(chain: tuple[tuple[str, int], ...]) -> tuple[str, int] | None:
        return next((at for at in chain if inside(at[0])), None)

    places = [shown(one.chain) for one in own]
    totals = Counter(moments)
    hits: dict[tuple[str, int], Counter[int]] = {}
    for (place, moment), count in Counter(zip(places, moments, strict=True)).items():
        if place is not None:
            hits.setdefault(place, Counter())[moment] = count
    lines = {}
    for one in found:
        error = share_error([(hits[one.file, one.line][moment], count) for moment, count in totals.items()])
        lines[Path(one.file).resolve(), one.line] = replace(_line_time(one, len(own), way), error=error)
    return LineTimes(way, lines)


def _moments(own: Sequence[PcSample], interval_ns: float) -> list[int]:
    """Of each sample the number of its interrupt: a gap of half an interval parts two. Untimed ones stand alone."""
    if any(one.taken_ns is None for one in own):
        return list(range(len(own)))
    order = sorted(range(len(own)), key=lambda n: own[n].taken_ns or 0)
    found, number, last = [0] * len(own), 0, own[order[0]].taken_ns or 0
    for n in order:
        taken = own[n].taken_ns or 0
        number += taken - last > interval_ns / 2
        found[n], last = number, taken
    return found


def share_error(moments: Sequence[tuple[int, int]]) -> float:
    """Half-width, 95 %, of a line's share: samples on it and samples in all, moment by moment (cluster totals' ratio).

    With one moment nothing is known but that a share lies between 0 and 1.
    """
    clusters, samples = len(moments), sum(count for _, count in moments)
    share = sum(hits for hits, _ in moments) / samples
    if clusters < 2:
        return max(share, 1.0 - share)
    squares = sum((hits - share * count) ** 2 for hits, count in moments)
    return t95(clusters - 1) * math.sqrt(squares * clusters / (clusters - 1)) / samples


def _line_time(here: LineSamples, total: int, way: str) -> LineTime:
    share = here.samples / total
    told = f"{100 * share:.0f} % of {way}"
    if here.stalls:
        worst, count = max(here.stalls.items(), key=lambda item: item[1])
        told += f", {100 * count / here.samples:.0f} % of which wait for {worst.replace('_', ' ')}"
    return LineTime(share, None, told, here.lanes / here.samples)
