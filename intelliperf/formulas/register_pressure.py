"""Registers that do not suffice, so that values go to memory and back."""

from __future__ import annotations

from intelliperf.formulas.base import Formula, Symptom, Threshold, optional, value_of
from intelliperf.records import Device, KernelProfile, MemorySpace, Metric, SourceEvidence
from intelliperf.sentences import duration, percent

SHARE_OF_REQUESTS = Threshold(
    0.05, "caches hide a few reloads: below a twentieth of all memory instructions they are not what a kernel waits for"
)


class RegisterPressure(Formula):
    """Loads and stores of memory private to a thread: the ideal is none.

    Where a model tells what they cost, that is the ceiling. Counters do not tell: there the ceiling is that of a
    kernel which waits for no memory, its time down to the longest other part.
    """

    name = "registerPressure"
    summary = "values that registers cannot hold go to memory and back (spills)"
    watched = Metric.LOCAL_REQUESTS
    needs = (Metric.DEVICE_TIME_NS, Metric.LOCAL_REQUESTS, Metric.REQUESTS, Metric.LDS_REQUESTS)
    absent = {
        Metric.LOCAL_REQUESTS: (
            "its code for the real target is not known, or its counters do not tell spills from other accesses "
            "(the emulator sees spills in AMD's code; ptxas tells their size only; AMD's hardware counts both together)"
        )
    }
    own_parts = (Metric.L1_TIME_NS, Metric.L2_TIME_NS, Metric.DRAM_TIME_NS, Metric.LATENCY_TIME_NS)
    blames_kernel = True
    rules = ("bound_block_size", "triton_warps")
    knowledge = (
        "A thread's values that find no register are stored to memory of its own (scratch, local memory) and loaded "
        "again; so are arrays whose index is not known when the kernel is compiled. A compiler that is not told the "
        "block size allots registers for the largest one (on AMD 1024 threads, hence 128 registers): "
        "__launch_bounds__ with the size that is really used gives it more, and is right as long as no launch is "
        "larger. Otherwise shorten live ranges: load late and store early, recompute what is cheap, split a kernel "
        "that does two things, unroll less or process fewer elements per thread, keep a loop's constants in LDS. "
        "Arrays stay in registers if all their indices are constants after unrolling. Fewer registers raise the "
        "number of resident waves, more of them end the spilling: watch both, and the time."
    )

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        local = value_of(profile, Metric.LOCAL_REQUESTS)
        others = value_of(profile, Metric.REQUESTS) + value_of(profile, Metric.LDS_REQUESTS)
        share = local / (local + others) if local > 0 else 0.0
        if share < SHARE_OF_REQUESTS.value:
            return None
        known = profile.has(Metric.LOCAL_TIME_NS)
        cost_ns = value_of(profile, Metric.LOCAL_TIME_NS if known else Metric.DEVICE_TIME_NS)
        cost = f"they take {duration(cost_ns)}" if known else "what they cost cannot be told from counters"
        return Symptom(
            value=local,
            ideal=0.0,
            excess_ns=cost_ns,
            left_ns=0.0,
            sentence=(
                f"{percent(share)} of the memory instructions ({local:,.0f}, ideal 0) move values of a thread's own "
                f"that its registers do not hold{_held(profile)}; {cost}"
            ),
        )

    def excess(self, evidence: SourceEvidence) -> float:
        return evidence.quantity(Metric.LOCAL_REQUESTS).value if evidence.space is MemorySpace.LOCAL else 0.0


def _held(profile: KernelProfile) -> str:
    parts = []
    if registers := optional(profile, Metric.VGPRS):
        parts.append(f"{registers:.0f} registers per thread")
    if spilled := optional(profile, Metric.SPILLED_REGISTERS):
        parts.append(f"{spilled:.0f} spilled")
    if scratch := optional(profile, Metric.SCRATCH_BYTES):
        parts.append(f"{scratch:,.0f} bytes of private memory")
    return f" ({', '.join(parts)})" if parts else ""
