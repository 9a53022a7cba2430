"""The narrow seams of the main loop, in terms of our own records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from intelliperf.records import (
    Application,
    Attempt,
    Candidate,
    Check,
    Declined,
    Device,
    Feature,
    Finding,
    Interception,
    Kernel,
    KernelProfile,
    Measurement,
    Metric,
    OtherTime,
    ProcessFinding,
    Quantity,
    Review,
    SourceEvidence,
    Usage,
)
from intelliperf.records.timeline import Timeline

Progress = Callable[[str], None]
BufferKey = tuple[str, int, str]  # kind, number in order of allocation, symbol name
Plans = tuple[Path, Path]  # of recorded launches (`recordings.image`): of the original and of the candidate


@dataclass(frozen=True)
class ApplicationProfile:
    """What one profiling run saw of the whole application. `kernels` by falling device time."""

    kernels: tuple[KernelProfile, ...]
    device_time_ns: float
    exit_status: int
    notes: tuple[str, ...] = ()
    other_time: tuple[OtherTime, ...] = ()  # with `kernels` the whole device time


@dataclass(frozen=True)
class Ended:
    """How a run ended, and the files with what it wrote."""

    exit_status: int | None
    stdout: Path
    stderr: Path


@dataclass(frozen=True)
class Timing:
    """Two applications timed against each other."""

    measurements: tuple[Measurement, ...]
    floor_ns: float | None = None  # no device can run the candidate's dispatches of the kernel in less time together
    notes: tuple[str, ...] = ()  # for the report: how it was measured, the least change that would have shown
    ended: tuple[Ended, Ended] | None = None  # a timed run of each; None where these are not kept


@dataclass(frozen=True)
class SharedBuffer:
    """How a paused child lets another process open a buffer, instead of copying it for that process.

    `handle` stands for `size` bytes of device memory, in which the buffer begins `at` bytes from the start.
    """

    handle: bytes
    size: int
    at: int
    style: str  # which kind of handle, in the backend's words


@dataclass(frozen=True)
class Opened:
    """`view` is None where the handle leads nowhere; `how` it was opened, or why not."""

    view: memoryview | None
    how: str


@dataclass(frozen=True)
class Numbers:
    """What the elements of a buffer are, and which distance between two of them is small: atol + rtol |reference|.

    `encoding` as in `validation.elements.Scalar`. What is not a floating-point number is compared by its bits.
    """

    encoding: str
    size: int  # bytes
    rtol: float
    atol: float


@dataclass(frozen=True)
class Difference:
    """How one chunk of a buffer differs from its counterpart; the measures of distance are the largest seen."""

    number: int  # of the chunk
    elements: int  # not equal bit for bit
    first: int  # the first of them, counted from the chunk's start
    beyond: int  # of them, those whose distance is not small
    specials: int  # of these, those with a NaN or an infinity where the other has none
    ulps: int
    absolute: float
    relative: float


@dataclass(frozen=True)
class ShadowPart:
    """Records of 32 bytes; `start`: bytes from the buffer's begin to what the first of them belongs to."""

    start: int
    content: bytes


@dataclass(frozen=True)
class ShadowState:
    """What a child's shadows are worth so far."""

    lost: int  # operations that none could follow
    why: int  # the first of them, by the module's list
    undecided: int  # comparisons and conversions that rounding alone decided
    choices: int  # whether numbers were compared at all
    inputs: int  # digest of what the host has given the device
    free: int = 0  # whether there were square roots or quotients that stand for any function


