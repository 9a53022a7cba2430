"""Where waves were found, line by line: PC samples of rocprofv3 as evidence.

A sample is one wave at one moment, so that a line's share of a kernel's samples is its share of the kernel's time, to
within the error of drawing so many. At a wait the line is that of the instruction that waits, not of the access that it
waits for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import ApplicationFailed, BackendUnavailable, ProtocolError
from intelliperf.profiling.rocprofv3 import LineSamples, NoSampling, PcSample, Rocprof, by_line, sample_pcs
from intelliperf.profiling.rocprofv3 import sampling_methods as methods_of
from intelliperf.records import (
    AccessKind,
    Application,
    Frame,
    Kernel,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)
from intelliperf.rocm.symbols import plain

_INTERVALS = {"host_trap": 100, "stochastic": 1 << 16}  # microseconds; cycles: tens of microseconds
_FEWEST = 20  # samples of a kernel; fewer say nothing about shares
_SHOWN_SHARE = 0.01
_NAMES = {"host_trap": "host trap", "stochastic": "stochastic"}


@dataclass(frozen=True)
class Samples:
    """Of all kernels of one run; `why` there are none, if there are none."""

    found: tuple[PcSample, ...]
    method: str
    why: str = ""

    def of(self, kernel: Kernel) -> tuple[PcSample, ...]:
        return tuple(one for one in self.found if one.symbol is not None and plain(one.symbol) == plain(kernel.symbol))


def take(
    rocprof: Rocprof,
    application: Application,
    architecture: str,
    deadline_s: float,
    logs: Callable[[], Path],
    launcher: Sequence[str],
) -> Samples:
    """In the best way that works there."""
    why = ""
    try:
        for method in methods_of(rocprof, architecture):
            try:
                found = sample_pcs(rocprof, application, method, _INTERVALS[method], deadline_s, logs(), launcher)
                return Samples(found, method)
            except NoSampling as error:
                why = str(error)
    except (ApplicationFailed, BackendUnavailable, ProtocolError) as error:
        why = str(error)
    return Samples((), "", why)


@dataclass(frozen=True)
class SampledKernel:
    """One kernel's share of the samples. `lines` are those of the project, by file and line."""

    method: str
    total: int
    lines: Mapping[tuple[Path, int], LineSamples]
    why: str = ""  # not to be had

    def describe(self) -> str:
        if self.why:
            return f"no time per line: {self.why}"
        return f"time per line by {self.total:,} {_NAMES[self.method]} samples"

    def share(self, file: Path, line: int) -> float:
        here = self.lines.get((file.resolve(), line))
        return here.samples / self.total if here is not None else 0.0

    def told(self, file: Path, line: int) -> str:
        """In words; "" for a line where no wave was found."""
        here = self.lines.get((file.resolve(), line))
        if here is None:
            return ""
        text = f"{100 * here.samples / self.total:.0f} % of {self.total:,} {_NAMES[self.method]} samples"
        if here.stalls:
            worst, count = max(here.stalls.items(), key=lambda item: item[1])
            text += f", {100 * count / here.samples:.0f} % of which wait for {worst.replace('_', ' ')}"
        return text


def sampled_kernel(samples: Samples, kernel: Kernel, project: Path) -> SampledKernel:
    own = samples.of(kernel)
    if samples.found and not any(one.symbol for one in samples.found):
        return SampledKernel("", 0, {}, "the samples do not tell their kernels: no dispatches were traced beside them")
    if samples.found and len(own) < _FEWEST:
        return SampledKernel("", 0, {}, f"{len(own)} samples hit {kernel.name}, too few to tell its lines by")
    if not samples.found:
        return SampledKernel("", 0, {}, samples.why or "no sample was taken")
    root = project.resolve()
    found = by_line(own, lambda file: root in Path(file).resolve().parents)
    lines = {(Path(one.file).resolve(), one.line): one for one in found}
    if not lines:
        return SampledKernel("", 0, {}, "the samples carry no line of the project: is the program built with -g?")
    return SampledKernel(samples.method, len(own), lines)


def line_evidence(
    sampled: SampledKernel,
    kernel: Kernel,
    whole: Mapping[Metric, Quantity],
    wave_size: int,
    text_of: Callable[[Path, int], str],
) -> tuple[SourceEvidence, ...]:
    """One entry per line with a share worth naming: its time, and the lanes that sit out there."""
    return tuple(
        SourceEvidence(
            kernel=kernel,
            file=file,
            line=line,
            column=0,
            text=text_of(file, line),
            access=AccessKind.CODE,
            space=MemorySpace.NONE,
            operation=sampled.told(file, line),
            element_bytes=0,
            chain=(Frame(file, line, 0, kernel.name),),
            quantities=_quantities(here, sampled.total, whole, wave_size),
        )
        for (file, line), here in sampled.lines.items()
        if here.samples >= _SHOWN_SHARE * sampled.total
    )


def _quantities(
    here: LineSamples, total: int, whole: Mapping[Metric, Quantity], wave_size: int
) -> dict[Metric, Quantity]:
    share = here.samples / total
    error = 1.96 * math.sqrt(share * (1.0 - share) / total)
    # Lanes beyond the end of a block that is no whole number of waves cannot take part.
    fill = whole.get(Metric.LANE_FILL_RATIO)
    possible = wave_size * (fill.value if fill is not None else 1.0)
    active = min(1.0, here.lanes / (here.samples * possible))
    found: dict[Metric, Quantity] = {}
    time, instructions = whole.get(Metric.DEVICE_TIME_NS), whole.get(Metric.INSTRUCTIONS)
    if time is not None:
        found[Metric.DEVICE_TIME_NS] = Quantity(share * time.value, time.provenance, error * time.value)
    found[Metric.ACTIVE_LANE_RATIO] = Quantity(active, Provenance.MODELLED)
    if instructions is not None:
        # By time, where the counter counts instructions: the share of one stands for the share of the other.
        lost = share * instructions.value * possible * (1.0 - active)
        found[Metric.LANES_LOST] = Quantity(lost, Provenance.MODELLED)
    return found
