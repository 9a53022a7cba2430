"""Are two buffers the same real numbers? Decided by their shadows, without a tolerance.

A shadow is the image of the exact value in a finite field, and that value in double or double-double. Two elements are

* **A, equal**: the images are the same, and the exact values agree to a millionth of the rounding error;
* **B, close**: the images differ (a rule of mathematics that the field does not know), the exact values agree so;
* **C, different** otherwise: something else was computed, however small the difference is.

How far each program's own numbers are from the exact ones says how exact it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from intelliperf.protocols import ShadowPart
from intelliperf.validation.buffers.elements import Bytes, Floats, Mask
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.buffers.tolerance import scale_of

TOTAL = -1  # in place of the index of an element
Images = NDArray[np.uint64]

_RECORD_BYTES = 32
_AGREE = 2.0**-20  # of the rounding error; for double, whose exact values have 64 bits at least:
_AGREE_DOUBLE = 2.0**-8
_LARGEST_AGREE = 2.0**-8  # of equal images: what is left is the error of the exact values themselves
_FACTOR, _OFFSET_ULP = 4.0, 1.0  # a candidate may err so much more than the original, by the root of the mean square
_SCALE_SHARE = 2.0**-10  # numbers smaller than this share of the median are measured by that
_MOST_IMAGES = 1 << 16  # of numbers without a shadow, per chunk
_LOW = np.uint64(0xFFFFFFFF)
_EXPONENT = np.uint64(0x7FF << 52)
_SIZES = {"float": 4, "double": 8, "half": 2, "bfloat": 2}
_PLANTED = 2.0**-10  # by how much a planted number is off, relative; of its error and its unit, more than may agree:
_PLANTED_OF_ERROR = 2.0**-6
_TAGS = {"float": 1, "double": 2, "half": 4, "bfloat": 5}
_SECOND = 3
_DIGITS = {"float": 24, "double": 53, "half": 11, "bfloat": 8}
_LEAST_EXPONENT = {"float": -125, "double": -1021, "half": -13, "bfloat": -125}
_ORDER_FACTOR = 8.0  # of a candidate's error: in another order it is another draw
_FLOOR_UNITS = 16.0
_KEPT_FROM_ZERO = 2.0**16  # a number is so much smaller than the exact one where rounding keeps its divisor from zero


class Level(IntEnum):
    EQUAL = 0
    CLOSE = 1
    DIFFERENT = 2


@dataclass(frozen=True)
class Shades:
    """Numbers of one kind, with their shadows: `index` counts elements of the kind from the buffer's start."""

    index: NDArray[np.int64]
    image: Images
    known: Mask  # has an image of its own; else the number stands for itself
    value: Floats  # what memory holds
    exact: Floats
    rest: Floats  # exact values are exact + rest

    def __len__(self) -> int:
        return int(self.index.size)


@dataclass(frozen=True)
class Worst:
    """The element that is furthest away, in units of the original's own error."""

    index: int
    expected: float  # exact values; what memory holds where either is infinite or nan
    found: float
    units: float

    @property
    def relative(self) -> float:
        size = abs(self.expected)
        return abs(self.found - self.expected) / size if size else abs(self.found - self.expected)


