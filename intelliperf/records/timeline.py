"""What a process asked its device for, call by call, on one clock: the host's own work, and the device's.

Times are nanoseconds. The clock is a replay of the calls: a device operation begins when its stream's previous one,
the device's previous one and the host allow, and the host waits where the call does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from intelliperf.records.metrics import Provenance

UPLOAD, DOWNLOAD, KERNEL = "memcpy_htod", "memcpy_dtoh", "kernel"
COPIES = (UPLOAD, DOWNLOAD)
WAITS = ("wait_device", "wait_stream", "wait_event", "free")
TIMED = "clock"  # the time between two events is asked for: what is timed has to be waited for


@dataclass(frozen=True)
class HostLine:
    """A line of the host's code, and what is asked for there. `by` is the place that calls its function, if known."""

    file: Path
    line: int
    text: str
    by: str = ""  # "main.cu:88"
    what: str = ""  # "59 uploads, 2.1 MB", of a finding


@dataclass(frozen=True)
class ProcessFinding:
    """What keeps the whole process back and no kernel can mend. Diagnosed, never patched."""

    formula: str
    sentence: str
    gain_ceiling: float  # times faster for the whole process at most, ≥ 1
    lines: tuple[HostLine, ...]  # worst first; empty where no debug information tells
    cure: str


@dataclass(frozen=True)
class ProcessTime:
    """The whole process on one clock: host and device overlap where the host does not wait."""

    total_ns: float
    host_ns: float
    kernels_ns: float
    copies_ns: float
    without_kernels_ns: float  # the total, if every kernel took no time
    host: Provenance
    device: Provenance


@dataclass(frozen=True)
class HostCall:
    """One operation of the device, or one wait of the host; `operation` as in the constants above."""

    operation: str
    site: int  # which place of the host code, see `Timeline.line`
    host_ns: float  # of the host's own work since the call before
    stream: int = 0
    device_ns: float = 0.0
    launch_ns: float = 0.0  # how much of it an empty kernel takes as well
    size: int = 0  # bytes of a copy
    waits: bool = False
    pageable: bool = False  # a copy from or to host memory that is neither pinned nor registered
    held: bool = False  # a copy that brought what was there already, byte for byte
    visible: bool = False  # of a wait: the host can read what the device writes without a copy
    to: int = 0  # addresses of a copy
    from_: int = 0
    content: int = 0  # of a copy: a hash of its bytes
    kernel: str = ""  # its name for people

    @property
    def copies(self) -> bool:
        return self.operation in COPIES


@dataclass(frozen=True)
class Timeline:
    """`line` finds the line of the project that made a call, from its site; None where no debug information tells."""

    calls: tuple[HostCall, ...]
    after_ns: float  # of the host's own work after the last call
    line: Callable[[int], HostLine | None]
    host: Provenance = Provenance.MEASURED  # on this machine, whatever the device is
    device: Provenance = Provenance.MODELLED

    @property
    def process_ns(self) -> float:
        return process_ns(self.calls, self.after_ns)

    @property
    def host_ns(self) -> float:
        return sum(call.host_ns for call in self.calls) + self.after_ns

    def device_ns(self, *operations: str) -> float:
        """Of these operations; of all where none is named."""
        return sum(call.device_ns for call in self.calls if not operations or call.operation in operations)


def process_ns(calls: Sequence[HostCall], after_ns: float) -> float:
    """From the start of main to the end of all work."""
    host = device = 0.0
    ready: dict[int, float] = {}
    for call in calls:
        host += call.host_ns
        if call.operation in WAITS:
            whole = call.operation != "wait_stream" or call.stream == 0
            host = max(host, device if whole else ready.get(call.stream, 0.0))
        elif call.device_ns:
            device = max(ready.get(call.stream, 0.0), device, host) + call.device_ns
            ready[call.stream] = device
            host = device if call.waits else host
    return max(host + after_ns, device)


def without(calls: Sequence[HostCall], needless: Callable[[int], bool]) -> tuple[HostCall, ...]:
    """The calls but those of these numbers; the host's own work before them remains."""
    kept: list[HostCall] = []
    carried = 0.0
    for number, call in enumerate(calls):
        if needless(number):
            carried += call.host_ns
            continue
        kept.append(_later(call, carried) if carried else call)
        carried = 0.0
    return (*kept, HostCall(TIMED, -1, carried)) if carried else tuple(kept)


def _later(call: HostCall, more_ns: float) -> HostCall:
    return replace(call, host_ns=call.host_ns + more_ns)
