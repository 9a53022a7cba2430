"""What rocprofv3 recorded, in whatever format and version. Frozen; times in nanoseconds, sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Agent:
    """One GPU as the tool describes it. `dies` share one dispatch (XCDs); their counters are added up."""

    number: int
    architecture: str  # "gfx90a"
    compute_units: int
    simds_per_compute_unit: int
    max_waves_per_simd: int
    wave_size: int
    dies: int
    shader_engines: int | None = None

    @property
    def max_waves_per_compute_unit(self) -> int:
        return self.simds_per_compute_unit * self.max_waves_per_simd


@dataclass(frozen=True)
class Dispatch:
    """One kernel dispatch of a trace. `grid` counts work-items; registers and LDS are absent before ROCm 6.3."""

    symbol: str  # mangled, without ".kd"
    number: int  # the tool's own, in the order of dispatching
    agent: int
    start_ns: int
    end_ns: int
    grid: Extent
    workgroup: Extent
    lds_bytes: int
    scratch_bytes: int  # per work-item
    vgprs: int | None = None
    agprs: int | None = None
    sgprs: int | None = None
    process: str = ""  # whose output file it came from

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Copy:
    """One copy by a DMA engine or by the driver's own kernel."""

    direction: str  # "MEMORY_COPY_HOST_TO_DEVICE"
    start_ns: int
    end_ns: int

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Trace:
    """One run under kernel and copy trace; dispatches by their start."""

    dispatches: tuple[Dispatch, ...]
    copies: tuple[Copy, ...]
    agents: tuple[Agent, ...]
    exit_status: int = 0

    @property
    def device_time_ns(self) -> int:
        return sum(one.duration_ns for one in self.dispatches) + sum(one.duration_ns for one in self.copies)


@dataclass(frozen=True)
class Shape:
    """The geometry as counter files tell it: flat, in work-items."""

    grid_items: int
    workgroup_items: int


@dataclass(frozen=True)
class CountedDispatch:
    """Counters of one dispatch, added up over the hardware's instances of each.

    `instances` keeps the single ones where the format has them (JSON).
    """

    symbol: str
    shape: Shape
    number: int
    agent: int
    values: Mapping[str, float]
    instances: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    vgprs: int | None = None
    agprs: int | None = None
    sgprs: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    process: str = ""

    @property
    def duration_ns(self) -> int | None:
        """None where the file has no times; they are of the serialised, counted run."""
        return self.end_ns - self.start_ns if self.start_ns is not None and self.end_ns is not None else None


@dataclass(frozen=True)
class Counted:
    """All passes together: one entry per dispatch, with the counters of every pass."""

    dispatches: tuple[CountedDispatch, ...]
    agents: tuple[Agent, ...]
    unknown: frozenset[str] = frozenset()  # asked for, but not known to this rocprofv3 on this device
    notes: tuple[str, ...] = ()

    def of(self, symbol: str) -> tuple[CountedDispatch, ...]:
        return tuple(one for one in self.dispatches if one.symbol == symbol)

    def agent(self, number: int) -> Agent | None:
        return next((one for one in self.agents if one.number == number), None)


@dataclass(frozen=True)
class PcSample:
    """Waves found at one instruction of one line. `stall` is None where the method does not tell (host trap)."""

    instruction: str
    file: str | None
    line: int | None
    dispatch: int
    lanes: int  # active ones
    issued: bool | None = None
    stall: str | None = None  # "waitcnt", …
    chain: tuple[tuple[str, int], ...] = ()  # where it was inlined, innermost first
    symbol: str | None = None  # the kernel, where the dispatches were traced in the same run
    taken_ns: int | None = None  # when; samples of one interrupt are those of one moment


@dataclass(frozen=True)
class TracedInstruction:
    """One instruction of a thread trace: how often traced waves ran it, and cycles over all of these.

    `latency_cycles` are from issue to completion and hold `stall_cycles`, in which it could not be issued;
    `idle_cycles` passed before it since the wave's instruction before.
    """

    instruction: str
    address: int
    file: str | None
    line: int | None
    hits: int
    latency_cycles: int
    stall_cycles: int
    idle_cycles: int
    chain: tuple[tuple[str, int], ...] = ()  # where it was inlined, innermost first
    symbol: str | None = None  # the function that it lies in, where the file tells

    @property
    def cycles(self) -> int:
        """Of the wave's time."""
        return self.latency_cycles + self.idle_cycles
