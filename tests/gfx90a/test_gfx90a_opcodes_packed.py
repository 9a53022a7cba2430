"""Vector instructions of the software gfx90a on pairs, halves and dot products, and in the modes of rounding."""

from __future__ import annotations

import numpy as np
import pytest
from opcode_arithmetic import F16, F32, fused, signed
from opcode_cases import ALL_LANES, Case, rows_of, run
from opcode_reference import integers, samples

pytestmark = [pytest.mark.gfx90a, pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")]
_M32, _M64 = 0xFFFFFFFF, ALL_LANES


def _halves(words: np.ndarray, kind: np.dtype) -> np.ndarray:
    return words.view(np.uint16).reshape(64, 2).copy().view(kind)


def test_pairs_of_halves_are_computed_at_once() -> None:
    generator = np.random.default_rng(4)
    sources = [np.stack([samples(F16, generator, n), samples(F16, generator, n + 3)], axis=1) for n in range(3)]
    rows = {
        place: source.copy().view(np.uint32).reshape(64) for place, source in zip((10, 12, 14), sources, strict=True)
    }
    a, b, c = sources
    with np.errstate(all="ignore"):
        wanted = {
            "v_pk_add_f16 v0, v10, v12": a + b,
            "v_pk_mul_f16 v0, v10, v12 op_sel:[1,0] op_sel_hi:[0,1]": a[:, ::-1] * b,
            "v_pk_fma_f16 v0, v10, v12, v14 neg_lo:[1,0,0] neg_hi:[0,1,0]": np.stack(
                [fused(-a[:, 0], b[:, 0], c[:, 0]), fused(a[:, 1], -b[:, 1], c[:, 1])], axis=1
            ),
        }
    cases = [Case(text, {}, rows, (), (0,)) for text in wanted]
    for case, values, outcome in zip(cases, wanted.values(), run(cases), strict=True):
        found = _halves(outcome.rows[0], F16)
        same = (found == values) | (np.isnan(found) & np.isnan(values))
        assert same.all(), case.text


def test_pairs_of_short_integers_wrap_and_saturate() -> None:
    generator = np.random.default_rng(5)
    a, b, c = (
        np.stack([samples(np.dtype("i2"), generator, n), samples(np.dtype("i2"), generator, n + 2)], 1)
        for n in range(3)
    )
    rows = {
        place: source.copy().view(np.uint32).reshape(64) for place, source in zip((10, 12, 14), (a, b, c), strict=True)
    }
    wide_a, wide_b, wide_c = (source.astype(np.int64) for source in (a, b, c))
    ua, ub = wide_a & 0xFFFF, wide_b & 0xFFFF
    wanted = {
        "v_pk_add_i16 v0, v10, v12": wide_a + wide_b,
        "v_pk_add_i16 v0, v10, v12 clamp": np.clip(wide_a + wide_b, -32768, 32767),
        "v_pk_sub_u16 v0, v10, v12 clamp": np.maximum(ua - ub, 0),
        "v_pk_mul_lo_u16 v0, v10, v12": ua * ub,
        "v_pk_mad_i16 v0, v10, v12, v14": wide_a * wide_b + wide_c,
        "v_pk_lshlrev_b16 v0, v10, v12": ub << (ua & 15),
        "v_pk_lshrrev_b16 v0, v10, v12": ub >> (ua & 15),
        "v_pk_ashrrev_i16 v0, v10, v12": wide_b >> (ua & 15),
        "v_pk_max_i16 v0, v10, v12": np.maximum(wide_a, wide_b),
        "v_pk_min_u16 v0, v10, v12": np.minimum(ua, ub),
    }
    cases = [Case(text, {}, rows, (), (0,)) for text in wanted]
    for case, values, outcome in zip(cases, wanted.values(), run(cases), strict=True):
        assert (_halves(outcome.rows[0], np.dtype("u2")) == (values & 0xFFFF).astype(np.uint16)).all(), case.text


def test_pairs_of_floats_and_moves_choose_their_registers() -> None:
    generator = np.random.default_rng(6)
    a, b, c = (np.stack([samples(F32, generator, n), samples(F32, generator, n + 2)], axis=1) for n in range(3))
    rows = {
        place + n: source[:, n].copy().view(np.uint32) for place, source in ((10, a), (12, b), (14, c)) for n in (0, 1)
    }
    with np.errstate(all="ignore"):
        wanted = {
            "v_pk_add_f32 v[0:1], v[10:11], v[12:13]": a + b,
            "v_pk_mul_f32 v[0:1], v[10:11], v[12:13] op_sel_hi:[0,1]": a[:, :1] * b,
            "v_pk_add_f32 v[0:1], v[10:11], v[12:13] neg_lo:[0,1] neg_hi:[0,1]": a - b,
            "v_pk_fma_f32 v[0:1], v[10:11], v[12:13], v[14:15]": np.stack(
                [fused(a[:, n], b[:, n], c[:, n]) for n in (0, 1)], axis=1
            ),
            "v_pk_mov_b32 v[0:1], v[10:11], v[12:13] op_sel:[1,0]": np.stack([a[:, 1], b[:, 0]], axis=1),
        }
    cases = [Case(text, {}, rows, (), (0, 1)) for text in wanted]
    for case, values, outcome in zip(cases, wanted.values(), run(cases), strict=True):
        found = np.stack([outcome.rows[n].view(np.float32) for n in (0, 1)], axis=1)
        same = (found == values) | (np.isnan(found) & np.isnan(values))
        assert same.all(), case.text


def test_dot_products_add_up() -> None:
    a, b, c = integers("u4", 0), integers("u4", 1), integers("u4", 2)
    rows = {10: a, 12: b, 14: c}

    def dot(bits: int, is_signed: bool) -> list[int]:
        def part(value: int, n: int) -> int:
            found = value >> bits * n & ((1 << bits) - 1)
            return signed(found, bits) if is_signed else found

        lanes = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
        return [(sum(part(x, n) * part(y, n) for n in range(32 // bits)) + z) & _M32 for x, y, z in lanes]

    wanted = {
        f"v_dot{32 // bits}_{sign}32_{sign}{bits}": dot(bits, sign == "i") for bits in (16, 8, 4) for sign in "iu"
    }
    cases = [Case(f"{name} v0, v10, v12, v14", {}, rows, (), (0,)) for name in wanted]
    for case, values, outcome in zip(cases, wanted.values(), run(cases), strict=True):
        assert not outcome.stopped, outcome.stopped
        assert outcome.rows[0].tolist() == values, case.text


def test_mixed_precision_takes_halves_and_floats() -> None:
    generator = np.random.default_rng(12)
    a = np.stack([np.clip(samples(F16, generator, n), -99, 99) for n in (0, 3)], axis=1)
    b, c = (np.clip(samples(F32, generator, n), -1e4, 1e4) for n in (1, 2))
    rows = {0: integers("u4", 5), 10: a.copy().view(np.uint32).reshape(64), **rows_of(b, 12), **rows_of(c, 14)}
    names = ("v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16")
    cases = [
        Case(f"{name} v0, -v10, |v12|, v14 op_sel:[1,0,0] op_sel_hi:[1,0,0]", {}, rows, (), (0,)) for name in names
    ]
    whole, low, high = (outcome.rows[0] for outcome in run(cases))
    wanted = fused(-a[:, 1].astype(F32), np.abs(b), c)
    valid = ~np.isnan(wanted)
    assert np.array_equal(whole.view(np.float32)[valid], wanted[valid])
    halves = wanted.astype(F16).view(np.uint16).astype(np.uint32)
    near = np.abs(low.astype(np.uint16).view(F16).astype(float) - halves.astype(np.uint16).view(F16).astype(float))
    valid &= np.abs(wanted) < 65000
    assert (near[valid] <= np.abs(wanted[valid]) * 2.0**-10 + 2.0**-24).all()
    assert ((low >> 16) == (rows[0] >> 16)).all()
    assert ((high & 0xFFFF) == (rows[0] & 0xFFFF)).all()
    assert np.array_equal(high >> 16, low & np.uint32(0xFFFF))


def test_literals_stand_where_the_short_multiply_adds_want_them() -> None:
    a, b = (np.clip(samples(F32, np.random.default_rng(7), n), -1e6, 1e6) for n in (0, 1))
    a, b = (np.where(np.abs(values) < 1e-30, np.float32(1), values) for values in (a, b))
    rows = {**rows_of(a, 10), **rows_of(b, 12)}
    cases = [
        Case(f"{name} v0, v10, {order}", {}, rows, (), (0,))
        for name, order in (("v_madmk_f32", "0x40490fdb, v12"), ("v_madak_f32", "v12, 0x40490fdb"))
    ]
    pi = np.float32(np.frombuffer(b"\xdb\x0f\x49\x40", np.float32)[0])
    middle, last = run(cases)
    assert np.array_equal(middle.rows[0].view(np.float32), a * pi + b, equal_nan=True)
    assert np.array_equal(last.rows[0].view(np.float32), a * b + pi, equal_nan=True)


def test_denormals_are_flushed_where_the_mode_says_so() -> None:
    tiny = np.full(64, np.finfo(np.float32).smallest_subnormal, np.float32)
    rows = {**rows_of(tiny, 10), **rows_of(np.zeros(64, np.float32), 12)}
    kept, flushed = run([Case("v_add_f32 v0, v10, v12", {}, rows, (), (0,), mode=mode) for mode in (0x2F0, 0x2C0)])
    assert kept.rows[0][0] == 1
    assert flushed.rows[0][0] == 0
