"""The nouns of the product, frozen. Changing one means making a new one.

Records hold no behaviour beyond checking themselves; everything that crosses a package
border is one of these. All times are nanoseconds, all sizes bytes, unless the name says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path, PurePosixPath

from intelliperf.errors import MissingMetric, UsageError
from intelliperf.frozen import record
from intelliperf.metrics import Metric as Metric
from intelliperf.metrics import Provenance as Provenance
from intelliperf.metrics import Quantity as Quantity
from intelliperf.timeline import ProcessFinding as ProcessFinding
from intelliperf.timeline import ProcessTime as ProcessTime

SHELL = ("/bin/sh", "-c")  # what a command line given as one text is run by


class Executor(str, Enum):
    """What the emulator runs of device code: what it compiles itself, or the machine code for the GPU."""

    COMPILED = "compiled"
    MACHINE = "machine"


@record(frozen=True)
class Launcher:
    """What stands before the application's command in every run: a job launcher or an emulator of a GPU."""

    words: tuple[str, ...] = ()
    emulates: bool = False  # the GPU below is no hardware, so nothing there is a measurement


@record(frozen=True)
class Application:
    """What the user runs. `command` is never split or joined; `environment` is added to ours."""

    command: tuple[str, ...]
    project: Path
    directory: Path  # working directory of the run
    build_commands: tuple[tuple[str, ...], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    launcher: Launcher = Launcher()
    exit_status: int = 0  # what it ends with when all is well

    @property
    def argv(self) -> tuple[str, ...]:
        """What is started: the command behind its launcher."""
        return (*self.launcher.words, *self.command)

    def __post_init__(self) -> None:
        if not self.command:
            raise UsageError("no program given: put it after --, as in: intelliperf -- ./app ARGS")
        if not self.project.is_absolute() or not self.directory.is_absolute():
            raise UsageError("an Application needs absolute paths")
        if not 0 <= self.exit_status < 256:
            raise UsageError(f"{self.exit_status} is not an exit status: these are 0 to 255")


@record(frozen=True)
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


@record(frozen=True)
class Device:
    vendor: str  # "amd" | "nvidia"
    architecture: str  # "gfx942", "sm_90"
    name: str  # "MI300X"
    wave_size: int
    emulated: bool
    limits: DeviceLimits
    runs_on: str = ""  # what emulates it, in words; empty for hardware and for the embedded emulator
    least_gain: float = 1.02  # of a kernel's time: how many times faster a judge can tell from none


@record(frozen=True)
class Kernel:
    """`symbol` (mangled) is the identity; `name` is for people."""

    symbol: str
    name: str
    file: Path | None = None
    line: int | None = None


@record(frozen=True)
class Geometry:
    grid: tuple[int, int, int]  # blocks
    block: tuple[int, int, int]  # threads
    dynamic_lds_bytes: int = 0


@record(frozen=True)
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
    MIXED = "mixed"  # the same instruction touched both
    LOCAL = "local"  # a thread's own: spilled registers, and arrays that registers cannot hold
    NONE = "none"  # no access


@record(frozen=True)
class Frame:
    """One level of an inline or call chain, innermost first in a chain."""

    file: Path
    line: int
    column: int
    function: str


@record(frozen=True)
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

    def quantity(self, metric: Metric) -> Quantity:
        if metric not in self.quantities:
            raise MissingMetric(f"{self.file.name}:{self.line}: {metric.value} was not collected")
        return self.quantities[metric]


@record(frozen=True)
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


def relative_path(path: str) -> str:
    """`path` checked to be relative, normal and inside the project. POSIX separators."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path or str(pure) != path:
        raise ValueError(f"not a path inside the project: {path!r}")
    return path


NO_FILE = ""  # in place of a hash: there was no such file


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@record(frozen=True)
class FileEdit:
    """The whole new text of one existing file, bound to the text that it replaces.

    Texts are decoded as UTF-8 with surrogateescape and keep their line endings.
    """

    path: str
    base_hash: str  # content_hash of the text that it replaces; `NO_FILE` only in edits that are to be refused
    text: str

    def __post_init__(self) -> None:
        relative_path(self.path)


class OriginKind(str, Enum):
    RULE = "rule"
    MODEL = "model"
    REPLAY = "replay"
    USER = "user"  # `intelliperf verify PATCH`


@record(frozen=True)
class Origin:
    kind: OriginKind
    name: str  # the rule's or model's name
    prompt_hash: str | None = None


@record(frozen=True)
class Declaration:
    """What a candidate says that it changes on purpose beyond the kernel's body."""

    geometry: bool = False  # launches the same kernels with other grids or blocks
    kernels: bool = False  # adds, splits or renames kernels
    reason: str = ""

    def joined(self, later: Declaration) -> Declaration:
        """What both together declare."""
        return Declaration(self.geometry or later.geometry, self.kernels or later.kernels, later.reason or self.reason)


@record(frozen=True)
class Tunable:
    """An integer constant that the candidate defines, and the values to choose from."""

    name: str
    values: tuple[int, ...]


@record(frozen=True)
class Candidate:
    edits: tuple[FileEdit, ...]
    rationale: str
    origin: Origin
    declares: Declaration = Declaration()
    tunables: tuple[Tunable, ...] = ()  # none are left once it is judged

    def __post_init__(self) -> None:
        paths = [edit.path for edit in self.edits]
        if not paths:
            raise ValueError("a candidate without edits")
        if len(set(paths)) != len(paths):
            raise ValueError("two edits of one file")


@record(frozen=True)
class Declined:
    """A rewriter's reason for not proposing anything, in one sentence."""

    origin: Origin
    reason: str


class Outcome(str, Enum):
    ACCEPTED = "ACCEPTED"
    FORBIDDEN_EDIT = "FORBIDDEN_EDIT"
    BUILD_FAILED = "BUILD_FAILED"
    CRASHED = "CRASHED"
    TIMED_OUT = "TIMED_OUT"
    WRONG_OUTPUT = "WRONG_OUTPUT"
    DISPATCHES_CHANGED = "DISPATCHES_CHANGED"
    RACE = "RACE"
    MEMORY_ERROR = "MEMORY_ERROR"
    TESTS_FAILED = "TESTS_FAILED"
    NOT_FASTER = "NOT_FASTER"
    SLOWER_OVERALL = "SLOWER_OVERALL"
    IMPLAUSIBLE = "IMPLAUSIBLE"


class CheckStatus(str, Enum):
    PASSED = "passed"
    FAILED = "failed"
    WEAK = "weak"  # ran, but cannot reject what it should
    NOT_RUN = "not run"


NEEDLESS = "an earlier gate refused the candidate"  # the detail of a gate that was not run for that
DEFERRED = "once for all accepted candidates together, at the end of the run"  # likewise


EMULATED = "emulator: "  # before the names of gates that the emulator ran for sources that hardware times
RECORDED = "recorded: "  # before the names of gates that ran on recorded dispatches


@record(frozen=True)
class Check:
    """One gate of the validation and what it saw. `detail` of NOT_RUN says why."""

    name: str
    status: CheckStatus
    detail: str = ""
    device: str = ""  # where it ran, in words; empty where it takes no device
    control: str = ""  # what it was shown to reject in this very run; empty where nothing was planted
    unseen: str = ""  # what it did not look at, although it ran; empty where it saw all that there was


class Strength(str, Enum):
    """How an accepted candidate's results were shown to be the original's, over all that was compared; best first."""

    BIT_EQUAL = "bit equal"
    SAME_NUMBERS = "the same real numbers"  # equal in a finite field, with no tolerance
    CLOSE = "equal to a millionth of a rounding error"  # but not proven algebraically
    TOLERANCE = "equal within a tolerance"
    PARTLY = "equal where it can be compared"


class DefectLevel(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@record(frozen=True)
class SourcePoint:
    """A line that takes part in a defect; `file` is relative to the project where it lies in it."""

    file: str
    line: int
    column: int
    text: str
    does: str  # reads, writes, updates, waits

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@record(frozen=True)
class Defect:
    """Something wrong with a program as it is, seen in a run. `rule` is a stable name for tools."""

    rule: str
    level: DefectLevel
    what: str
    remedy: str
    kernel: str
    point: SourcePoint | None = None
    other: SourcePoint | None = None
    thread: str | None = None
    other_thread: str | None = None
    memory: str | None = None
    launch: int | None = None
    geometry: Geometry | None = None
    schedule: str = ""  # in which order it shows
    count: int = 1


class Scope(str, Enum):
    KERNEL = "kernel"
    APPLICATION = "application"  # all device time, copies included
    PROCESS = "process"  # wall time from the start of the process to its end


@record(frozen=True)
class Measurement:
    """Baseline against candidate. `ratio` = baseline/candidate: above 1 is faster."""

    scope: Scope
    baseline_ns: float
    candidate_ns: float
    ratio: float
    low: float  # interval of the ratio, that holds 95 % or more
    high: float
    provenance: Provenance
    samples: int
    kernel: str = ""  # the kernel's name, where a report tells of several
    pairs: tuple[float, ...] = ()  # the ratio of each pair of runs, in their order; empty where a model made it


@record(frozen=True)
class Verdict:
    outcome: Outcome
    detail: str  # one sentence, with the place and both values where there is one
    checks: tuple[Check, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    compared_bytes: int = 0
    compared_dispatches: int = 0
    metric_before: Quantity | None = None
    metric_after: Quantity | None = None
    strength: Strength | None = None  # of an accepted candidate
    proof: str = ""  # what was shown of its results, with the numbers; empty where a gate refused it
    on_recordings: bool = False  # decided on recorded dispatches; see `Report.whole` for an accepted candidate

    def __post_init__(self) -> None:
        if self.outcome is not Outcome.ACCEPTED:
            return
        if self.compared_bytes <= 0 or self.compared_dispatches <= 0:
            raise ValueError("accepted without a comparison")
        if any(check.status is CheckStatus.FAILED for check in self.checks):
            raise ValueError("accepted with a failed check")
        kernel = [m for m in self.measurements if m.scope is Scope.KERNEL]
        if not kernel or any(m.low <= 1.0 for m in kernel):
            raise ValueError("accepted without a measured or modelled gain")

    @property
    def accepted(self) -> bool:
        return self.outcome is Outcome.ACCEPTED

    @property
    def left_open(self) -> tuple[str, ...]:
        """What was not checked, or not sharply; gates that a refusal made needless are left out."""
        names: dict[str, list[str]] = {}
        elsewhere = {check.name.removeprefix(EMULATED) for check in self.checks if check.status is CheckStatus.PASSED}
        for check in self.checks:
            if check.status is CheckStatus.NOT_RUN and check.name in elsewhere:
                continue  # the emulator has run it instead
            weak = check.status in (CheckStatus.NOT_RUN, CheckStatus.WEAK)
            weak &= check.detail not in (NEEDLESS, DEFERRED)
            for text in filter(None, [check.detail if weak else "", check.unseen]):
                names.setdefault(text, []).append(check.name)
        return tuple(sorted(f"{', '.join(dict.fromkeys(named))}: {text}" for text, named in names.items()))


@record(frozen=True)
class Usage:
    """What a model attempt cost. `usd` is None where the price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0


@record(frozen=True)
class Attempt:
    """One proposal and what became of it; exactly one of `verdict` and `declined` is set."""

    index: int
    candidate: Candidate | None
    verdict: Verdict | None
    declined: Declined | None
    usage: Usage = Usage()
    diff: str = ""  # against the sources that it was proposed for
    kernel: str = ""  # the finding that it is for: its kernel's name …
    formula: str = ""  # … and its formula
    after: KernelProfile | None = None  # the kernel with the candidate, where that came as far as its timing …
    lines: tuple[SourceEvidence, ...] = ()  # … and its accesses by line

    def __post_init__(self) -> None:
        if (self.verdict is None) == (self.declined is None):
            raise ValueError("an attempt has a verdict or a reason for declining, not both")
        if self.verdict is not None and self.candidate is None:
            raise ValueError("a verdict without a candidate")

    @property
    def accepted(self) -> bool:
        return self.verdict is not None and self.verdict.accepted

    @property
    def origin(self) -> Origin:
        if self.candidate is not None:
            return self.candidate.origin
        if self.declined is None:
            raise ValueError("an attempt without a candidate or a reason for declining")
        return self.declined.origin


@record(frozen=True)
class Review:
    """A reviewer's remark on an earlier patch."""

    kernel: str
    symbol: str
    formula: str
    said: str  # "rejected", "commented", …
    refuses: bool  # this very change is not to be proposed again
    words: str
    identity: str  # of the patch: `project.reviews.identity`
    diff: str


class Ending(str, Enum):
    """Why a run ended; decides the exit status."""

    IMPROVED = "improved"
    NOTHING_TO_IMPROVE = "nothing to improve"
    DIAGNOSED = "diagnosed"  # diagnoseOnly, or --diagnose
    NO_ACCEPTED_CANDIDATE = "bottleneck found, no accepted candidate"
    REFUSED = "patch refused"  # the one that was given to be judged
    BUDGET_EXHAUSTED = "budget exhausted"


@record(frozen=True)
class Diagnosis:
    """A finding of the run with the lines that cause it, and what became of it."""

    finding: Finding
    evidence: tuple[SourceEvidence, ...]  # empty where it was not looked at closer, or has no line
    attempts: tuple[int, ...] = ()  # indices, in order
    accepted: tuple[int, ...] = ()
    note: str = ""  # why it has no line, or was not pursued


@record(frozen=True)
class OtherTime:
    """Device time beside the kernels that a report lists: copies, fills, libraries' kernels, further kernels."""

    what: str
    count: int
    time_ns: float
    share: float  # 0..1 of the application's device time
    provenance: Provenance


@record(frozen=True)
class KernelPatch:
    """The part of the final patch that one kernel's accepted attempts made; upon the parts before it."""

    kernel: str
    formulas: tuple[str, ...]
    attempts: tuple[int, ...]
    diff: str


SCHEMA_VERSION = 1  # of `Report`; another one where a reader of the older would misread it


@record(frozen=True)
class Report:
    schema_version: int
    tool_version: str
    run_id: str
    started_at: str  # ISO 8601, UTC
    seconds: float
    application: Application
    device: Device
    backend: str
    formula: str
    ending: Ending
    profiles: tuple[KernelProfile, ...]
    finding: Finding | None  # the main one: the first that was cured, else the first that was pursued
    evidence: tuple[SourceEvidence, ...]  # of that one
    attempts: tuple[Attempt, ...]
    accepted: int | None  # index of the last accepted attempt; the patch holds all accepted ones
    measurements: tuple[Measurement, ...]  # original against final state, measured anew
    patch: str
    usage: Usage
    not_checked: tuple[str, ...]
    notes: tuple[str, ...] = ()
    stage_seconds: Mapping[str, float] = field(default_factory=dict)
    other_time: tuple[OtherTime, ...] = ()  # with `profiles` all device time of the application
    diagnoses: tuple[Diagnosis, ...] = ()  # every finding, by what could be gained for the whole application
    series: tuple[KernelPatch, ...] = ()  # the patch as commits, in order
    whole: Verdict | None = None  # of all accepted changes on the whole application, where some met recordings alone
    process: tuple[ProcessFinding, ...] = ()  # what no kernel can mend, by what could be gained
    process_time: ProcessTime | None = None  # None where the device's back end does not see the host's calls
    after: tuple[KernelProfile, ...] = ()  # the improved kernels in their final state, counted as `profiles` are
    lines_before: tuple[SourceEvidence, ...] = ()  # all lines of the improved kernels that were counted …
    lines_after: tuple[SourceEvidence, ...] = ()  # … and those of their final state

    @property
    def exit_status(self) -> int:
        good = (Ending.IMPROVED, Ending.NOTHING_TO_IMPROVE, Ending.DIAGNOSED)
        return 0 if self.ending in good or self.accepted is not None else 3
