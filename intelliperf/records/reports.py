"""What a run did and found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from intelliperf.records.applications import Application
from intelliperf.records.candidates import Candidate, Declined, Origin
from intelliperf.records.kernels import Device, Finding, KernelProfile, SourceEvidence
from intelliperf.records.metrics import Provenance
from intelliperf.records.timeline import ProcessFinding, ProcessTime
from intelliperf.records.verdicts import Measurement, Verdict


@dataclass(frozen=True)
class Usage:
    """What a model attempt cost. `usd` is None where the price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
    UNCONFIRMED = "accepted on recorded dispatches, not confirmed by the whole application"  # which failed


@dataclass(frozen=True)
class Diagnosis:
    """A finding of the run with the lines that cause it, and what became of it."""

    finding: Finding
    evidence: tuple[SourceEvidence, ...]  # empty where it was not looked at closer, or has no line
    attempts: tuple[int, ...] = ()  # indices, in order
    accepted: tuple[int, ...] = ()
    note: str = ""  # why it has no line, or was not pursued


@dataclass(frozen=True)
class OtherTime:
    """Device time beside the kernels that a report lists: copies, fills, libraries' kernels, further kernels."""

    what: str
    count: int
    time_ns: float
    share: float  # 0..1 of the application's device time
    provenance: Provenance


@dataclass(frozen=True)
class KernelPatch:
    """The part of the final patch that one kernel's accepted attempts made; upon the parts before it."""

    kernel: str
    formulas: tuple[str, ...]
    attempts: tuple[int, ...]
    diff: str


SCHEMA_VERSION = 1  # of `Report`; another one where a reader of the older would misread it


@dataclass(frozen=True)
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
        if self.ending is Ending.UNCONFIRMED:
            return 1
        good = (Ending.IMPROVED, Ending.NOTHING_TO_IMPROVE, Ending.DIAGNOSED)
        return 0 if self.ending in good or self.accepted is not None else 3
