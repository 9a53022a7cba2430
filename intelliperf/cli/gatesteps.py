"""Which gate is at work, told as it happens."""

from __future__ import annotations

import time
from collections.abc import Callable

from intelliperf.project.journal import Journal
from intelliperf.validation.trial import Steps

_INTERVAL_S = 1.0  # a program may launch thousands of times in that


class GateSteps(Steps):
    """Tells the journal of each gate as it begins, and now and then how many launches it has compared.

    `before` stands before the names of the gates.
    """

    def __init__(self, journal: Journal, before: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._journal = journal
        self._clock = clock
        self._before = before
        self._gate = ""
        self._told_s = 0.0

    def begun(self, name: str, number: int, gates: int) -> None:
        self._gate = f"gate {number} of {gates}: {self._before}{name}"
        self._tell(self._gate)

    def compared(self, launches: int) -> None:
        if launches and self._gate and self._clock() - self._told_s >= _INTERVAL_S:
            self._tell(f"{self._gate}, {launches:,} launch{'es' if launches > 1 else ''} compared")

    def _tell(self, text: str) -> None:
        self._told_s = self._clock()
        self._journal.tell(text, "progress")
