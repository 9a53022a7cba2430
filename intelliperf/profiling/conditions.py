"""Clocks, temperature and throttling of a GPU while a process runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ClockReading:
    """One moment. Clocks in MHz, temperature in °C, power in watts; None where the driver does not tell."""

    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    brakes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Conditions:
    """The GPU during one process. `held_back_ns` is the time for which the driver kept the clocks down in it."""

    readings: tuple[ClockReading, ...] = ()
    held_back_ns: int | None = None

    @property
    def sm_clock_mhz(self) -> int | None:
        """The highest seen: an idle GPU lowers its clock before and after the work."""
        return max((r.sm_clock_mhz for r in self.readings if r.sm_clock_mhz is not None), default=None)

    @property
    def memory_clock_mhz(self) -> int | None:
        return max((r.memory_clock_mhz for r in self.readings if r.memory_clock_mhz is not None), default=None)

    @property
    def temperature_c(self) -> int | None:
        return max((r.temperature_c for r in self.readings if r.temperature_c is not None), default=None)

    @property
    def power_w(self) -> float | None:
        return max((r.power_w for r in self.readings if r.power_w is not None), default=None)

    @property
    def brakes(self) -> tuple[str, ...]:
        """Why the clocks were held down at any of the moments looked at."""
        return tuple(sorted({brake for r in self.readings for brake in r.brakes or ()}))

    @property
    def throttled(self) -> bool:
        return bool(self.brakes) or bool(self.held_back_ns)


def describe(conditions: Sequence[Conditions]) -> str:
    """One sentence on many processes: clocks from … to …, temperature, and how many were throttled."""
    parts = []
    for label, unit, values in (
        ("SM clock", "MHz", [c.sm_clock_mhz for c in conditions]),
        ("memory clock", "MHz", [c.memory_clock_mhz for c in conditions]),
        ("temperature", "°C", [c.temperature_c for c in conditions]),
    ):
        known = [value for value in values if value is not None]
        if known:
            low, high = min(known), max(known)
            parts.append(f"{label} {low} {unit}" if low == high else f"{label} {low} to {high} {unit}")
    slow = [c for c in conditions if c.throttled]
    if slow:
        why = ", ".join(sorted({brake for c in slow for brake in c.brakes})) or "the driver's count of time held back"
        parts.append(f"throttled in {len(slow)} of {len(conditions)} processes ({why})")
    return "; ".join(parts) or "the driver tells neither clocks nor temperature"