@runtime_checkable
class CallerLines(Protocol):
    """A kind of device that tells where in a program's code a copy was asked for."""

    def lines_of(self, caller: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """File name and line of each place, see `Transfer.caller`; the innermost first, inlined calls apart."""
        ...


@runtime_checkable
class ShadowedMemory(Protocol):
    """Memory whose numbers have algebraic shadows; see `validation.buffers.algebra`."""

    def shadow_state(self) -> ShadowState | None:
        """None where this run has no shadow."""
        ...

    def shaded(self, base: int, size: int) -> bool:
        """Did kernels store shadows in these bytes or their pages? Else all numbers there stand for themselves.

        Raises `ProtocolError` as `Memory.read`.
        """
        ...

    def shadows(self, base: int, size: int, unit: int) -> tuple[ShadowPart, ...]:
        """Records of `size` bytes at device address `base`: one per 4 bytes, or per 2. Gaps have none.

        Raises `ProtocolError` as `Memory.read`.
        """
        ...


class Memory(Protocol):
    """The device memory of one paused child, as the backend opens it."""

    def read(self, base: int, size: int) -> memoryview:
        """`size` bytes at device address `base`, read-only; a live view where memory is shared.

        Raises `ProtocolError` outside the device memory. See `arena.SharedArena`.
        """
        ...

    def open(self, shared: SharedBuffer, size: int) -> Opened:
        """A copy of `size` bytes of a buffer, taken from the device. Raises `ProtocolError` where it is smaller."""
        ...

    def differing(
        self, mine: SharedBuffer, theirs: SharedBuffer, size: int, chunk: int, numbers: Numbers
    ) -> tuple[Difference, ...] | None:
        """The chunks of `chunk` bytes that are not equal, compared on the device; None where it cannot do that.

        Raises `ProtocolError` where a buffer is smaller than `size`.
        """
        ...

    def spoil(self, base: int, size: int) -> None:
        """Overwrite every byte that is not zero. The child sees it where the backend honours `LIVE_MEMORY`."""
        ...

    def write(self, base: int, content: memoryview) -> None:
        """The child sees it where the backend honours `LIVE_MEMORY`. Raises `ProtocolError` as `read`."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class KeepsTraces(Protocol):
    """A backend whose intercepted runs can be profiled as well: those that ask for `trace`."""

    def adopt(self, application: Application, records: Path, exit_status: int, seconds: float) -> None:
        """Take the records of such a run, which has ended in order, for the application's profile.

        Raises `ApplicationFailed` or `ProtocolError` where there are none.
        """
        ...


class Builds(Protocol):
    """What builds for this kind of device are given."""

    def build_environment(self) -> Mapping[str, str]:
        """Added to the environment of every build: compiler drop-ins first on PATH, target, …"""
        ...

    def other_wave_build(self) -> Mapping[str, str]:
        """Environment of a build for a chip with waves of another size, where the language is for both; else empty."""
        ...

    def rounded_build(self, way: str) -> Mapping[str, str]:
        """Added to that, for a build whose kernels round all arithmetic `way` ("up" or "down").

        Empty where runs can be asked for it, `Feature.ROUNDING`, or it is not possible.
        """
        ...


class Profiler(Protocol):
    """What a run shows: kernels, their counters, their lines, and the calls of the host."""

    def profile(self, application: Application, deadline_s: float) -> ApplicationProfile: ...

    def quantities(
        self, application: Application, kernels: Sequence[KernelProfile], deadline_s: float
    ) -> tuple[KernelProfile, ...]:
        """The same profiles with the counters that formulas need."""
        ...

    def lines(self, application: Application, kernel: Kernel, deadline_s: float) -> tuple[SourceEvidence, ...]:
        """Every access of the kernel by source line. Raises `SourceNotFound`."""
        ...

    def line_notes(self) -> tuple[str, ...]:
        """How the lines of the latest `lines` were found, where that is not always the same. For the report."""
        ...

    def timeline(self, application: Application, deadline_s: float) -> Timeline | None:
        """The calls of the host; None where this kind of device does not show them."""
        ...


class Clock(Protocol):
    """Times of two versions side by side, and how long a run takes."""

    def time(self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float) -> Timing: ...

    def run_seconds(self, application: Application) -> float | None:
        """Wall time of one run, as far as an earlier question has told; None where judging costs many runs anyway."""
        ...

    def is_long(self, application: Application) -> bool:
        """Did a run take so long that recorded launches answer what they can, and one run of each version the rest?"""
        ...


class Interceptor(Protocol):
    """Runs that stop at launches and open the device's memory there."""

    @property
    def honours(self) -> frozenset[Feature]:
        """What this kind of device can do in intercepted runs."""
        ...

    def intercept_environment(self, socket: Path, kernel: Kernel, interception: Interception) -> Mapping[str, str]:
        """Environment that makes a run connect to `socket` and speak `interception.wire`.

        It pauses at `kernel` where `interception` names no kernels. What is not in `honours` is left out.
        """
        ...

    def open_memory(self, hello: Mapping[str, object], descriptors: Sequence[int]) -> Memory: ...


class Replayer(Protocol):
    """Recorded launches, made again without the application."""

    def replayed(self, application: Application, plan: Path) -> Application:
        """A program that makes the launches of a plan (`recordings.image`) with the device code of `application`.

        Raises `NotReplayable`.
        """
        ...

    def homes(self, recorded: Iterable[tuple[int, int, BufferKey]]) -> Mapping[BufferKey, BufferKey]:
        """Of allocations in replays, the application's own: those that do not have its number there.

        `recorded`: address, bytes and key in the application, of each allocation on the device.
        """
        ...

    def time_replayed(
        self, reference: Application, candidate: Application, plans: Plans, kernel: Kernel, deadline_s: float
    ) -> Timing:
        """Both built applications, each by the launches of its plan, which have the same memory.

        `Scope.KERNEL` is all that can be told.
        """
        ...


class DeviceChecker(Protocol):
    """What the device's own tools say of a candidate."""

    def safety(
        self, reference: Application, candidate: Application, kernel: Kernel, deadline_s: float, by_chance: bool = True
    ) -> tuple[Check, ...]:
        """Races, out-of-bounds and uninitialised reads that the candidate introduces.

        `by_chance`: also with blocks and lanes interrupted by a seed, where the device can.
        """
        ...

    def strictness(self, application: Application, candidate: Application) -> Check:
        """Would the real target's compiler take it?"""
        ...


class Backend(Builds, Profiler, Clock, Interceptor, Replayer, DeviceChecker, Protocol):
    """One kind of device. Methods take built applications (see `Workspace.built`)."""

    @property
    def name(self) -> str: ...

    def probe(self) -> Device:
        """The device that will be used. Raises `BackendUnavailable` with the remedy."""
        ...


@dataclass(frozen=True)
class Task:
    """All that a rewriter may know about the problem."""

    finding: Finding
    evidence: tuple[SourceEvidence, ...]  # worst first
    device: Device
    sources: Mapping[str, str]  # project-relative path → text, of the best accepted state
    compile_arguments: Mapping[str, tuple[str, ...]]  # path → flags of its compilation
    project: Path  # directory that holds `sources` on disk
    knowledge: str  # the formula's field knowledge
    rules: tuple[str, ...]  # names of the rule-based rewrites that apply
    precedents: tuple[Attempt, ...] = ()  # accepted ones of this run, for other findings
    reviews: tuple[Review, ...] = ()  # what reviewers said of earlier patches
    earlier_runs: tuple[Attempt, ...] = ()  # accepted ones of earlier runs on the project, the newest last
    others: tuple[Finding, ...] = ()  # what else the kernel shows
    command: tuple[str, ...] = ()  # the application's
    plan: tuple[int, int] = (1, 1)  # which of how many proposals that are made at the same time
    compiled: tuple[str, ...] = ()  # what a just-in-time compiler made of the kernel


@dataclass(frozen=True)
class Proposal:
    candidate: Candidate | None
    declined: Declined | None
    usage: Usage = Usage()


class Rewriter(Protocol):
    @property
    def name(self) -> str: ...

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        """The next proposal, or None when this rewriter has nothing more to offer."""
        ...


class Formula(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def watched(self) -> Metric: ...

    @property
    def knowledge(self) -> str: ...

    @property
    def rules(self) -> tuple[str, ...]: ...

    def findings(self, profile: KernelProfile, device: Device) -> tuple[Finding, ...]:
        """What the kernel shows beyond the thresholds, the most promising first.

        Raises `MissingMetric` where a single formula lacks a quantity; one that asks several leaves those out.
        """
        ...

    @property
    def of_process(self) -> tuple[str, ...]:
        """The names of those formulas that look at the whole process: this one's own, or of those that it asks."""
        ...

    def process_findings(self, timeline: Timeline) -> tuple[ProcessFinding, ...]:
        """What keeps the whole process back and no kernel can mend, the most promising first."""
        ...

    def of(self, finding: Finding) -> Formula:
        """The formula that made the finding: itself, or one of those that it asks."""
        ...

    def blame(self, evidence: Sequence[SourceEvidence]) -> tuple[SourceEvidence, ...]:
        """The lines that cause it, worst first; empty if none does."""
        ...

    def value(self, profile: KernelProfile) -> Quantity:
        """The watched quantity, for before and after."""
        ...
