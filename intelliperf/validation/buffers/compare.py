"""Two buffers of paused processes, chunk by chunk: equal chunks cost one pass over memory.

A mismatch names the first wrong element, both values, how many are wrong and by how much at most.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from intelliperf.interception.wire import Deadline, PeerTimeout
from intelliperf.validation.buffers.elements import BYTE, POISONS, Bytes, Floats, Mask, Scalar
from intelliperf.validation.buffers.tolerance import (
    Allowance,
    Steadiness,
    allowed,
    infer_float,
    same_specials,
    scale_of,
)

_NEARLY = 1e-2  # a relative difference that another order of summation could explain
_TELLING_BYTES = 4  # of an element that holds what fresh memory does: shorter ones do so by chance
CHUNK_BYTES = 4 * 1024 * 1024  # a multiple of every scalar

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


@dataclass(frozen=True)
class Mismatch:
    """Why two buffers are not the same; `index` counts elements of `scalar`."""

    index: int
    scalar: Scalar
    expected: str
    found: str
    wrong: int
    elements: int
    largest: float | None  # largest absolute difference of floating elements
    relative: float | None  # the same relative to the expected value or the chunk's scale, as in `tolerance.allowed`
    unwritten: bool = False  # the first wrong element still holds what fresh memory is filled with

    @property
    def near(self) -> bool:
        """Could it come from calculating in another order?"""
        return self.relative is not None and self.relative <= _NEARLY

    def describe(self) -> str:
        found = f"{self.found} (fresh memory, never written)" if self.unwritten else self.found
        text = f"{self.scalar.name} {self.index} is {found}, expected {self.expected}"
        text += f"; {self.wrong} of {self.elements} differ"
        return text if self.largest is None else f"{text}, by {self.largest:.3g} at most"


def as_bytes(view: memoryview) -> Bytes:
    return np.frombuffer(view, dtype=np.uint8)


def equal(left: Bytes, right: Bytes) -> bool:
    """Bit for bit. Both must be contiguous, of one length."""
    return left.size == right.size and _memcmp(left.ctypes.data, right.ctypes.data, left.size) == 0


def differing_chunks(reference: Bytes, other: Bytes, deadline: Deadline) -> Iterator[tuple[int, Bytes, Bytes]]:
    """Offset and both contents, copied, of every chunk that is not equal. Lengths must be the same."""
    for start in range(0, reference.size, CHUNK_BYTES):
        if deadline.passed:
            raise PeerTimeout("the comparison of buffers timed out")
        left, right = reference[start : start + CHUNK_BYTES], other[start : start + CHUNK_BYTES]
        if not equal(left, right):
            yield start, left.copy(), right.copy()


def wrong_elements(allowance: Allowance, reference: Bytes, other: Bytes) -> Mask:
    """True for each element of `allowance.scalar` that the allowance does not cover."""
    scalar = allowance.scalar
    wrong: Mask
    if reference.size % scalar.size:
        wrong = reference != other
    elif allowance.steadiness is Steadiness.NUMERIC:
        wrong = ~allowed(allowance, scalar.floats(reference), scalar.floats(other))
        # However small the number is that fresh memory holds: nobody wrote it.
        if scalar.size >= _TELLING_BYTES:
            wrong |= _fresh(scalar, other) & ~_fresh(scalar, reference)
    else:
        wrong = scalar.bits(reference) != scalar.bits(other)
    return wrong


def _fresh(scalar: Scalar, content: Bytes) -> Mask:
    rows = content.reshape(-1, scalar.size)
    fresh: Mask = (rows == POISONS[0]).all(axis=1) | (rows == POISONS[1]).all(axis=1)
    return fresh


def same_multiset(scalar: Scalar, reference: Bytes, other: Bytes) -> bool:
    """The same elements in whatever order; untyped memory is taken as 32-bit words where it divides."""
    unit = _unit(scalar, reference.size)
    return bool(np.array_equal(np.sort(unit.bits(reference)), np.sort(unit.bits(other))))


def _unit(scalar: Scalar, size: int) -> Scalar:
    unit = Scalar("word", 4, "bits") if scalar is BYTE else scalar
    return BYTE if size % unit.size else unit


@dataclass(frozen=True)
class Reordered:
    """One buffer on both sides, the same elements in another order."""

    scalar: Scalar
    reference: Bytes
    other: Bytes

    @property
    def unit(self) -> Scalar:
        return _unit(self.scalar, self.reference.size)

    @property
    def elements(self) -> int:
        return self.reference.size // self.unit.size


def moved_together(first: Reordered, second: Reordered) -> bool:
    """Do the same elements of both stand at equal indices on either side, as those of parallel lists must?"""
    if first.elements != second.elements:
        return False
    rows = [
        _digest(first.unit.bits(one), second.unit.bits(two))
        for one, two in ((first.reference, second.reference), (first.other, second.other))
    ]
    return bool(np.array_equal(rows[0], rows[1]))


def _digest(first: NDArray[np.unsignedinteger], second: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """A number per pair of elements, sorted."""
    rows = first.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    rows ^= (second.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
    rows ^= rows >> np.uint64(29)
    return np.sort(rows * np.uint64(0xBF58476D1CE4E5B9))


def _distances(scalar: Scalar, reference: Bytes, other: Bytes) -> tuple[Floats, Floats]:
    """Of the numbers of one chunk, absolute and relative."""
    expected, found = scalar.floats(reference), scalar.floats(other)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        gaps = np.abs(expected - found)
        relative = gaps / np.maximum(np.abs(expected), scale_of(expected))
    relative[same_specials(expected, found) & ~(gaps > 0)] = 0.0
    return gaps, relative


class MismatchBuilder:
    """Gathers the wrong elements of one buffer over its chunks."""

    def __init__(self, scalar: Scalar, size: int) -> None:
        self._scalar = scalar
        self._size = size
        self._first: tuple[int, str, str] | None = None
        self._wrong = 0
        self._largest: float | None = None
        self._relative: float | None = None
        self._unwritten = False

    def add(self, offset: int, wrong: Mask, reference: Bytes, other: Bytes) -> None:
        """`wrong` holds one entry per element, or per byte where the chunk is not a whole number of elements."""
        scalar = self._scalar if wrong.size * self._scalar.size == reference.size else BYTE
        places = np.flatnonzero(wrong)
        if not places.size:
            return
        self._wrong += int(places.size)
        first = int(places[0]) * scalar.size
        if self._first is None:
            pair = reference[first : first + scalar.size], other[first : first + scalar.size]
            self._first = ((offset + first) // scalar.size, scalar.show(pair[0]), scalar.show(pair[1]))
            self._unwritten = scalar.size >= _TELLING_BYTES and bool(_fresh(scalar, pair[1])[0])
        floats = scalar if scalar.floating else infer_float(reference, other) if self._scalar is BYTE else None
        gaps, relative = _distances(floats, reference, other) if floats is not None else (None, np.array([np.inf]))
        self._relative = max(self._relative or 0.0, float(np.max(np.nan_to_num(relative, nan=np.inf), initial=0.0)))
        if gaps is not None and scalar.floating:
            wrong_ones = gaps[places][np.isfinite(gaps[places])]
            self._largest = max(self._largest or 0.0, float(np.max(wrong_ones, initial=0.0)))

    def mismatch(self) -> Mismatch | None:
        if self._first is None:
            return None
        index, expected, found = self._first
        elements = max(1, self._size // self._scalar.size)
        return Mismatch(
            index,
            self._scalar,
            expected,
            found,
            self._wrong,
            elements,
            self._largest,
            self._relative,
            self._unwritten,
        )
