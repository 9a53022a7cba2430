"""Instructions that many lanes of their wave sit out."""

from __future__ import annotations

from intelliperf.formulas.base import (
    Formula,
    Symptom,
    Threshold,
    optional,
    shrunk,
    stepping_ns,
    value_of,
    waiting_ns,
)
from intelliperf.records import AccessKind, Device, KernelProfile, Metric, SourceEvidence
from intelliperf.sentences import duration, percent

ACTIVE_OF_POSSIBLE = Threshold(
    0.95, "ragged ends leave a twentieth of the lanes idle in healthy kernels; beyond it the time at stake decides"
)


class BranchDivergence(Formula):
    """Active lanes per instruction against the threads of a wave.

    Lanes that the launch leaves empty are none of it: they are `launchConfig`'s. The ceiling takes it that the same
    lane instructions could be packed into full waves, which is the least that could have to be issued.
    """

    name = "branchDivergence"
    summary = "lanes of a wave take different ways, and sit out one another's instructions"
    watched = Metric.ACTIVE_LANE_RATIO
    needs = (
        Metric.DEVICE_TIME_NS,
        Metric.ACTIVE_LANE_RATIO,
        Metric.LANE_FILL_RATIO,
        Metric.ISSUE_TIME_NS,
    )
    own_parts = (Metric.ISSUE_TIME_NS, Metric.LDS_TIME_NS, Metric.LATENCY_TIME_NS)
    rules = ("contiguous_reduction", "tree_reduction", "block_scan", "wave_for_thread")
    knowledge = (
        "A wave issues the instructions of every way that any of its lanes takes, and of a loop as many rounds as its "
        "slowest lane needs; lanes that are elsewhere sit them out. What decides a branch should therefore change "
        "between waves, not within them: sort or bin the work by what decides it, compact the active elements into "
        "full waves (ballot and prefix sum, or a queue in LDS), or give a long element to a whole wave. A loop whose "
        "lanes end at different rounds wins by taking the next element as soon as one is finished (a persistent "
        "loop: `while (has work)`), so that no lane waits for the longest. Common work belongs outside of the "
        "branches; a short branch is cheaper as arithmetic or a select; a test on threadIdx should fall on wave "
        "borders. Results must stay the same: mind the order in which floating-point values are summed, and never "
        "put a barrier or a collective that names all lanes on a way that only some of them take."
    )

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        active = value_of(profile, Metric.ACTIVE_LANE_RATIO)
        possible = value_of(profile, Metric.LANE_FILL_RATIO)
        if possible <= 0 or active >= ACTIVE_OF_POSSIBLE.value * possible:
            return None
        issue_ns = value_of(profile, Metric.ISSUE_TIME_NS)
        lds_ns = optional(profile, Metric.LDS_TIME_NS)
        packed = _packed(profile, device.wave_size * possible)
        after = {Metric.ISSUE_TIME_NS: issue_ns * active / possible, Metric.LDS_TIME_NS: lds_ns * packed}
        if stepping := stepping_ns(profile, device):
            after[Metric.LATENCY_TIME_NS] = waiting_ns(profile) - stepping * (1 - active / possible)
        excess_ns, left_ns = shrunk(profile, after)
        lanes = device.wave_size
        return Symptom(
            value=active,
            ideal=possible,
            excess_ns=excess_ns,
            left_ns=left_ns,
            sentence=(
                f"an instruction is carried out by {active * lanes:.1f} lanes of a wave where {possible * lanes:.0f} "
                f"could take part ({percent(active / possible)}), and issuing instructions takes {duration(issue_ns)}"
                + (f", LDS {duration(lds_ns)}" if lds_ns * (1 - packed) > issue_ns * (1 - active / possible) else "")
            ),
        )

    def excess(self, evidence: SourceEvidence) -> float:
        lost = evidence.quantities.get(Metric.LANES_LOST)
        return lost.value if lost is not None and evidence.access is AccessKind.CODE else 0.0


def _packed(profile: KernelProfile, lanes: float) -> float:
    """The part of the time in LDS that is left where requests of few lanes become full ones; 1 where it is not told.

    Atomics take their time by lane, and keep it.
    """
    if not profile.has(Metric.LDS_LANES, Metric.LDS_REQUESTS, Metric.LDS_PHASES):
        return 1.0
    requests, phases = value_of(profile, Metric.LDS_REQUESTS), value_of(profile, Metric.LDS_PHASES)
    if requests <= 0 or phases <= 0:
        return 1.0
    filled = min(1.0, value_of(profile, Metric.LDS_LANES) / (requests * lanes))
    plain = phases / (phases + optional(profile, Metric.LDS_ATOMIC_PHASES))
    return 1.0 - plain * (1.0 - filled)
