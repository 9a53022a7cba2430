"""What the database gives and takes. Times of kernels are nanoseconds, moments are ISO 8601 in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from intelliperf.records.metrics import Metric, Provenance, Quantity


@dataclass(frozen=True)
class WatchedPlace:
    """One series of visits: what is run, with which input, on which device."""

    target: str
    workload: str  # the name of the command
    device: str  # "emulator:mi300x", "cuda", …: back end and, where it has one, its target

    def __str__(self) -> str:
        return f"{self.target}/{self.workload} on {self.device}"


class VisitState(str, Enum):
    SURVEYED = "surveyed"
    UNCHANGED = "unchanged"  # its fingerprint is that of an earlier visit, which holds its kernels
    FAILED = "failed"
    SKIPPED = "skipped"  # the budget or the night ended first


@dataclass(frozen=True)
class KernelTime:
    """One kernel of one visit. `noise` is the relative standard error of `total_ns`, None of one sample."""

    symbol: str
    name: str
    dispatches: int
    total_ns: float
    noise: float | None
    provenance: Provenance
    share: float
    counters: Mapping[Metric, Quantity]


@dataclass(frozen=True)
class LineCounts:
    """What one access on one source line did, summed over the kernel's dispatches that were looked at."""

    symbol: str
    file: str  # relative to the project where it lies in it
    line: int
    column: int
    text: str
    access: str
    space: str
    operation: str
    counters: Mapping[Metric, Quantity]


@dataclass(frozen=True)
class Found:
    """A finding without its profile, which is that of `symbol` in the same visit."""

    formula: str
    symbol: str
    kernel: str
    sentence: str
    severity: float
    metric: Metric
    value: float
    ideal: float
    gain_ceiling: float
    lines: tuple[tuple[str, int], ...] = ()  # what the formula blames, worst first: file, line


@dataclass(frozen=True)
class Revision:
    """Which version of the target was looked at."""

    commit: str | None  # None where the project lies in no git repository
    dirty: bool  # it held changes that no commit has
    manifest: Mapping[str, str]  # path → hash of each file; empty where there were too many


@dataclass(frozen=True)
class Visit:
    """One night's look at one place."""

    night: int
    place: WatchedPlace
    state: VisitState
    fingerprint: str
    parts: Mapping[str, str]  # what the fingerprint is made of: sources, build, inputs, compiler, …
    revision: Revision
    tool_version: str
    at: str
    seconds: float
    directory: str  # its run directory
    problem: str = ""  # of a failed or skipped one
    id: int | None = None
    same_as: int | None = None  # the earlier visit whose kernels an unchanged one has


@dataclass(frozen=True)
class Survey:
    """What one visit saw."""

    kernels: tuple[KernelTime, ...]
    lines: tuple[LineCounts, ...]
    findings: tuple[Found, ...]


class Standing(str, Enum):
    """Where a patch stands; the latest decision or re-judging decides."""

    OPEN = "open"  # nobody decided yet
    ACCEPTED = "accepted"  # by a reviewer, and not merged yet
    REJECTED = "rejected"  # by a reviewer: never proposed again
    MERGED = "merged"  # the target's head holds it
    STALE = "stale"  # it no longer applies, or is no longer right or faster


@dataclass(frozen=True)
class Patch:
    """A candidate that a judge accepted at least once."""

    target: str
    identity: str  # hash of what it removes and adds: the same wherever its lines moved
    formula: str
    symbol: str
    kernel: str
    origin: str  # "rule block_reduce_atomics", "model …"
    rationale: str
    diff: str  # unified, against `base`
    base: str | None  # the commit that it was made for
    directory: str  # the run that found it
    standing: Standing = Standing.OPEN
    found_at: str = ""
    night: int | None = None
    id: int | None = None


@dataclass(frozen=True)
class Tried:
    """One candidate of one search. `outcome` is an `Outcome`'s value, or "DECLINED" where a rewriter gave a reason
    instead of a candidate, which has no `diff` then.
    """

    target: str
    night: int | None
    directory: str  # of the search's run
    number: int  # from 1, in that run
    kernel: str
    formula: str
    origin: str
    outcome: str
    detail: str
    diff: str  # against the sources that it was proposed for; empty where it is longer than a megabyte


@dataclass(frozen=True)
class Judgement:
    """One verdict on one patch at one place. `outcome` is an `Outcome`'s value, or "DOES_NOT_APPLY"."""

    patch: int
    night: int | None  # None where a reviewer asked for it
    place: WatchedPlace
    commit: str | None
    outcome: str
    detail: str
    checks: tuple[Mapping[str, Any], ...]
    measurements: tuple[Mapping[str, Any], ...]
    not_checked: tuple[str, ...]
    at: str
    directory: str = ""

    @property
    def accepted(self) -> bool:
        return self.outcome == "ACCEPTED"


class Choice(str, Enum):
    ACCEPT = "accept"
    REJECT = "reject"
    COMMENT = "comment"
    RETRY = "another attempt"
    REOPEN = "reopen"
    VERIFY = "verify again"


@dataclass(frozen=True)
class Decision:
    """What one person said of one patch; the table only grows, so it is the audit log, too."""

    patch: int
    sequence: int  # counts the patch's decisions from 1
    reviewer: str
    choice: Choice
    reason: str
    at: str


@dataclass(frozen=True)
class Spoken:
    """A decision with its patch. `latest`: no later one but comments."""

    patch: Patch
    decision: Decision
    latest: bool


@dataclass(frozen=True)
class Cost:
    """What one task took. `usd` is None where the price is not known."""

    night: int
    target: str
    task: str
    input_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float
    device_seconds: float


class RegressionKind(str, Enum):
    TIME = "time"  # measured, beyond the noise of its own history
    MODEL = "model"  # modelled from exact counts: no statistics
    COUNTS = "counts"  # counters rose, the modelled time did not


@dataclass(frozen=True)
class Regression:
    """A kernel that became slower than its own history."""

    place: WatchedPlace
    symbol: str
    kernel: str
    kind: RegressionKind
    before: float  # ns, or the count of `metric`
    after: float
    metric: str  # what was watched
    sentence: str
    good: int  # the last visit before
    bad: int  # the visit that showed it
    good_commit: str | None
    bad_commit: str | None
    commits: tuple[str, ...]  # "abc1234 subject", newest first; or files, where there are no commits
    lines: tuple[Mapping[str, Any], ...]  # file, line, text, metric, before, after
    night: int | None = None
    id: int | None = None


class NightState(str, Enum):
    RUNNING = "running"
    DONE = "done"
    BUDGET = "budget spent"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Night:
    id: int
    host: str
    state: NightState
    started_at: str
    ended_at: str | None
    tool_version: str
    directory: str
    exit_status: int | None


@dataclass(frozen=True)
class Point:
    """One visit of a kernel's series, oldest first in a series."""

    visit: int
    night: int
    at: str
    commit: str | None
    tool_version: str
    total_ns: float
    noise: float | None
    provenance: Provenance
    fingerprint: str
    counters: Mapping[Metric, Quantity]
