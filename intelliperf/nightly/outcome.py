"""What a night brought: the record behind `night.json` and all other outputs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from intelliperf.history.records import Found, Judgement, NightState, Patch, Regression, WatchedPlace

SCHEMA_VERSION = 1


class Step(str, Enum):
    """How far a place of a target came."""

    SURVEYED = "surveyed"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class PlaceOutcome:
    """One workload on one device."""

    place: WatchedPlace
    step: Step
    problem: str
    changed: tuple[str, ...]  # which parts of the fingerprint, since the visit before
    seconds: float
    new_findings: tuple[Found, ...]  # those that the visit before did not show
    directory: str


@dataclass(frozen=True)
class TargetOutcome:
    name: str
    owners: tuple[str, ...]
    commit: str | None
    dirty: bool
    project: str
    places: tuple[PlaceOutcome, ...]
    problems: tuple[str, ...]  # of its sources, searches and judgements


@dataclass(frozen=True)
class PatchOutcome:
    """`new`: found tonight. `judgements` of tonight."""

    patch: Patch
    new: bool
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True)
class Spent:
    usd: float
    tokens: int
    device_minutes: float
    minutes: float


@dataclass(frozen=True)
class NightReport:
    schema_version: int
    tool_version: str
    night: int
    host: str
    state: NightState
    started_at: str
    ended_at: str
    pool: str
    database: str
    reason: str  # why it ended early; empty where it did not
    spent: Spent
    targets: tuple[TargetOutcome, ...]
    patches: tuple[PatchOutcome, ...]
    regressions: tuple[Regression, ...]
    notes: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """The first that holds of 1 errors, 4 regressions, 5 patches to review, 3 new findings, 0 nothing new."""
        if any(target.problems or any(p.step is Step.FAILED for p in target.places) for target in self.targets):
            return 1
        if self.regressions:
            return 4
        if self.to_review:
            return 5
        return 3 if any(place.new_findings for target in self.targets for place in target.places) else 0

    @property
    def to_review(self) -> tuple[PatchOutcome, ...]:
        """Found tonight, and judged right and faster everywhere."""
        return tuple(p for p in self.patches if p.new and all(j.accepted for j in p.judgements))
