"""Which kernels matter: by their share of the application's device time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from intelliperf.errors import UsageError
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import KernelProfile, OtherTime, Provenance


def with_shares(profiles: Sequence[KernelProfile], device_time_ns: float) -> tuple[KernelProfile, ...]:
    """The profiles with their share of `device_time_ns`, which includes copies. All 0 for an idle device."""
    return tuple(
        replace(profile, share=min(1.0, sum(profile.device_time_ns) / device_time_ns) if device_time_ns > 0 else 0.0)
        for profile in profiles
    )


def other_time(
    pieces: Iterable[tuple[str, float]], device_time_ns: float, provenance: Provenance
) -> tuple[OtherTime, ...]:
    """What no profile covers, by falling time; `pieces` are (what, ns) of each copy, fill or library call."""
    spent: dict[str, list[float]] = {}
    for what, time_ns in pieces:
        spent.setdefault(what, []).append(time_ns)
    found = [
        OtherTime(what, len(times), sum(times), sum(times) / device_time_ns if device_time_ns > 0 else 0.0, provenance)
        for what, times in spent.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.time_ns, one.what)))


def without(profile: ApplicationProfile, kept: Sequence[KernelProfile]) -> tuple[OtherTime, ...]:
    """The profile's other time, with the kernels that are not kept as one entry of it."""
    symbols = {kernel.kernel.symbol for kernel in kept}
    left = [kernel for kernel in profile.kernels if kernel.kernel.symbol not in symbols]
    if not left:
        return profile.other_time
    what = f"{len(left)} further kernels" if len(left) > 1 else f"one further kernel, {left[0].kernel.name}"
    times = [sum(kernel.device_time_ns) for kernel in left]
    further = OtherTime(
        what,
        sum(kernel.dispatches for kernel in left),
        sum(times),
        sum(kernel.share for kernel in left),
        left[0].time_provenance,
    )
    return (further, *profile.other_time)


TRANSFERS = {
    "memcpy_htod": "copies to the device",
    "memcpy_dtoh": "copies to the host",
    "memcpy_dtod": "copies on the device",
    "memset": "fills",
}


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
