"""How long runs are looked at that need not be followed to their end."""

from __future__ import annotations

import time
from dataclasses import dataclass

from intelliperf.processes.usage import processor_seconds

_LEAST_SHARE = 0.25  # of the processor that is counted on: a run may wait for a device


@dataclass(frozen=True)
class Effort:
    """A run that is looked at beside the comparison of every launch is left when both are spent.

    Where launches are altered in several ways, it is left once all of them were seen, too, if that took long.
    """

    least_syncs: int = 16
    seconds: float = 15.0  # on an idle machine
    round_seconds: float = 10.0  # likewise

    def times(self, count: int) -> Effort:
        """For so many runs in one."""
        return Effort(self.least_syncs * count, self.seconds * count, self.round_seconds)


@dataclass(frozen=True)
class Begun:
    """A moment, and how much of the processor had been used by then."""

    wall_s: float
    used_s: float

    @classmethod
    def now(cls) -> Begun:
        return cls(time.monotonic(), processor_seconds())

    def spent(self, seconds: float) -> bool:
        """Where others keep the processor busy, as many launches are looked at as if it were idle."""
        wall_s = time.monotonic() - self.wall_s
        if wall_s < seconds:
            return False
        return wall_s * _LEAST_SHARE > seconds or processor_seconds() - self.used_s > seconds
