"""A small rewriting task, and replies to it, shared by the tests of model rewriting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from intelliperf.protocols import Task
from intelliperf.records import (
    AccessKind,
    Device,
    DeviceLimits,
    Finding,
    Frame,
    Geometry,
    Kernel,
    KernelProfile,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)

ORIGINAL = Path("/home/somebody/app")
SCRATCH = Path("/tmp/scratch-7/tree")
SOURCE = """\
#include <hip/hip_runtime.h>

__global__ void tally(const int *keys, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i] % 8], 1);
}

int main() {
    tally<<<64, 256>>>(nullptr, nullptr, 0);
    return 0;
}
"""
HOT_LINE = 6

GOOD_REPLY = """\
[[ ## rationale ## ]]
The same few addresses are hit by every lane.

[[ ## edits ## ]]
FILE: src/tally.hip
<<<<<<< SEARCH
    if (i < n)
        atomicAdd(&bins[keys[i] % 8], 1);
=======
    if (i < n && keys[i] >= 0)
        atomicAdd(&bins[keys[i] % 8], 1);
>>>>>>> REPLACE

[[ ## declares ## ]]
nothing
"""
MISPLACED_REPLY = GOOD_REPLY.replace("    if (i < n)\n", "    if (i <  n)\n")
REFUSAL = "[[ ## rationale ## ]]\nIt is optimal.\n\n[[ ## edits ## ]]\nNO CHANGE\n\n[[ ## declares ## ]]\nnothing\n"


def counted(value: float) -> Quantity:
    return Quantity(value, Provenance.MEASURED)


def device() -> Device:
    limits = DeviceLimits(
        compute_units=304,
        clock_hz=2.1e9,
        max_waves_per_compute_unit=32,
        lds_bytes_per_compute_unit=65536,
        lds_bytes_per_block=65536,
        lds_banks=32,
        registers_per_compute_unit=131072,
        l1_bytes=32768,
        l2_bytes=4 << 20,
        dram_bytes_per_s=5.3e12,
        l2_bytes_per_s=10e12,
        fp32_flops_per_s=163e12,
    )
    return Device("amd", "gfx942", "MI300X", 64, True, limits)


def evidence(file: Path = ORIGINAL / "src/tally.hip", line: int = HOT_LINE, requests: float = 256) -> SourceEvidence:
    kernel = Kernel("_Z5tallyPKiPii", "tally(int const*, int*, int)", file, 3)
    return SourceEvidence(
        kernel=kernel,
        file=file,
        line=line,
        column=9,
        text="atomicAdd(&bins[keys[i] % 8], 1);",
        access=AccessKind.REDUCTION,
        space=MemorySpace.GLOBAL,
        operation="atomicrmw add",
        element_bytes=4,
        chain=(Frame(file, line, 9, "tally"),),
        quantities={
            Metric.ATOMIC_REQUESTS: counted(requests),
            Metric.ATOMIC_LANES: counted(requests * 64),
            Metric.ATOMIC_SERIALIZATION: counted(requests * 32),
            Metric.ATOMIC_ADDRESSES: counted(8),
        },
    )


def finding() -> Finding:
    profile = KernelProfile(
        kernel=evidence().kernel,
        dispatches=3,
        geometries=(Geometry((64, 1, 1), (256, 1, 1)),),
        device_time_ns=(1e6, 1e6, 1e6),
        time_provenance=Provenance.MODELLED,
        share=0.75,
    )
    return Finding(
        formula="atomicContention",
        profile=profile,
        sentence="32 lanes of each wave hit the same address",
        severity=0.9,
        metric=Metric.ATOMIC_SERIALIZATION,
        value=32.0,
        ideal=1.0,
        gain_ceiling=4.0,
    )


def task(**changes: Any) -> Task:
    given: dict[str, Any] = {
        "finding": finding(),
        "evidence": (evidence(),),
        "device": device(),
        "sources": {"src/tally.hip": SOURCE},
        "compile_arguments": {"src/tally.hip": ("-x", "hip", "-O3")},
        "project": SCRATCH,
        "knowledge": "Contended atomics serialise.",
        "rules": (),
    }
    return Task(**{**given, **changes})


class Shelf:
    """The journal's two methods, in memory, with the order in which entries came."""

    def __init__(self) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self.order: list[tuple[str, bool]] = []

    def exchange(self, prompt_hash: str) -> dict[str, Any] | None:
        return self.entries.get(prompt_hash)

    def keep_exchange(self, prompt_hash: str, exchange: dict[str, Any]) -> None:
        self.entries[prompt_hash] = exchange
        self.order.append((prompt_hash, exchange["reply"] is not None))
