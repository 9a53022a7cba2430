"""How numbers of the MI200 are added, rounded, packed and permuted, by NumPy and exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
U16, U32, U64 = np.dtype(np.uint16), np.dtype(np.uint32), np.dtype(np.uint64)
I16, I32, I64 = np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64)
_LEAST_EXPONENT = {F16: -24, F32: -149, F64: -1074}
_DIGITS = {F16: 11, F32: 24, F64: 53}


def rounded(exact: Fraction, kind: np.dtype[Any]) -> float:
    """To nearest, ties to even, once; too large becomes infinite."""
    if exact == 0:
        return 0.0
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    unit = Fraction(2) ** max(exponent - _DIGITS[kind] + 1, _LEAST_EXPONENT[kind])
    value = round(magnitude / unit) * unit
    largest = Fraction(float(np.finfo(kind).max))
    return (math.inf if value > largest else float(value)) * (1 if exact > 0 else -1)


def fused(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, rounded once."""
    kind = a.dtype
    out = np.array(a.astype(F64) * b.astype(F64) + c.astype(F64)).astype(kind)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for lane in np.flatnonzero(finite):
        exact = Fraction(float(a[lane])) * Fraction(float(b[lane])) + Fraction(float(c[lane]))
        if exact != 0:
            out[lane] = rounded(exact, kind)
        else:
            product_negative = np.signbit(a[lane]) != np.signbit(b[lane])
            out[lane] = -0.0 if product_negative and np.signbit(c[lane]) else 0.0
    return out


def least(a: Array, b: Array) -> Array:
    smaller = np.where((a < b) | ((a == b) & np.signbit(a)), a, b)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, smaller))


def greatest(a: Array, b: Array) -> Array:
    larger = np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, larger))


def middle(a: Array, b: Array, c: Array) -> Array:
    lost = np.isnan(a) | np.isnan(b) | np.isnan(c)
    return np.where(lost, least(least(a, b), c), greatest(least(a, b), least(greatest(a, b), c)))


def middle_integer(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def to_integer(kind: np.dtype[Any]) -> Callable[[Array], Array]:
    limits = np.iinfo(kind)

    def convert(a: Array) -> Array:
        wide = np.trunc(np.where(np.isnan(a), 0, a).astype(F64))
        return np.clip(wide, float(limits.min), float(limits.max)).astype(I64).astype(kind)

    return convert


def fraction(a: Array) -> Array:
    below_one = np.nextafter(np.array(1, a.dtype), np.array(0, a.dtype))
    return np.minimum((a.astype(F64) - np.floor(a.astype(F64))).astype(a.dtype), below_one)


def mantissa(a: Array) -> Array:
    return np.where(np.isfinite(a), np.frexp(a)[0], a)


def exponent(a: Array) -> Array:
    return np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(I32)


def by_double(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda a: function(a.astype(F64)).astype(a.dtype)


def bits_reversed(a: Array) -> Array:
    out = np.zeros_like(a)
    for n in range(32):
        out |= (a >> U32.type(n) & U32.type(1)) << U32.type(31 - n)
    return out


def per_lane(function: Callable[..., int], kind: np.dtype[Any] = U32) -> Callable[..., Array]:
    """From a function of whole numbers."""
    bits = 8 * kind.itemsize

    def compute(*sources: Array) -> Array:
        values = [function(*map(int, lane)) % (1 << bits) for lane in zip(*sources, strict=True)]
        return np.array(values, dtype=np.dtype(f"u{kind.itemsize}")).view(kind)

    return compute


def signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


def field(a: int, offset: int, width: int) -> int:
    return a >> (offset & 31) & ((1 << (width & 31)) - 1)


def signed_field(a: int, offset: int, width: int) -> int:
    offset, width = offset & 31, width & 31
    return 0 if width == 0 else signed(signed(a, 32) >> offset, width)


def byte(value: int, n: int) -> int:
    return value >> 8 * n & 255


def permuted(a: int, b: int, selector: int) -> int:
    whole = a << 32 | b
    out = 0
    for n in range(4):
        choice = byte(selector, n)
        if choice < 8:
            found = byte(whole, choice)
        elif choice < 12:
            found = 255 if byte(whole, 2 * choice - 15) & 128 else 0
        else:
            found = 0 if choice == 12 else 255
        out |= found << 8 * n
    return out


def sad(a: int, b: int, masked: bool = False) -> int:
    return sum(abs(byte(a, n) - byte(b, n)) for n in range(4) if not masked or byte(b, n))


def lerped(a: int, b: int, c: int) -> int:
    return sum(((byte(a, n) + byte(b, n) + (byte(c, n) & 1)) >> 1) << 8 * n for n in range(4))


def leading(a: int) -> int:
    return 32 - a.bit_length() if a else -1


def sign_run(a: int) -> int:
    return leading(a ^ (0xFFFFFFFF if a >> 31 else 0))


def half_bits(a: Array, toward_zero: bool = False) -> Array:
    out = a.astype(F16)
    if toward_zero:
        beyond = np.abs(out.astype(F64)) > np.abs(a.astype(F64))
        out = np.where(beyond, np.nextafter(out, F16.type(0)), out).astype(F16)
    return np.where(np.isnan(a), F16.type(np.nan), out).astype(F16).view(U16).astype(U32)


def normalized(low: float, factor: float) -> Callable[[Array], Array]:
    def compute(a: Array) -> Array:
        bounded = np.clip(np.where(np.isnan(a), 0, a).astype(F32), F32.type(low), F32.type(1))
        return np.rint(bounded * F32.type(factor)).astype(I64).astype(U16).astype(U32)

    return compute


def without_denormals(a: Array) -> Array:
    return np.where(np.abs(a) < np.finfo(a.dtype).tiny, np.copysign(a.dtype.type(0), a), a)


def unfused(a: Array, b: Array, c: Array) -> Array:
    a, b, c = (without_denormals(values) for values in (a, b, c))
    return without_denormals((a * b).astype(a.dtype) + c)


def fixed_up(quotient: Array, denominator: Array, numerator: Array) -> Array:
    """What is not a plain number comes from dividing; the rest from the quotient so far, with the right sign."""
    with np.errstate(all="ignore"):
        divided = numerator.astype(F64) / denominator.astype(F64)
        special = ~np.isfinite(denominator) | ~np.isfinite(numerator) | (denominator == 0) | (numerator == 0)
        limits = np.finfo(quotient.dtype)
        apart = np.log2(np.abs(numerator.astype(F64))) - np.log2(np.abs(denominator.astype(F64)))
        beyond = apart >= limits.maxexp + 1
        lost = apart < -(limits.maxexp + limits.nmant + 2)
        plain = np.copysign(quotient, divided)
        zero, endless = np.copysign(0, divided), np.copysign(np.inf, divided)
        found = np.where(special, divided, np.where(beyond, endless, np.where(lost, zero, plain)))
    return found.astype(quotient.dtype)
