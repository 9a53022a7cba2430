"""Atomics that queue up on the same address."""

from __future__ import annotations

from intelliperf.formulas.base import (
    Formula,
    Symptom,
    Threshold,
    count,
    optional,
    value_of,
    visible_ns,
)
from intelliperf.records import AccessKind, Device, KernelProfile, Metric, Quantity, SourceEvidence
from intelliperf.sentences import duration, percent

LANES_ON_ONE_ADDRESS = Threshold(
    1.5, "random keys over a few hundred addresses already put more than one lane of a wave on the same one"
)
LDS_LANES_ON_ONE_ADDRESS = Threshold(
    4.0, "LDS serves a lane per cycle, and a private histogram with random keys has up to three on one address"
)
OPERATIONS_PER_ADDRESS = Threshold(
    32.0, "with a wave's worth of operations per address, combining them before memory saves most of them"
)
HOTTEST_SHARE = Threshold(
    1 / 64, "an H200 takes atomics in as many queues: one address with more than its share outlasts the others"
)
_OTHER_PARTS = (
    *(Metric.ISSUE_TIME_NS, Metric.LDS_TIME_NS, Metric.L1_TIME_NS),
    *(Metric.L2_TIME_NS, Metric.DRAM_TIME_NS, Metric.LATENCY_TIME_NS),
)


class AtomicContention(Formula):
    name = "atomicContention"
    summary = "atomics of many lanes queue on the same few addresses"
    watched = Metric.ATOMIC_SERIALIZATION
    needs = (
        Metric.DEVICE_TIME_NS,
        Metric.ATOMIC_REQUESTS,
        Metric.ATOMIC_LANES,
        Metric.ATOMIC_SERIALIZATION,
        Metric.ATOMIC_TIME_NS,
    )
    instead = (Metric.ATOMIC_STALL_NS, Metric.ATOMIC_REQUESTS, Metric.DEVICE_TIME_NS)
    own_parts = (Metric.ATOMIC_TIME_NS, Metric.LDS_TIME_NS)
    rules = (
        *("block_reduce_atomics", "privatize_atomics", "privatize_fields", "fewer_tables", "fewer_sums"),
        *("wave_aggregate_atomics", "wave_aggregate_swaps"),
        *("triton_reduce_lanes", "triton_histogram", "triton_hoist_atomic", "triton_block_loop"),
        *("triton_program_loop", "triton_uniform_rows", "triton_larger_block"),
    )
    knowledge = (
        "The memory system performs atomics on one address one after another, so that the time is the length of the "
        "longest queue, whatever the rest of the chip could do. Fewer operations is the cure: combine the lanes of a "
        "wave in registers (shuffles, or one elected lane per distinct address), then the waves of a block in LDS, "
        "and let one lane per block touch global memory; for histograms keep a private copy per block in LDS and add "
        "it up at the end; let each thread take several elements (grid stride) before it reduces. Keep the result "
        "type and mind that floating-point addition in another order rounds differently. Where lanes of a wave can "
        "be inactive, a collective must name exactly the active ones; a barrier must be reached by every thread of "
        "the block, so never put one behind an early return or in a divergent branch. An atomic whose old value is "
        "used as an index (a queue slot) can be aggregated too, each lane adding its rank to the leader's old value."
    )

    def value(self, profile: KernelProfile) -> Quantity:
        """Lanes that wait for one address, in both memories together; else the time that they cost."""
        seen = super().value(profile)
        if not profile.has(self.watched):
            return seen
        lds = optional(profile, Metric.LDS_ATOMIC_SERIALIZATION)
        return Quantity(seen.value + lds, seen.provenance, seen.error)

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        counted = profile.has(Metric.ATOMIC_LANES, Metric.ATOMIC_SERIALIZATION)
        in_memory = _in_global_memory(profile) if counted else _by_stall(profile)
        found = [seen for seen in (in_memory, _in_lds(profile)) if seen is not None]
        return max(found, key=lambda seen: seen.excess_ns, default=None)

    def excess(self, evidence: SourceEvidence) -> float:
        """By time where it is known: a lane that waits costs far more in global memory than in LDS."""
        if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION):
            return 0.0
        time = evidence.quantities.get(Metric.DEVICE_TIME_NS)
        return time.value if time is not None else evidence.quantity(Metric.ATOMIC_SERIALIZATION).value


