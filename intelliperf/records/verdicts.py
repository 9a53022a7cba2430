"""What became of a candidate: outcome, gates, measurements."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from intelliperf.records.metrics import Provenance, Quantity


class Outcome(str, Enum):
    ACCEPTED = "ACCEPTED"
    FORBIDDEN_EDIT = "FORBIDDEN_EDIT"
    BUILD_FAILED = "BUILD_FAILED"
    CRASHED = "CRASHED"
    TIMED_OUT = "TIMED_OUT"
    WRONG_OUTPUT = "WRONG_OUTPUT"
    DISPATCHES_CHANGED = "DISPATCHES_CHANGED"
    RACE = "RACE"
    MEMORY_ERROR = "MEMORY_ERROR"
    TESTS_FAILED = "TESTS_FAILED"
    NOT_FASTER = "NOT_FASTER"
    SLOWER_OVERALL = "SLOWER_OVERALL"
    IMPLAUSIBLE = "IMPLAUSIBLE"


class CheckStatus(str, Enum):
    PASSED = "passed"
    FAILED = "failed"
    WEAK = "weak"  # ran, but cannot reject what it should
    NOT_RUN = "not run"


NEEDLESS = "an earlier gate refused the candidate"  # the detail of a gate that was not run for that
# Likewise of gates that have nothing to look at.
NO_FLOATS = "no kernel writes floating-point numbers"
NO_EXCHANGE = "no lane of either version sees what another one does"
DEFERRED = "once for all accepted candidates together, at the end of the run"  # likewise


EMULATED = "emulator: "  # before the names of gates that the emulator ran for sources that hardware times
RECORDED = "recorded: "  # before the names of gates that ran on recorded dispatches


@dataclass(frozen=True)
class Check:
    """One gate of the validation and what it saw. `detail` of NOT_RUN says why."""

    name: str
    status: CheckStatus
    detail: str = ""
    device: str = ""  # where it ran, in words; empty where it takes no device
    control: str = ""  # what it was shown to reject in this very run; empty where nothing was planted
    unseen: str = ""  # what it did not look at, although it ran; empty where it saw all that there was
    seconds: float | None = None  # its gate's wall time; None where it did not run, or another check of it has it


class Strength(str, Enum):
    """How an accepted candidate's results were shown to be the original's, over all that was compared; best first."""

    BIT_EQUAL = "bit equal"
    SAME_NUMBERS = "the same real numbers"  # equal in a finite field, with no tolerance
    CLOSE = "equal to a millionth of a rounding error"  # but not proven algebraically
    TOLERANCE = "equal within a tolerance"
    PARTLY = "equal where it can be compared"


class Scope(str, Enum):
    KERNEL = "kernel"
    APPLICATION = "application"  # all device time, copies included
    PROCESS = "process"  # wall time from the start of the process to its end


@dataclass(frozen=True)
class Measurement:
    """Baseline against candidate. `ratio` = baseline/candidate: above 1 is faster."""

    scope: Scope
    baseline_ns: float
    candidate_ns: float
    ratio: float
    low: float  # interval of the ratio, that holds 95 % or more
    high: float
    provenance: Provenance
    samples: int
    kernel: str = ""  # the kernel's name, where a report tells of several
    pairs: tuple[float, ...] = ()  # the ratio of each pair of runs, in their order; empty where a model made it


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    detail: str  # one sentence, with the place and both values where there is one
    checks: tuple[Check, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    compared_bytes: int = 0
    compared_dispatches: int = 0
    metric_before: Quantity | None = None
    metric_after: Quantity | None = None
    strength: Strength | None = None  # of an accepted candidate
    proof: str = ""  # what was shown of its results, with the numbers; empty where a gate refused it
    on_recordings: bool = False  # decided on recorded dispatches; see `Report.whole` for an accepted candidate

    def __post_init__(self) -> None:
        if self.outcome is not Outcome.ACCEPTED:
            return
        if self.compared_bytes <= 0 or self.compared_dispatches <= 0:
            raise ValueError("accepted without a comparison")
        if any(check.status is CheckStatus.FAILED for check in self.checks):
            raise ValueError("accepted with a failed check")
        kernel = [m for m in self.measurements if m.scope is Scope.KERNEL]
        if not kernel or any(_least(m) <= 1.0 for m in kernel):
            raise ValueError("accepted without a measured or modelled gain")

    @property
    def accepted(self) -> bool:
        return self.outcome is Outcome.ACCEPTED

    @property
    def left_open(self) -> tuple[str, ...]:
        """What was not checked, or not sharply; gates that a refusal made needless are left out."""
        names: dict[str, list[str]] = {}
        elsewhere = {check.name.removeprefix(EMULATED) for check in self.checks if check.status is CheckStatus.PASSED}
        for check in self.checks:
            if check.status is CheckStatus.NOT_RUN and check.name in elsewhere:
                continue  # the emulator has run it instead
            weak = check.status in (CheckStatus.NOT_RUN, CheckStatus.WEAK)
            weak &= check.detail not in (NEEDLESS, DEFERRED, NO_FLOATS, NO_EXCHANGE)
            for text in filter(None, [check.detail if weak else "", check.unseen]):
                names.setdefault(text, []).append(check.name)
        return by_weight(f"{', '.join(dict.fromkeys(named))}: {text}" for text, named in names.items())


# Gates by whose absence nothing is less right: what they need was not asked for, or another gate did their work.
_LIGHT = ("unit tests", "recorded dispatches", "roofline floor")
_GRAVE = ("other numbers", "calibration", "ill-conditioned original", "not covered", "rest of the program")


def is_light(item: str) -> bool:
    """Of a text of `Verdict.left_open`."""
    return item.partition(": ")[0] in _LIGHT


def by_weight(items: Iterable[str]) -> tuple[str, ...]:
    """Texts of `Verdict.left_open`, each once: first what may hide something wrong, last what may not."""
    grave = re.compile(rf"(?:{EMULATED}|{RECORDED})*(?:{'|'.join(_GRAVE)})")

    def weight(item: str) -> tuple[int, str]:
        return 2 * is_light(item) - (grave.match(item) is not None), item

    return tuple(sorted(set(items), key=weight))


def _least(gain: Measurement) -> float:
    """That is known of a ratio. A single pair of runs cannot show a gain that replays have shown, only deny it."""
    return gain.high if len(gain.pairs) == 1 else gain.low
