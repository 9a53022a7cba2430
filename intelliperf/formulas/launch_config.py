"""Launches that leave lanes, compute units or the last round of blocks empty, or of blocks too small to start."""

from __future__ import annotations

import math

from intelliperf.formulas.base import (
    Formula,
    Symptom,
    Threshold,
    optional,
    shrunk,
    stepping_ns,
    value_of,
    waiting_ns,
    waves_of,
)
from intelliperf.records import Device, KernelProfile, Metric, Provenance, SourceEvidence
from intelliperf.sentences import duration, percent

FILLED = Threshold(
    0.8, "Nsight Compute's rule for the last round, too, speaks up where a fifth of the capacity is empty"
)
FULL_LANES = Threshold(0.9, "a tenth of the lanes: a block of 250 threads wastes less, one of 48 or 100 more")
# What a thread does at least: work below it cannot be shared out among more threads.
LEAST_REQUESTS = Threshold(4.0, "an index, two operands and a result; requests of one wave overlap up to about as many")
LEAST_INSTRUCTIONS = Threshold(64.0, "every thread repeats the index, the bounds check and the addresses")

FULL_BLOCK = Threshold(256.0, "threads: a quarter of what a block may have; a larger one saves few more starts")
# On the busiest compute unit in the model; a mean over all of them where it was measured.
_WORK_PARTS = (Metric.L2_TIME_NS, Metric.DRAM_TIME_NS, Metric.ATOMIC_TIME_NS)
_OF_A_UNIT = (Metric.ISSUE_TIME_NS, Metric.LDS_TIME_NS, Metric.L1_TIME_NS)


class LaunchConfig(Formula):
    """How the launch fills lanes, compute units and rounds of blocks.

    The ceiling takes it that the same work were spread evenly, as far as a thread's work can be shared out at all:
    a small problem with one element per thread is not the launch's fault.
    """

    name = "launchConfig"
    summary = "the launch leaves lanes, compute units or the last round of blocks empty, or its blocks are tiny"
    watched = Metric.ROUND_FILL_RATIO
    needs = (
        Metric.DEVICE_TIME_NS,
        Metric.LANE_FILL_RATIO,
        Metric.UNIT_FILL_RATIO,
        Metric.ROUND_FILL_RATIO,
        Metric.REQUESTS,
        Metric.LDS_REQUESTS,
        Metric.INSTRUCTIONS,
    )
    own_parts = (*_OF_A_UNIT, Metric.LATENCY_TIME_NS, Metric.DISPATCH_TIME_NS)
    minimum_excess = Threshold(
        0.25,
        "counts do not tell whether a thread's work can be shared out: only where a quarter of the time is at stake",
    )
    blames_kernel = True
    rules = (
        *("spread_over_grid", "row_per_wave", "turns_over_grid", "split_columns", "wave_for_thread", "whole_waves"),
        *("smaller_blocks", "fewer_sums", "keep_in_register", "restrict_pointers"),
        *("triton_smaller_block", "triton_warps", "triton_larger_block", "triton_tiles"),
    )
    knowledge = (
        "A block is cut into waves of 32 or 64 lanes; a size that is not a multiple leaves lanes empty in the last "
        "wave of every block, and a size of 128 or 256 is a good default. A grid should bring several blocks per "
        "compute unit: with fewer blocks than units most of the chip is idle, and when the blocks take one and a bit "
        "rounds the last round runs nearly empty. Cures: smaller blocks; more blocks that each do less (split the "
        "long loop of a thread over several threads or blocks and combine the parts, split-k); a grid-stride loop "
        "with as many blocks as fit at once, so that there is one even round. Launch sites may be changed as far as "
        "grid, block and dynamic LDS go; the kernel must then not rely on the old sizes (shared arrays sized for the "
        "block, one block per row, constants equal to blockDim), and every bounds check has to hold for the new grid."
    )

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        looks = (_lanes(profile, device), _rounds(profile, device), _starts(profile, device))
        return max(filter(None, looks), key=lambda seen: seen.excess_ns, default=None)

    def excess(self, evidence: SourceEvidence) -> float:
        return 0.0


