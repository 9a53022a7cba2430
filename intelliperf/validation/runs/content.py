"""The content of one buffer of a paused run: read no more than is asked for, compared on the device where that can."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from intelliperf.interception.messages import Allocation
from intelliperf.interception.wire import Deadline, PeerTimeout
from intelliperf.protocols import Difference, Numbers
from intelliperf.validation.buffers.compare import CHUNK_BYTES, as_bytes, differing_chunks
from intelliperf.validation.buffers.elements import Bytes
from intelliperf.validation.runs.side import Side


class Content:
    """Valid while its run is paused."""

    def __init__(self, side: Side, buffer: Allocation) -> None:
        self._side = side
        self._buffer = buffer
        self._whole: Bytes | None = None

    @property
    def size(self) -> int:
        return self._buffer.size

    def whole(self) -> Bytes:
        if self._whole is None:
            self._whole = as_bytes(self._side.read(self._buffer))
        return self._whole

    def part(self, start: int, size: int) -> Bytes:
        """A copy of up to `size` bytes, without the rest where that has not been read yet."""
        size = min(size, self.size - start)
        if self._whole is None:
            return np.array(as_bytes(self._side.read(self._buffer, start, size)))
        return np.array(self._whole[start : start + size])

    def differences(self, other: Content, numbers: Numbers) -> tuple[Difference, ...] | None:
        """By chunks of `CHUNK_BYTES`, as the device tells; None where it cannot. Sizes must be the same."""
        return self._side.differences(self._buffer, other._side, other._buffer, CHUNK_BYTES, numbers)


def chunks_that_differ(
    reference: Content, other: Content, deadline: Deadline, told: tuple[Difference, ...] | None
) -> Iterator[tuple[int, Bytes, Bytes]]:
    """As `compare.differing_chunks`; with `told`, what the device found, those chunks alone are fetched."""
    if told is None:
        yield from differing_chunks(reference.whole(), other.whole(), deadline)
        return
    for start in (one.number * CHUNK_BYTES for one in told):
        if deadline.passed:
            raise PeerTimeout("the comparison of buffers timed out")
        yield start, reference.part(start, CHUNK_BYTES), other.part(start, CHUNK_BYTES)
