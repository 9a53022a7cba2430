"""Which kernels matter: by their share of the application's device time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from intelliperf.errors import UsageError
from intelliperf.records import KernelProfile


def with_shares(profiles: Sequence[KernelProfile], device_time_ns: float) -> tuple[KernelProfile, ...]:
    """The profiles with their share of `device_time_ns`, which includes copies. All 0 for an idle device."""
    return tuple(
        replace(profile, share=min(1.0, sum(profile.device_time_ns) / device_time_ns) if device_time_ns > 0 else 0.0)
        for profile in profiles
    )


def ranked(profiles: Sequence[KernelProfile]) -> tuple[KernelProfile, ...]:
    """By falling device time; equal ones by symbol, so that the order is the same on every run."""
    return tuple(sorted(profiles, key=lambda profile: (-sum(profile.device_time_ns), profile.kernel.symbol)))


def top(profiles: Sequence[KernelProfile], limit: int) -> tuple[KernelProfile, ...]:
    """The `limit` kernels with most device time. Raises `UsageError` for a limit below 1."""
    if limit < 1:
        raise UsageError(f"the number of kernels to look at must be at least 1, not {limit}")
    return ranked(profiles)[:limit]


def covered(profiles: Sequence[KernelProfile]) -> float:
    """Share of the application's device time that these kernels have together, 0..1."""
    return min(1.0, sum(profile.share for profile in profiles))
