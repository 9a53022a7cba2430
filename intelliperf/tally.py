"""What the attempts of a run come from and add up to."""

from __future__ import annotations

from collections.abc import Sequence

from intelliperf.records import Attempt, CheckStatus, Origin, OriginKind, Usage

_REWRITERS = {OriginKind.RULE: "rules", OriginKind.MODEL: "model", OriginKind.REPLAY: "replay", OriginKind.USER: "user"}


def rewriter_of(attempt: Attempt) -> str:
    """The name of the `Rewriter` that made the proposal."""
    origin = _origin(attempt)
    return _REWRITERS[origin.kind] if origin else "user"


def origin_name(attempt: Attempt) -> str:
    origin = _origin(attempt)
    return origin.name if origin else ""


def _origin(attempt: Attempt) -> Origin | None:
    if attempt.candidate is not None:
        return attempt.candidate.origin
    return attempt.declined.origin if attempt.declined else None


def total_usage(attempts: Sequence[Attempt]) -> Usage:
    """The price is known only where that of every attempt is."""
    priced = [a.usage.usd for a in attempts if a.usage.input_tokens]
    return Usage(
        input_tokens=sum(a.usage.input_tokens for a in attempts),
        output_tokens=sum(a.usage.output_tokens for a in attempts),
        usd=None if not priced or None in priced else sum(p for p in priced if p is not None),
        seconds=sum(a.usage.seconds for a in attempts),
    )


def not_checked(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """What the validation of the accepted attempts left open."""
    verdicts = [a.verdict for a in attempts if a.verdict is not None and a.verdict.accepted]
    open_checks = {
        f"{check.name}: {check.detail}"
        for verdict in verdicts
        for check in verdict.checks
        if check.status in (CheckStatus.NOT_RUN, CheckStatus.WEAK)
    }
    return tuple(sorted(open_checks))
