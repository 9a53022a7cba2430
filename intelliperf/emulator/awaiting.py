"""What a user is told while a run of the application takes long, and of one that its time limit ended."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.interception.progress import ProgressReading, Standing, standing, time_left
from intelliperf.sentences import counted, interval_of_time, span

_KEPT = 512  # readings of one launch
_LOOK_EVERY_S = 0.5
_FIRST_TOLD_S = 5.0
_TOLD_AGAIN = 3.0  # times as late as the time before


@dataclass
class Watch:
    """Follows one run; `tell` gets a line for people after some seconds of one launch, then ever more rarely."""

    directory: Path
    tell: Callable[[str], None]
    limit_s: float  # of the whole run
    clock: Callable[[], float] = time.monotonic
    _begun_s: float = field(init=False)
    _first_s: float | None = None  # when the first launch began that a look has found
    _looked_s: float = 0.0
    _next_s: float = field(default_factory=lambda: _FIRST_TOLD_S)  # of the run's time
    _now: Standing | None = None
    _said: str = ""
    _readings: deque[ProgressReading] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def __post_init__(self) -> None:
        self._begun_s = self.clock()
        self.directory.mkdir(parents=True, exist_ok=True)

    def look(self) -> None:
        """To be called often."""
        now_s = self.clock()
        if now_s - self._looked_s < _LOOK_EVERY_S:
            return
        self._looked_s = now_s
        self._read(now_s)
        elapsed = now_s - self._begun_s
        if self._now is None or elapsed < self._next_s or not self._long(now_s):
            return
        self._next_s = elapsed * _TOLD_AGAIN
        text = f"{self.told()}{self._remedy(now_s)}"
        if text != self._said:
            self.tell(text)
        self._said = text

    def _long(self, now_s: float) -> bool:
        """One launch that takes long, or many for a long time: not what goes before the first, as loading PyTorch."""
        now = self._now
        if now is None or self._first_s is None:
            return False
        return now_s - now.began_s >= _FIRST_TOLD_S if now.running else now_s - self._first_s >= 2 * _FIRST_TOLD_S

    def _read(self, now_s: float) -> None:
        found = standing(self.directory)
        if found is None:
            return
        if self._first_s is None:
            self._first_s = found.began_s
        known = self._now
        if known is None or (known.launches, known.began_s) != (found.launches, found.began_s):
            self._readings.clear()
            self._readings.append(ProgressReading(found.began_s, 0))
        self._now = found
        if found.running:
            if len(self._readings) == _KEPT:
                self._thin()
            self._readings.append(ProgressReading(now_s, found.ended))

    def _thin(self) -> None:
        kept = list(self._readings)[::2]
        self._readings.clear()
        self._readings.extend(kept)

    def told(self) -> str:
        """How far the run was at the latest look; empty where no launch had begun."""
        now = self._now
        if now is None:
            return ""
        if not now.running:
            return f"{counted(now.launches, 'launch', 'es')} so far, the latest of {now.kernel}"
        seconds = self._readings[-1].at_s - now.began_s
        which = f"launch {now.launches:,}" if now.launches else "a trial launch"
        so_far = f"kernel {now.kernel}, {which}: {now.ended:,} of {counted(now.blocks, 'block')} in {span(seconds)}"
        return f"{so_far}; {self._needed(now)}"

    def _needed(self, now: Standing) -> str:
        left = time_left(tuple(self._readings), now.blocks)
        if left is None:
            return "too few to tell what the rest takes"
        return f"estimated at that rate, the rest of this launch takes {interval_of_time(*left)}"

    def _remedy(self, now_s: float) -> str:
        now = self._now
        left = time_left(tuple(self._readings), now.blocks) if now is not None and now.running else None
        if now is None or (left is not None and now_s - self._begun_s + left[1] < self.limit_s):
            return ""
        return f"; {remedy(now)}"

    def at_the_limit(self) -> str:
        """For the error of a run that was ended by its time limit; empty where no launch had begun."""
        now = self._now
        if now is None:
            return ""
        return f"{self.told()}; {remedy(now)}"


def remedy(now: Standing) -> str:
    """What the user can do."""
    complete = now.launches - now.running
    stop = f"--stop-after-launches {complete}" if complete else "--stop-after-launches N for the first N launches alone"
    return f"choose a smaller problem, {stop}, or a longer --run-timeout"