@dataclass(frozen=True)
class Account:
    """What came of comparing elements; of whole buffers after adding up."""

    elements: int = 0
    close: int = 0
    different: int = 0
    worst: Worst | None = None
    erring: int = 0  # those in which either program errs
    squares: tuple[float, float] = (0.0, 0.0)  # of the errors in ulp, summed: the original's, the candidate's
    off: tuple[int, float] = (0, 0.0)  # of the candidate from the original's exact values: how many, squares in ulp
    largest: tuple[float, float] = (0.0, 0.0)  # in ulp
    relative: float = 0.0  # how far apart the two may come out, beside the numbers that have shadows
    beside_all: float = 0.0  # the same, beside all numbers of the chunk, as `tolerance.allowed` measures it
    kinds: frozenset[str] = frozenset()
    # As `erring` and `squares`, of those that are the same.
    same: tuple[int, float, float] = (0, 0.0, 0.0)
    # Where one is infinite and the original's own number is far from what it is exactly: offset and size in bytes.
    endless: tuple[tuple[int, int], ...] = ()

    def joined(self, other: Account) -> Account:
        worst = max((w for w in (self.worst, other.worst) if w is not None), key=lambda w: w.units, default=None)
        return Account(
            self.elements + other.elements,
            self.close + other.close,
            self.different + other.different,
            worst,
            self.erring + other.erring,
            (self.squares[0] + other.squares[0], self.squares[1] + other.squares[1]),
            (self.off[0] + other.off[0], self.off[1] + other.off[1]),
            (max(self.largest[0], other.largest[0]), max(self.largest[1], other.largest[1])),
            max(self.relative, other.relative),
            max(self.beside_all, other.beside_all),
            self.kinds | other.kinds,
            (self.same[0] + other.same[0], self.same[1] + other.same[1], self.same[2] + other.same[2]),
            self.endless + other.endless,
        )

    @property
    def level(self) -> Level:
        if self.different:
            return Level.DIFFERENT
        return Level.CLOSE if self.close else Level.EQUAL

    @property
    def errors(self) -> tuple[float, float]:
        """Root of the mean square over the elements that err, in ulp: of the original and of the candidate."""
        count = max(1, self.erring)
        return (self.squares[0] / count) ** 0.5, (self.squares[1] / count) ** 0.5

    @property
    def exact_enough(self) -> bool:
        original, candidate = self.errors
        return candidate <= _FACTOR * original + _OFFSET_ULP

    @property
    def same_exact_enough(self) -> bool:
        """As `exact_enough`, of the numbers that are the same."""
        count, original, candidate = self.same
        allowed = _FACTOR * math.sqrt(original / max(1, count)) + _OFFSET_ULP
        return math.sqrt(candidate / max(1, count)) <= allowed

    @property
    def off_by(self) -> float:
        """Root of the mean square, in ulp, of the candidate's distance from what the original is exactly."""
        return float((self.off[1] / max(1, self.off[0])) ** 0.5)

    @property
    def exact_unseen(self) -> bool:
        """Is the candidate as near to the original's exact values as it must be, whatever its shadows say?"""
        return self.off_by <= _FACTOR * self.errors[0] + _OFFSET_ULP


NOTHING = Account()


@dataclass(frozen=True)
class Shaded:
    """A chunk of a buffer and the shadows of what lies in it; `start` and the parts count bytes of the buffer."""

    start: int
    content: Bytes
    words: tuple[ShadowPart, ...]  # a record per 4 bytes
    halves: tuple[ShadowPart, ...] = ()  # per 2 bytes


def compare(
    field_: Field, original: Shaded, candidate: Shaded, undefined: Mask | None = None, symbolic: bool = False
) -> Account:
    """All numbers of the chunk that have a shadow on either side. `undefined` is true per byte that is not to count.

    `symbolic`: what one side never looked at has no unknown there, and is left out.
    """
    account = NOTHING
    for size in (4, 2):
        if original.content.size != candidate.content.size or original.content.size < size:
            continue
        tables = _Table.read(original, size), _Table.read(candidate, size)
        alike = undefined is None and tables[0].is_the_same_as(tables[1])
        for kind in (kind for kind in _TAGS if (_SIZES[kind] == 2) == (size == 2)):
            pair = _pair(kind, tables, symbolic)
            if pair is None:
                continue
            plain = _exact(kind, pair[0]) if alike else None
            account = account.joined(
                plain
                if plain is not None
                else _account(field_, kind, *pair, undefined, partial(tables[0].numbers, kind), original.start)
            )
    return account


def all_shades(kind: str, shaded: Shaded) -> Shades | None:
    """Of all numbers of the chunk, with and without a shadow; None where its size is not a multiple of theirs."""
    size = _SIZES[kind]
    if shaded.content.size % size or shaded.start % size or not shaded.content.size:
        return None
    table = _Table.read(shaded, 2 if size == 2 else 4)
    known = table.of(kind)
    places = np.arange(0, table.memory.size, 2 if kind == "double" else 1)
    return table.shades(kind, places, known)


def account_of(field_: Field, kind: str, original: Shades, candidate: Shades) -> Account:
    """Of numbers that were made of a buffer's."""
    return _account(field_, kind, original, candidate, None, lambda: original.value, 0)


