"""Which commit made a kernel slower: a binary search over commits on the emulator, whose counts need no repetition."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import IntelliPerfError, UsageError
from intelliperf.history.records import LineCounts
from intelliperf.nightly.readings import survey_of
from intelliperf.nightly.survey import Seen
from intelliperf.records.metrics import Metric

Look = Callable[[str], Seen]  # surveys one commit; raises what is wrong with it


@dataclass(frozen=True)
class Reading:
    """The watched quantity of one kernel at one commit; None where the commit cannot be looked at."""

    commit: str
    value: float | None
    lines: tuple[LineCounts, ...]
    problem: str = ""


@dataclass(frozen=True)
class Bisected:
    """`suspects`: the first bad commit, or several where those between cannot be looked at."""

    suspects: tuple[str, ...]
    good: Reading
    bad: Reading
    symbol: str
    looked: tuple[Reading, ...]


def watched(seen: Seen, symbol: str, metric: Metric) -> float:
    """Of all dispatches of the kernel. Raises `UsageError` where it does not run, or was not counted."""
    for profile in seen.profiles:
        if profile.kernel.symbol == symbol:
            if metric is Metric.DEVICE_TIME_NS:
                return math.fsum(profile.device_time_ns)
            return profile.quantity(metric).value
    raise UsageError(f"the kernel {symbol} does not run")


def bisect(commits: Sequence[str], look: Look, symbol: str, metric: Metric, project: Path) -> Bisected:
    """`commits` from the good one to the bad one. A commit is bad where the quantity lies nearer to the bad one's.

    Commits that do not build or run are passed over. Raises `UsageError` where the bad one is not worse.
    """
    looked: dict[int, Reading] = {}

    def read(number: int) -> Reading:
        if number not in looked:
            try:
                seen = look(commits[number])
                own = tuple(line for line in survey_of(seen, project).lines if line.symbol == symbol)
                looked[number] = Reading(commits[number], watched(seen, symbol, metric), own)
            except IntelliPerfError as error:
                looked[number] = Reading(commits[number], None, (), str(error))
        return looked[number]

    low, high = 0, len(commits) - 1
    good, bad = read(low), read(high)
    for reading in (good, bad):
        if reading.value is None:
            raise UsageError(f"{reading.commit[:12]} cannot be looked at: {reading.problem}")
    if good.value is None or bad.value is None or bad.value <= good.value:
        raise UsageError(
            f"{metric.value} is {bad.value:g} at {bad.commit[:12]} and {good.value:g} at {good.commit[:12]}: not worse"
        )
    border = math.sqrt(good.value * bad.value) if good.value > 0 else bad.value / 2
    while (middle := _middle(low, high, looked)) is not None:
        value = read(middle).value
        if value is not None:
            low, high = (low, middle) if value > border else (middle, high)
    suspects = tuple(commits[low + 1 : high + 1])
    return Bisected(suspects, read(low), read(high), symbol, tuple(looked[number] for number in sorted(looked)))


def _middle(low: int, high: int, looked: dict[int, Reading]) -> int | None:
    """The commit between the two that lies nearest to the middle and has not been looked at in vain."""
    open_ones = [number for number in range(low + 1, high) if number not in looked]
    return min(open_ones, key=lambda number: abs(2 * number - low - high), default=None)
