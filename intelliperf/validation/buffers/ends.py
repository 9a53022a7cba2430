"""Where a buffer ends, as far as a launch fills it: what lies behind stays as it was, in whatever order threads run."""

from __future__ import annotations

import numpy as np

from intelliperf.validation.buffers.elements import Bytes

_LEAST_SHARE = 2  # at least one part of so many lies behind
_SLACK_BYTES, _SLACK_SHARE = 256, 64  # another order may fill so much more


def filled_bytes(*contents: Bytes) -> int:
    """What lies in front of the one value that all of them, of one size, hold to the end."""
    filled = 0
    for one in contents:
        others = np.flatnonzero(one != contents[0][-1])
        filled = max(filled, int(others[-1]) + 1 if others.size else 0)
    return filled


def idle_end(*contents: Bytes) -> int | None:
    """From which byte on, to the end, all of them hold one and the same value; None where that is not much."""
    first = contents[0]
    if first.size == 0 or any(one.size != first.size for one in contents):
        return None
    filled = filled_bytes(*contents)
    begins = filled + max(_SLACK_BYTES, first.size // _SLACK_SHARE)
    return begins if begins <= first.size - first.size // _LEAST_SHARE else None


def overrun(end: int, expected: Bytes, found: Bytes) -> int | None:
    """The first byte behind that end which is another one now."""
    if found.size != expected.size:
        return None
    others = np.flatnonzero(found[end:] != expected[-1])
    return end + int(others[0]) if others.size else None