def _in_global_memory(profile: KernelProfile) -> Symptom | None:
    lanes = profile.quantity(Metric.ATOMIC_LANES)
    requests = value_of(profile, Metric.ATOMIC_REQUESTS)
    if requests <= 0 or lanes.value <= 0:
        return None  # no atomics is not 0/0
    if not profile.has(Metric.ATOMIC_ADDRESSES):
        return _by_queue(profile, lanes, requests)
    addresses = value_of(profile, Metric.ATOMIC_ADDRESSES)
    if addresses <= 0:
        return None
    addresses = max(1.0, addresses)  # a mean, below one where some of the launches have no atomics
    serialized = value_of(profile, Metric.ATOMIC_SERIALIZATION)
    per_request = serialized / requests
    hottest = value_of(profile, Metric.ATOMIC_HOTTEST_SHARE)
    crowded = hottest >= HOTTEST_SHARE.value and hottest * lanes.value >= OPERATIONS_PER_ADDRESS.value
    crowded |= lanes.value / addresses >= OPERATIONS_PER_ADDRESS.value
    if per_request < LANES_ON_ONE_ADDRESS.value and not crowded:
        return None
    atomic_ns = value_of(profile, Metric.ATOMIC_TIME_NS)
    in_waves = per_request >= LANES_ON_ONE_ADDRESS.value
    if not in_waves and atomic_ns < max(optional(profile, part) for part in _OTHER_PARTS):
        return None  # as a reduction within blocks leaves them: the rest of the kernel takes longer than the queue
    within = f"each atomic request puts {per_request:.1f} lanes on one address (ideal 1), " if in_waves else ""
    return Symptom(
        value=serialized,
        ideal=addresses,
        excess_ns=visible_ns(profile, Metric.ATOMIC_TIME_NS, atomic_ns * (1.0 - min(1.0, addresses / lanes.value))),
        sentence=(
            f"{within}{count(lanes)} atomic operations{'' if in_waves else ' of different requests'} share "
            f"{addresses:,.0f} address{'' if addresses == 1 else 'es'}, the hottest takes {percent(hottest)} of them, "
            f"and their queue takes {duration(atomic_ns)}"
        ),
    )


def _by_queue(profile: KernelProfile, lanes: Quantity, requests: float) -> Symptom | None:
    """Hardware counts no addresses. What it shows is the queue: how long the busiest part of L2 works on atomics.

    Atomics spread over many addresses keep all parts busy alike, and no queue is long.
    """
    operations = value_of(profile, Metric.ATOMIC_SERIALIZATION)
    atomic_ns = value_of(profile, Metric.ATOMIC_TIME_NS)
    per_request = operations / requests
    if per_request < LANES_ON_ONE_ADDRESS.value:
        return None
    return Symptom(
        value=operations,
        ideal=requests,
        excess_ns=visible_ns(profile, Metric.ATOMIC_TIME_NS, atomic_ns * (1.0 - requests / operations)),
        sentence=(
            f"each atomic request takes {per_request:.1f} operations in L2 (ideal 1), over {count(lanes)} atomic lane "
            f"operations, and the longest queue takes {duration(atomic_ns)}"
        ),
    )


def _by_stall(profile: KernelProfile) -> Symptom | None:
    """Hardware that counts no lanes tells how long its L1s wait because a line is held by an earlier atomic.

    AMD calls a share of more than 0.10 high contention (SerializedAtomicRatio): `MINIMUM_EXCESS` is the same.
    """
    requests = profile.quantity(Metric.ATOMIC_REQUESTS)
    stall_ns = value_of(profile, Metric.ATOMIC_STALL_NS)
    if requests.value <= 0 or stall_ns <= 0:
        return None
    share = percent(stall_ns / value_of(profile, Metric.DEVICE_TIME_NS))
    return Symptom(
        value=stall_ns,
        ideal=0.0,
        excess_ns=stall_ns,
        left_ns=0.0,
        sentence=(
            f"an L1 waits {duration(stall_ns)} for lines that earlier atomics hold, {share} of the kernel's time, "
            f"over {count(requests)} atomic requests"
        ),
        metric=Metric.ATOMIC_STALL_NS,
    )


def _in_lds(profile: KernelProfile) -> Symptom | None:
    requests = optional(profile, Metric.LDS_ATOMIC_REQUESTS)
    serialized = optional(profile, Metric.LDS_ATOMIC_SERIALIZATION)
    if requests <= 0 or serialized < LDS_LANES_ON_ONE_ADDRESS.value * requests:
        return None
    phases = value_of(profile, Metric.LDS_ATOMIC_PHASES)
    all_phases = phases + optional(profile, Metric.LDS_PHASES)
    lds_ns = optional(profile, Metric.LDS_TIME_NS)
    spin_ns = optional(profile, Metric.LDS_SPIN_TIME_NS)
    if spin_ns > 0:
        return Symptom(
            value=serialized,
            ideal=requests,
            excess_ns=spin_ns,
            left_ns=0.0,
            sentence=(
                f"each atomic request in LDS puts {serialized / requests:.1f} lanes on one address (ideal 1), over "
                f"{requests:,.0f} requests, and is a loop that one lane of an address leaves at a time: "
                f"{duration(spin_ns)}"
            ),
            metric=Metric.LDS_ATOMIC_SERIALIZATION,
            further_parts=(Metric.LATENCY_TIME_NS,),
        )
    return Symptom(
        value=serialized,
        ideal=requests,
        excess_ns=lds_ns * min(phases, serialized - requests) / all_phases if all_phases else 0.0,
        sentence=(
            f"each atomic request in LDS puts {serialized / requests:.1f} lanes on one address (ideal 1), over "
            f"{requests:,.0f} requests; LDS is busy for {duration(lds_ns)}"
        ),
        metric=Metric.LDS_ATOMIC_SERIALIZATION,
    )
