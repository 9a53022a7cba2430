"""A trace as the profile of an application."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence

from intelliperf.processes.process import output_of
from intelliperf.profiling.ranking import other_time, ranked, with_shares
from intelliperf.profiling.rocprofv3.recordings import Dispatch, Trace
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import Geometry, Kernel, KernelProfile, Metric, Provenance, Quantity

# Copies and fills of the runtimes themselves: device time, but no kernel that a user could rewrite.
_RUNTIME = re.compile(r"^(__amd_rocclr_|__ockl_|BlitKernel|CopyAligned|CopyMisaligned|Fill(Image|Buffer)?$)")
_DEMANGLERS = ("llvm-cxxfilt", "c++filt", "llvm-cxxfilt-19")
_DEADLINE_S = 30.0
_NOTEWORTHY = 0.05
_DIRECTIONS = {
    "HOST_TO_DEVICE": "from the host to the device",
    "DEVICE_TO_HOST": "from the device to the host",
    "DEVICE_TO_DEVICE": "within or between devices",
}

Demangle = Callable[[Sequence[str]], Sequence[str]]


def is_of_the_runtime(symbol: str) -> bool:
    return _RUNTIME.match(symbol) is not None


def application_profile(
    trace: Trace, demangle: Demangle | None = None, timing: Provenance = Provenance.MEASURED
) -> ApplicationProfile:
    """Kernels by falling device time; the runtimes' own kernels and copies count in the whole.

    `demangle` takes and gives a list of names; without it the machine's own tool is asked. `timing` is MODELLED where
    the device that was traced is an emulated one.
    """
    symbols = [one.symbol for one in trace.dispatches if not is_of_the_runtime(one.symbol)]
    distinct = list(dict.fromkeys(symbols))
    names = dict(zip(distinct, (demangle or demangled)(distinct), strict=True))
    profiles = [
        _profile(
            Kernel(symbol, short_name(names[symbol])),
            [one for one in trace.dispatches if one.symbol == symbol],
            timing,
        )
        for symbol in distinct
    ]
    total = float(trace.device_time_ns)
    rest = total - sum(sum(profile.device_time_ns) for profile in profiles)
    others = other_time([("copies, fills and the runtime's own kernels", rest)] if rest > 0 else (), total, timing)
    return ApplicationProfile(ranked(with_shares(profiles, total)), total, trace.exit_status, _notes(trace), others)


def _profile(kernel: Kernel, runs: Sequence[Dispatch], timing: Provenance) -> KernelProfile:
    return KernelProfile(
        kernel=kernel,
        dispatches=len(runs),
        geometries=tuple(dict.fromkeys(_geometry(run) for run in runs)),
        device_time_ns=tuple(float(run.duration_ns) for run in runs),
        time_provenance=timing,
        share=0.0,
        quantities=_static(runs),
    )


def _static(runs: Sequence[Dispatch]) -> dict[Metric, Quantity]:
    found: dict[Metric, float] = {
        Metric.LDS_BYTES: max(run.lds_bytes for run in runs),
        Metric.SCRATCH_BYTES: max(run.scratch_bytes for run in runs),
    }
    vgprs = [run.vgprs for run in runs if run.vgprs is not None]
    sgprs = [run.sgprs for run in runs if run.sgprs is not None]
    if vgprs:
        found[Metric.VGPRS] = max(vgprs)
    if sgprs:
        found[Metric.SGPRS] = max(sgprs)
    return {metric: Quantity(float(value), Provenance.STATIC) for metric, value in found.items()}


def _geometry(run: Dispatch) -> Geometry:
    """In blocks, as the rest of the product counts; the last one may be partly filled."""
    x, y, z = (-(-items // max(1, group)) for items, group in zip(run.grid, run.workgroup, strict=True))
    return Geometry((x, y, z), run.workgroup)


def _notes(trace: Trace) -> tuple[str, ...]:
    total = trace.device_time_ns
    notes = []
    span, busy = _span_ns(trace), _busy_ns(trace)
    if span and (idle := 1 - busy / span) > _NOTEWORTHY:
        notes.append(f"between its first and last work the GPU was idle for {100 * idle:.0f} % of {span / 1e6:.3g} ms")
    for direction, what in _DIRECTIONS.items():
        spent = sum(one.duration_ns for one in trace.copies if one.direction.endswith(direction))
        if total and spent / total > _NOTEWORTHY:
            count = sum(1 for one in trace.copies if one.direction.endswith(direction))
            notes.append(f"{count} copies {what} take {100 * spent / total:.0f} % of the device's time")
    own = sum(one.duration_ns for one in trace.dispatches if is_of_the_runtime(one.symbol))
    if total and own / total > _NOTEWORTHY:
        notes.append(f"the runtime's own kernels take {100 * own / total:.0f} % of the device's time")
    return tuple(notes)


def _span_ns(trace: Trace) -> int:
    """From the first start to the last end."""
    work = _work(trace)
    return max(end for _, end in work) - min(start for start, _ in work) if work else 0


def _busy_ns(trace: Trace) -> int:
    """Time in which the device did anything; what ran side by side counts once."""
    total, reached = 0, 0
    for start, end in sorted(_work(trace)):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _work(trace: Trace) -> list[tuple[int, int]]:
    kernels = [(one.start_ns, one.end_ns) for one in trace.dispatches]
    return kernels + [(one.start_ns, one.end_ns) for one in trace.copies]


def demangled(symbols: Sequence[str]) -> list[str]:
    """By the machine's own tool; as they are where there is none."""
    program = next((found for name in _DEMANGLERS if (found := shutil.which(name))), None)
    if program is None or not symbols:
        return list(symbols)
    done, out, _ = output_of([program, *symbols], _DEADLINE_S)
    lines = out.splitlines()
    return lines if done.ok and len(lines) == len(symbols) else list(symbols)


def short_name(demangled_name: str) -> str:
    """Without return type and parameters: "void n::f<float>(float*)" → "n::f<float>"."""
    name = demangled_name.strip()
    if name.endswith(")"):
        depth = 0
        for position in range(len(name) - 1, -1, -1):
            depth += (name[position] == ")") - (name[position] == "(")
            if depth == 0:
                name = name[:position]
                break
    return name.removeprefix("void ")
