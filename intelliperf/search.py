"""What a run still has to pursue: findings in order, each pursued once, asked for anew after every accepted change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from intelliperf.project.versions import Version
from intelliperf.records import Attempt, Diagnosis, Finding, SourceEvidence

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
        """At most this many times faster, of the kernel alone. Severity is the share of all time that can be saved."""
        share = self.current.profile.share
        saved = min(self.current.severity / share, 1.0) if share > 0 else 0.0
        return 1.0 / max(1.0 - saved, 1e-3)

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


@dataclass
class Agenda:
    """The findings of the best version, and which of them are dealt with."""

    worthwhile: float  # `WORTHWHILE`, or 1.0 where the user named the formula
    findings: tuple[Finding, ...] = ()  # by what could be gained for the whole application
    closed: dict[tuple[str, str], str] = field(default_factory=dict)  # by kernel and formula: why, or ""

    def renew(self, findings: Sequence[Finding]) -> None:
        self.findings = ranked(findings)

    def close(self, finding: Finding, why: str = "") -> None:
        self.closed[key_of(finding)] = why

    def open(self) -> Iterator[Finding]:
        """Those that are worth pursuing and were not yet, the most promising first."""
        for finding in self.findings:
            if key_of(finding) not in self.closed and finding.gain_ceiling >= self.worthwhile:
                yield finding

    def why_not(self, finding: Finding) -> str:
        """Why a finding was not pursued; empty where it was."""
        if finding.gain_ceiling < self.worthwhile:
            return f"not pursued: less than {self.worthwhile - 1:.0%} of the application's device time is at stake"
        return self.closed.get(key_of(finding), "not pursued: the run ended before")


def key_of(finding: Finding) -> tuple[str, str]:
    return finding.profile.kernel.symbol, finding.formula


def ranked(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """By the gain for the whole application that removing each alone could bring; equal ones as they came."""
    return tuple(sorted(findings, key=lambda finding: -finding.gain_ceiling))
