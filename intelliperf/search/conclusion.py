"""How a run is put together into its report: what was found, tried, won, spent, and left open."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence

from intelliperf.errors import ApplicationFailed, MissingMetric, SourceNotFound
from intelliperf.project.scratch import Workspace
from intelliperf.project.versions import Version, evidence_at_home, profile_at_home
from intelliperf.protocols import Clock, Timing
from intelliperf.records import (
    Attempt,
    Diagnosis,
    Finding,
    Kernel,
    KernelProfile,
    Measurement,
    OriginKind,
    Scope,
    SourceEvidence,
    Usage,
    Verdict,
    by_weight,
)
from intelliperf.search.agenda import Agenda, Target, key_of
from intelliperf.sentences import duration, number

_MOST_LINES = 400  # of one kernel in a report
_REWRITERS = {OriginKind.RULE: "rules", OriginKind.MODEL: "model", OriginKind.REPLAY: "replay", OriginKind.USER: "user"}


def rewriter_of(attempt: Attempt) -> str:
    """The name of the `Rewriter` that made the proposal."""
    return _REWRITERS[attempt.origin.kind]


def started_at(seconds_ago: float) -> str:
    """ISO 8601, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds_ago))


def total_usage(attempts: Sequence[Attempt]) -> Usage:
    """The price is known only where that of every attempt is."""
    priced = [a.usage.usd for a in attempts if a.usage.input_tokens]
    return Usage(
        input_tokens=sum(a.usage.input_tokens for a in attempts),
        output_tokens=sum(a.usage.output_tokens for a in attempts),
        usd=None if not priced or None in priced else sum(p for p in priced if p is not None),
        seconds=sum(a.usage.seconds for a in attempts),
    )


def not_checked(attempts: Sequence[Attempt], whole: Verdict | None) -> tuple[str, ...]:
    """What the validation of the accepted attempts left open; where a given patch was refused, that of the patch.

    `whole`: the judgement of all together.
    """
    verdicts = [a.verdict for a in attempts if a.verdict is not None and a.verdict.accepted]
    given = [a.verdict for a in attempts if a.verdict is not None and a.origin.kind is OriginKind.USER]
    together = [whole] if whole is not None else []
    return by_weight(item for verdict in [*(verdicts or given), *together] for item in verdict.left_open)


_SAME_RATIO = 1.05  # no further apart, by replay and by whole runs, than is worth a word


def final_timing(
    backend: Clock, targets: Sequence[Target], deadline_s: float, together: tuple[Version, Version] | None = None
) -> Timing:
    """Each improved kernel before and after its own changes, the application before and after all of them.

    Measured anew: what was measured to decide on acceptance is the best of several, and so too good. `together`:
    the original and the final version, where the application has run none of those between.
    """
    improved = [target for target in targets if target.after is not None]
    if not improved:
        return Timing(())
    if together is not None:
        kernels = {t.finding.profile.kernel.symbol: t.finding.profile.kernel for t in improved}
        return _timed_together(backend, list(kernels.values()), deadline_s, *together)
    first, last = improved[0].before, improved[-1].after
    assert last is not None
    spans = _from_first_to_last(improved)
    measured: list[Measurement] = []
    notes: list[str] = []
    for kernel, before, after in spans:
        timing = backend.time(before.application, after.application, kernel, deadline_s)
        own = [m for m in timing.measurements if m.scope is Scope.KERNEL or len(spans) == 1]
        measured += [dataclasses.replace(m, kernel=kernel.name) if m.scope is Scope.KERNEL else m for m in own]
        notes += timing.notes
    if len(spans) > 1:
        whole = backend.time(first.application, last.application, improved[0].finding.profile.kernel, deadline_s)
        measured += [m for m in whole.measurements if m.scope is not Scope.KERNEL]
        notes += whole.notes
    return Timing(tuple(measured), notes=tuple(dict.fromkeys(notes)))


def _from_first_to_last(improved: Sequence[Target]) -> list[tuple[Kernel, Version, Version]]:
    """Each kernel once, ahead of the first change that was made for it and after the last."""
    spans: dict[str, tuple[Kernel, Version, Version]] = {}
    for target in improved:
        assert target.after is not None
        kernel = target.finding.profile.kernel
        first = spans.get(kernel.symbol, (kernel, target.before, target.after))
        spans[kernel.symbol] = (*first[:2], target.after)
    return list(spans.values())


