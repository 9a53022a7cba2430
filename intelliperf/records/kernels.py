"""Devices, their kernels, and what was seen of these by kernel and by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from intelliperf.errors import MissingMetric
from intelliperf.records.metrics import Metric, Provenance, Quantity


@dataclass(frozen=True)
class DeviceLimits:
    """Figures of one chip. `sources` tells, per field, where the figure comes from."""

    compute_units: int
    clock_hz: float
    max_waves_per_compute_unit: int
    lds_bytes_per_compute_unit: int
    lds_bytes_per_block: int
    lds_banks: int
    registers_per_compute_unit: int
    l1_bytes: int
    l2_bytes: int
    dram_bytes_per_s: float
    l2_bytes_per_s: float | None  # None where nobody has published or measured it
    fp32_flops_per_s: float | None
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Device:
    vendor: str  # "amd" | "nvidia"
    architecture: str  # "gfx942", "sm_90"
    name: str  # "MI300X"
    wave_size: int
    emulated: bool
    limits: DeviceLimits
    runs_on: str = ""  # what emulates it, in words; empty for hardware and for the embedded emulator
    least_gain: float = 1.02  # of a kernel's time: how many times faster a judge can tell from none


@dataclass(frozen=True)
class Kernel:
    """`symbol` (mangled) is the identity; `name` is for people."""

    symbol: str
    name: str
    file: Path | None = None
    line: int | None = None


@dataclass(frozen=True)
class Geometry:
    grid: tuple[int, int, int]  # blocks
    block: tuple[int, int, int]  # threads
    dynamic_lds_bytes: int = 0


@dataclass(frozen=True)
class KernelProfile:
    """One kernel of one application run."""

    kernel: Kernel
    dispatches: int
    geometries: tuple[Geometry, ...]
    device_time_ns: tuple[float, ...]  # one sample per dispatch
    time_provenance: Provenance
    share: float  # 0..1 of the application's device time
    quantities: Mapping[Metric, Quantity] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def quantity(self, metric: Metric) -> Quantity:
        """The quantity, or `MissingMetric`."""
        if metric not in self.quantities:
            raise MissingMetric(f"{self.kernel.name}: {metric.value} was not collected")
        return self.quantities[metric]

    def has(self, *metrics: Metric) -> bool:
        return all(metric in self.quantities for metric in metrics)


class AccessKind(str, Enum):
    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"  # the old value is used
    REDUCTION = "reduction"  # an atomic whose old value is not used
    BARRIER = "barrier"
    COLLECTIVE = "collective"
    CODE = "code"  # all instructions of a line
    KERNEL = "kernel"  # the kernel as a whole, on the line that defines it


class MemorySpace(str, Enum):
    GLOBAL = "global"
    SHARED = "shared"
    CONSTANT = "constant"  # through the constant cache, or AMD's scalar cache
    MIXED = "mixed"  # the same instruction touched both
    LOCAL = "local"  # a thread's own: spilled registers, and arrays that registers cannot hold
    NONE = "none"  # no access


@dataclass(frozen=True)
class Frame:
    """One level of an inline or call chain, innermost first in a chain."""

    file: Path
    line: int
    column: int
    function: str


@dataclass(frozen=True)
class SourceEvidence:
    """What happens on one of the user's own lines: mostly one access. `chain[-1]` lies in the kernel."""

    kernel: Kernel
    file: Path
    line: int
    column: int
    text: str
    access: AccessKind
    space: MemorySpace
    operation: str  # "load", "store", "atomicrmw fadd", …
    element_bytes: int
    chain: tuple[Frame, ...]
    quantities: Mapping[Metric, Quantity]
    found_by: str = ""  # in words, where the back end has several ways to tell
    shared_with: str = ""  # in words: other lines whose accesses the compiler merged into this one
    unsure: str = ""  # in words: why counts without an error are estimates; empty where they are exact

    def quantity(self, metric: Metric) -> Quantity:
        if metric not in self.quantities:
            raise MissingMetric(f"{self.file.name}:{self.line}: {metric.value} was not collected")
        return self.quantities[metric]


@dataclass(frozen=True)
class Finding:
    """A formula's diagnosis of one kernel."""

    formula: str
    profile: KernelProfile
    sentence: str  # with the number, its ideal and the share of device time in it
    severity: float  # 0..1, for ordering only
    metric: Metric  # what to watch after the change
    value: float
    ideal: float
    gain_ceiling: float  # times faster for the whole application, were this alone removed; a rewrite may win more; ≥ 1
