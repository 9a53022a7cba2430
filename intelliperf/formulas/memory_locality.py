"""Memory that is read again because the caches no longer, or in another part, hold it."""

from __future__ import annotations

from collections.abc import Sequence

from intelliperf.formulas.base import (
    MINIMUM_EXCESS,
    Formula,
    Symptom,
    Threshold,
    optional,
    shrunk,
    value_of,
)
from intelliperf.records import AccessKind, Device, KernelProfile, Metric, SourceEvidence
from intelliperf.sentences import duration, percent

TRAFFIC_PER_COMPULSORY = Threshold(
    1.5,
    "borders of tiles and tables that all blocks share are read again by every well-blocked kernel; half as much "
    "again as each line once is more than they explain",
)


class MemoryLocality(Formula):
    """Traffic between L2 and memory against every line once.

    Lines count whole: what of a line nobody asked for is `memoryAccess`'s. Only an emulator can tell distinct
    addresses. Hardware counts traffic, and shows this where a kernel reads more than all memory that it can reach; the
    traffic that is left over is then the least that is re-fetched, and all DRAM time what could be saved at most.
    """

    name = "memoryLocality"
    summary = "the same memory is fetched again: reuse comes too late, or in another part of the cache"
    watched = Metric.DRAM_BYTES
    needs = (Metric.DEVICE_TIME_NS, Metric.DRAM_BYTES, Metric.DRAM_BYTES_COMPULSORY, Metric.DRAM_TIME_NS)
    instead = (
        *(Metric.DRAM_BYTES, Metric.DRAM_BYTES_COMPULSORY_AT_MOST),
        *(Metric.DEVICE_TIME_NS, Metric.DRAM_TIME_NS),
    )
    absent = {
        Metric.DRAM_BYTES_COMPULSORY: "hardware counts no distinct addresses, and no more is read than all memory that "
        "can be reached, or that is not known; the emulator counts them"
    }
    own_parts = (Metric.DRAM_TIME_NS,)
    rules = (
        "triton_lane_order",
        "triton_loop_lanes",
        "triton_interchange",
        "triton_renumber_lanes",
        "triton_column_tile",
        "triton_split_pairs",
        "triton_reuse_load",
        "triton_tiles",
    )
    knowledge = (
        "Data that several blocks use should meet them while it is in the cache. Blocks start in the order of their "
        "index, a few per compute unit at a time; on chips of several dies (AMD's XCDs) block i runs on die "
        "i modulo their number, each with an L2 of its own, so that neighbouring blocks share no L2 and common data is "
        "fetched once per die. Renumber the blocks (swizzle): map the block index so that blocks which share data run "
        "at the same time and on the same die, e.g. (i % dies) * (blocks / dies) + i / dies where the number of "
        "blocks is a multiple, or go through a matrix in tiles of blocks instead of rows. Within a block stage what is "
        "used again in LDS or registers and do all work on it before the next part (tiling); fuse passes over the "
        "same array; let a pass run backwards where the one before ended. The renumbering must stay a permutation "
        "of all blocks."
    )

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        bounded = not profile.has(Metric.DRAM_BYTES_COMPULSORY)
        moved = value_of(profile, Metric.DRAM_BYTES)
        once = value_of(profile, Metric.DRAM_BYTES_COMPULSORY_AT_MOST if bounded else Metric.DRAM_BYTES_COMPULSORY)
        if once <= 0 or moved < TRAFFIC_PER_COMPULSORY.value * once:
            return None
        dram_ns = value_of(profile, Metric.DRAM_TIME_NS)
        proven_ns = dram_ns * (1 - once / moved)
        if bounded and proven_ns < MINIMUM_EXCESS.value * value_of(profile, Metric.DEVICE_TIME_NS):
            return None
        excess_ns, left_ns = shrunk(profile, {Metric.DRAM_TIME_NS: 0.0 if bounded else dram_ns - proven_ns})
        hits = (
            f"; L2 serves {percent(optional(profile, Metric.L2_HIT_RATIO))}" if profile.has(Metric.L2_HIT_RATIO) else ""
        )
        once_in_words, ratio = _size(once), f"{moved / once:.1f}×"
        if bounded:
            once_in_words, ratio = f"at most {once_in_words}", f"at least {ratio}"
        return Symptom(
            value=moved,
            ideal=once,
            excess_ns=excess_ns,
            left_ns=left_ns,
            sentence=(
                f"{_size(moved)} pass between L2 and memory where {once_in_words} would if every line came once "
                f"({ratio}), which takes {duration(dram_ns)}{hits}"
            ),
        )

    def blame(self, evidence: Sequence[SourceEvidence]) -> tuple[SourceEvidence, ...]:
        """The kernel as a whole, where the device does not tell which access re-fetches."""
        if any(Metric.DRAM_SECTORS_AGAIN in item.quantities for item in evidence):
            return super().blame(evidence)
        return tuple(item for item in evidence if item.access is AccessKind.KERNEL)

    def excess(self, evidence: SourceEvidence) -> float:
        again = evidence.quantities.get(Metric.DRAM_SECTORS_AGAIN)
        return again.value if again is not None else 0.0


def _size(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"
