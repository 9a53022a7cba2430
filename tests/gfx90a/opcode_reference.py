"""What each vector instruction computes, by NumPy: an independent reading of the MI200 ISA reference.

A row of a table: name, type of the result, types of the sources, function of arrays, units in the last place allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from opcode_arithmetic import (
    F16,
    F32,
    F64,
    I16,
    I32,
    I64,
    U16,
    U32,
    U64,
    Array,
    by_double,
    exponent,
    field,
    fixed_up,
    fraction,
    fused,
    greatest,
    half_bits,
    leading,
    least,
    lerped,
    mantissa,
    middle,
    normalized,
    per_lane,
    permuted,
    sad,
    sign_run,
    signed,
    signed_field,
    to_integer,
    unfused,
)


@dataclass(frozen=True)
class Operation:
    name: str
    result: np.dtype[Any]
    sources: tuple[np.dtype[Any], ...]
    compute: Callable[..., Array]
    ulps: int = 0
    accumulates: bool = False


def unary(name: str, kind: np.dtype[Any], compute: Callable[[Array], Array], ulps: int = 0) -> Operation:
    return Operation(name, kind, (kind,), compute, ulps)


def binary(name: str, kind: np.dtype[Any], compute: Callable[[Array, Array], Array]) -> Operation:
    return Operation(name, kind, (kind, kind), compute)


def ternary(name: str, kind: np.dtype[Any], compute: Callable[[Array, Array, Array], Array]) -> Operation:
    return Operation(name, kind, (kind, kind, kind), compute)


def _float_operations(kind: np.dtype[Any]) -> list[Operation]:
    bits = 8 * kind.itemsize
    found = [
        unary(f"v_{name}_f{bits}", kind, by_double(function))
        for name, function in {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rndne": np.rint}.items()
    ]
    found += [
        unary(f"v_fract_f{bits}", kind, fraction),
        unary(f"v_rcp_f{bits}", kind, by_double(lambda a: 1 / a), 1),
        unary(f"v_rsq_f{bits}", kind, by_double(lambda a: 1 / np.sqrt(a)), 1),
        unary(f"v_sqrt_f{bits}", kind, by_double(np.sqrt), 1),
        unary(f"v_frexp_mant_f{bits}", kind, mantissa),
        binary(f"v_add_f{bits}", kind, lambda a, b: a + b),
        binary(f"v_mul_f{bits}", kind, lambda a, b: a * b),
        binary(f"v_min_f{bits}", kind, least),
        binary(f"v_max_f{bits}", kind, greatest),
        ternary(f"v_fma_f{bits}", kind, fused),
    ]
    if kind == F64:
        return [*found, Operation("v_fmac_f64", kind, (kind, kind, kind), fused, accumulates=True)]
    return [
        *found,
        unary(f"v_exp_f{bits}", kind, by_double(np.exp2), 1),
        unary(f"v_log_f{bits}", kind, by_double(np.log2), 1),
        unary(f"v_sin_f{bits}", kind, by_double(lambda a: np.sin((a - np.floor(a)) * 2 * np.pi)), 1),
        unary(f"v_cos_f{bits}", kind, by_double(lambda a: np.cos((a - np.floor(a)) * 2 * np.pi)), 1),
        binary(f"v_sub_f{bits}", kind, lambda a, b: a - b),
        binary(f"v_subrev_f{bits}", kind, lambda a, b: b - a),
        ternary(f"v_min3_f{bits}", kind, lambda a, b, c: least(least(a, b), c)),
        ternary(f"v_max3_f{bits}", kind, lambda a, b, c: greatest(greatest(a, b), c)),
        ternary(f"v_med3_f{bits}", kind, middle),
    ]


FLOATS = [
    *_float_operations(F16),
    *_float_operations(F32),
    *_float_operations(F64),
    Operation("v_fmac_f32", F32, (F32, F32, F32), fused, accumulates=True),
    Operation("v_mac_f32", F32, (F32, F32, F32), unfused, accumulates=True),
    ternary("v_mad_f32", F32, unfused),
    Operation("v_ldexp_f64", F64, (F64, I32), lambda a, b: np.ldexp(a, np.clip(b, -4000, 4000))),
    Operation("v_ldexp_f16", F16, (F16, I16), lambda a, b: np.ldexp(a.astype(F64), np.clip(b, -99, 99)).astype(F16)),
    ternary("v_div_fixup_f32", F32, fixed_up),
    Operation("v_frexp_exp_i32_f32", I32, (F32,), exponent),
    Operation("v_frexp_exp_i32_f64", I32, (F64,), exponent),
    Operation("v_frexp_exp_i16_f16", I16, (F16,), lambda a: exponent(a).astype(I16)),
    Operation("v_ldexp_f32", F32, (F32, I32), lambda a, b: np.ldexp(a.astype(F64), np.clip(b, -400, 400)).astype(F32)),
    binary("v_mul_legacy_f32", F32, lambda a, b: np.where((a == 0) | (b == 0), F32.type(0), a * b)),
    Operation("v_rcp_iflag_f32", F32, (F32,), by_double(lambda a: 1 / a), 1),
    Operation("v_exp_legacy_f32", F32, (F32,), by_double(np.exp2), 1),
    Operation("v_log_legacy_f32", F32, (F32,), by_double(np.log2), 1),
]

CONVERSIONS = [
    Operation("v_cvt_f32_i32", F32, (I32,), lambda a: a.astype(F32)),
    Operation("v_cvt_f32_u32", F32, (U32,), lambda a: a.astype(F32)),
    Operation("v_cvt_i32_f32", I32, (F32,), to_integer(I32)),
    Operation("v_cvt_u32_f32", U32, (F32,), to_integer(U32)),
    Operation("v_cvt_rpi_i32_f32", I32, (F32,), lambda a: to_integer(I32)(np.floor(a.astype(F64) + 0.5))),
    Operation("v_cvt_flr_i32_f32", I32, (F32,), lambda a: to_integer(I32)(np.floor(a))),
    Operation("v_cvt_off_f32_i4", F32, (U32,), lambda a: (((a.astype(I64) + 8) % 16 - 8) / 16).astype(F32)),
    Operation("v_cvt_f16_f32", F16, (F32,), lambda a: a.astype(F16)),
    Operation("v_cvt_f32_f16", F32, (F16,), lambda a: a.astype(F32)),
    Operation("v_cvt_f32_f64", F32, (F64,), lambda a: a.astype(F32)),
    Operation("v_cvt_f64_f32", F64, (F32,), lambda a: a.astype(F64)),
    Operation("v_cvt_f64_i32", F64, (I32,), lambda a: a.astype(F64)),
    Operation("v_cvt_f64_u32", F64, (U32,), lambda a: a.astype(F64)),
    Operation("v_cvt_i32_f64", I32, (F64,), to_integer(I32)),
    Operation("v_cvt_u32_f64", U32, (F64,), to_integer(U32)),
    *[
        Operation(f"v_cvt_f32_ubyte{n}", F32, (U32,), lambda a, n=n: (a >> U32.type(8 * n) & U32.type(255)).astype(F32))
        for n in range(4)
    ],
    Operation("v_cvt_f16_u16", F16, (U16,), lambda a: a.astype(F16)),
    Operation("v_cvt_f16_i16", F16, (I16,), lambda a: a.astype(F16)),
    Operation("v_cvt_u16_f16", U16, (F16,), to_integer(U16)),
    Operation("v_cvt_i16_f16", I16, (F16,), to_integer(I16)),
    Operation("v_cvt_norm_i16_f16", U16, (F16,), lambda a: normalized(-1, 32767)(a).astype(U16)),
    Operation("v_cvt_norm_u16_f16", U16, (F16,), lambda a: normalized(0, 65535)(a).astype(U16)),
    Operation(
        "v_cvt_pkrtz_f16_f32", U32, (F32, F32), lambda a, b: half_bits(a, True) | half_bits(b, True) << U32.type(16)
    ),
    Operation(
        "v_cvt_pknorm_i16_f32",
        U32,
        (F32, F32),
        lambda a, b: normalized(-1, 32767)(a) | normalized(-1, 32767)(b) << U32.type(16),
    ),
    Operation(
        "v_cvt_pknorm_u16_f32",
        U32,
        (F32, F32),
        lambda a, b: normalized(0, 65535)(a) | normalized(0, 65535)(b) << U32.type(16),
    ),
    Operation("v_cvt_pk_u16_u32", U32, (U32, U32), per_lane(lambda a, b: min(a, 65535) | min(b, 65535) << 16)),
    Operation(
        "v_cvt_pk_i16_i32",
        U32,
        (I32, I32),
        per_lane(lambda a, b: (max(-32768, min(a, 32767)) & 65535) | (max(-32768, min(b, 32767)) & 65535) << 16),
    ),
    Operation(
        "v_cvt_pk_u8_f32",
        U32,
        (F32, U32, U32),
        lambda a, b, c: per_lane(
            lambda found, place, word: (word & ~(255 << 8 * (place & 3))) | found << 8 * (place & 3)
        )(np.clip(np.trunc(np.where(np.isnan(a), 0, a)), 0, 255).astype(U32), b, c),
    ),
    Operation("v_pack_b32_f16", U32, (U16, U16), per_lane(lambda a, b: a | b << 16)),
]

_WORDS: dict[str, Callable[..., int]] = {
    "v_mov_b32": lambda a: a,
    "v_not_b32": lambda a: ~a,
    "v_bfrev_b32": lambda a: int(f"{a:032b}"[::-1], 2),
    "v_ffbh_u32": leading,
    "v_ffbl_b32": lambda a: (a & -a).bit_length() - 1 if a else -1,
    "v_ffbh_i32": sign_run,
    "v_sat_pk_u8_i16": lambda a: max(0, min(255, signed(a, 16))) | max(0, min(255, signed(a >> 16, 16))) << 8,
    "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b),
    "v_lshrrev_b32": lambda a, b: b >> (a & 31),
    "v_lshlrev_b32": lambda a, b: b << (a & 31),
    "v_ashrrev_i32": lambda a, b: signed(b, 32) >> (a & 31),
    "v_add_u32": lambda a, b: a + b,
    "v_sub_u32": lambda a, b: a - b,
    "v_subrev_u32": lambda a, b: b - a,
    "v_add_i32": lambda a, b: a + b,
    "v_sub_i32": lambda a, b: a - b,
    "v_min_i32": lambda a, b: min(signed(a, 32), signed(b, 32)),
    "v_max_i32": lambda a, b: max(signed(a, 32), signed(b, 32)),
    "v_min_u32": min,
    "v_max_u32": max,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: signed(a, 32) * signed(b, 32) >> 32,
    "v_mul_i32_i24": lambda a, b: signed(a, 24) * signed(b, 24),
    "v_mul_hi_i32_i24": lambda a, b: signed(a, 24) * signed(b, 24) >> 32,
    "v_mul_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_hi_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_bcnt_u32_b32": lambda a, b: bin(a).count("1") + b,
    "v_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
    "v_bfe_u32": field,
    "v_bfe_i32": signed_field,
    "v_bfi_b32": lambda a, b, c: (a & b) | (~a & c),
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_perm_b32": permuted,
    "v_lerp_u8": lerped,
    "v_sad_u8": lambda a, b, c: sad(a, b) + c,
    "v_sad_hi_u8": lambda a, b, c: (sad(a, b) << 16) + c,
    "v_msad_u8": lambda a, b, c: sad(a, b, True) + c,
    "v_sad_u16": lambda a, b, c: abs((a & 65535) - (b & 65535)) + abs((a >> 16) - (b >> 16)) + c,
    "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_mad_i32_i24": lambda a, b, c: signed(a, 24) * signed(b, 24) + c,
    "v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b) << (c & 31),
    "v_lshl_or_b32": lambda a, b, c: (a << (b & 31)) | c,
    "v_and_or_b32": lambda a, b, c: (a & b) | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_min3_i32": lambda a, b, c: min(signed(a, 32), signed(b, 32), signed(c, 32)),
    "v_max3_i32": lambda a, b, c: max(signed(a, 32), signed(b, 32), signed(c, 32)),
    "v_med3_i32": lambda a, b, c: sorted((signed(a, 32), signed(b, 32), signed(c, 32)))[1],
    "v_min3_u32": min,
    "v_max3_u32": max,
    "v_med3_u32": lambda a, b, c: sorted((a, b, c))[1],
}
_ARITY = {"v_min_u32": 2, "v_max_u32": 2, "v_min3_u32": 3, "v_max3_u32": 3}


def _arity(name: str, function: Callable[..., int]) -> int:
    return _ARITY.get(name) or function.__code__.co_argcount


_SHORTS: dict[str, Callable[..., int]] = {
    "v_add_u16": lambda a, b: a + b,
    "v_sub_u16": lambda a, b: a - b,
    "v_subrev_u16": lambda a, b: b - a,
    "v_add_i16": lambda a, b: a + b,
    "v_sub_i16": lambda a, b: a - b,
    "v_mul_lo_u16": lambda a, b: a * b,
    "v_lshlrev_b16": lambda a, b: b << (a & 15),
    "v_lshrrev_b16": lambda a, b: b >> (a & 15),
    "v_ashrrev_i16": lambda a, b: signed(b, 16) >> (a & 15),
    "v_max_u16": lambda a, b: max(a, b),
    "v_min_u16": lambda a, b: min(a, b),
    "v_max_i16": lambda a, b: max(signed(a, 16), signed(b, 16)),
    "v_min_i16": lambda a, b: min(signed(a, 16), signed(b, 16)),
    "v_mad_u16": lambda a, b, c: a * b + c,
    "v_mad_i16": lambda a, b, c: a * b + c,
    "v_min3_i16": lambda a, b, c: min(signed(a, 16), signed(b, 16), signed(c, 16)),
    "v_max3_i16": lambda a, b, c: max(signed(a, 16), signed(b, 16), signed(c, 16)),
    "v_med3_i16": lambda a, b, c: sorted((signed(a, 16), signed(b, 16), signed(c, 16)))[1],
    "v_min3_u16": lambda a, b, c: min(a, b, c),
    "v_max3_u16": lambda a, b, c: max(a, b, c),
    "v_med3_u16": lambda a, b, c: sorted((a, b, c))[1],
}

INTEGERS = [
    *[Operation(name, U32, (U32,) * _arity(name, f), per_lane(f)) for name, f in _WORDS.items()],
    *[Operation(name, U16, (U16,) * f.__code__.co_argcount, per_lane(f, U16)) for name, f in _SHORTS.items()],
    Operation("v_lshlrev_b64", U64, (U32, U64), per_lane(lambda a, b: b << (a & 63), U64)),
    Operation("v_lshrrev_b64", U64, (U32, U64), per_lane(lambda a, b: b >> (a & 63), U64)),
    Operation("v_ashrrev_i64", U64, (U32, U64), per_lane(lambda a, b: signed(b, 64) >> (a & 63), U64)),
    Operation("v_mad_u32_u16", U32, (U16, U16, U32), per_lane(lambda a, b, c: a * b + c)),
    Operation("v_mad_i32_i16", U32, (I16, I16, U32), per_lane(lambda a, b, c: a * b + c)),
]

_EDGES = {
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, math.inf, -math.inf, math.nan, 65504.0, 2.0**31, -(2.0**31), 2.0**32, 1e-5],
    "u": [0, 1, 2, 31, 32, 33, 63, 64, 255, 256, 0x7FFF, 0x8000, 0xFFFF],
}


def samples(kind: np.dtype[Any], generator: np.random.Generator, shift: int) -> Array:
    """64 values: the edges of the type, in another order for each source, then random bits and moderate numbers."""
    if kind.kind == "f":
        limits = np.finfo(kind)
        with np.errstate(over="ignore"):
            edges = np.array([*_EDGES["f"]], F64).astype(kind)
            extremes = np.array(
                [limits.max, -limits.max, limits.tiny, limits.smallest_subnormal, -limits.smallest_subnormal], kind
            )
            moderate = (generator.standard_normal(25) * 10.0 ** generator.integers(-3, 4, 25)).astype(kind)
        known = np.concatenate([edges, extremes, moderate])
        random_bits = generator.integers(0, 256, (64 - len(known)) * kind.itemsize, np.uint8).view(kind)
        random_values = np.where(np.isnan(random_bits), kind.type(1.5), random_bits)
        return np.roll(np.concatenate([known, random_values]), 7 * shift).astype(kind)
    unsigned_kind = np.dtype(f"u{kind.itemsize}")
    bits = 8 * kind.itemsize
    top = [(1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << (bits - 1)) + 1, (1 << bits) - 2]
    known = np.array([*_EDGES["u"], *top], np.uint64).astype(unsigned_kind)
    random_values = generator.integers(0, 256, (64 - len(known)) * kind.itemsize, np.uint8).view(unsigned_kind)
    return np.roll(np.concatenate([known, random_values]), 7 * shift).view(kind)


def integers(dtype: str, shift: int) -> np.ndarray:
    """The same samples in every test."""
    return samples(np.dtype(dtype), np.random.default_rng(9), shift)
