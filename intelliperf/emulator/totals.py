"""Counts of sites, lines and kernels per dispatch, summed from records.

Every count is per dispatch: launches of one kernel and geometry are taken as alike, each that was watched stands for
those around it, and geometries weigh by their number of dispatches. `REQUESTS` to `LINES_128B_IDEAL` of a kernel are of
its loads and stores in global memory, `LDS_REQUESTS` to `LDS_PHASES_IDEAL` of those in LDS; atomics have their own
metrics, in either memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from intelliperf.counting import sampling
from intelliperf.emulator.modulefacts import SiteFacts
from intelliperf.emulator.tracefiles import SHAPES, KernelLaunch, Records, Trace
from intelliperf.records import Geometry, Metric, Provenance, Quantity

ATOMIC_KINDS = ("atomic", "reduction")
ACCESS_KINDS = ("load", "store", "range_load", "range_store")

_GLOBAL = {
    Metric.REQUESTS: "global_requests",
    Metric.SECTORS: "sectors",
    Metric.SECTORS_IDEAL: "sectors_ideal",
    Metric.LINES_64B: "lines64",
    Metric.LINES_128B: "lines128",
    Metric.LINES_128B_IDEAL: "lines128_ideal",
}
_SHARED = {
    Metric.LDS_REQUESTS: "shared_requests",
    Metric.LDS_PHASES: "lds_phases",
    Metric.LDS_PHASES_IDEAL: "lds_phases_ideal",
}
_CONSTANT = {
    Metric.CONSTANT_REQUESTS: "requests",
    Metric.CONSTANT_ADDRESSES: "distinct_addresses",
}
_GLOBAL_ATOMIC = {
    Metric.ATOMIC_REQUESTS: "requests",
    Metric.ATOMIC_LANES: "lanes",
    Metric.ATOMIC_SERIALIZATION: "same_address",
}
_LDS_ATOMIC = {
    Metric.LDS_ATOMIC_REQUESTS: "requests",
    Metric.LDS_ATOMIC_LANES: "lanes",
    Metric.LDS_ATOMIC_SERIALIZATION: "same_address",
}
_MODELLED = (Metric.DRAM_SECTORS_AGAIN,)  # by the model of the caches
_ERROR_OF = {name: number for number, name in enumerate(SHAPES)}
_BORROWED_ERROR = 0.5  # relative, of counts that a launch of another shape lends, by their threads


@dataclass
class Estimate:
    """A sum with the half-width of its error; errors of sites add up, which is the most that they can come to."""

    value: float = 0.0
    error: float = 0.0

    def add(self, value: float, error: float = 0.0, weight: float = 1.0) -> None:
        self.value += value * weight
        self.error += error * weight


@dataclass
class Totals:
    """Estimates of one site, line or kernel; `requests` and `lanes` are of both memory spaces."""

    estimates: dict[Metric, Estimate] = field(default_factory=dict)
    requests: float = 0.0
    lanes: float = 0.0
    lanes_possible: float = 0.0
    l1_hits: float = 0.0
    l1_accesses: float = 0.0
    l2_hits: float = 0.0
    l2_accesses: float = 0.0

    def add(self, metric: Metric, value: float, error: float = 0.0, weight: float = 1.0) -> None:
        self.estimates.setdefault(metric, Estimate()).add(value, error, weight)

    def absorb(self, other: Totals, weight: float) -> None:
        for metric, estimate in other.estimates.items():
            self.add(metric, estimate.value, estimate.error, weight)
        for name in ("requests", "lanes", "lanes_possible", "l1_hits", "l1_accesses", "l2_hits", "l2_accesses"):
            setattr(self, name, getattr(self, name) + weight * getattr(other, name))

    def value(self, metric: Metric) -> float:
        return self.estimates[metric].value if metric in self.estimates else 0.0

    def quantities(self) -> dict[Metric, Quantity]:
        """Counts, and ratios where their denominator is not zero: absent is not zero."""
        found = {
            metric: Quantity(
                estimate.value,
                Provenance.MODELLED if metric in _MODELLED else Provenance.MEASURED,
                estimate.error or None,
            )
            for metric, estimate in self.estimates.items()
        }
        if self.lanes_possible > 0:
            ratio = self.lanes / self.lanes_possible
            unsure = [self.estimates[metric] for metric in (Metric.LANES, Metric.REQUESTS) if metric in self.estimates]
            error = ratio * sum(estimate.error / estimate.value for estimate in unsure if estimate.value > 0)
            found[Metric.ACTIVE_LANE_RATIO] = Quantity(ratio, Provenance.MEASURED, error or None)
        if self.l1_accesses > 0:
            found[Metric.L1_HIT_RATIO] = Quantity(self.l1_hits / self.l1_accesses, Provenance.MODELLED)
        if self.l2_accesses > 0:
            found[Metric.L2_HIT_RATIO] = Quantity(self.l2_hits / self.l2_accesses, Provenance.MODELLED)
        return found


def site_totals(record: np.void, site: SiteFacts, wave_size: int, by_line: bool) -> Totals:
    """One site of one launch.

    `by_line` gives an atomic the access metrics too and its own ones whatever memory it is in, since a
    line's evidence stands for itself; in the sum over a kernel they would be mistaken for other accesses.
    """
    totals = Totals()
    atomic = site.kind in ATOMIC_KINDS
    shared = _share(record, "shared_requests")
    if atomic and by_line:
        _add_part(totals, record, _GLOBAL_ATOMIC, 1.0)
    elif atomic:
        _add_part(totals, record, _GLOBAL_ATOMIC, 1.0 - shared)
        _add_part(totals, record, _LDS_ATOMIC, shared)
        _add_counts(totals, record, {Metric.LDS_ATOMIC_PHASES: "lds_phases"})
    if site.constant:
        _add_counts(totals, record, _CONSTANT)
    elif by_line or not atomic:
        _add_counts(totals, record, {**_GLOBAL, **_SHARED, Metric.DRAM_SECTORS_AGAIN: "read_again"})
        _add_part(totals, record, {Metric.LANES: "lanes", Metric.BYTES: "bytes"}, 1.0 - shared)
    if not (by_line or atomic or site.constant):
        _add_part(totals, record, {Metric.LDS_LANES: "lanes"}, shared)
    totals.requests = float(record["requests"])
    totals.lanes = float(record["lanes"])
    totals.lanes_possible = totals.lanes if site.one_lane else totals.requests * wave_size
    totals.l1_hits = float(record["l1_hits"])
    totals.l1_accesses = totals.l1_hits + float(record["l1_misses"])
    totals.l2_hits = float(record["l2_hits"])
    totals.l2_accesses = totals.l2_hits + float(record["l2_misses"])
    return totals


def _share(record: np.void, name: str) -> float:
    requests = float(record["requests"])
    return float(record[name]) / requests if requests else 0.0


def _add_counts(totals: Totals, record: np.void, fields: Mapping[Metric, str]) -> None:
    _add_part(totals, record, fields, 1.0)


def _add_part(totals: Totals, record: np.void, fields: Mapping[Metric, str], share: float) -> None:
    """Of counts that a record keeps for both memories together, lanes of an instruction that touched both are shared
    out by its requests."""
    if share <= 0:
        return
    for metric, name in fields.items():
        error = float(record["error"][_ERROR_OF[name]]) if name in _ERROR_OF else 0.0
        totals.add(metric, float(record[name]) * share, error * share)


@dataclass(frozen=True)
class Group:
    """The launches of one kernel with one geometry."""

    kernel: str
    geometry: Geometry
    launches: tuple[KernelLaunch, ...]

    @property
    def threads(self) -> int:
        return math.prod(self.geometry.grid) * math.prod(self.geometry.block)

    @cached_property  # there may be 100 000 launches
    def traced(self) -> tuple[KernelLaunch, ...]:
        return tuple(launch for launch in self.launches if launch.traced_blocks > 0)


def groups_of(launches: Iterable[KernelLaunch]) -> dict[str, tuple[Group, ...]]:
    """Per kernel, its groups in order of first launch."""
    found: dict[tuple[str, Geometry], list[KernelLaunch]] = {}
    for launch in launches:
        found.setdefault((launch.kernel, launch.geometry), []).append(launch)
    by_kernel: dict[str, list[Group]] = {}
    for (kernel, geometry), members in found.items():
        by_kernel.setdefault(kernel, []).append(Group(kernel, geometry, tuple(members)))
    return {kernel: tuple(groups) for kernel, groups in by_kernel.items()}


def launch_weights(groups: Sequence[Group]) -> dict[int, float]:
    """Per traced launch, the weight that makes the sum over them a mean per dispatch of the kernel.

    It stands for the launches of its shape to which it is nearest in order; a shape that was not traced at all is
    stood for by the shape nearest in size, in proportion to its threads.
    """
    dispatches = sum(len(group.launches) for group in groups)
    weights: dict[int, float] = {}
    for group in groups:
        places = [place for place, launch in enumerate(group.launches) if launch.traced_blocks > 0]
        for number, place in enumerate(places):
            before = (places[number - 1] + place) / 2 if number else -0.5
            after = (place + places[number + 1]) / 2 if number + 1 < len(places) else len(group.launches) - 0.5
            weights[group.launches[place].index] = (after - before) / dispatches
    for lender, ratio, count in _borrowed(groups):
        weights[lender.traced[-1].index] += ratio * count / dispatches
    return weights


def _borrowed(groups: Sequence[Group]) -> list[tuple[Group, float, int]]:
    """For each shape that was not traced: whose counts it takes, how many times of them, and its dispatches."""
    traced = [group for group in groups if group.traced]
    found = []
    for group in groups:
        if group.traced or not traced:
            continue
        lender = min(traced, key=lambda other: abs(math.log(group.threads / other.threads)))
        found.append((lender, group.threads / lender.threads, len(group.launches)))
    return found


def mean_per_dispatch(groups: Sequence[Group], by_launch: Mapping[int, Totals]) -> Totals:
    """Of traced launches by their index; one that is absent counted nothing.

    Launches that were not watched differ from those that were as much as these differ among themselves.
    """
    totals = Totals()
    weights = launch_weights(groups)
    for index, launch in by_launch.items():
        totals.absorb(launch, weights[index])
    dispatches = sum(len(group.launches) for group in groups)
    for group in groups:
        if group.traced and len(group.traced) < len(group.launches):
            watched = [by_launch.get(launch.index, Totals()) for launch in group.traced]
            for metric in totals.estimates:
                half_width = sampling.of_mean([launch.value(metric) for launch in watched], len(group.launches))
                totals.add(metric, 0.0, half_width, len(group.launches) / dispatches)
    for lender, ratio, count in _borrowed(groups):
        for metric, estimate in by_launch.get(lender.traced[-1].index, Totals()).estimates.items():
            totals.add(metric, 0.0, estimate.value * ratio * _BORROWED_ERROR, count / dispatches)
    return totals


def records_of(trace: Trace, launch: KernelLaunch) -> Records:
    found: Records = trace.sites[trace.sites["launch"] == launch.index]
    return found


def kernel_totals(trace: Trace, groups: Sequence[Group]) -> Totals:
    """All sites of a kernel, per dispatch. Zero counts are present: the kernel was watched."""
    totals = Totals()
    for metric in (*_GLOBAL, *_SHARED, *_CONSTANT, *_GLOBAL_ATOMIC, *_LDS_ATOMIC):
        totals.add(metric, 0.0)
    for metric in (Metric.LANES, Metric.BYTES, Metric.LDS_ATOMIC_PHASES):
        totals.add(metric, 0.0)
    by_launch: dict[int, Totals] = {}
    for launch in (launch for group in groups for launch in group.traced):
        module = trace.module_of(launch)
        own = by_launch.setdefault(launch.index, Totals())
        for record in records_of(trace, launch):
            site = module.sites[int(record["site"])]
            if site.kind in ATOMIC_KINDS or site.kind in ACCESS_KINDS:
                own.absorb(site_totals(record, site, module.wave_size, by_line=False), 1.0)
    totals.absorb(mean_per_dispatch(groups, by_launch), 1.0)
    return totals
