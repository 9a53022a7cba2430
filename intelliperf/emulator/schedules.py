"""Orders in which a watched run goes through lanes and blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """One order in which lanes and blocks run, and what fresh memory holds."""

    name: str  # for people: how to have it again
    environment: Mapping[str, str]


IN_ORDER = Schedule("in order", {})
# The same again by a clock that runs faster: what a program prints of the modelled times of its kernels is another
# number then, as on another chip.
ANOTHER_CLOCK = Schedule("in order", {"INTELLIPERF_CLOCK_SCALE": "1.37"})


def schedules(seeds: int) -> tuple[Schedule, ...]:
    """In order, backwards over other garbage, then by chance: interrupted anywhere."""
    backwards = {
        "INTELLIPERF_LANE_ORDER": "reverse",
        "INTELLIPERF_BLOCK_ORDER": "reverse",
        "INTELLIPERF_POISON": "0x5B",
    }
    return IN_ORDER, Schedule("in reverse order", backwards), *(seeded(seed) for seed in range(1, seeds + 1))


def seeded(seed: int) -> Schedule:
    chance = f"random:{seed}"
    names = ("INTELLIPERF_LANE_ORDER", "INTELLIPERF_BLOCK_ORDER", "INTELLIPERF_PREEMPT")
    return Schedule(f"seed {seed}", {**dict.fromkeys(names, chance), "INTELLIPERF_POISON": str(0x61 + seed % 32)})
