"""What a kernel must have read from memory more than once, though hardware counts no distinct addresses.

Nsight Compute empties the caches before it counts. A kernel that then reads more than all the memory that it can reach
has read something again. How much is reached is an upper bound, see `validation.reach.reachable_bytes`, and with it
what every line once would be: the excess that follows is the least that there is, and most kernels show none. What
moves besides, code, constants, page tables and the heap of kernels that allocate, is taken to be `BESIDES_BYTES`; on
an H100 two kernels without reuse read 3 and 7 kB more than their buffers. Registers that spill are in no allocation:
of kernels that use local memory nothing is said. Addresses that no word of reachable memory holds are not foreseen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from intelliperf.formulas.base import MINIMUM_EXCESS
from intelliperf.interception.messages import Dispatch, End
from intelliperf.interception.wire import Deadline
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.profiling.ncu import ProfiledKernel
from intelliperf.protocols import Backend
from intelliperf.records import Application, Kernel, KernelProfile, Metric, Provenance, Quantity
from intelliperf.validation.runs.lockstep import Paused
from intelliperf.validation.runs.reach import reachable_bytes
from intelliperf.validation.runs.side import Side, SideFailed, SideRun

READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
BESIDES_BYTES = 16 << 20


def worth_a_run(profile: KernelProfile, launch: ProfiledKernel) -> bool:
    """Could the bound tell anything: is enough read, from memory that allocations hold, and does it take time?"""
    wanted = (Metric.DRAM_TIME_NS, Metric.DEVICE_TIME_NS, Metric.LOCAL_REQUESTS)
    if not profile.has(*wanted) or not all(name in launch.metrics for name in (READ, WRITTEN)):
        return False
    dram_ns, time_ns, local = (profile.quantity(metric).value for metric in wanted)
    return local == 0 and dram_ns >= MINIMUM_EXCESS.value * time_ns and launch.metrics[READ] > BESIDES_BYTES


def reached(
    backend: Backend, application: Application, kernel: Kernel, deadline_s: float, logs: Path
) -> tuple[int | None, str]:
    """Bytes that the kernel's first dispatch can reach at most; None, and why, where that is not known."""
    deadline = Deadline.after(deadline_s)
    try:
        with Side(SideRun("reach", application), backend, kernel, logs, UNCONFINED) as side:
            side.connect(deadline)
            while not isinstance(message := side.next(deadline), End):
                if isinstance(message, Dispatch) and message.target:
                    found = reachable_bytes(Paused(side, message))
                    return found, "it uses memory that is not an allocation" if found is None else ""
    except SideFailed as error:
        return None, str(error)
    return None, "it is not launched in a run of its own"


def bounded(profile: KernelProfile, counted: Mapping[str, float], reach: int | None, why: str) -> KernelProfile:
    """The profile with what every line once would be at most, where more was read; else with a note."""
    if reach is None:
        note = f"how much memory it can reach is not known: {why}"
        return replace(profile, notes=(*profile.notes, note))
    most = reach + BESIDES_BYTES
    if counted[READ] <= most:
        return profile
    note = f"it reads {counted[READ] / 1e6:.4g} MB of DRAM and can reach {reach / 1e6:.4g} MB: it fetches some again"
    bound = Quantity(most + counted[WRITTEN], Provenance.MEASURED)
    quantities = {**profile.quantities, Metric.DRAM_BYTES_COMPULSORY_AT_MOST: bound}
    return replace(profile, quantities=quantities, notes=(*profile.notes, note))
