"""Holds a candidate to the original's total where that is all that the host makes of a copy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from intelliperf.validation.buffers.compare import as_bytes
from intelliperf.validation.buffers.tolerance import Allowance, Steadiness
from intelliperf.validation.buffers.totals import float_total, integer_total, is_float
from intelliperf.validation.runs.lockstep import Paused
from intelliperf.validation.runs.pairing import Key, key_of
from intelliperf.validation.runs.totalled import TotalledCopy

_NEAR = 1e-2  # relative to the sum of the terms without their signs
_UNITS = {"half": 2.0**-10, "float": 2.0**-23, "double": 2.0**-52}  # in the last place, relative
_ULPS = 4.0  # of a total whose terms are the same, added in another order on the host


@dataclass(frozen=True)
class Totals:
    """What was compared: bytes of the reference's buffer, and what is wrong, if anything; `near`: by little."""

    compared_bytes: int
    wrong: str = ""
    near: bool = False


def compare_totals(copy: TotalledCopy, base: Paused, other: Paused, rule: Callable[[Key], Allowance]) -> Totals:
    """`rule`: what holds for the reference's buffer."""
    mine, theirs = base.allocation(copy.mine[0]), other.allocation(copy.theirs[0])
    if mine is None or theirs is None:
        return Totals(0, "the buffer that the host copies its total from is not there")
    contents = [
        as_bytes(paused.content(one.id))[at : at + size]
        for paused, one, (_, at, size) in ((base, mine, copy.mine), (other, theirs, copy.theirs))
    ]
    if not is_float(copy.total):
        whole = [integer_total(copy.total, content) for content in contents]
        wrong = (
            ""
            if whole[0] == whole[1]
            else f"the sum of the elements that the host copies is {whole[1]}, expected {whole[0]}"
        )
        return Totals(copy.mine[2], wrong)
    (expected, size), (found, _) = (float_total(copy.total, content) for content in contents)
    if expected == found or math.isnan(expected) and math.isnan(found):
        return Totals(copy.mine[2])
    allowance = rule(key_of(mine))
    numeric = allowance.steadiness is Steadiness.NUMERIC
    rtol = max(allowance.rtol if numeric else 0.0, _ULPS * _UNITS[copy.total.element])
    allowed = rtol * abs(expected) + (allowance.atol if numeric else 0.0)
    apart = abs(expected - found)
    if apart <= allowed:
        return Totals(copy.mine[2])
    text = f"the sum of the elements that the host copies is {found:.9g}, expected {expected:.9g}"
    return Totals(copy.mine[2], text, math.isfinite(size) and apart <= _NEAR * size)
