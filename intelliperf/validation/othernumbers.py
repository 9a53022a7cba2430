"""What the gate of other numbers asks of a candidate, and when it believes what it sees.

The device runs each launch once more, altered in one of three ways, and shows both programs' memory after that:
all floats scaled, some numbers moved, or one plain argument changed. What the original does with another argument
was never promised: where it fails, or its result depends on the order of lanes and blocks, nothing follows. A device
that gives no choice of orders runs the original twice for every alteration: if it disagrees with itself, that shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from intelliperf.validation.checker import Checker
from intelliperf.validation.lockstep import Divergence, Paused, Sync
from intelliperf.validation.pairing import Pairing
from intelliperf.validation.wire import Deadline

OPTION = "other_numbers"  # the backend's
TWIN = "original in another order"
TWIN_ORDER: Mapping[str, str] = {"lane_order": "reverse", "block_order": "reverse"}


@dataclass(frozen=True)
class Alteration:
    """One way: the option's value, how a wrong answer is put, and how a pass is."""

    value: str
    wrong: str
    passed: str
    of_arguments: bool = False
    doubtful: bool = False  # the original may have no one answer then


ALTERATIONS = (
    Alteration("1", "on other numbers in the same buffers", "floats scaled buffer by buffer, writable integers less 1"),
    Alteration("2", "where some of the numbers are others", "an eighth of each buffer's numbers moved", doubtful=True),
    Alteration(
        "3",
        "with another value of a plain argument, which it takes for known",
        "plain arguments from 34 on lowered, floats among them doubled, wherever the original has one answer then",
        of_arguments=True,
        doubtful=True,
    ),
)


@dataclass
class DoubtingChecker:
    """An observer that lets a comparison pass where the original disagrees with itself."""

    checker: Checker
    own: Checker  # for the original's second run
    doubtful: set[int] = field(default_factory=set)

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        if other.side.label == TWIN:
            if self.own.compare(sync, base, other, pairing, deadline) is not None:
                self.doubtful.add(sync.number)
            return None
        if sync.number in self.doubtful:
            return None
        return self.checker.compare(sync, base, other, pairing, deadline)
