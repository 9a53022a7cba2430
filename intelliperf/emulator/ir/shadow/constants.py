"""Literals mean what their author wrote: 0.1f is 1/10, 0.33333334f is 1/3, 1.44269504f is 1 / ln 2, 1.09861231f ln 3.

Compilers calculate logarithms of constants, so that what was logf(3.0f) arrives as a literal.

The images of these numbers in the fields are made when the module is loaded, since the prime is a secret of each run.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction

_LARGEST_DENOMINATOR = 1000  # of fractions that a literal may stand for
_EXACT_DENOMINATOR = 64  # dyadic numbers up to this are meant as they are
_DIGITS = {"float": 7, "double": 15}  # decimals of so many digits are told apart by the type
_UNITS = ((1, math.log(2.0)), (2, 1.0 / math.log(2.0)))
_OF_TEN = {-1: math.log10(2.0), -2: 1.0 / math.log10(2.0), -10: 1.0 / math.log(10.0)}
_LARGEST_LOGARITHM = 100  # whose logarithm a literal may stand for
_LOGARITHMS = {n: math.log(n) for n in range(3, _LARGEST_LOGARITHM + 1) if n & (n - 1)}
_MOST = 1 << 62
_SMALL = 1 << 40


@dataclass(frozen=True)
class Number:
    """`value` times a unit.

    0 is 1, 1 is ln 2, 2 is 1 / ln 2; n from 3 on is ln n, -n is 1 / ln n; -1 is log10 2, -2 is log2 10.
    """

    value: Fraction
    unit: int = 0

    def inverse(self) -> Number:
        return Number(1 / self.value, {0: 0, 1: 2, 2: 1, -1: -2, -2: -1}.get(self.unit, -self.unit))

    def doubles(self) -> tuple[float, float]:
        """The number as the sum of two doubles."""
        if self.unit:
            logarithm = _LOGARITHMS.get(abs(self.unit), 1.0)
            known = {**dict(_UNITS), **_OF_TEN}
            unit = known.get(self.unit, logarithm if self.unit > 0 else 1.0 / logarithm)
            return unit * float(self.value), 0.0
        high = float(self.value)
        return high, float(self.value - Fraction(high)) if math.isfinite(high) else 0.0


def rounded(value: float, kind: str) -> float:
    """To the nearest number of a type; half and bfloat literals are exact and stay as they are."""
    if kind != "float":
        return value
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def meant(value: float, kind: str) -> Number:
    """The number that a finite literal of this type stands for."""
    exact = Fraction(value)
    if exact.denominator <= _EXACT_DENOMINATOR or kind not in _DIGITS:
        return Number(exact)
    mantissa, exponent = math.frexp(abs(value))
    for unit, constant in _UNITS:
        same, power = math.frexp(constant)
        if rounded(mantissa, kind) == rounded(same, kind):
            scale = Fraction(2) ** (exponent - power)
            return Number(scale if value > 0 else -scale, unit)
    for natural, logarithm in (*_OF_TEN.items(), *_LOGARITHMS.items()):
        if rounded(abs(value), kind) == rounded(logarithm, kind):
            return Number(Fraction(1 if value > 0 else -1), natural)
    simple = exact.limit_denominator(_LARGEST_DENOMINATOR)
    if simple and rounded(float(simple), kind) == value:
        return Number(simple)
    decimal = f"{value:.{_DIGITS[kind] - 1}e}"
    if rounded(float(decimal), kind) == value:
        return Number(Fraction(decimal))
    return Number(exact)


def parse(text: str) -> float:
    """A literal of LLVM's text: decimal, or the bits of a double; halves and bfloats have their own letters."""
    if text.startswith("0xH"):
        return float(struct.unpack("<e", int(text[3:], 16).to_bytes(2, "little"))[0])
    if text.startswith("0xR"):
        return float(struct.unpack("<f", (int(text[3:], 16) << 16).to_bytes(4, "little"))[0])
    if text.startswith("0x"):
        return float(struct.unpack("<d", int(text[2:], 16).to_bytes(8, "little"))[0])
    return float(text)


def double_text(value: float) -> str:
    """A double as LLVM's text has it, whatever it is."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


@dataclass
class LiteralTable:
    """The module's numbers, by their index."""

    numbers: dict[Number, int] = field(default_factory=dict)

    def index(self, number: Number) -> int:
        return self.numbers.setdefault(number, len(self.numbers))

    def small(self, number: Number) -> int | None:
        """A natural number that is its own image in every field."""
        whole = number.unit == 0 and number.value.denominator == 1 and 0 <= number.value < _SMALL
        return int(number.value) if whole else None

    def definitions(self) -> list[str]:
        """The table that the runtime reads, and the one that it fills with a and b of each."""
        rows = [f"%simt.literal {_row(number)}" for number in self.numbers]
        body = f"[{', '.join(rows)}]" if rows else "zeroinitializer"
        return [
            "%simt.literal = type { i64, i64, i32, i32, i32, i32 }",
            f"@__simt_shadow_literals = constant [{max(1, len(rows))} x %simt.literal] "
            + (body if rows else "[%simt.literal zeroinitializer]"),
            f"@__simt_shadow_literal_count = constant i64 {len(rows)}",
            f"@__simt_shadow_images = global [{max(1, 2 * len(rows))} x i64] zeroinitializer, align 16",
        ]


def _row(number: Number) -> str:
    numerator, denominator = number.value.numerator, number.value.denominator
    two = ten = 0
    while numerator and numerator % 10 == 0 and abs(numerator) > _MOST:
        numerator, ten = numerator // 10, ten + 1
    while numerator and numerator % 2 == 0:
        numerator, two = numerator // 2, two + 1
    while denominator % 10 == 0:
        denominator, ten = denominator // 10, ten - 1
    while denominator % 2 == 0:
        denominator, two = denominator // 2, two - 1
    while denominator > _MOST and denominator % 5 == 0:  # 1 / 5 is 2 / 10
        denominator, ten, two = denominator // 5, ten - 1, two + 1
    return f"{{ i64 {numerator}, i64 {denominator}, i32 {two}, i32 {ten}, i32 {number.unit}, i32 0 }}"
