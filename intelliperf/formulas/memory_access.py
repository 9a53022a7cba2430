"""Global memory accesses that touch more of memory than they ask for."""

from __future__ import annotations

from intelliperf.formulas.base import Formula, Symptom, Threshold, count, value_of
from intelliperf.records import AccessKind, Device, KernelProfile, Metric, SourceEvidence
from intelliperf.sentences import percent

SECTORS_PER_IDEAL = Threshold(
    1.5, "contiguous but misaligned accesses of four bytes and more stay below it, strides of two lie above"
)
EXTRA_SECTORS_PER_REQUEST = Threshold(
    1.0, "misalignment costs a request one sector at most, however narrow its elements are"
)
EXTRA_BYTES_PER_REQUEST = Threshold(128.0, "misalignment costs a request one line at most, of 128 bytes or less")


class MemoryAccess(Formula):
    """Bytes moved against bytes asked for, per request.

    The ideal is what the active lanes' elements need side by side, but never more than was touched: wide
    elements, broadcasts and partly active waves are ideal. (AMD's "coalesced" percentage, 64 x waves x 100 /
    (4 x accesses), calls a unit-stride copy of doubles 25 % coalesced, which is why it is not used.)
    """

    name = "memoryAccess"
    summary = "global memory accesses of a wave are scattered (uncoalesced)"
    watched = Metric.SECTORS
    needs = (
        Metric.DEVICE_TIME_NS,
        Metric.REQUESTS,
        Metric.BYTES,
        Metric.SECTORS,
        Metric.SECTORS_IDEAL,
        Metric.DRAM_BYTES,
        Metric.L1_TIME_NS,
        Metric.L2_TIME_NS,
        Metric.DRAM_TIME_NS,
    )
    instead = (
        Metric.L1_L2_BYTES,
        Metric.L1_L2_EXCESS_BYTES,
        Metric.BYTES_AT_MOST,
        Metric.REQUESTS,
        Metric.DEVICE_TIME_NS,
    )
    own_parts = (Metric.L1_TIME_NS, Metric.L2_TIME_NS, Metric.DRAM_TIME_NS)
    rules = (
        *("interleave_chunks", "row_per_wave", "stage_rows", "stage_records"),
        *("interchange_index", "renumber_grid", "transpose_through_lds", "tile_permutation"),
        *("keep_in_register", "restrict_pointers"),
        *(
            "triton_lane_order",
            "triton_loop_lanes",
            "triton_interchange",
            "triton_column_tile",
            "triton_split_pairs",
            "triton_join_pairs",
        ),
        *("triton_renumber_lanes", "triton_unit_stride", "triton_store_layout", "triton_tiles"),
    )
    knowledge = (
        "Memory moves in sectors of 32 bytes and lines of 64 or 128; a wave's access is cheap when neighbouring lanes "
        "touch neighbouring addresses. Lanes that walk down columns or each own a row, and records whose fields are "
        "read one at a time (array of structures), pull in whole sectors for a few bytes each. Let the fastest "
        "varying lane index (threadIdx.x) run along the fastest varying memory index; load a tile with contiguous "
        "lanes into LDS and read it the other way from there; split records into arrays of fields, or load a whole "
        "record per lane with one wide load; give each thread elements a grid apart instead of a contiguous chunk. "
        "Of a transpose one side is always strided: stage it through a padded LDS tile. A pattern that hits in the "
        "cache later costs little, so check the hit ratios before changing a layout that the host shares."
    )

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        if not profile.has(Metric.SECTORS, Metric.SECTORS_IDEAL):
            return _by_traffic(profile)
        requests = profile.quantity(Metric.REQUESTS)
        sectors = value_of(profile, Metric.SECTORS)
        ideal = value_of(profile, Metric.SECTORS_IDEAL)
        if requests.value <= 0 or ideal <= 0:
            return None
        if not _scattered(sectors, ideal, requests.value):
            return None
        # A cache spends its time on lines or on sectors, whichever a device has: nothing saves more than the larger.
        wasted = max(1.0 - ideal / sectors, _excess_lines(profile))
        asked, moved = value_of(profile, Metric.BYTES), value_of(profile, Metric.DRAM_BYTES)
        dram_wasted = max(0.0, 1.0 - asked / moved) if moved > 0 else 0.0
        l1, l2 = value_of(profile, Metric.L1_TIME_NS), value_of(profile, Metric.L2_TIME_NS)
        dram = value_of(profile, Metric.DRAM_TIME_NS)
        return Symptom(
            value=sectors,
            ideal=ideal,
            excess_ns=(l1 + l2) * wasted + dram * dram_wasted,
            left_ns=max(max(l1, l2) * (1.0 - wasted), dram * (1.0 - dram_wasted)),
            sentence=(
                f"a global access touches {sectors / requests.value:.1f} sectors of 32 bytes where "
                f"{ideal / requests.value:.1f} would hold what it asks for ({sectors / ideal:.1f}×, over "
                f"{count(requests)} accesses; {percent(dram_wasted)} of the DRAM traffic was not asked for)"
            ),
        )

    def excess(self, evidence: SourceEvidence) -> float:
        if evidence.access not in (AccessKind.LOAD, AccessKind.STORE) or Metric.SECTORS not in evidence.quantities:
            return 0.0
        sectors = evidence.quantity(Metric.SECTORS).value
        ideal = evidence.quantity(Metric.SECTORS_IDEAL).value
        requests = evidence.quantity(Metric.REQUESTS).value
        return sectors - ideal if requests > 0 and _scattered(sectors, ideal, requests) else 0.0


