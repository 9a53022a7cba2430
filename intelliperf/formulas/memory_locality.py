"""Memory that is read again because the caches no longer, or in another part, hold it."""

from __future__ import annotations

from intelliperf.formulas.base import Formula, Symptom, Threshold, duration, optional, percent, shrunk, value_of
from intelliperf.records import Device, KernelProfile, Metric, SourceEvidence

TRAFFIC_PER_COMPULSORY = Threshold(
    1.5,
    "borders of tiles and tables that all blocks share are read again by every well-blocked kernel; half as much "
    "again as each line once is more than they explain",
)


class MemoryLocality(Formula):
    """Traffic between L2 and memory against every line once.

    Lines count whole: what of a line nobody asked for is `memoryAccess`'s. Only an emulator can tell distinct
    addresses; hardware counts traffic, and has no finding of this formula.
    """

    name = "memoryLocality"
    summary = "the same memory is fetched again: reuse comes too late, or in another part of the cache"
    watched = Metric.DRAM_BYTES
    needs = (Metric.DEVICE_TIME_NS, Metric.DRAM_BYTES, Metric.DRAM_BYTES_COMPULSORY, Metric.DRAM_TIME_NS)
    absent = {Metric.DRAM_BYTES_COMPULSORY: "hardware counts no distinct addresses; the emulator does"}
    own_parts = (Metric.DRAM_TIME_NS,)
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
        moved = value_of(profile, Metric.DRAM_BYTES)
        once = value_of(profile, Metric.DRAM_BYTES_COMPULSORY)
        if once <= 0 or moved < TRAFFIC_PER_COMPULSORY.value * once:
            return None
        dram_ns = value_of(profile, Metric.DRAM_TIME_NS)
        excess_ns, left_ns = shrunk(profile, {Metric.DRAM_TIME_NS: dram_ns * once / moved})
        hits = (
            f"; L2 serves {percent(optional(profile, Metric.L2_HIT_RATIO))}" if profile.has(Metric.L2_HIT_RATIO) else ""
        )
        return Symptom(
            value=moved,
            ideal=once,
            excess_ns=excess_ns,
            left_ns=left_ns,
            sentence=(
                f"{_size(moved)} pass between L2 and memory where {_size(once)} would if every line came once "
                f"({moved / once:.1f}x), which takes {duration(dram_ns)}{hits}"
            ),
        )

    def excess(self, evidence: SourceEvidence) -> float:
        again = evidence.quantities.get(Metric.DRAM_SECTORS_AGAIN)
        return again.value if again is not None else 0.0


def _size(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"
