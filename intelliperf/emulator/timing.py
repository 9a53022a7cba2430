"""Modelled times of two traced runs, as measurements with the interval that sampling and the model leave open."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from intelliperf.emulator import modelerror
from intelliperf.emulator.modelerror import ModelError, Parts
from intelliperf.emulator.totals import Group, groups_of, kernel_totals
from intelliperf.emulator.tracefiles import KernelLaunch, Trace
from intelliperf.errors import ApplicationFailed
from intelliperf.records import Kernel, Measurement, Metric, Provenance, Scope

# Differences below this share are not worth believing even between versions that do nearly the same: what the model
# is fed with (instruction mixes of another compiler) is not known better.
RESOLUTION = 0.02

# Which count's sampling error each part of the time inherits.
_DRIVERS = {
    "lds": Metric.LDS_PHASES,
    "constant": Metric.CONSTANT_ADDRESSES,
    "l1": Metric.SECTORS,
    "l2": Metric.SECTORS,
    "dram": Metric.SECTORS,
    "atomic": Metric.ATOMIC_LANES,
    "issue": Metric.REQUESTS,
    "latency": Metric.REQUESTS,
}


def measurements(reference: Trace, candidate: Trace, kernel: Kernel) -> tuple[Measurement, ...]:
    """Kernel scope first: the kernel, with any that the candidate adds beside it or in its place."""
    before = _launches(reference)
    after = _launches(candidate)
    known = {launch.kernel for launch in before}
    own = {kernel.symbol}
    replaced = own | ({launch.kernel for launch in after} - known)
    kernel_before = [launch for launch in before if launch.kernel in own]
    kernel_after = [launch for launch in after if launch.kernel in replaced]
    if not kernel_before or not kernel_after:
        side = "original" if not kernel_before else "candidate"
        raise ApplicationFailed(f"the {side} does not launch {kernel.name}, so that there is no time to compare")
    error = math.hypot(_error(reference, kernel_before, own), _error(candidate, kernel_after, replaced))
    whole = math.hypot(_error(reference, before, known), _error(candidate, after, {launch.kernel for launch in after}))
    model = _model_error(reference, before)
    return (
        _measurement(
            Scope.KERNEL, _side(kernel_before), _side(kernel_after), _Errors(error, model), len(kernel_before)
        ),
        _measurement(
            Scope.APPLICATION, _side(before, reference), _side(after, candidate), _Errors(whole, model), samples=1
        ),
    )


def notes(reference: Trace) -> tuple[str, ...]:
    """What the intervals of `measurements` hold."""
    return (_model_error(reference, _launches(reference)).told,)


@dataclass(frozen=True)
class _Side:
    """One version: its time, and what that is made of."""

    ns: float
    parts: tuple[Parts, ...]


@dataclass(frozen=True)
class _Errors:
    sampling: float  # relative half-width
    model: ModelError


def _launches(trace: Trace) -> list[KernelLaunch]:
    return [launch for launch in trace.launches if launch.status == 0]


def _total(launches: Iterable[KernelLaunch]) -> float:
    return sum(launch.time_ns for launch in launches)


def _model_error(trace: Trace, launches: Sequence[KernelLaunch]) -> ModelError:
    return modelerror.of_target(trace.module_of(launches[0]).target)


def _side(launches: Iterable[KernelLaunch], copies: Trace | None = None) -> _Side:
    kernels = tuple(launches)
    transfers = copies.transfers if copies is not None else ()
    parts = (*(launch.time_parts for launch in kernels), *({"copies": copy.time_ns} for copy in transfers))
    return _Side(_total(kernels) + sum(copy.time_ns for copy in transfers), parts)


def _measurement(scope: Scope, before: _Side, after: _Side, errors: _Errors, samples: int) -> Measurement:
    ratio = before.ns / after.ns
    spread = modelerror.spread(before.parts, after.parts, errors.model)
    rest = math.hypot(math.log1p(RESOLUTION), math.log1p(errors.sampling))
    low, high = (math.exp(math.hypot(side, rest)) for side in (spread.below, spread.above))
    return Measurement(scope, before.ns, after.ns, ratio, ratio / low, ratio * high, Provenance.MODELLED, samples)


def _error(trace: Trace, launches: Iterable[KernelLaunch], kernels: Collection[str]) -> float:
    """Relative half-width of the launches' total time: parts weigh by their time."""
    total = weighted = 0.0
    for symbol, groups in groups_of(launches).items():
        if symbol in kernels:
            spent = _total(launch for group in groups for launch in group.launches)
            total += spent
            weighted += spent * kernel_error(trace, groups)
    return weighted / total if total > 0 else 0.0


def kernel_error(trace: Trace, groups: tuple[Group, ...]) -> float:
    """Relative half-width of one kernel's modelled time, from the sampling of its blocks."""
    traced = [launch for group in groups for launch in group.traced]
    if not traced:
        return 0.0
    estimates = kernel_totals(trace, groups).estimates
    parts = {name: sum(launch.time_parts.get(name, 0.0) for launch in traced) for name in _DRIVERS}
    busy = sum(parts.values())
    if busy <= 0:
        return 0.0
    error = 0.0
    for name, spent in parts.items():
        estimate = estimates.get(_DRIVERS[name])
        if estimate is not None and estimate.value > 0:
            error += spent / busy * estimate.error / estimate.value
    return error
