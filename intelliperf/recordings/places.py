"""Recorded memory that a replay has to put elsewhere: where each address lies now, and arguments that follow it."""

from __future__ import annotations

import bisect
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_WORD_BYTES = 8


@dataclass(frozen=True)
class Places:
    """Where the spans that recorded memory lay in lie now."""

    spans: tuple[tuple[int, int], ...]  # base and size, ascending
    bases: tuple[int, ...]  # ascending, too
    granularity: int  # bytes, of what is mapped

    @property
    def moved(self) -> bool:
        return any(now != then for now, (then, _) in zip(self.bases, self.spans, strict=True))

    def of(self, address: int) -> int:
        """An address outside the spans stays as it is."""
        slot = bisect.bisect_right(self.spans, (address, sys.maxsize)) - 1
        if slot < 0 or address > sum(self.spans[slot]):  # just beyond the end is an address that loops compare with
            return address
        return address - self.spans[slot][0] + self.bases[slot]

    def named_in(self, content: memoryview) -> bool:
        """Is an aligned word of the content, as little-endian bytes, an address in the spans?"""
        words = np.frombuffer(content[: len(content) // 8 * 8], dtype=np.uint64)
        words = words[(words >= self.spans[0][0]) & (words <= sum(self.spans[-1]))] if self.spans else words[:0]
        slots = np.searchsorted(np.array([base for base, _ in self.spans], np.uint64), words, side="right") - 1
        return bool((words <= np.array([sum(span) for span in self.spans], np.uint64)[slots]).any())


def following(argument: str, places: Places) -> str:
    """A recorded argument, hexadecimal: its aligned words that are addresses of recorded memory are those of now."""
    value = bytearray.fromhex(argument)
    for offset, word in zip(range(0, len(value), _WORD_BYTES), words_of(bytes(value)), strict=False):
        value[offset : offset + _WORD_BYTES] = places.of(word).to_bytes(_WORD_BYTES, "little")
    return value.hex()


def words_of(value: bytes) -> Iterator[int]:
    for offset in range(0, len(value) - _WORD_BYTES + 1, _WORD_BYTES):
        yield int.from_bytes(value[offset : offset + _WORD_BYTES], "little")
