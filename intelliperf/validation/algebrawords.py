"""What the comparison of shadows found, in words."""

from __future__ import annotations

import math

from intelliperf.validation.buffers.algebra import TOTAL, Account, Level


def different(account: Account) -> str:
    """A C, in words."""
    worst = account.worst
    if worst is None:
        return "computes something else"
    counted = f"; {account.different} of {account.elements} differ" if worst.index != TOTAL else ""
    which = f"element {worst.index}" if worst.index != TOTAL else "it"
    if not math.isfinite(worst.found) or not math.isfinite(worst.expected):
        values = f"is {worst.found:.9g}, expected {worst.expected:.9g}"
        return f"computes something else: {which} {values}{counted}"
    exactly = f"is exactly {worst.found:.17g}, expected {worst.expected:.17g}"
    if math.isinf(worst.units):
        beside = "and the original has no rounding error there"
    else:
        beside = f"{worst.units:.2g} times the original's own rounding error"
    off = f"other real numbers, {worst.relative:.2g} of their size apart, {beside}"
    return f"computes something else: {which} {exactly}: {off}{counted}"


def _ulp(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def proven(account: Account) -> str:
    """An A or B, in words."""
    original, candidate = account.errors
    errs = f"errs by {_ulp(candidate)} ulp, the original by {_ulp(original)}"
    outputs = f"all {account.elements:,} outputs" if account.elements != 1 else "its one output"
    if account.level is Level.EQUAL:
        return f"the same real numbers in {outputs} (checked in a secret field, no tolerance); {errs}"
    where = f"{account.close:,} of {account.elements:,} outputs"
    return f"not proven algebraically in {where}; they agree to a millionth of a rounding error; {errs}"


def less_exact(account: Account) -> str:
    """What is right, but not good enough, in words."""
    original, candidate = account.errors
    times = f"right, but {candidate / max(original, 0.5):,.0f} times less exact than the original"
    return f"{times} ({_ulp(candidate)} ulp against {_ulp(original)})"


def unseen(account: Account, why: str) -> str:
    """Of a candidate whose own exact values are not known."""
    errs = f"it errs by {_ulp(account.off_by)} ulp, the original by {_ulp(account.errors[0])}"
    return f"{why}, and {errs}; {account.different:,} of {account.elements:,} differ"


def said(account: Account) -> str:
    if account.level is not Level.DIFFERENT and not account.exact_enough:
        return less_exact(account)
    return proven(account)
