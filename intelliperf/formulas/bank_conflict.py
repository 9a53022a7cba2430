"""LDS accesses whose lanes fall on the same banks."""

from __future__ import annotations

from intelliperf.formulas.base import Formula, Symptom, Threshold, count, optional, value_of
from intelliperf.records import AccessKind, Device, KernelProfile, Metric, SourceEvidence

CYCLES_PER_IDEAL = Threshold(
    1.1, "a tenth of all LDS cycles lost is where the vendors' own guidance begins to speak of conflicts"
)


class BankConflict(Formula):
    name = "bankConflict"
    summary = "lanes of a wave hit the same LDS (shared memory) banks"
    watched = Metric.LDS_PHASES
    needs = (
        Metric.DEVICE_TIME_NS,
        Metric.LDS_REQUESTS,
        Metric.LDS_PHASES,
        Metric.LDS_PHASES_IDEAL,
        Metric.LDS_TIME_NS,
    )
    own_parts = (Metric.LDS_TIME_NS,)
    rules = ("contiguous_reduction", "pad_lds")
    knowledge = (
        "LDS (shared memory) is spread over banks of four bytes; lanes that ask for different words of one bank in "
        "the same cycle are served one after another, lanes that ask for the same word are served together. The bank "
        "is the word index modulo the number of banks, so a stride between lanes that shares a factor with it "
        "conflicts: a column of a tile whose rows are 32 words long puts all lanes on one bank. Pad the row by one "
        "element (tile[32][33]), or permute the column by the row (column ^ row), or change which lane handles which "
        "element; for strided trees (reduction, scan) use contiguous lanes per step instead of `2 * stride * lane`. "
        "Padding costs LDS and with it occupancy; 8- and 16-byte elements are served in halves and quarters of a "
        "wave, so that their conflict-free padding differs. Every access to the array has to follow the new layout."
    )

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        requests = profile.quantity(Metric.LDS_REQUESTS)
        phases = value_of(profile, Metric.LDS_PHASES)
        ideal = value_of(profile, Metric.LDS_PHASES_IDEAL)
        if requests.value <= 0 or ideal <= 0 or phases < CYCLES_PER_IDEAL.value * ideal:
            return None
        all_phases = phases + optional(profile, Metric.LDS_ATOMIC_PHASES)
        return Symptom(
            value=phases,
            ideal=ideal,
            excess_ns=value_of(profile, Metric.LDS_TIME_NS) * (phases - ideal) / all_phases,
            sentence=(
                f"an LDS access needs {phases / requests.value:.2f} bank cycles where {ideal / requests.value:.2f} "
                f"would do ({phases / ideal:.1f}×, over {count(requests)} accesses)"
            ),
        )

    def excess(self, evidence: SourceEvidence) -> float:
        atomic = evidence.access in (AccessKind.ATOMIC, AccessKind.REDUCTION)
        if atomic or Metric.LDS_PHASES not in evidence.quantities:
            return 0.0
        return evidence.quantity(Metric.LDS_PHASES).value - evidence.quantity(Metric.LDS_PHASES_IDEAL).value