def replays_beside_whole_runs(attempts: Sequence[Attempt], measured: Sequence[Measurement]) -> Iterator[str]:
    """Where a kernel's ratio by replay is not that of whole runs of the application, and what is timed in each."""
    for one in measured:
        judged = [
            a for a in attempts if a.accepted and a.kernel == one.kernel and a.verdict and a.verdict.on_recordings
        ]
        if one.scope is not Scope.KERNEL or len(judged) != 1 or judged[0].verdict is None:
            continue
        replayed = next((m for m in judged[0].verdict.measurements if m.scope is Scope.KERNEL), None)
        if replayed is None or 1 / _SAME_RATIO <= replayed.ratio / one.ratio <= _SAME_RATIO:
            continue
        yield (
            f"{one.kernel}: {number(replayed.ratio)}× by replayed dispatches ({duration(replayed.baseline_ns)} and "
            f"{duration(replayed.candidate_ns)}), {number(one.ratio)}× by whole runs ({duration(one.baseline_ns)} and "
            f"{duration(one.candidate_ns)}): "
            "replays launch recorded dispatches by themselves, whole runs all of them in their place"
        )


def _timed_together(
    backend: Clock, kernels: Sequence[Kernel], deadline_s: float, original: Version, final: Version
) -> Timing:
    timings = [backend.time(original.application, final.application, kernel, deadline_s) for kernel in kernels]
    own = [
        dataclasses.replace(measurement, kernel=kernel.name)
        for kernel, timing in zip(kernels, timings, strict=True)
        for measurement in timing.measurements
        if measurement.scope is Scope.KERNEL
    ]
    whole = [measurement for measurement in timings[0].measurements if measurement.scope is not Scope.KERNEL]
    notes = dict.fromkeys(note for timing in timings for note in timing.notes)
    return Timing((*own, *whole), notes=tuple(notes))


def main_target(targets: Sequence[Target]) -> Target | None:
    """The first that was improved, else the first that was pursued."""
    return next((target for target in targets if target.accepted), targets[0] if targets else None)


def diagnoses(findings: Sequence[Finding], targets: Sequence[Target], agenda: Agenda) -> tuple[Diagnosis, ...]:
    """Every finding of the original in order, then those that only a later version showed."""
    pursued = {key_of(target.finding): target.diagnosis() for target in targets}
    told = [
        dataclasses.replace(pursued[key_of(finding)], finding=finding)  # its shares of the original, as all others
        if key_of(finding) in pursued
        else Diagnosis(finding, (), note=agenda.why_not(finding))
        for finding in findings
    ]
    known = {key_of(finding) for finding in findings}
    return (*told, *(later for key, later in pursued.items() if key not in known))


def finding_at_home(finding: Finding, workspace: Workspace) -> Finding:
    """With the user's own paths instead of the scratch copy's."""
    return dataclasses.replace(finding, profile=profile_at_home(finding.profile, workspace))


def diagnosis_at_home(diagnosis: Diagnosis, workspace: Workspace) -> Diagnosis:
    return dataclasses.replace(diagnosis, finding=finding_at_home(diagnosis.finding, workspace))


def improved_kernels(targets: Sequence[Target]) -> tuple[KernelProfile, ...]:
    """The improved kernels in their final state, as their last accepted attempts were counted."""
    return tuple(attempt.after for attempt in _last_accepted(targets) if attempt.after is not None)


def _last_accepted(targets: Sequence[Target]) -> list[Attempt]:
    """One for each kernel."""
    found: dict[str, Attempt] = {}
    for target in targets:
        for attempt in target.attempts:
            if attempt.accepted:
                found[target.finding.profile.kernel.symbol] = attempt
    return list(found.values())


def lines_of(
    look: Callable[[Version, Kernel], Sequence[SourceEvidence]], version: Version, targets: Sequence[Target]
) -> tuple[SourceEvidence, ...]:
    """All lines of the improved kernels in that version, as the user has them; none where the device has no lines."""
    found: list[SourceEvidence] = []
    kernels = {t.finding.profile.kernel.symbol: t.finding.profile.kernel for t in targets if t.accepted}
    for kernel in kernels.values():
        with contextlib.suppress(ApplicationFailed, MissingMetric, SourceNotFound):  # no reason to lose a report
            lines = look(version, kernel)[:_MOST_LINES]
            found += (evidence_at_home(item, version.workspace) for item in lines)
    return tuple(found)
