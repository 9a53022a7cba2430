"""Launches that take longer to start than to work.

A launch takes some microseconds whatever it does. Where launches that do next to nothing follow one another, a graph
submits them at once and a fused kernel needs one of them. The ceiling keeps one launch of each row of short ones that
nothing but launches and fills of memory interrupts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from intelliperf.formulas.base import Threshold
from intelliperf.formulas.process import Delay, ProcessFormula, heaviest
from intelliperf.records.timeline import KERNEL, WAITS, HostCall, Timeline, process_ns
from intelliperf.sentences import counted, duration, percent

SHORT = Threshold(0.5, "of a kernel's time: at least as much goes into the launch as into its work")
MANY = Threshold(10, "launches: fewer are a start and an end, not a loop")


class LaunchOverhead(ProcessFormula):
    """Rows of launches that do next to nothing each."""

    name = "launchOverhead"
    summary = "launches of a few microseconds dominate: the process pays for starting kernels, not for their work"
    knowledge = (
        "Fuse kernels that run one after another over the same elements. Capture the loop's body in a graph "
        "(cudaStreamBeginCapture, hipStreamBeginCapture) and launch that. Give a launch more to do: several steps, "
        "rows or batches in one grid. A kernel that loops over the steps itself, with a grid-wide barrier, needs one "
        "launch in all."
    )

    def delay(self, timeline: Timeline) -> Delay | None:
        short = [is_short(call) for call in timeline.calls]
        count = sum(short)
        if count < MANY.value:
            return None
        launching = sum(call.launch_ns for call, one in zip(timeline.calls, short, strict=True) if one)
        kernels = timeline.device_ns(KERNEL)
        every = sum(call.operation == KERNEL for call in timeline.calls)
        mean = sum(call.device_ns for call, one in zip(timeline.calls, short, strict=True) if one) / count
        own, device = duration(launching / count), timeline.device.value
        sentence = (
            f"{count:,} of {counted(every, 'launch', 'es')} take {duration(mean)} on average ({device}), "
            f"of which {own} would pass without any work: {percent(launching / kernels)} of all kernel time, "
            f"{percent(launching / timeline.process_ns)} of the process"
        )
        cured = process_ns(_joined(timeline.calls, short), timeline.after_ns)
        return Delay(cured, sentence, self.knowledge, _sites(timeline, short))


def is_short(call: HostCall) -> bool:
    return call.operation == KERNEL and call.launch_ns >= SHORT.value * call.device_ns > 0


def _joined(calls: Sequence[HostCall], short: Sequence[bool]) -> list[HostCall]:
    """The calls, with one launch for each row of short ones; waits in between fall away with the launches."""
    made: list[HostCall] = []
    in_row = False
    for call, one in zip(calls, short, strict=True):
        made.append(replace(call, device_ns=call.device_ns - call.launch_ns) if one and in_row else call)
        in_row = one or (in_row and (call.operation == "memset" or call.operation in WAITS))
    return made


def _sites(timeline: Timeline, short: Sequence[bool]) -> dict[int, str]:
    weights: Counter[int] = Counter()
    launches: Counter[int] = Counter()
    names: dict[int, str] = {}
    for call, one in zip(timeline.calls, short, strict=True):
        if one:
            weights[call.site] += int(call.launch_ns)
            launches[call.site] += 1
            names.setdefault(call.site, call.kernel)
    return {
        site: f"{counted(launches[site], 'launch', 'es')} of {names[site] or 'a kernel'}" for site in heaviest(weights)
    }