def _lanes(profile: KernelProfile, device: Device) -> Symptom | None:
    fill = value_of(profile, Metric.LANE_FILL_RATIO)
    if fill >= FULL_LANES.value:
        return None
    after = {
        Metric.ISSUE_TIME_NS: optional(profile, Metric.ISSUE_TIME_NS) * fill,
        Metric.LATENCY_TIME_NS: waiting_ns(profile) * fill,
    }
    excess_ns, left_ns = shrunk(profile, after)
    sizes = profile.geometries[0].block
    block, threads = "x".join(map(str, sizes)), math.prod(sizes)
    filled = threads / (math.ceil(threads / device.wave_size) * device.wave_size)
    fills = f"fill {percent(fill)} of the lanes of their waves of {device.wave_size}"
    if fill < filled * FULL_LANES.value:
        fills = f"have work of their own for {percent(fill)} of their lanes, and the others repeat it"
    return Symptom(
        value=fill,
        ideal=1.0,
        excess_ns=excess_ns,
        left_ns=left_ns,
        sentence=f"blocks of {block} threads {fills}",
        metric=Metric.LANE_FILL_RATIO,
    )


def _rounds(profile: KernelProfile, device: Device) -> Symptom | None:
    units, rounds = value_of(profile, Metric.UNIT_FILL_RATIO), value_of(profile, Metric.ROUND_FILL_RATIO)
    if min(units, rounds) >= FILLED.value:
        return None
    waves = sum(waves_of(profile, device)) / max(1, len(profile.geometries))
    requests = value_of(profile, Metric.REQUESTS) + value_of(profile, Metric.LDS_REQUESTS)
    indivisible = min(1.0, LEAST_REQUESTS.value * waves / requests) if requests > 0 else 1.0
    instructions = value_of(profile, Metric.INSTRUCTIONS)
    least_issue = min(1.0, LEAST_INSTRUCTIONS.value * waves / instructions) if instructions > 0 else 1.0
    # A round that is not full ends no sooner: it takes as long as its longest block, however few run beside it.
    evenly = units if profile.time_provenance is Provenance.MODELLED else rounds
    evenly, steps_evenly = max(evenly, _chained(profile)), evenly
    stepping = stepping_ns(profile, device)
    waiting = waiting_ns(profile) - stepping
    after = {Metric.LATENCY_TIME_NS: waiting * max(evenly, indivisible) + stepping * max(steps_evenly, least_issue)}
    if profile.time_provenance is Provenance.MODELLED:
        for part in _OF_A_UNIT:
            least = least_issue if part is Metric.ISSUE_TIME_NS else indivisible
            after[part] = optional(profile, part) * max(units, least)
    excess_ns, left_ns = shrunk(profile, after)
    return Symptom(
        value=rounds,
        ideal=1.0,
        excess_ns=excess_ns,
        left_ns=left_ns,
        sentence=_filling(profile, device, units, rounds),
    )


def _chained(profile: KernelProfile) -> float:
    """The part of the waiting that no other thread can take over: for loads that each wait for the one before."""
    chained = optional(profile, Metric.CHAINED_LOAD_RATIO)
    others = (1 - chained) / LEAST_REQUESTS.value  # overlap
    return chained / (chained + others) if chained > 0 else 0.0


def _starts(profile: KernelProfile, device: Device) -> Symptom | None:
    """Blocks so small that starting them takes longer than their work: fewer, larger ones need fewer starts.

    Only where enough of them are left for every compute unit: else the larger ones would leave some without work.
    """
    starting = optional(profile, Metric.DISPATCH_TIME_NS)
    threads = max(math.prod(geometry.block) for geometry in profile.geometries)
    blocks = min(math.prod(geometry.grid) for geometry in profile.geometries)
    share = threads / FULL_BLOCK.value
    if share >= 1 or blocks * share < device.limits.compute_units:
        return None
    if starting <= max(optional(profile, part) for part in (*_WORK_PARTS, *_OF_A_UNIT, Metric.LATENCY_TIME_NS)):
        return None
    after = {part: optional(profile, part) for part in (*_OF_A_UNIT, Metric.LATENCY_TIME_NS)}
    excess_ns, left_ns = shrunk(profile, {**after, Metric.DISPATCH_TIME_NS: starting * share})
    return Symptom(
        value=float(threads),
        ideal=FULL_BLOCK.value,
        excess_ns=excess_ns,
        left_ns=left_ns,
        sentence=f"starting {blocks:,} blocks of {threads} threads takes {duration(starting)}, longer than their work",
    )


def _filling(profile: KernelProfile, device: Device, units: float, rounds: float) -> str:
    blocks = sorted(math.prod(geometry.grid) for geometry in profile.geometries)
    least, most, have = blocks[0], blocks[-1], device.limits.compute_units
    many = f"{most:,} blocks" if most > 1 else "1 block"
    if least < most:
        many = f"launches of {least:,} to {most:,} blocks"
    if most < have and units < FILLED.value:
        return f"{many} on {have} compute units leave {percent(1 - units)} of them without work"
    return (
        f"{many} fill {percent(rounds)} of what {have} compute units could hold in the rounds that they take, and the "
        f"busiest unit has {1 / units:.2f} times the mean number of blocks"
    )
