"""What a run still has to pursue: findings in order, each pursued once, asked for anew after every accepted change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from intelliperf.project.scratch import Built
from intelliperf.project.versions import Version
from intelliperf.protocols import ApplicationProfile, Proposal
from intelliperf.records import (
    Attempt,
    Candidate,
    Declined,
    Diagnosis,
    FileEdit,
    Finding,
    Outcome,
    Scope,
    SourceEvidence,
    Verdict,
)

# A finding whose cure would make the whole application less than this much faster is told and not pursued:
# 1 % is what the timing of a whole application can tell from noise.
WORTHWHILE = 1.01


@dataclass
class Target:
    """One finding while it is pursued."""

    finding: Finding  # as it was diagnosed
    current: Finding  # as the best version shows it
    evidence: tuple[SourceEvidence, ...]  # in the best version
    told: tuple[SourceEvidence, ...]  # where it was diagnosed, with the user's own paths: for the report
    before: Version  # the best version when the pursuit began
    after: Version | None = None  # the best one that an accepted candidate of it made
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def kernel_ceiling(self) -> float:
        return kernel_ceiling(self.current)

    @property
    def accepted(self) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.accepted)

    def diagnosis(self) -> Diagnosis:
        return Diagnosis(
            self.finding,
            self.told,
            tuple(attempt.index for attempt in self.attempts),
            tuple(attempt.index for attempt in self.accepted),
        )


@dataclass(frozen=True)
class Located:
    """The lines that cause a finding; none, and the reason, where it has none to edit."""

    evidence: tuple[SourceEvidence, ...]
    reason: str


class CandidateJudge(Protocol):
    """Judges one candidate; wired to the validation package by the command line."""

    def __call__(
        self,
        candidate: Candidate,
        finding: Finding,
        evidence: Sequence[SourceEvidence],
        reference: Version,
        baseline: Version,
        build: Callable[[], tuple[Version, Built]],
        logs: Path,
    ) -> Verdict: ...


@dataclass(frozen=True)
class Tried:
    """An attempt that is not kept yet, with what was built for it and how its kernel looks then."""

    attempt: Attempt
    versions: tuple[Version, ...]
    remeasured: ApplicationProfile | None = None

    @property
    def gain(self) -> float:
        """Times faster, of the kernel; 0 where it was not timed."""
        verdict = self.attempt.verdict
        return max((m.ratio for m in verdict.measurements if m.scope is Scope.KERNEL), default=0.0) if verdict else 0.0

    def behind(self, best: Tried | None) -> Tried:
        """Of several that were accepted at the same time one is kept."""
        verdict = self.attempt.verdict
        if best is None or verdict is None or not verdict.accepted:
            return self
        told = f"right, and {self.gain:.3g}× as fast; attempt {best.attempt.index} of the same round: {best.gain:.3g}×"
        now = replace(verdict, outcome=Outcome.NOT_FASTER, detail=told, strength=None, proof="")
        return replace(self, attempt=replace(self.attempt, verdict=now))


def distinct(proposals: Sequence[Proposal]) -> list[Proposal]:
    """The same edits once: those that repeat others are declined."""
    known: dict[tuple[FileEdit, ...], int] = {}
    found = []
    for number, proposal in enumerate(proposals, 1):
        candidate = proposal.candidate
        first = known.setdefault(candidate.edits, number) if candidate is not None else number
        if candidate is not None and first != number:
            why = f"the same edits as the proposal before it, number {first} of the same round"
            proposal = Proposal(None, Declined(candidate.origin, why), proposal.usage)
        found.append(proposal)
    return found


@dataclass
class Agenda:
    """The findings of the best version, and which of them are dealt with."""

    worthwhile: float  # `WORTHWHILE`, or 1.0 where the user named the formula
    least_gain: float = 1.0  # of a kernel's time, that a judge can tell from none
    findings: tuple[Finding, ...] = ()  # by what could be gained for the whole application
    closed: dict[tuple[str, str], str] = field(default_factory=dict)  # by kernel and formula: why, or ""

    def renew(self, findings: Sequence[Finding]) -> None:
        self.findings = ranked(findings)

    def close(self, finding: Finding, why: str = "") -> None:
        self.closed[key_of(finding)] = why

    def open(self) -> Iterator[Finding]:
        """Those that are worth pursuing and were not yet, the most promising first."""
        for finding in self.findings:
            if key_of(finding) not in self.closed and not self._too_small(finding):
                yield finding

    def why_not(self, finding: Finding) -> str:
        """Why a finding was not pursued; empty where it was."""
        if small := self._too_small(finding):
            return f"not pursued: {small}"
        key = key_of(finding)
        if key in self.closed:
            return self.closed[key]
        now = next((known for known in self.findings if key_of(known) == key), None)
        if now is None:
            return "not pursued: no longer shown after the accepted changes"
        if small := self._too_small(now):
            return f"not pursued: after the accepted changes {small}"
        return "not pursued: the run ended before"

    def _too_small(self, finding: Finding) -> str:
        """Why no candidate for it could be accepted, or would be worth it; empty where one could."""
        if finding.gain_ceiling < self.worthwhile:
            return f"less than {100 * (self.worthwhile - 1):.0f} % of the application's device time is at stake"
        if (ceiling := kernel_ceiling(finding)) < self.least_gain:
            return (
                f"the kernel could become {ceiling:.4g}× as fast, and less than {self.least_gain:.4g}× is not accepted"
            )
        return ""


def kernel_ceiling(finding: Finding) -> float:
    """At most this many times faster, of the kernel alone. Severity is the share of all time that can be saved."""
    share = finding.profile.share
    saved = min(finding.severity / share, 1.0) if share > 0 else 0.0
    return 1.0 / max(1.0 - saved, 1e-3)


def key_of(finding: Finding) -> tuple[str, str]:
    return finding.profile.kernel.symbol, finding.formula


def ranked(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """By the gain for the whole application that removing each alone could bring; equal ones as they came."""
    return tuple(sorted(findings, key=lambda finding: -finding.gain_ceiling))
