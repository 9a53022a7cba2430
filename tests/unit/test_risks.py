"""What a patch leaves to its reader: not what the verdict on the whole of it has settled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from intelliperf.records import DEFERRED, Check, CheckStatus
from intelliperf.report.risks import Judged, risks

_WHOLE = Judged("here", "ACCEPTED", True, "", "", (Check("safety", CheckStatus.PASSED),), (), ())
_STEP: Any = SimpleNamespace(
    verdict=SimpleNamespace(
        checks=(Check("safety", CheckStatus.NOT_RUN, DEFERRED), Check("tolerance", CheckStatus.WEAK, "wide"))
    ),
    candidate=None,
)


def test_gates_that_waited_for_the_whole_are_left_open_only_without_it() -> None:
    assert risks((_WHOLE,), (_STEP,)) == ("weak check: tolerance: wide",)
    assert f"not run: safety: {DEFERRED}" in risks((), (_STEP,))
