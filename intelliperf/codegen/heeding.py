"""A rewriter that does not propose again what a reviewer refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from intelliperf.project.diff import unified_diff
from intelliperf.project.reviews import identity
from intelliperf.protocols import Proposal, Rewriter, Task
from intelliperf.records import Attempt, Candidate, Declined, Review


class Heeding:
    """Passes everything on to `rewriter`, but for candidates that are a refused patch: these it declines."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter

    @property
    def name(self) -> str:
        return self._rewriter.name

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        proposal = self._rewriter.propose(task, attempts)
        if proposal is None or proposal.candidate is None:
            return proposal
        refused = _refused(proposal.candidate, task)
        if refused is None:
            return proposal
        reason = f"a reviewer said of this very change: {refused.said}"
        reason += f": {refused.words}" if refused.words else ""
        return dataclasses.replace(proposal, candidate=None, declined=Declined(proposal.candidate.origin, reason))


def _refused(candidate: Candidate, task: Task) -> Review | None:
    refusing = {review.identity: review for review in task.reviews if review.refuses}
    if not refusing or any(edit.path not in task.sources for edit in candidate.edits):
        return None
    return refusing.get(identity(unified_diff(task.sources, candidate.edits)))
