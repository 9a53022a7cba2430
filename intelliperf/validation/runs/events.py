"""What runs do that are held against each other, what of it may differ, and how one leaves the other's path."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from intelliperf.interception.messages import Allocation, Dispatch, End, Message, Transfer
from intelliperf.processes.process import Completed
from intelliperf.records import ANY_KERNEL, Outcome
from intelliperf.validation.runs.effort import Effort
from intelliperf.validation.runs.side import Side, complaint

NO_END = 702  # of a launch that took too long, or whose lanes all wait
_INVALID_CONFIGURATION = 9
_ILLEGAL_ADDRESS = 700
DIVIDED = 798  # of an altered launch that came to its end: by zero, of which a GPU makes nobody knows what
_RACED = 799
_ERRORS = {  # codes that HIP and CUDA share
    _ILLEGAL_ADDRESS: "an illegal memory access",
    NO_END: "no end",
    710: "a failed device-side assert",
    719: "a launch failure",
    _RACED: "a race",
}

_OUTCOMES = {_ILLEGAL_ADDRESS: Outcome.MEMORY_ERROR, _RACED: Outcome.RACE}

Event = Dispatch | Transfer


@dataclass(frozen=True)
class Divergence:
    """Where and how one run left the base's path."""

    label: str
    outcome: Outcome
    detail: str
    near: bool = False  # numbers that are nearly right
    sync: int = 0  # the number of the point of comparison


@dataclass(frozen=True)
class Rule:
    """What may differ, and which dispatches are compared."""

    compared: Callable[[Dispatch], bool]
    free_geometry: str | None = None  # the kernel whose grid, block and LDS may change, or `ANY_KERNEL`
    free_lds: bool = False  # how much LDS a launch gets is not a choice of the host
    after_failures: bool = False  # a launch that fails in the base, or `beside` it, says nothing about the others'
    bounded: Collection[str] = ()  # labels of the runs that need not be followed to their end
    effort: Effort = Effort()
    beside: Collection[str] = ()  # labels of runs that only say what may be asked of others
    alike: Callable[[Allocation], bool] = lambda buffer: False  # buffers of which all are given what the base has
    doubted: Callable[[int], bool] = lambda number: False  # points where the base has no one answer: others may fail

    def may_be_launched_otherwise(self, dispatch: Dispatch) -> bool:
        return self.free_geometry in (dispatch.kernel, ANY_KERNEL)

    def in_question(self, sides: Sequence[Side]) -> list[Side]:
        """The sides that are left; none where nothing depends on them any more."""
        return list(sides) if any(side.label not in self.beside for side in sides) else []


def difference_of_events(label: str, expected: Message, found: Message, rule: Rule) -> Divergence | None:
    """Both must do the same thing next."""

    def changed(text: str) -> Divergence:
        return Divergence(label, Outcome.DISPATCHES_CHANGED, text)

    if isinstance(expected, End):
        return None if isinstance(found, End) else changed(f"{found.describe()} after the reference's last one")
    if isinstance(found, End):
        return changed(f"the program ended before {expected.describe()}")
    if isinstance(expected, Transfer) or isinstance(found, Transfer):
        return None if expected == found else changed(f"{found.describe()}, expected {expected.describe()}")
    if (expected.kernel, expected.target, expected.before) != (found.kernel, found.target, found.before):
        return changed(f"{found.describe()}, expected {expected.describe()}")
    if found.status != expected.status and not (rule.after_failures and (expected.status or label in rule.beside)):
        return _broken(label, found)
    lds = rule.free_lds or expected.dynamic_lds == found.dynamic_lds
    if lds and (expected.grid, expected.block) == (found.grid, found.block):
        return None
    if rule.may_be_launched_otherwise(expected):
        return None
    return changed(f"{found.describe()}, expected {expected.describe()}")


def is_empty(dispatch: Dispatch) -> bool:
    """Is it altered to numbers for which its own host code would launch no block, as where there is nothing to do?

    What it should have written, it has not: comparing memory shows that.
    """
    return bool(dispatch.altered) and dispatch.status == _INVALID_CONFIGURATION and 0 in dispatch.grid


def _broken(label: str, dispatch: Dispatch) -> Divergence:
    outcome = _OUTCOMES.get(dispatch.status, Outcome.CRASHED)
    what = _ERRORS.get(dispatch.status, "an error")
    text = f"dispatch {dispatch.nth} of {dispatch.kernel} ended with {what} ({dispatch.status})"
    return Divergence(label, outcome, text)


def failed_dispatch(label: str, events: Sequence[Event], ended: Completed) -> Divergence | None:
    """The first launch of a recorded run that did not succeed, with what the device said of it."""
    broken = next((event for event in events if isinstance(event, Dispatch) and event.status != 0), None)
    if broken is None:
        return None
    divergence = _broken(label, broken)
    said = complaint(ended.tail("stderr", 4096).splitlines())
    return dataclasses.replace(divergence, detail=f"{divergence.detail}: {said}") if said else divergence


def bare(event: Event) -> Event:
    return (
        dataclasses.replace(event, arguments=(), allocations=(), reached={}) if isinstance(event, Dispatch) else event
    )
