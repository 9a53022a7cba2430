"""Numbers that are NaN with the original only because of NaN that was put into the data, and that count for nothing.

What is masked or skipped may be multiplied by zero in one program and not be looked at in another: the first makes NaN
of a NaN there, the second does not, and with every number they agree. So where the original has NaN and the candidate
a number, that number has to be the original's as well with large numbers in the places of NaN, of either sign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from intelliperf.validation.buffers.compare import wrong_elements
from intelliperf.validation.buffers.elements import Bytes, Mask, Scalar
from intelliperf.validation.buffers.tolerance import Allowance
from intelliperf.validation.runs.pairing import Key

# What a dispatch says of its data.
NAN, _INFINITE = "some numbers NaN", "some numbers infinite"
_BESIDE = "another size, and NaN "  # where nobody may read: with the original, it is multiplied by zero
FAR = ("some numbers large", "some numbers large and negative")


def with_nan(alteration: str) -> bool:
    """Were numbers made NaN, so that finding the largest of them depends on the order in which they are compared?"""
    return "NaN" in alteration


@dataclass(frozen=True)
class _Place:
    number: int  # of the point of comparison
    content: Bytes  # the candidate's numbers
    offset: int
    elements: Mask


@dataclass
class NanPlaces:
    """By buffer, for the alterations of one launch after those of another."""

    _aside: dict[Key, list[_Place]] = field(default_factory=dict)  # of this launch
    _alike: dict[Key, set[str]] = field(default_factory=dict)
    _settled: set[Key] = field(default_factory=set)  # at any launch
    _open: dict[Key, int] = field(default_factory=dict)

    def next_launch(self) -> None:
        """What comes is altered from another state."""
        for key, places in self._aside.items():
            if len(self._alike.get(key, ())) == len(FAR):
                self._settled.add(key)
            else:
                self._open.setdefault(key, places[0].number)
        self._aside.clear()
        self._alike.clear()

    def set_aside(
        self, key: Key, number: int, allowance: Allowance, offset: int, wrong: Mask, pair: tuple[Bytes, Bytes]
    ) -> Mask:
        """Of what is wrong in a chunk of the original's and the candidate's, what is not NaN against a number."""
        scalar = allowance.scalar
        expected, found = pair
        if not scalar.floating or expected.size % scalar.size:
            return wrong
        mine, theirs = scalar.floats(expected), scalar.floats(found)
        aside: Mask = wrong & np.isnan(mine) & np.isfinite(theirs)
        if aside.any():
            self._aside.setdefault(key, []).append(_Place(number, found.copy(), offset, aside))
        return wrong & ~aside

    def settle(self, key: Key, alteration: str, allowance: Allowance, original: Callable[[], Bytes]) -> str:
        """With large numbers there: what is wrong with what was set aside, in words."""
        if alteration not in FAR or key not in self._aside:
            return ""
        content = original()
        for place in self._aside[key]:
            expected = content[place.offset : place.offset + place.content.size]
            if (wrong_elements(allowance, expected, place.content) & place.elements).any():
                return "it has numbers where the original has NaN, which depend on the data that was NaN"
        self._alike.setdefault(key, set()).add(alteration)
        return ""

    def unsettled(self) -> int | None:
        """The point of comparison at which a buffer was set aside that is settled at no launch of the kernel."""
        self.next_launch()
        return next((number for key, number in self._open.items() if key not in self._settled), None)


def excused(scalar: Scalar, expected: Bytes, found: Bytes, alteration: str) -> Mask:
    """Where both are NaN, or neither is a number; of infinite numbers, where either is NaN.

    Another order of operations may make it, where numbers overflow.
    """
    mine, theirs = scalar.floats(expected), scalar.floats(found)
    if alteration.startswith(_BESIDE):
        original: Mask = np.isnan(mine)
        return original
    if alteration == _INFINITE:
        either: Mask = np.isnan(mine) | np.isnan(theirs)
        return either
    both: Mask = np.isnan(mine) & np.isnan(theirs) if alteration == NAN else ~(np.isfinite(mine) | np.isfinite(theirs))
    return both
