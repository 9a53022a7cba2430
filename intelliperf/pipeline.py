"""The main loop, and nothing else. The only backward edge is data: the attempts so far."""

from __future__ import annotations

from intelliperf.errors import BudgetExhausted, ProviderError
from intelliperf.project.versions import Version
from intelliperf.records import Attempt, Ending, Report
from intelliperf.run import Run


def improve(run: Run) -> Report:
    """Profile, diagnose, locate, then propose and judge until the bottleneck is gone or nothing is left to try."""
    reference = run.build_reference()
    profiles = run.profile(reference)
    findings = run.diagnose(profiles)
    if not findings:
        return run.finish(run.ending_without_finding(), reference, reference)
    finding, evidence = run.locate(reference, findings)
    if run.settings.diagnose_only:
        return run.finish(Ending.DIAGNOSED, reference, reference)

    best = reference
    attempts: list[Attempt] = []
    for rewriter in run.rewriters:
        while run.may_continue(rewriter, attempts):
            task = run.task(best, finding, evidence)
            try:
                run.check_budget()
                attempt, state = run.attempt(rewriter, task, attempts, reference, best)
            except BudgetExhausted as error:
                return run.finish(Ending.BUDGET_EXHAUSTED, reference, best, note=str(error))
            except ProviderError as error:
                return run.finish(Ending.PROVIDER_FAILED, reference, best, note=str(error))
            if attempt is None:
                break
            attempts.append(attempt)
            if state is not None:
                best = state
                if not run.still_shows(finding, best):
                    return run.finish(Ending.IMPROVED, reference, best)
                evidence = run.relocate(best, finding, evidence)
    return run.finish(_ending(best, reference), reference, best)


def _ending(best: Version, reference: Version) -> Ending:
    return Ending.NO_ACCEPTED_CANDIDATE if best is reference else Ending.IMPROVED