def _excess_lines(profile: KernelProfile) -> float:
    """The share of the touched lines of 128 bytes that is beyond the ideal; 0 where they are not counted."""
    if not profile.has(Metric.LINES_128B, Metric.LINES_128B_IDEAL):
        return 0.0
    touched = value_of(profile, Metric.LINES_128B)
    return 1.0 - value_of(profile, Metric.LINES_128B_IDEAL) / touched if touched > 0 else 0.0


def _scattered(sectors: float, ideal: float, requests: float) -> bool:
    return sectors >= SECTORS_PER_IDEAL.value * ideal and sectors - ideal > EXTRA_SECTORS_PER_REQUEST.value * requests


def _by_traffic(profile: KernelProfile) -> Symptom | None:
    """Hardware counts lines between L1 and L2, where hits in L1 do not show: what is found is the least there is."""
    requests = profile.quantity(Metric.REQUESTS)
    moved, excess = value_of(profile, Metric.L1_L2_BYTES), value_of(profile, Metric.L1_L2_EXCESS_BYTES)
    used = moved - excess
    if requests.value <= 0 or used <= 0 or moved < SECTORS_PER_IDEAL.value * used:
        return None
    if excess <= EXTRA_BYTES_PER_REQUEST.value * requests.value:
        return None
    wasted = excess / moved
    dram_moved = value_of(profile, Metric.DRAM_BYTES)
    dram_wasted = max(0.0, 1.0 - value_of(profile, Metric.BYTES_AT_MOST) / dram_moved) if dram_moved > 0 else 0.0
    l1, l2 = value_of(profile, Metric.L1_TIME_NS), value_of(profile, Metric.L2_TIME_NS)
    dram = value_of(profile, Metric.DRAM_TIME_NS)
    return Symptom(
        value=moved,
        ideal=used,
        excess_ns=(l1 + l2) * wasted + dram * dram_wasted,
        left_ns=max(max(l1, l2) * (1.0 - wasted), dram * (1.0 - dram_wasted)),
        sentence=(
            f"a global access moves {moved / requests.value:.0f} bytes between L1 and L2 of which at least "
            f"{excess / requests.value:.0f} were not asked for ({moved / used:.1f}×, over {count(requests)} accesses)"
        ),
        metric=Metric.L1_L2_BYTES,
    )
