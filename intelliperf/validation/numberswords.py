"""What the gate of other numbers reports of each way to alter launches, and of all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from intelliperf.interception.messages import Dispatch
from intelliperf.validation.algebragate import CANDIDATE
from intelliperf.validation.othernumbers import LARGER, MOST_SECONDS, Alteration
from intelliperf.validation.runs.events import NO_END
from intelliperf.validation.runs.lockstep import Followed
from intelliperf.validation.trial import Trial

ALTERED = "candidate on other numbers"
_MOST_BITS_COUNTED, _WORD = 18, 32  # of what altered launches have, and of integers that are not narrow
_NONE_RAISED = "no launch with a larger scalar argument could be compared"
_OR_MEMORY = ", or more memory is allocated than is put back"
NO_ALTERATION = f"no launch was altered: nothing that it takes can be{_OR_MEMORY}"


@dataclass(frozen=True)
class Told:
    """What is reported of one way to alter launches."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()  # what it did not reach although something passed
    idle: tuple[str, ...] = ()  # it alters what these launches do not have


def summed(every: Sequence[Told]) -> Told:
    """Of all ways. Where one of them altered something, memory was put back."""
    passed = tuple(text for told in every for text in told.passed)
    failed = tuple(text for told in every for text in told.failed)
    if passed:
        failed = tuple(text.removesuffix(_OR_MEMORY) for text in failed)
    else:
        failed += tuple(text for told in every for text in told.idle)
    return Told(passed, failed, tuple(text for told in every for text in told.unseen))


def told_of(alteration: Alteration, followed: Followed, roomy: bool, left_open: Collection[str] = ()) -> Told:
    """Of a run in which nothing went wrong, as far as it was this alteration's.

    `left_open`: what of it was not compared, in words.
    """
    own = (0, alteration.way)  # where only one way was asked for, launches need not say which
    seen = [e for e in followed.events if isinstance(e, Dispatch) and e.target and e.way in own]
    altered = [event for event in seen if event.altered is None or event.altered]
    if seen and not altered:
        return Told(idle=(f"{alteration.wrong}: no launch has anything that could be altered",))
    compared = [event for event in altered if event.status == 0]
    if not compared:
        return Told(failed=(f"{alteration.wrong}: {NO_ALTERATION}",))
    coverage = followed.coverage(ALTERED) or followed.coverage(CANDIDATE)
    passed, unseen = alteration.passed, ""
    if alteration.of_data and (kinds := dict.fromkeys(event.alteration for event in compared if event.alteration)):
        plain = [] if all(event.alteration for event in compared) else [passed]
        passed = "; ".join([*plain, ", ".join(kinds)])
    if endless := sum(event.status == NO_END for event in seen):
        launches = f"{endless} launch{'' if endless == 1 else 'es'} left out"
        late = f"{launches}, which the original does not end in {MOST_SECONDS} s of the processor"
    else:
        late = ""
    if alteration.with_room and roomy:
        raised = any(event.alteration.startswith(LARGER) for event in compared)
        passed = alteration.with_room if raised else alteration.not_raised or alteration.with_room
        unseen = "" if raised or not alteration.not_raised else _NONE_RAISED
    return Told(
        (passed + (f" ({coverage})" if coverage else ""),), unseen=tuple(filter(None, [unseen, late, *left_open]))
    )


def uncounted(trial: Trial) -> Iterator[str]:
    """What no launch is large enough for."""
    for bits in sorted(trial.compared.widths):
        if _MOST_BITS_COUNTED < bits < _WORD:
            yield f"counts and indices beyond the {bits} bits that the candidate has for a number"
