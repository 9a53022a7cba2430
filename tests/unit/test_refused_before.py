"""The same change of a kernel is judged once."""

from __future__ import annotations

from dataclasses import replace

from intelliperf.records import (
    Attempt,
    Candidate,
    FileEdit,
    Measurement,
    Origin,
    OriginKind,
    Outcome,
    Provenance,
    Scope,
    Usage,
    Verdict,
)
from intelliperf.search.rounds import refused_before

DIFF = "--- a/one.cu\n+++ b/one.cu\n@@ -1,3 +1,3 @@\n first\n-slow\n+fast\n last\n"
MOVED = DIFF.replace("@@ -1,3 +1,3 @@\n first", "@@ -9,3 +9,3 @@\n other")


def judged(index: int, outcome: Outcome, diff: str = DIFF, kernel: str = "add") -> Attempt:
    candidate = Candidate((FileEdit("one.cu", "", "fast"),), "why", Origin(OriginKind.RULE, "rule"))
    gain = Measurement(Scope.KERNEL, 2.0, 1.0, 2.0, 1.5, 3.0, Provenance.MEASURED, 10)
    verdict = Verdict(outcome, "", (), (gain,), 1, 1)
    return Attempt(index, candidate, verdict, None, Usage(), diff, kernel, "memoryAccess")


def test_the_lines_that_change_decide_and_not_where_they_stand() -> None:
    wrong = judged(1, Outcome.WRONG_OUTPUT)
    assert refused_before([wrong], "add", MOVED) is wrong
    assert refused_before([wrong], "add", DIFF.replace("+fast", "+faster")) is None
    assert refused_before([wrong], "scale", DIFF) is None


def test_a_kernel_that_has_changed_since_may_take_the_same_change() -> None:
    wrong, other = judged(1, Outcome.NOT_FASTER), judged(2, Outcome.ACCEPTED, "+else")
    assert refused_before([wrong, other], "add", DIFF) is None
    assert refused_before([wrong, replace(other, kernel="scale")], "add", DIFF) is wrong
