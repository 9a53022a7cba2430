"""What two versions make of a buffer in one and the same order, where that order decides.

The elements of a queue's rounds, or of a forest that is linked in place, depend on which thread comes first, so that no
run of the original in another order says what they have to be. But a candidate whose threads do the same things in the
same order makes the same of them in the same order, bit by bit. One that is seen to do so wherever the launch is no
larger than the application's own has to do so where there are more blocks or larger integers, too: a limit, or a
width, of its own begins to count there. Of one that goes another way in any launch of the application's size, nothing
follows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from intelliperf.interception.messages import Allocation, Dispatch
from intelliperf.validation.buffers.compare import MismatchBuilder, as_bytes, equal
from intelliperf.validation.buffers.elements import BYTE, Scalar
from intelliperf.validation.runs.lockstep import Paused
from intelliperf.validation.runs.pairing import Key

_LEAST_LAUNCHES = 8  # in which the original's order is seen to decide and the candidate agrees
_LEAST_BYTES = 64  # of a buffer that must come out otherwise in the original's other order
_MOST_BYTES = 1 << 24


@dataclass
class SameOrder:
    """Of all altered launches of one candidate. `own_blocks`: of the application's largest launch."""

    own_blocks: int = 0
    agreed: Counter[Key] = field(default_factory=Counter)
    others: set[Key] = field(default_factory=set)  # buffers of which the candidate makes something else at that size

    def see(
        self,
        key: Key,
        original: tuple[Paused, Allocation],
        candidate: tuple[Paused, Allocation],
        wider: bool = False,
    ) -> bool:
        """A buffer that the order decides after a launch. Is the candidate's another, in a larger launch?

        `wider`: or in one of larger integers.
        """
        (base, mine), (other, theirs) = original, candidate
        if not _same_shape(base.dispatch, other.dispatch) or mine.size != theirs.size or mine.size > _MOST_BYTES:
            return False
        same = equal(as_bytes(base.content(mine.id)), as_bytes(other.content(theirs.id)))
        if wider or math.prod(base.dispatch.grid) > self.own_blocks:
            return not same
        if same:
            self.agreed[key] += 1
        else:
            self.others.add(key)
        return False

    def binds(self, key: Key) -> bool:
        """Has the candidate been seen to follow the original's order in this buffer?"""
        return self.agreed[key] >= _LEAST_LAUNCHES and key not in self.others


def decides(base: Paused, mine: Allocation, other: Paused, theirs: Allocation) -> bool:
    """Does the original make something else of the buffer in its other order, in more than a few bytes?"""
    if mine.size != theirs.size or mine.size > _MOST_BYTES:
        return False
    left, right = as_bytes(base.content(mine.id)), as_bytes(other.content(theirs.id))
    return bool(np.count_nonzero(left != right) >= _LEAST_BYTES)


def described(scalar: Scalar, base: Paused, mine: Allocation, other: Paused, theirs: Allocation) -> str:
    """In words, the first element that the candidate makes something else of."""
    left, right = as_bytes(base.content(mine.id)), as_bytes(other.content(theirs.id))
    unit = BYTE if left.size % scalar.size else scalar
    builder = MismatchBuilder(unit, left.size)
    builder.add(0, unit.bits(left) != unit.bits(right), left, right)
    mismatch = builder.mismatch()
    return mismatch.describe() if mismatch is not None else ""


def _same_shape(mine: Dispatch, theirs: Dispatch) -> bool:
    return (mine.grid, mine.block, mine.tile) == (theirs.grid, theirs.block, theirs.tile)


def own_blocks(events: Collection[object], kernel: str) -> int:
    """How many the application's largest launch of the kernel has."""
    launches = (e for e in events if isinstance(e, Dispatch) and e.target and e.kernel == kernel)
    return max((math.prod(one.grid) for one in launches), default=0)