def planted(original: Shaded) -> Shaded | None:
    """The same chunk with the last finite number that has a shadow off by a thousandth; None where there is none.

    By more where that is less than what is told apart: numbers that are all error, and those that came out as zero.
    """
    for kind, size in _SIZES.items():
        if original.content.size < size:
            continue
        table = _Table.read(original, size)
        known = table.of(kind)
        places = np.flatnonzero(known)
        shades = table.shades(kind, places, known)
        usable = np.flatnonzero(np.isfinite(shades.value) & np.isfinite(shades.exact))
        if not usable.size:
            continue
        last = int(usable[-1])
        exact, value = float(shades.exact[last]), float(shades.value[last])
        records = table.records.copy()
        row = records[int(places[last])]
        row[0] ^= np.uint64(1)
        least = max(abs(value - exact), float(ulps(kind, np.array([value]))[0]))
        shifted = exact + max(_PLANTED * abs(exact), _PLANTED_OF_ERROR * least)
        row[2] = np.float64(shifted).view(np.uint64)
        part = ShadowPart(original.start, records.tobytes())
        return replace(original, halves=(part,)) if size == 2 else replace(original, words=(part,))
    return None


def _pair(kind: str, tables: tuple[_Table, _Table], both: bool) -> tuple[Shades, Shades] | None:
    if not any(table.has(kind) for table in tables):
        return None
    here = [table.of(kind) for table in tables]
    places = np.flatnonzero(here[0] & here[1] if both else here[0] | here[1])
    if not places.size:
        return None
    left, right = (table.shades(kind, places, known) for table, known in zip(tables, here, strict=True))
    return left, right


def _exact(kind: str, shades: Shades) -> Account | None:
    """Of numbers that are the same on both sides, shadows included; None where they err."""
    finite = np.isfinite(shades.value)
    with np.errstate(invalid="ignore"):
        if np.any((shades.value - shades.exact - shades.rest)[finite]) or not np.isfinite(shades.exact[finite]).all():
            return None
    usable = finite & (shades.value != 0)
    relative = _FLOOR_UNITS * 2.0 ** (1 - _DIGITS[kind]) if usable.any() else 0.0
    return Account(elements=len(shades), relative=relative, kinds=frozenset({kind}))


