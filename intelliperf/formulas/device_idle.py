"""A device that waits for the host: needless synchronisation, and host work that nothing runs beside.

A wait is *needless* where the host asks for more work right after it, without having looked at anything: it reads no
clock, no memory of the host is shared with the device, and the host's own work in between takes no longer than a call.
The ceiling drops those waits, of which each lets the device run dry and so shows one launch, and lets host and device
work side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from intelliperf.formulas.base import Threshold
from intelliperf.formulas.process import Delay, ProcessFormula, heaviest
from intelliperf.records.timeline import KERNEL, TIMED, WAITS, HostCall, Timeline
from intelliperf.sentences import counted, duration, percent

AT_ONCE = Threshold(
    20_000.0, "ns of the host's own work: a few calls; whoever reads a result and acts on it needs more"
)
OFTEN = Threshold(4, "times from one place: once or twice is the end of a phase, or a measurement")


class DeviceIdle(ProcessFormula):
    """The device stands still although the program has work for it."""

    name = "deviceIdle"
    summary = "the device waits for the host: needless synchronisation, or host work with nothing beside it"
    knowledge = (
        "Work of one stream runs in order anyway: wait once, before the host reads a result, and check errors of "
        "launches with cudaGetLastError alone. Copies that return data to the host wait by themselves. Host work that "
        "needs no result of the device belongs after the launches, not before them; with two streams or two buffers "
        "the host prepares the next step while the device does this one."
    )

    def delay(self, timeline: Timeline) -> Delay | None:
        calls = timeline.calls
        needless = _needless(calls)
        gaps = _gaps(calls)
        launch = max((call.launch_ns for call in calls), default=0.0)
        total = timeline.process_ns
        shown = launch * len(needless)
        hidden = min(sum(gaps.values()), timeline.device_ns())
        if not needless and not hidden:
            return None
        parts = []
        if needless:
            parts.append(
                f"{len(needless):,} of {sum(call.operation in WAITS for call in calls):,} waits of the host are "
                f"needless; each lets the device run dry and shows a launch of {duration(launch)} "
                f"({timeline.device.value})"
            )
        if hidden >= shown:
            parts.append(
                f"the device stands still for {duration(sum(gaps.values()))} ({timeline.host.value} on this machine), "
                f"{percent(sum(gaps.values()) / total)} of the process, while the host works between its calls"
            )
        return Delay(total - shown - hidden, "; ".join(parts), self.knowledge, _sites(calls, needless, gaps, launch))


def _needless(calls: Sequence[HostCall]) -> set[int]:
    """Numbers of the waits that nothing came of."""
    found = {
        number
        for number, (wait, after) in enumerate(zip(calls, calls[1:], strict=False))
        if wait.operation in WAITS[:3] and not wait.visible and _asks_for_work(after)
    }
    often = Counter(calls[number].site for number in found)
    return {number for number in found if often[calls[number].site] >= OFTEN.value}


def _asks_for_work(call: HostCall) -> bool:
    """Without waiting itself, as a blocking copy does, before which a wait costs nothing."""
    return call.operation not in (TIMED, *WAITS) and not call.waits and call.host_ns < AT_ONCE.value


def _gaps(calls: Sequence[HostCall]) -> dict[int, float]:
    """The host's own work by number of the call after it, where the device has nothing to do meanwhile."""
    found: dict[int, float] = {}
    dry = False
    begun = False
    for number, call in enumerate(calls):
        if begun and dry and call.device_ns and call.host_ns >= AT_ONCE.value:
            found[number] = call.host_ns
        begun = begun or call.operation == KERNEL
        if call.device_ns:
            dry = call.waits
        elif call.operation in WAITS:
            dry = True
    often = Counter(calls[number].site for number in found)
    return {number: gap for number, gap in found.items() if often[calls[number].site] >= OFTEN.value}


def _sites(calls: Sequence[HostCall], needless: set[int], gaps: dict[int, float], launch: float) -> dict[int, str]:
    weights: Counter[int] = Counter()
    for number in needless:
        weights[calls[number].site] += int(launch)
    for number, gap in gaps.items():
        weights[calls[number].site] += int(gap)
    waits = Counter(calls[number].site for number in needless)
    worked = Counter[int]()
    for number, gap in gaps.items():
        worked[calls[number].site] += int(gap)
    return {
        site: counted(waits[site], "needless wait")
        if site in waits
        else f"{duration(float(worked[site]))} of host work before it"
        for site in heaviest(weights)
    }
