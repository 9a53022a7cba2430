"""Atomics that queue up on the same address."""

from __future__ import annotations

from intelliperf.formulas.base import Formula, Symptom, Threshold, count, duration, percent, value_of
from intelliperf.records import AccessKind, Device, KernelProfile, MemorySpace, Metric, SourceEvidence

LANES_ON_ONE_ADDRESS = Threshold(
    1.5, "random keys over a few hundred addresses already put more than one lane of a wave on the same one"
)
OPERATIONS_PER_ADDRESS = Threshold(
    32.0, "with a wave's worth of operations per address, combining them before memory saves most of them"
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
        Metric.ATOMIC_ADDRESSES,
        Metric.ATOMIC_TIME_NS,
    )
    own_parts = (Metric.ATOMIC_TIME_NS,)
    rules = ("block_reduce_atomics", "wave_aggregate_atomics", "privatize_atomics")
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

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        lanes = profile.quantity(Metric.ATOMIC_LANES)
        requests = value_of(profile, Metric.ATOMIC_REQUESTS)
        addresses = value_of(profile, Metric.ATOMIC_ADDRESSES)
        if requests <= 0 or lanes.value <= 0 or addresses <= 0:
            return None  # no atomics is not 0/0
        serialized = value_of(profile, Metric.ATOMIC_SERIALIZATION)
        per_request = serialized / requests
        per_address = lanes.value / addresses
        if per_request < LANES_ON_ONE_ADDRESS.value and per_address < OPERATIONS_PER_ADDRESS.value:
            return None
        atomic_ns = value_of(profile, Metric.ATOMIC_TIME_NS)
        hottest = profile.quantity(Metric.ATOMIC_HOTTEST_SHARE).value
        return Symptom(
            value=serialized,
            ideal=addresses,
            excess_ns=atomic_ns * (1.0 - min(1.0, addresses / lanes.value)),
            sentence=(
                f"each atomic request puts {per_request:.1f} lanes on one address (ideal 1), {count(lanes)} atomic "
                f"operations share {addresses:,.0f} address{'' if addresses == 1 else 'es'}, the hottest takes "
                f"{percent(hottest)} of them, and their queue takes {duration(atomic_ns)}"
            ),
        )

    def excess(self, evidence: SourceEvidence) -> float:
        if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION) or evidence.space is MemorySpace.SHARED:
            return 0.0
        return evidence.quantity(Metric.ATOMIC_SERIALIZATION).value