@dataclass(frozen=True)
class _Table:
    """Records of one chunk, and its memory in the same units."""

    records: NDArray[np.uint64]  # n × 4
    memory: NDArray[np.uint64]  # n
    first: int  # unit of the chunk's first record, counted from the buffer's start
    content: Bytes

    @classmethod
    def read(cls, shaded: Shaded, size: int) -> _Table:
        unit = 2 if size == 2 else 4
        count = shaded.content.size // unit
        memory = shaded.content[: count * unit].view(np.uint16 if unit == 2 else np.uint32).astype(np.uint64)
        parts = shaded.halves if unit == 2 else shaded.words
        if len(parts) == 1 and parts[0].start == shaded.start and len(parts[0].content) == count * _RECORD_BYTES:
            whole = np.frombuffer(parts[0].content, dtype=np.uint64).reshape(-1, 4)
            return cls(whole, memory, shaded.start // unit, shaded.content)
        records = np.zeros((count, 4), dtype=np.uint64)
        for part in parts:
            rows = np.frombuffer(part.content, dtype=np.uint64).reshape(-1, 4)
            at = (part.start - shaded.start) // unit
            skip, rows_end = max(0, -at), min(rows.shape[0], count - at)
            if rows_end > skip:
                records[at + skip : at + rows_end] = rows[skip:rows_end]
        return cls(records, memory, shaded.start // unit, shaded.content)

    def is_the_same_as(self, other: _Table) -> bool:
        """Bit by bit, records that are void included."""
        return np.array_equal(self.memory, other.memory) and np.array_equal(self.records, other.records)

    def has(self, kind: str) -> bool:
        tags = (self.records[:, 3] >> np.uint64(32)).astype(np.uint8) & np.uint8(7)
        return bool((tags == _TAGS[kind]).any())

    def of(self, kind: str) -> Mask:
        """True for each unit where a number of this kind begins and its record is good."""
        words = self.records[:, 3]
        good: Mask = ((words & _LOW) == self.memory) & ((words >> np.uint64(32)) & np.uint64(7) == _TAGS[kind])
        if kind == "double":
            second = np.zeros_like(good)
            after = words[1:]
            second[:-1] = ((after & _LOW) == self.memory[1:]) & ((after >> np.uint64(32)) & np.uint64(7) == _SECOND)
            good &= second
            good[(1 - self.first % 2) :: 2] = False
        return good

    def numbers(self, kind: str) -> Floats:
        """All of the chunk, whether they have shadows or not."""
        step = 2 if kind == "double" else 1
        return self._values(kind, np.arange(self.first % step, self.memory.size - step + 1, step))

    def shades(self, kind: str, places: NDArray[np.intp], known: Mask) -> Shades:
        values = self._values(kind, places)
        mine = known[places]
        rows = self.records if places.size == len(self.records) else self.records[places]
        exact = np.where(mine, np.ascontiguousarray(rows[:, 2]).view(np.float64), values)
        rest = np.zeros_like(values)
        if kind == "double":
            rest = np.where(mine, self.records[places + 1, 0].copy().view(np.float64), 0.0)
        index = (places + self.first) // (2 if kind == "double" else 1)
        return Shades(index.astype(np.int64), rows[:, 0], mine, values, exact, rest)

    def _values(self, kind: str, places: NDArray[np.intp]) -> Floats:
        if kind == "double":
            bits = self.memory[places] | self.memory[places + 1] << np.uint64(32)
            doubles: Floats = bits.view(np.float64)
            return doubles
        bits32 = self.memory[places].astype(np.uint32)
        if kind == "half":
            return bits32.astype(np.uint16).view(np.float16).astype(np.float64)
        if kind == "bfloat":
            return np.asarray((bits32 << np.uint32(16)).view(np.float32), dtype=np.float64)
        floats: Floats = bits32.view(np.float32).astype(np.float64)
        return floats


def ulps(kind: str, values: Floats) -> Floats:
    """The distance between neighbouring numbers of this kind round each value."""
    finite = np.where(np.isfinite(values), values, 1.0)
    finite[finite == 0] = 0.5
    powers: Floats = (finite.view(np.uint64) & _EXPONENT).view(np.float64)  # the largest below each
    powers *= 2.0 ** (1 - _DIGITS[kind])
    return np.maximum(powers, 2.0 ** (_LEAST_EXPONENT[kind] - _DIGITS[kind]), out=powers)


def _account(
    field_: Field, kind: str, o: Shades, c: Shades, undefined: Mask | None, numbers: Callable[[], Floats], start: int
) -> Account:
    size = {"float": 4, "double": 8}.get(kind, 2)
    if undefined is not None:
        wanted = ~undefined[(o.index * size - start).astype(np.intp)]
        o, c = _only(o, wanted), _only(c, wanted)
    if not len(o):
        return NOTHING
    special = ~(np.isfinite(o.value) & np.isfinite(c.value))
    images = _images_equal(field_, o, c)
    overflows = ~(np.isfinite(o.value) | np.isfinite(c.value)) & images  # which way is a matter of the order
    same_special = special & ((o.value == c.value) | (np.isnan(o.value) & np.isnan(c.value)) | overflows)
    with np.errstate(invalid="ignore", over="ignore"):
        errors = [np.where(special, 0.0, np.abs(one.value - one.exact - one.rest)) for one in (o, c)]
        gap = np.abs((o.exact - c.exact) + (o.rest - c.rest))
        away = np.where(special, 0.0, np.abs(c.value - o.exact - o.rest))
    # Where both are finite but the exact values are not (an overflow that was divided away), nothing is known of these.
    unknown = ~(np.isfinite(o.exact) | np.isfinite(c.exact))
    endless = special & ~same_special & images & o.known & c.known & _overflowing(o, c)
    same_special |= endless
    gap = np.where(same_special | unknown, 0.0, np.where(special | ~np.isfinite(gap), np.inf, gap))
    *errors, away = (np.where(np.isfinite(error), error, 0.0) for error in (*errors, away))
    unit = ulps(kind, o.value)
    scale = _scale(o.exact)
    near = np.maximum(np.maximum(errors[0], unit), ulps(kind, np.array([scale * _SCALE_SHARE])))
    equal = images | same_special
    agree = _AGREE_DOUBLE if kind == "double" else _AGREE
    own = np.maximum(near, errors[1])
    level_a = equal & (gap <= agree * own)
    level_b = ~level_a & ((gap <= agree * np.maximum(errors[0], unit)) | equal & (gap <= _LARGEST_AGREE * own))
    different = ~(level_a | level_b)
    steps = ulps(kind, np.maximum(np.abs(np.where(special, 0.0, o.exact)), scale * _SCALE_SHARE))
    in_ulps = [error / steps for error in errors]
    erring = (errors[0] > 0) | (errors[1] > 0)
    same = [float(np.sum(one[~different] ** 2)) for one in in_ulps]
    return Account(
        elements=len(o),
        close=int(np.count_nonzero(level_b)),
        different=int(np.count_nonzero(different)),
        worst=_worst(o, c, gap / np.maximum(errors[0], unit), different),
        erring=int(np.count_nonzero(erring)),
        squares=(float(np.sum(in_ulps[0] ** 2)), float(np.sum(in_ulps[1] ** 2))),
        off=(int(np.count_nonzero((away > 0) | (errors[0] > 0))), float(np.sum((away / steps) ** 2))),
        largest=(float(np.max(in_ulps[0])), float(np.max(in_ulps[1]))),
        relative=_apart(kind, o, errors, scale),
        beside_all=_apart(kind, o, errors, scale_of(numbers())) if np.any(errors) else 0.0,
        kinds=frozenset({kind}),
        same=(int(np.count_nonzero(erring & ~different)), same[0], same[1]),
        endless=tuple((int(index) * size, size) for index in o.index[endless]),
    )


def _overflowing(o: Shades, c: Shades) -> Mask:
    """Where the original is infinite, or would be but for rounding, which keeps a divisor from zero.

    Where it would be NaN but for that, as zero times what is infinite, NaN is what the candidate may have.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        kept = np.abs(o.exact) > _KEPT_FROM_ZERO * np.abs(o.value)
    never = np.isinf(o.exact) & np.isfinite(c.exact)  # what is infinite has the image of some number
    undefined = np.isnan(o.exact) & np.isnan(c.exact) & np.isnan(c.value)
    found: Mask = (np.isinf(o.value) | kept) & ~(never | np.isnan(c.value)) | undefined
    return found


def _only(shades: Shades, wanted: Mask) -> Shades:
    return replace(shades, **{name: getattr(shades, name)[wanted] for name in shades.__dataclass_fields__})


def _scale(values: Floats) -> float:
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    return float(np.median(sizes)) if sizes.size else 0.0


def _apart(kind: str, o: Shades, errors: list[Floats], scale: float) -> float:
    """How far from the original's values the candidate's may be, relative, in whatever order it runs."""
    size = np.maximum(np.abs(o.value), scale)
    usable = np.isfinite(size) & (size > 0)
    if not usable.any():
        return 0.0
    both = errors[0][usable] + _ORDER_FACTOR * errors[1][usable]
    floor = _FLOOR_UNITS * 2.0 ** (1 - _DIGITS[kind])
    return float(np.max(both / size[usable])) + floor


def _images_equal(field_: Field, o: Shades, c: Shades) -> Mask:
    """Numbers without a shadow have the image of themselves; as many as are worth the while get it."""
    both: Mask = o.known & c.known & (o.image == c.image)
    lone = np.flatnonzero(o.known != c.known)
    for at in lone[:_MOST_IMAGES]:
        bare, other = (c, o) if o.known[at] else (o, c)
        value = float(bare.value[at])
        both[at] = bool(np.isfinite(value)) and field_.image(value) == int(other.image[at])
    return both


def _worst(o: Shades, c: Shades, units: Floats, different: Mask) -> Worst | None:
    places = np.flatnonzero(different)
    if not places.size:
        return None
    at = int(places[np.argmax(units[places])])
    values = float(o.value[at]), float(c.value[at])
    if not all(map(math.isfinite, values)):
        return Worst(int(o.index[at]), *values, float(units[at]))
    return Worst(int(o.index[at]), float(o.exact[at]), float(c.exact[at]), float(units[at]))
