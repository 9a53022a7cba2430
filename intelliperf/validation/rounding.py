"""How far the original's own rounding errors reach: what a rewrite that calculates in another order may differ by.

A sum that one thread adds up is the same in every run of the original, and yet no more exact than one that a
tree adds up. So the original runs again with all arithmetic rounded up, and rounded down: where its numbers move
with that, a candidate may be about as far from them. What is copied, counted or compared does
not move, and stays exact; so does every buffer in which more than floating-point noise moves.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from intelliperf.interception.wire import Deadline
from intelliperf.processes.process import Completed
from intelliperf.records import Rounding
from intelliperf.validation.buffers.elements import BYTE
from intelliperf.validation.buffers.tolerance import BITS, Allowance, Spread, Steadiness
from intelliperf.validation.calibration import BASE, Calibration, scalars
from intelliperf.validation.runs.content import chunks_that_differ
from intelliperf.validation.runs.events import Divergence, Rule
from intelliperf.validation.runs.lockstep import Paused, Setting, Sync, follow
from intelliperf.validation.runs.pairing import Key, Pairing, key_of
from intelliperf.validation.runs.reach import chosen
from intelliperf.validation.runs.side import SideFailed, SideRun

WAYS: tuple[Rounding, ...] = ("up", "down")


@dataclass
class _Observer:
    """Of the original in the usual rounding and in others; never finds fault with contents."""

    spreads: dict[Key, Spread] = field(default_factory=dict)
    other: set[Key] = field(default_factory=set)  # buffers in which more than numbers moves a little

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        known = scalars(base.dispatch, base.side.hello)
        due = chosen(sync, base)
        for mine, theirs in pairing.pairs:
            key = key_of(mine)
            if mine.size != theirs.size or key in self.other or due is not None and mine.id not in due:
                continue
            left, right = base.buffer(mine.id), other.buffer(theirs.id)
            for _, expected, found in chunks_that_differ(left, right, deadline, left.differences(right, BITS)):
                spread = self.spreads.setdefault(key, Spread(known.get(mine.id, ("", BYTE))[1]))
                if not spread.add(expected, found):
                    self.other.add(key)
                    break
        return None

    def allowances(self, proven: bool = False) -> dict[Key, Allowance]:
        found = {key: spread.by_rounding(proven) for key, spread in self.spreads.items() if key not in self.other}
        return {key: allowance for key, allowance in found.items() if allowance.steadiness is Steadiness.NUMERIC}


@dataclass(frozen=True)
class RoundingErrors:
    """By buffer, and how the runs ended in which they were seen. Empty where the original does not run so.

    `full`: for buffers in which the candidate has been proven to hold the same real numbers on the program's own data.
    """

    allowances: Mapping[Key, Allowance] = field(default_factory=dict)
    full: Mapping[Key, Allowance] = field(default_factory=dict)
    ended: tuple[Completed, ...] = ()


def rounding_errors(setting: Setting, base: SideRun, rounded: Sequence[SideRun], rule: Rule) -> RoundingErrors:
    """Of the original in `base`, which is run with `rounded` beside it, all in lock-step."""
    observer = _Observer()
    try:
        followed = follow(setting, [base, *rounded], rule, observer)
    except SideFailed:
        return RoundingErrors()
    ended = tuple(done for label, done in followed.ended.items() if label != BASE)
    return RoundingErrors(observer.allowances(), observer.allowances(proven=True), ended)


def widened(calibration: Calibration, errors: RoundingErrors, proven: Collection[Key] = ()) -> Calibration | None:
    """None where nothing would be allowed that was not before."""
    allowances = dict(calibration.allowances)
    for key, narrow in errors.allowances.items():
        allowance = errors.full.get(key, narrow) if key in proven else narrow
        before = allowances.get(key, Allowance())
        if before.steadiness is Steadiness.EXACT or (
            before.steadiness is Steadiness.NUMERIC and before.rtol < allowance.rtol
        ):
            allowances[key] = allowance
    if allowances == calibration.allowances:
        return None
    output = calibration.output.rounded(errors.ended, max(allowance.rtol for allowance in allowances.values()))
    return replace(calibration, allowances=allowances, output=output)
