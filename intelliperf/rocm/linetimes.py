"""A kernel's time by source line, whichever way it was found: stochastic PC samples, a thread trace, host trap samples.

In this order. Stochastic samples come from the hardware, of the whole device, with a reason for each wait. A thread
trace has every instruction, also of kernels too short to be sampled, but the waves of one compute unit and of one
dispatch only. Host traps find the instructions after the one that took the time, know no reasons, and come rarely.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from intelliperf.records import (
    AccessKind,
    Frame,
    Kernel,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
    SourceEvidence,
)

_SHOWN_SHARE = 0.01
SourceLine = tuple[Path, int]


@dataclass(frozen=True)
class LineTime:
    """`share` of the kernel's time with the half-width of its error, None where it was not drawn by chance.

    `lanes`: how many take part on average, None where the way does not tell.
    """

    share: float
    error: float | None
    told: str
    lanes: float | None = None


@dataclass(frozen=True)
class LineTimes:
    """`lines` are those of the project. `why` there are none, or why no better way was taken."""

    way: str
    lines: Mapping[SourceLine, LineTime]
    why: str = ""

    def describe(self) -> str:
        if not self.lines:
            return f"no time per line: {self.why}"
        return f"time per line by {self.way}{f' ({self.why})' if self.why else ''}"

    def share(self, file: Path, line: int) -> float:
        here = self.lines.get((file.resolve(), line))
        return here.share if here is not None else 0.0

    def told(self, file: Path, line: int) -> str:
        """In words; "" for a line without time."""
        here = self.lines.get((file.resolve(), line))
        return here.told if here is not None else ""


def none(why: str) -> LineTimes:
    return LineTimes("", {}, why)


def best(ways: Mapping[str, Callable[[], LineTimes]]) -> LineTimes:
    """The first that tells anything, with what was wrong with those before it."""
    wrong: list[str] = []
    for name, way in ways.items():
        found = way()
        if found.lines:
            return replace(found, why="; ".join(wrong))
        wrong.append(f"{name}: {found.why}")
    return none("; ".join(wrong))


def line_evidence(
    times: LineTimes,
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
            operation=here.told,
            element_bytes=0,
            chain=(Frame(file, line, 0, kernel.name),),
            quantities=_quantities(here, whole, wave_size),
        )
        for (file, line), here in times.lines.items()
        if here.share >= _SHOWN_SHARE
    )


def _quantities(here: LineTime, whole: Mapping[Metric, Quantity], wave_size: int) -> dict[Metric, Quantity]:
    found: dict[Metric, Quantity] = {}
    time, instructions = whole.get(Metric.DEVICE_TIME_NS), whole.get(Metric.INSTRUCTIONS)
    if time is not None:
        error = here.error * time.value if here.error is not None else None
        # Where a few waves stand for all, no error is known: then it is a model.
        origin = time.provenance if here.error is not None else Provenance.MODELLED
        found[Metric.DEVICE_TIME_NS] = Quantity(here.share * time.value, origin, error)
    if here.lanes is None:
        return found
    # Lanes beyond the end of a block that is not a whole number of waves cannot take part.
    fill = whole.get(Metric.LANE_FILL_RATIO)
    possible = wave_size * (fill.value if fill is not None else 1.0)
    active = min(1.0, here.lanes / possible)
    found[Metric.ACTIVE_LANE_RATIO] = Quantity(active, Provenance.MODELLED)
    if instructions is not None:
        # By time, where the counter counts instructions: the share of one stands for the share of the other.
        lost = here.share * instructions.value * possible * (1.0 - active)
        found[Metric.LANES_LOST] = Quantity(lost, Provenance.MODELLED)
    return found
