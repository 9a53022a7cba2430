"""The total of a buffer's elements as the host makes it: exactly for integers, in double for floats, and its shadow."""

from __future__ import annotations

import math

import numpy as np

from intelliperf.validation.buffers.algebra import NOTHING, TOTAL, Account, Shaded, Shades, account_of, all_shades
from intelliperf.validation.buffers.elements import Bytes, Floats
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.edits.total import Total

_FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}
_MOST_PLAIN = 1 << 16  # numbers without a shadow
_LOW_BITS = 32


def is_float(total: Total) -> bool:
    return total.element in _FLOATS


def integer_total(total: Total, content: Bytes) -> int:
    """As the host's code has it, modulo the width in which it adds."""
    bits = int(total.element[1:])
    signed = total.cast in ("sext", "sitofp")
    values = content.view(np.dtype(f"{'i' if signed else 'u'}{bits // 8}")).astype(np.int64 if signed else np.uint64)
    whole = sum(int(part.sum(dtype=object)) for part in np.array_split(values, max(1, values.size >> 20)))
    return whole % (1 << int(total.kept[1:])) if total.kept.startswith("i") else whole


def float_total(total: Total, content: Bytes) -> tuple[float, float]:
    """In double, rounded once; and the sum of what the elements are without their signs."""
    values = _floats(total, content)
    with np.errstate(invalid="ignore", over="ignore"):
        if not np.isfinite(values).all():
            return float(values.sum()), math.inf
    return math.fsum(values), math.fsum(np.abs(values))


def shaded_total(field_: Field, total: Total, sides: tuple[Shaded, Shaded], symbolic: bool) -> Account:
    """Are both totals the same real number, and as exact?

    `symbolic`: what a side never looked at has no unknown there, so that nothing is said of a total of it.
    """
    found: list[Shades] = []
    for side in sides:
        shades = all_shades(total.element, side)
        if shades is None or symbolic and not shades.known.all():
            return NOTHING
        one = _total(field_, total, shades)
        if one is None:
            return NOTHING
        found.append(one)
    if not any(side.words or side.halves for side in sides):
        return NOTHING
    return account_of(field_, total.element, found[0], found[1])


def _floats(total: Total, content: Bytes) -> Floats:
    with np.errstate(invalid="ignore"):
        return content.view(_FLOATS[total.element]).astype(np.float64)


def _total(field_: Field, total: Total, shades: Shades) -> Shades | None:
    image = _sum_of_images(field_, shades)
    if image is None or not np.isfinite(shades.value).all():
        return None
    exact = [*shades.exact, *shades.rest] if np.any(shades.rest) else list(shades.exact)
    if not all(map(math.isfinite, exact)):
        return None
    rounded = math.fsum(exact)
    return Shades(
        np.full(1, TOTAL),
        np.array([image], dtype=np.uint64),
        np.ones(1, dtype=np.bool_),
        np.array([_added_by_the_host(total, shades.value)]),
        np.array([rounded]),
        np.array([math.fsum([*exact, -rounded])]),
    )


def _added_by_the_host(total: Total, values: Floats) -> float:
    """One by one in the type in which the host keeps the sum, whose errors are part of the program's."""
    kept = np.dtype(np.float64 if total.kept == "double" else np.float32)
    with np.errstate(over="ignore"):
        return float(np.add.accumulate(values.astype(kept), dtype=kept)[-1])


def _sum_of_images(field_: Field, shades: Shades) -> int | None:
    """None where there are too many numbers without an image, or one that has none."""
    known = shades.image[shades.known]
    halves = known & np.uint64((1 << _LOW_BITS) - 1), known >> np.uint64(_LOW_BITS)
    whole = int(halves[0].sum()) + (int(halves[1].sum()) << _LOW_BITS)
    plain, counts = np.unique(shades.value[~shades.known], return_counts=True)
    if plain.size > _MOST_PLAIN or not np.isfinite(plain).all():
        return None
    return (whole + sum(field_.image(float(v)) * int(c) for v, c in zip(plain, counts, strict=True))) % field_.prime
