"""The main loop, and nothing else. The only backward edge is data: the attempts so far."""

from __future__ import annotations

from intelliperf.errors import BudgetExhausted
from intelliperf.records import Ending, Report
from intelliperf.search.agenda import Target
from intelliperf.search.rounds import attempts_at
from intelliperf.search.run import Run


def improve(run: Run) -> Report:
    """Build and profile once; then pursue each finding, the most promising first, until nothing worthwhile is left.

    A provider that fails (`ProviderError`) pauses the run: its journal resumes it.
    """
    run.versions.build_original()
    profile = run.profile()
    run.pursuit.diagnose(profile)
    if run.settings.diagnose_only or not run.pursuit.findings:
        run.pursuit.locate_all()
        return run.finish()
    try:
        while (target := run.pursuit.next_target()) is not None:
            with run.failing_alone(target):
                pursue(run, target)
    except BudgetExhausted as error:
        return run.finish(Ending.BUDGET_EXHAUSTED, note=str(error))
    return run.finish()


def pursue(run: Run, target: Target) -> None:
    """Propose and judge until the kernel no longer shows the bottleneck or no rewriter has anything left to try."""
    for rewriter in run.rewriters:
        while run.may_continue(rewriter, target):
            run.check_budget()
            attempts = attempts_at(run, rewriter, target)
            if not attempts:
                break
            if any(attempt.accepted for attempt in attempts) and not run.pursuit.still_shows(target):
                return
