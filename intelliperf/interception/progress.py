"""How far a running application is: what its runtime writes down, and what that lets one expect of its launch.

The runtime keeps one page per process, see `emulator/runtime/progress.h`. What is left of a launch is estimated from
the blocks that have ended so far, as an interval: the slowest and the fastest stretch of the time until now, each taken
for the whole rest. Blocks to come may do other work than those before, so that an estimate is called one.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "INTELLIPERF_PROGRESS"
DIRECTORY = "progress"  # beside a run's logs
_PAGE = struct.Struct("<8s4Qd Q456s")
_MARK = b"IPPROG01"
_LEAST_BLOCKS = 8  # ended, before they tell anything of the others
_STRETCHES = 4


@dataclass(frozen=True)
class Standing:
    """Where a process is. Times are those of `time.monotonic`."""

    launches: int  # begun
    kernel: str
    blocks: int
    ended: int  # of the blocks of the latest launch
    began_s: float
    running: bool


def parse(page: bytes) -> Standing | None:
    """None where no launch has begun, or while one begins."""
    if len(page) < _PAGE.size:
        return None
    mark, sequence, launches, blocks, ended, began_ns, running, kernel = _PAGE.unpack(page[: _PAGE.size])
    if mark != _MARK or sequence % 2 or not sequence:
        return None
    name = kernel.partition(b"\0")[0].decode("utf-8", "replace")
    return Standing(launches, name, blocks, ended, began_ns / 1e9, bool(running))


def standing(directory: Path) -> Standing | None:
    """Of the process that began its launch last; None where none has begun one."""
    found = []
    for path in directory.iterdir() if directory.is_dir() else ():
        try:
            found.append(parse(path.read_bytes()))
        except OSError:  # ended meanwhile
            continue
    known = [one for one in found if one is not None]
    return max(known, key=lambda one: (one.running, one.began_s), default=None)


@dataclass(frozen=True)
class ProgressReading:
    """`ended` blocks at a time."""

    at_s: float
    ended: int


def time_left(readings: Sequence[ProgressReading], blocks: int) -> tuple[float, float] | None:
    """Seconds that the rest of a launch may take, least and most; None where too few blocks have ended to tell.

    `readings` begin with the launch and rise in time.
    """
    first, last = readings[0], readings[-1]
    seconds, ended = last.at_s - first.at_s, last.ended - first.ended
    if ended < _LEAST_BLOCKS or seconds <= 0:
        return None
    bounds = [first.at_s + seconds * n / _STRETCHES for n in range(_STRETCHES + 1)]
    counts = [_ended_at(readings, at_s) for at_s in bounds]
    rates = [(after - before) * _STRETCHES / seconds for before, after in zip(counts, counts[1:], strict=False)]
    spread = 2 * ended**0.5  # of so many that end independently
    slowest = min(max(min(rates), ended / seconds / _STRETCHES), (ended - spread) / seconds)
    fastest = max(*rates, (ended + spread) / seconds)
    left = blocks - last.ended
    return left / fastest, left / slowest


def _ended_at(readings: Sequence[ProgressReading], at_s: float) -> float:
    """Between two readings in proportion to the time."""
    for before, after in zip(readings, readings[1:], strict=False):
        if at_s <= after.at_s:
            share = (at_s - before.at_s) / (after.at_s - before.at_s) if after.at_s > before.at_s else 1.0
            return before.ended + share * (after.ended - before.ended)
    return float(readings[-1].ended)
