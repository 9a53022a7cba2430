"""Copies between host and device that are needless, or that nothing runs beside.

Counted from the calls of the process: a copy is *repeated* where the destination held these very bytes since an earlier
copy to the same place, and a *round trip* where the host sends what it got from the device, changed or not. The
ceiling drops both and hides the rest behind kernels, as far as its own time allows: no program can do better, and one
whose kernels need all of a copy before they start can not do as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from intelliperf.formulas.base import Threshold
from intelliperf.formulas.process import Delay, ProcessFormula, heaviest, megabytes
from intelliperf.records.timeline import COPIES, DOWNLOAD, KERNEL, UPLOAD, HostCall, Timeline, process_ns, without
from intelliperf.sentences import counted, duration, percent

NOTICEABLE = Threshold(0.05, "of the process's time: copies that take less are not what it waits for")


class Transfers(ProcessFormula):
    """Repeated copies, round trips, pageable memory, and copies that no kernel runs beside."""

    name = "transfers"
    summary = "copies between host and device are repeated, come back unchanged, or nothing runs beside them"
    knowledge = (
        "Upload what does not change once, before the loop. Keep data on the device between kernels: a step that the "
        "host does in between is a kernel, too, even a slow one. What must be copied comes from pinned memory "
        "(cudaMallocHost, hipHostMalloc): only such copies are asynchronous. Cut it into chunks, and give copies and "
        "kernels of different chunks different streams."
    )

    def delay(self, timeline: Timeline) -> Delay | None:
        copies = [call for call in timeline.calls if call.copies]
        spent = timeline.device_ns(*COPIES)
        total = timeline.process_ns
        if not copies or spent < NOTICEABLE.value * total:
            return None
        seen = _sorted_out(timeline.calls)
        needless = seen.repeated | seen.returned
        left = without(timeline.calls, needless.__contains__)
        cured = _hidden(left, timeline.after_ns)
        return Delay(cured, _sentence(timeline, copies, seen, spent, total), self.knowledge, _sites(timeline, needless))


@dataclass
class _Needless:
    """Numbers of calls."""

    repeated: set[int] = field(default_factory=set)
    returned: set[int] = field(default_factory=set)  # both ways
    unchanged: int = 0  # of the ways back: the host sends what it got


def _sorted_out(calls: Sequence[HostCall]) -> _Needless:
    found = _Needless()
    came: dict[int, int] = {}  # host address → number of the download
    seen: set[tuple[str, int, int]] = set()
    for number, call in enumerate(calls):
        if not call.copies:
            continue
        key = (call.operation, call.to, call.size)
        if call.operation == UPLOAD and call.from_ in came and calls[came[call.from_]].size == call.size:
            earlier = came.pop(call.from_)
            found.returned |= {earlier, number}
            found.unchanged += calls[earlier].content == call.content
        elif call.held and key in seen:
            found.repeated.add(number)
        if call.operation == DOWNLOAD:
            came[call.to] = number
        seen.add(key)
    return found


def _hidden(calls: Sequence[HostCall], after_ns: float) -> float:
    """The process's time if copies ran beside kernels and host, each direction on its own."""
    if not _waited_for(calls):
        return process_ns(calls, after_ns)
    rest = process_ns(without(calls, lambda number: calls[number].copies), after_ns)
    each = (sum(call.device_ns for call in calls if call.operation == way) for way in COPIES)
    return max(rest, *each)


def _waited_for(calls: Sequence[HostCall]) -> bool:
    """Does some copy stop the host, or stand in the kernels' own stream?"""
    busy = {call.stream for call in calls if call.operation == KERNEL}
    return any(call.copies and (call.waits or call.pageable or call.stream in busy) for call in calls)


def _sentence(timeline: Timeline, copies: Sequence[HostCall], seen: _Needless, spent: float, total: float) -> str:
    size, pageable = sum(c.size for c in copies), sum(c.size for c in copies if c.pageable)
    kind = timeline.device.value
    many = "1 copy" if len(copies) == 1 else f"{len(copies):,} copies"
    time = f"{duration(spent)} ({kind}), {percent(spent / total)} of the process"
    told = f"{many} between host and device: {megabytes(size)} in {time}"
    details = []
    if seen.repeated:
        details.append(f"{len(seen.repeated):,} bring bytes that are there already")
    if seen.returned:
        back = len(seen.returned) // 2
        same = f", {seen.unchanged:,} of them unchanged" if seen.unchanged else ", changed by the host"
        details.append(f"{back:,} take data to the host and {back:,} send it back{same}")
    if pageable:
        details.append(f"{megabytes(pageable)} of it from or to pageable memory, which no copy overlaps")
    elif any(copy.waits for copy in copies):
        details.append("the host waits for them, so that nothing runs beside")
    return f"{told}; {'; '.join(details)}" if details else told


def _sites(timeline: Timeline, needless: set[int]) -> dict[int, str]:
    weights: Counter[int] = Counter()
    for number, call in enumerate(timeline.calls):
        if call.copies:
            # Needless ones first, whatever their size: they are the ones to edit.
            weights[call.site] += int(call.device_ns * (1000 if number in needless else 1))
    return {site: _what(timeline, site, needless) for site in heaviest(weights)}


def _what(timeline: Timeline, site: int, needless: set[int]) -> str:
    numbers = [number for number, call in enumerate(timeline.calls) if call.copies and call.site == site]
    calls = [timeline.calls[number] for number in numbers]
    way = "upload" if calls[0].operation == UPLOAD else "download"
    told = f"{counted(len(calls), way)}, {megabytes(sum(call.size for call in calls))}"
    spared = sum(number in needless for number in numbers)
    return f"{told}, {spared:,} needless" if spared else told
