"""In words, what an accepted patch leaves to a reviewer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from intelliperf.records import DEFERRED, Attempt, Check, CheckStatus, Measurement, Provenance
from intelliperf.report.plaintext import visible

_MOST = 60
_LONGEST = 300


@dataclass(frozen=True)
class Judged:
    """A verdict on a patch as a whole, at one place."""

    place: str
    outcome: str
    accepted: bool
    detail: str
    at: str
    checks: tuple[Check, ...]
    measurements: tuple[Measurement, ...]
    not_checked: tuple[str, ...]


def risks(judged: Sequence[Judged], steps: Sequence[Attempt] = ()) -> tuple[str, ...]:
    """`steps`: the accepted attempts that the patch is made of, where they are known."""
    found = [f"not judged right and faster at {one.place}: {one.outcome}" for one in judged if not one.accepted]
    if not judged:
        found.append("never judged")
    for one in judged:
        if any(m.provenance is Provenance.MODELLED for m in one.measurements):
            found.append("the gain is modelled, not measured on hardware")
        found += [f"not checked: {item}" for item in one.not_checked]
        found += _left_open(one.checks, one.not_checked)
    told = [item for one in judged for item in one.not_checked]
    for attempt in steps:  # a verdict on several steps holds the gates of the last one alone
        checks = attempt.verdict.checks if attempt.verdict is not None else ()
        later = [check for check in checks if judged and check.detail == DEFERRED]  # the verdict on all together has it
        found += _left_open([check for check in checks if check not in later], told)
        declares = attempt.candidate.declares if attempt.candidate is not None else None
        if declares is not None and declares.geometry:
            found.append(f"changes launch geometry: {declares.reason}")
        if declares is not None and declares.kernels:
            found.append(f"adds, splits or renames kernels: {declares.reason}")
    return tuple(visible(item, _LONGEST) for item in dict.fromkeys(found))[:_MOST]


def _left_open(checks: Iterable[Check], told: Sequence[str]) -> list[str]:
    """What gates could not reject or did not look at, beyond what `told` says already; and what they tolerated."""
    found = []
    for check in checks:
        if check.status is CheckStatus.WEAK:
            found.append(f"weak check: {check.name}: {check.detail}")
        elif check.status is CheckStatus.NOT_RUN and not any(check.detail and check.detail in item for item in told):
            found.append(f"not run: {check.name}: {check.detail}")
        elif check.name == "tolerance" and "rtol" in check.detail:
            found.append(f"tolerance: {check.detail}")
    return found
