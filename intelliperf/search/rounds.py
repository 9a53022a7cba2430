"""Proposals and what becomes of them: one after the other, or several that are asked for at the same time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from intelliperf.errors import (
    ApplicationFailed,
    BudgetExhausted,
    IntelliPerfError,
    ProtocolError,
    ProviderError,
    SourceNotFound,
)
from intelliperf.project.diff import unified_diff
from intelliperf.project.merging import rebased
from intelliperf.project.versions import Version
from intelliperf.protocols import Proposal, Rewriter, Task
from intelliperf.records import (
    Attempt,
    Candidate,
    Declined,
    Finding,
    KernelProfile,
    OriginKind,
    SourceEvidence,
    Verdict,
)
from intelliperf.search.agenda import Target, Tried, distinct
from intelliperf.search.conclusion import rewriter_of
from intelliperf.search.observer import of_kernel
from intelliperf.search.run import Run
from intelliperf.search.tuning import Tuning


@dataclass(frozen=True)
class _Moved:
    kernel: KernelProfile | None
    lines: tuple[SourceEvidence, ...] = ()


def attempts_at(run: Run, rewriter: Rewriter, target: Target) -> list[Attempt]:
    """The next proposal, judged, or several that were asked for at the same time; none where there is nothing more.

    Of several accepted ones the best makes the best version, and what merges with it is judged upon it.
    """
    several = 1 if rewriter.name == "rules" else min(run.settings.parallel, run.left(rewriter, target))
    if several < 2 or run.journal.attempt(len(run.attempts) + 1) is not None:
        made = attempt(run, rewriter, target)
        return [made] if made is not None else []
    return _round(run, rewriter, target, several)


def attempt(run: Run, rewriter: Rewriter, target: Target) -> Attempt | None:
    """One proposal, judged; an accepted one makes the best version. None where the rewriter has nothing more."""
    index = len(run.attempts) + 1
    kept = run.journal.attempt(index)
    if kept is not None:  # of an earlier process: the next in order, maybe another rewriter's or finding's
        return run.restored(kept, target) if _came_from(kept, rewriter, target) else None
    task = run.task(target)
    with run.stages.stage("propose", attempt=index, rewriter=rewriter.name):
        proposal = rewriter.propose(task, target.attempts)
    return _adopted(run, _tried(run, proposal, task, target, index), target) if proposal is not None else None


def _round(run: Run, rewriter: Rewriter, target: Target, several: int) -> list[Attempt]:
    """Nothing of it is kept before all of it is judged: a resumed run judges again what it has paid for."""
    first, task = len(run.attempts) + 1, run.task(target)
    with run.stages.stage("propose", attempt=first, rewriter=rewriter.name):
        proposals = _asked_together(rewriter, task, tuple(target.attempts), several)
    tried = [_tried(run, proposal, task, target, first + n) for n, proposal in enumerate(distinct(proposals))]
    accepted = sorted((one for one in tried if one.attempt.accepted), key=lambda one: -one.gain)
    best = accepted[0] if accepted else None
    made = [_adopted(run, one if one is best else one.behind(best), target) for one in tried]
    for other in accepted[1:]:
        merged = _upon_best(run, other.attempt, task, target)
        made += [_adopted(run, merged, target)] if merged is not None else []
    return made


def _upon_best(run: Run, other: Attempt, before: Task, target: Target) -> Tried | None:
    """Another accepted candidate of a round, judged on top of the best one; None where they do not merge."""
    task, candidate = run.task(target), other.candidate
    edits = rebased(candidate.edits, before.sources, task.sources) if candidate is not None else ()
    if not edits or candidate is None:
        return None
    told = f"attempt {other.index} on top of the best of its round: {candidate.rationale}"
    again = dataclasses.replace(candidate, edits=edits, rationale=told)
    return _tried(run, Proposal(again, None), task, target, len(run.attempts) + 1)


def _tried(run: Run, proposal: Proposal, task: Task, target: Target, index: int) -> Tried:
    name, formula = target.finding.profile.kernel.name, target.finding.formula
    candidate = _tuned(run, proposal.candidate, task, index) if proposal.candidate else None
    if candidate is None:
        declined = Attempt(index, None, None, proposal.declined, proposal.usage, "", name, formula)
        return Tried(declined, ())
    diff = unified_diff({edit.path: task.sources.get(edit.path, "") for edit in candidate.edits}, candidate.edits)
    earlier = refused_before(run.attempts, name, diff) if candidate.origin.kind is OriginKind.RULE else None
    if earlier is not None:
        told = Declined(candidate.origin, f"the same change of this kernel was refused as attempt {earlier.index}.")
        return Tried(Attempt(index, None, None, told, proposal.usage, "", name, formula), ())
    verdict, versions = run.judged(candidate, task, index)
    moved = _moved(run, task.finding, versions, verdict)
    made = Attempt(index, candidate, verdict, None, proposal.usage, diff, name, formula, moved.kernel, moved.lines)
    return Tried(made, tuple(versions), run.pursuit.remeasured)


def refused_before(attempts: Sequence[Attempt], kernel: str, diff: str) -> Attempt | None:
    """The attempt at the kernel, as it still is, that changed the same lines in the same way and was refused."""
    for earlier in reversed(attempts):
        if earlier.kernel != kernel or earlier.verdict is None:
            continue
        if earlier.accepted:
            return None
        if _changed_lines(earlier.diff) == _changed_lines(diff):
            return earlier
    return None


def _changed_lines(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if line[:1] in ("-", "+")]


def _adopted(run: Run, tried: Tried, target: Target) -> Attempt:
    """Kept in the journal; an accepted one makes the best version."""
    kept = run.keep(tried.attempt, target)
    if kept.accepted:
        run.accept(tried.versions[-1], target, tried.remeasured)
    else:
        for version in tried.versions:
            run.versions.discard(version)
    return kept


def _moved(run: Run, finding: Finding, versions: Sequence[Version], verdict: Verdict) -> _Moved:
    """What a model is told of a candidate that was timed: its kernel and its lines as they are then."""
    pursuit = run.pursuit
    own = of_kernel(pursuit.remeasured, finding) if pursuit.remeasured else []
    if len(own) != 1 or all(rewriter.name == "rules" for rewriter in run.rewriters):
        return _Moved(own[0] if len(own) == 1 else None)
    after = dataclasses.replace(finding, profile=own[0])
    original = run.versions.original if verdict.on_recordings else None
    try:
        return _Moved(own[0], pursuit.observer.blame(versions[-1], after, original))
    except (SourceNotFound, ApplicationFailed):
        return _Moved(own[0])


@dataclass(frozen=True)
class _Tuned:
    candidate: Candidate
    told: str


def _tuned(run: Run, candidate: Candidate, task: Task, index: int) -> Candidate:
    """With the fastest values of its tunables, as plain code."""
    if not candidate.tunables:
        return candidate
    with run.stages.stage("tune", attempt=index):
        tuning = Tuning(candidate, lambda variant: _time_of(run, variant, task.finding, index))
        found = run.journal.stage(f"tuned-{index:03d}", _Tuned, lambda: _Tuned(*tuning.best()))
    run.journal.event("note", text=found.told)
    return dataclasses.replace(found.candidate, rationale=f"{candidate.rationale}\n{found.told}")


def _time_of(run: Run, candidate: Candidate, finding: Finding, index: int) -> float | None:
    """The kernel's time in ns with a variant of a candidate; None where it does not build, run, or repay a run."""
    builder, logs = run.versions.builder, run.journal.attempt_directory(index) / "tuning"
    version, built = builder.build(run.journal.work / "tuning", builder.stacked(run.versions.best, candidate), logs)
    try:
        declares = candidate.declares.joined(run.versions.best.declares)
        unchanged = not declares.geometry and not declares.kernels
        versions = run.versions.best, version
        return run.pursuit.observer.time_ns(run.versions.original, versions, finding, unchanged) if built.ok else None
    except (ApplicationFailed, ProtocolError):
        return None
    finally:
        run.versions.discard(version)


def _asked_together(rewriter: Rewriter, task: Task, attempts: Sequence[Attempt], several: int) -> list[Proposal]:
    """Each is asked for another plan. Raises what stops all of them; what stops some is met again by the next."""
    tasks = [dataclasses.replace(task, plan=(number, several)) for number in range(1, several + 1)]
    found: list[Proposal] = []
    failures: list[IntelliPerfError] = []
    with ThreadPoolExecutor(several) as pool:
        for asked in [pool.submit(rewriter.propose, one, attempts) for one in tasks]:
            try:
                proposal = asked.result()
            except (BudgetExhausted, ProviderError) as error:
                failures.append(error)
                continue
            found += [proposal] if proposal is not None else []
    if failures and not found:
        raise failures[0]
    return found


def _came_from(attempt: Attempt, rewriter: Rewriter, target: Target) -> bool:
    name, formula = target.finding.profile.kernel.name, target.finding.formula
    return (rewriter_of(attempt), attempt.kernel, attempt.formula) == (rewriter.name, name, formula)
