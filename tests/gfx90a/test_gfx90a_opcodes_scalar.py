"""Scalar instructions of the software gfx90a, and vector ones that deal in masks, scalars and pairs, one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from opcode_cases import ALL_LANES, EXEC, VCC, Case, Row, rows_of, run, values_of
from opcode_reference import F16, F32, field, fused, leading, samples, sign_run, signed, signed_field

pytestmark = [pytest.mark.gfx90a, pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")]
_M32, _M64 = 0xFFFFFFFF, ALL_LANES
_WORDS = [0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF, 0x00050003, 0x00400010]
_LONGS = [0, 1, 0x7FFFFFFFFFFFFFFF, 1 << 63, _M64, 0x123456789ABCDEF0, 0xFFFFFFFF, 1 << 32, 0x8000000080000000]
# What an instruction computes: its result, and SCC afterwards (None: as before).
Scalar = Callable[..., tuple[int, bool | None]]


def _not_zero(function: Callable[..., int], mask: int = _M32) -> Scalar:
    return lambda *sources: (function(*sources), (function(*sources) & mask) != 0)


def _plain(function: Callable[..., int]) -> Scalar:
    return lambda *sources: (function(*sources), None)


def _signed_part(a: int, offset: int, width: int) -> int:
    return _s(a) >> offset if offset + width >= 32 else signed_field(a, offset, width)


def _beyond(value: int) -> bool:
    return not -(1 << 31) <= value < 1 << 31


def _s(a: int) -> int:
    return signed(a, 32)


_TWO_WORDS: dict[str, Scalar] = {
    "s_add_u32": lambda a, b: (a + b, a + b > _M32),
    "s_sub_u32": lambda a, b: (a - b, b > a),
    "s_add_i32": lambda a, b: (a + b, _beyond(_s(a) + _s(b))),
    "s_sub_i32": lambda a, b: (a - b, _beyond(_s(a) - _s(b))),
    "s_addc_u32": lambda a, b: (a + b + 1, a + b + 1 > _M32),
    "s_subb_u32": lambda a, b: (a - b - 1, b + 1 > a),
    "s_min_i32": lambda a, b: (min(_s(a), _s(b)), _s(a) < _s(b)),
    "s_min_u32": lambda a, b: (min(a, b), a < b),
    "s_max_i32": lambda a, b: (max(_s(a), _s(b)), _s(a) > _s(b)),
    "s_max_u32": lambda a, b: (max(a, b), a > b),
    "s_cselect_b32": _plain(lambda a, b: a),
    "s_and_b32": _not_zero(lambda a, b: a & b),
    "s_or_b32": _not_zero(lambda a, b: a | b),
    "s_xor_b32": _not_zero(lambda a, b: a ^ b),
    "s_andn2_b32": _not_zero(lambda a, b: a & ~b),
    "s_orn2_b32": _not_zero(lambda a, b: a | ~b),
    "s_nand_b32": _not_zero(lambda a, b: ~(a & b)),
    "s_nor_b32": _not_zero(lambda a, b: ~(a | b)),
    "s_xnor_b32": _not_zero(lambda a, b: ~(a ^ b)),
    "s_lshl_b32": _not_zero(lambda a, b: a << (b & 31)),
    "s_lshr_b32": _not_zero(lambda a, b: a >> (b & 31)),
    "s_ashr_i32": _not_zero(lambda a, b: _s(a) >> (b & 31)),
    "s_bfm_b32": _plain(lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    "s_mul_i32": _plain(lambda a, b: a * b),
    "s_mul_hi_u32": _plain(lambda a, b: a * b >> 32),
    "s_mul_hi_i32": _plain(lambda a, b: _s(a) * _s(b) >> 32),
    "s_bfe_u32": _not_zero(lambda a, b: field(a, b & 31, b >> 16 & 31) if b >> 16 & 127 < 32 else a >> (b & 31)),
    "s_bfe_i32": _not_zero(lambda a, b: _signed_part(a, b & 31, b >> 16 & 127)),
    "s_lshl1_add_u32": lambda a, b: ((a << 1) + b, (a << 1) + b > _M32),
    "s_lshl2_add_u32": lambda a, b: ((a << 2) + b, (a << 2) + b > _M32),
    "s_lshl3_add_u32": lambda a, b: ((a << 3) + b, (a << 3) + b > _M32),
    "s_lshl4_add_u32": lambda a, b: ((a << 4) + b, (a << 4) + b > _M32),
    "s_pack_ll_b32_b16": _plain(lambda a, b: (a & 0xFFFF) | b << 16),
    "s_pack_lh_b32_b16": _plain(lambda a, b: (a & 0xFFFF) | (b & 0xFFFF0000)),
    "s_pack_hh_b32_b16": _plain(lambda a, b: a >> 16 | (b & 0xFFFF0000)),
    "s_absdiff_i32": _not_zero(lambda a, b: abs(_s(a) - _s(b))),
}
_TWO_LONGS: dict[str, Scalar] = {
    "s_cselect_b64": _plain(lambda a, b: a),
    "s_and_b64": _not_zero(lambda a, b: a & b, _M64),
    "s_or_b64": _not_zero(lambda a, b: a | b, _M64),
    "s_xor_b64": _not_zero(lambda a, b: a ^ b, _M64),
    "s_andn2_b64": _not_zero(lambda a, b: a & ~b, _M64),
    "s_orn2_b64": _not_zero(lambda a, b: a | ~b, _M64),
    "s_nand_b64": _not_zero(lambda a, b: ~(a & b), _M64),
    "s_nor_b64": _not_zero(lambda a, b: ~(a | b), _M64),
    "s_xnor_b64": _not_zero(lambda a, b: ~(a ^ b), _M64),
}
_LONG_BY_WORD: dict[str, Scalar] = {
    "s_lshl_b64": _not_zero(lambda a, b: a << (b & 63), _M64),
    "s_lshr_b64": _not_zero(lambda a, b: a >> (b & 63), _M64),
    "s_ashr_i64": _not_zero(lambda a, b: signed(a, 64) >> (b & 63), _M64),
    "s_bfe_u64": _not_zero(lambda a, b: a >> (b & 63) & ((1 << min(b >> 16 & 127, 64)) - 1), _M64),
}
_ONE_WORD: dict[str, Scalar] = {
    "s_mov_b32": _plain(lambda a: a),
    "s_not_b32": _not_zero(lambda a: ~a),
    "s_brev_b32": _plain(lambda a: int(f"{a:032b}"[::-1], 2)),
    "s_bcnt1_i32_b32": _not_zero(lambda a: f"{a:b}".count("1")),
    "s_bcnt0_i32_b32": _not_zero(lambda a: f"{a:032b}".count("0")),
    "s_ff1_i32_b32": _plain(lambda a: (a & -a).bit_length() - 1),
    "s_ff0_i32_b32": _plain(lambda a: (~a & _M32 & -(~a & _M32)).bit_length() - 1),
    "s_flbit_i32_b32": _plain(leading),
    "s_flbit_i32": _plain(sign_run),
    "s_sext_i32_i8": _plain(lambda a: signed(a, 8)),
    "s_sext_i32_i16": _plain(lambda a: signed(a, 16)),
    "s_abs_i32": _not_zero(lambda a: abs(_s(a))),
    "s_wqm_b32": _not_zero(lambda a: sum(15 << n for n in range(0, 32, 4) if a >> n & 15)),
}
_ONE_LONG_TO_WORD: dict[str, Scalar] = {
    "s_bcnt1_i32_b64": _not_zero(lambda a: f"{a:b}".count("1")),
    "s_bcnt0_i32_b64": _not_zero(lambda a: f"{a:064b}".count("0")),
    "s_ff1_i32_b64": _plain(lambda a: (a & -a).bit_length() - 1),
    "s_ff0_i32_b64": _plain(lambda a: (~a & _M64 & -(~a & _M64)).bit_length() - 1),
    "s_flbit_i32_b64": _plain(lambda a: 64 - a.bit_length() if a else -1),
    "s_flbit_i32_i64": _plain(lambda a: _sign_run_of_long(a)),
}
_ONE_LONG: dict[str, Scalar] = {
    "s_mov_b64": _plain(lambda a: a),
    "s_not_b64": _not_zero(lambda a: ~a, _M64),
    "s_brev_b64": _plain(lambda a: int(f"{a:064b}"[::-1], 2)),
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}


def _sign_run_of_long(a: int) -> int:
    run_of = a ^ (_M64 if a >> 63 else 0)
    return 64 - run_of.bit_length() if run_of else -1


def _register(index: int, words: int) -> str:
    return f"s[{index}:{index + 1}]" if words == 2 else f"s{index}"


def _pair(index: int, value: int) -> dict[int, int]:
    return {index: value & _M32, index + 1: value >> 32}


@pytest.mark.parametrize(
    ("table", "result_words", "source_words"),
    [
        (_TWO_WORDS, 1, (1, 1)),
        (_TWO_LONGS, 2, (2, 2)),
        (_LONG_BY_WORD, 2, (2, 1)),
        (_ONE_WORD, 1, (1,)),
        (_ONE_LONG, 2, (2,)),
        (_ONE_LONG_TO_WORD, 1, (2,)),
    ],
    ids=["words", "longs", "long-by-word", "word", "long", "long-to-word"],
)
def test_scalar_arithmetic_and_its_condition_code(
    table: dict[str, Scalar], result_words: int, source_words: tuple[int, ...]
) -> None:
    cases, wanted = [], []
    for name, compute in table.items():
        for a in _LONGS if source_words[0] == 2 else _WORDS:
            for b in (_LONGS if source_words[-1] == 2 else _WORDS) if len(source_words) == 2 else [0]:
                sources = (a, b)[: len(source_words)]
                registers = [_register(10 + 2 * n, words) for n, words in enumerate(source_words)]
                text = f"{name} {', '.join([_register(0, result_words), *registers])}"
                cases.append(Case(text, {**_pair(10, a), **_pair(12, b)}, scalars_out=(0, 1), scc=True))
                value, condition = compute(*sources)
                wanted.append((value % (1 << 32 * result_words), True if condition is None else condition, sources))
    for case, (value, condition, sources), outcome in zip(cases, wanted, run(cases), strict=True):
        assert not outcome.stopped, outcome.stopped
        found = outcome.pair(0) if result_words == 2 else outcome.scalars[0]
        assert (found, outcome.scc) == (value, condition), f"{case.text} of {[hex(source) for source in sources]}"


def test_scalar_comparisons_set_the_condition_code() -> None:
    cases, wanted = [], []
    for name, compare in _COMPARISONS.items():
        for a in _WORDS:
            for b in _WORDS:
                for sign, read in (("i", _s), ("u", int)):
                    cases.append(Case(f"s_cmp_{name}_{sign}32 s10, s12", {10: a, 12: b}))
                    wanted.append(compare(read(a), read(b)))
            cases.append(Case(f"s_cmpk_{name}_i32 s10, 0xfffe", {10: a}))
            wanted.append(compare(_s(a), -2))
            cases.append(Case(f"s_cmpk_{name}_u32 s10, 0xfffe", {10: a}))
            wanted.append(compare(a, 0xFFFE))
    for case, truth, outcome in zip(cases, wanted, run(cases), strict=True):
        assert outcome.scc == truth, f"{case.text} {case.scalars}"


def test_bits_are_tested_set_and_cleared() -> None:
    outcomes = run(
        [
            Case("s_bitcmp1_b32 s10, s12", {10: 0x80000000, 12: 63}),
            Case("s_bitcmp0_b32 s10, s12", {10: 0x80000000, 12: 63}),
            Case("s_bitset1_b32 s0, s12", {0: 1, 12: 36}, scalars_out=(0,)),
            Case("s_bitset0_b32 s0, s12", {0: 0xFF, 12: 3}, scalars_out=(0,)),
            Case("s_bitset1_b64 s[0:1], s12", {**_pair(0, 1), 12: 40}, scalars_out=(0, 1)),
            Case("s_movk_i32 s0, 0x8000", scalars_out=(0,)),
            Case("s_addk_i32 s0, 0xffff", {0: 0x80000000}, scalars_out=(0,)),
            Case("s_mulk_i32 s0, 0xfffd", {0: 7}, scalars_out=(0,)),
            Case("s_cmovk_i32 s0, 5", {0: 7}, scalars_out=(0,), scc=True),
        ]
    )
    assert [outcome.scc for outcome in outcomes[:2]] == [True, False]
    assert [outcome.scalars[0] for outcome in outcomes[2:4]] == [0x11, 0xF7]
    assert outcomes[4].pair(0) == 1 << 40 | 1
    assert [outcome.scalars[0] for outcome in outcomes[5:]] == [0xFFFF8000, 0x7FFFFFFF, (-21) & _M32, 5]
    assert outcomes[6].scc


@pytest.mark.parametrize(
    ("name", "combine"),
    [
        ("and", lambda s, e: s & e),
        ("or", lambda s, e: s | e),
        ("xor", lambda s, e: s ^ e),
        ("andn2", lambda s, e: s & ~e),
        ("orn2", lambda s, e: s | ~e),
        ("andn1", lambda s, e: ~s & e),
        ("orn1", lambda s, e: ~s | e),
        ("nand", lambda s, e: ~(s & e)),
        ("nor", lambda s, e: ~(s | e)),
        ("xnor", lambda s, e: ~(s ^ e)),
    ],
)
def test_exec_is_saved_and_combined(name: str, combine: Callable[[int, int], int]) -> None:
    mask, before = 0xFF00FF00AAAA5555, 0x0FF0123456789ABC
    case = Case(
        f"s_{name}_saveexec_b64 s[0:1], s[10:11]", _pair(10, mask), scalars_out=(0, 1, EXEC, EXEC + 1), exec_mask=before
    )
    (outcome,) = run([case])
    assert outcome.pair(0) == before
    assert outcome.pair(EXEC) == combine(mask, before) & _M64
    assert outcome.scc


def test_branches_and_calls_go_where_they_say() -> None:
    branches = {"s_cbranch_scc1": True, "s_cbranch_scc0": False, "s_cbranch_execnz": True, "s_cbranch_vccz": True}
    cases = [Case(f"{name} 1\ns_mov_b32 s0, 7", {0: 1}, scalars_out=(0,), scc=True) for name in branches]
    for (name, taken), outcome in zip(branches.items(), run(cases), strict=True):
        assert outcome.scalars[0] == (1 if taken else 7), name
    text = "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 20\ns_addc_u32 s5, s5, 0\ns_swappc_b64 s[6:7], s[4:5]"
    text += "\ns_mov_b32 s0, 7\ns_nop 0\ns_sub_u32 s8, s4, s6"
    (outcome,) = run([Case(text, {0: 1}, scalars_out=(0, 8))])
    assert outcome.scalars == {0: 1, 8: 8}


def _ints(dtype: str, shift: int) -> np.ndarray:
    return samples(np.dtype(dtype), np.random.default_rng(9), shift)


def _mask_of(bits: np.ndarray) -> int:
    return sum(1 << int(lane) for lane in np.flatnonzero(bits))


@pytest.mark.parametrize("carry_in", [False, True])
def test_sums_and_differences_carry(carry_in: bool) -> None:
    a, b = _ints("u4", 0).astype(object), _ints("u4", 1).astype(object)
    carry = 0x0123456789ABCDEF
    carries = np.array([carry >> n & 1 for n in range(64)], object) * carry_in
    totals = {"add": a + b + carries, "sub": a - b - carries, "subrev": b - a - carries}
    names = {"add": "addc", "sub": "subb", "subrev": "subbrev"} if carry_in else dict.fromkeys(())
    rows = {10: a.astype(np.uint32), 12: b.astype(np.uint32)}
    for name, total in totals.items():
        more = ", s[16:17]" if carry_in else ""
        text = f"v_{names.get(name, name)}_co_u32_e64 v0, s[20:21], v10, v12{more}"
        (outcome,) = run([Case(text, _pair(16, carry), rows, (20, 21), (0,))])
        assert list(outcome.rows[0]) == [value & _M32 for value in total], name
        assert outcome.pair(20) == _mask_of(np.array([not 0 <= value <= _M32 for value in total])), name


def test_long_products_add_and_carry() -> None:
    a, b, c = _ints("u4", 0), _ints("u4", 1), _ints("u8", 2)
    rows: dict[int, Row] = {10: a, 12: b, **rows_of(c, 14)}
    unsigned, signed_one = run(
        [
            Case("v_mad_u64_u32 v[0:1], s[20:21], v10, v12, v[14:15]", {}, rows, (20, 21), (0, 1)),
            Case("v_mad_i64_i32 v[0:1], s[20:21], v10, v12, v[14:15]", {}, rows, (20, 21), (0, 1)),
        ]
    )
    totals = [int(x) * int(y) + int(z) for x, y, z in zip(a, b, c, strict=True)]
    assert [int(value) for value in values_of(unsigned.rows, 0, np.uint64)] == [total & _M64 for total in totals]
    assert unsigned.pair(20) == _mask_of(np.array([total > _M64 for total in totals]))
    totals = [signed(int(x), 32) * signed(int(y), 32) + int(z) for x, y, z in zip(a, b, c, strict=True)]
    assert [int(value) for value in values_of(signed_one.rows, 0, np.uint64)] == [total & _M64 for total in totals]


def test_lanes_are_read_written_counted_and_chosen() -> None:
    values, others, mask = _ints("u4", 0), _ints("u4", 1), 0xF00F_1234_5678_9ABD
    rows = {0: others, 10: values, 12: others}
    scalars = {**_pair(14, mask), 16: 0x55, 17: 70, VCC: mask & _M32, VCC + 1: mask >> 32}
    outcomes = run(
        [
            Case("v_readlane_b32 s0, v10, s17", scalars, rows, (0,)),
            Case("v_readfirstlane_b32 s0, v10", scalars, rows, (0,), exec_mask=0xF0),
            Case("v_writelane_b32 v0, s16, 6", scalars, rows, (), (0,)),
            Case("v_mbcnt_lo_u32_b32 v0, s14, v12", scalars, rows, (), (0,)),
            Case("v_mbcnt_hi_u32_b32 v0, s15, v12", scalars, rows, (), (0,)),
            Case("v_cndmask_b32_e32 v0, v10, v12, vcc", scalars, rows, (), (0,)),
            Case("v_cndmask_b32_e64 v0, -v10, v12, s[14:15]", scalars, rows, (), (0,)),
            Case("v_swap_b32 v0, v10", scalars, rows, (), (0, 10), exec_mask=mask),
        ]
    )
    bits = np.array([mask >> n & 1 for n in range(64)], bool)
    assert outcomes[0].scalars[0] == values[70 % 64]
    assert outcomes[1].scalars[0] == values[4]
    assert outcomes[2].rows[0][6] == 0x55
    assert (np.delete(outcomes[2].rows[0], 6) == np.delete(others, 6)).all()
    below = np.array([f"{mask & ((1 << n) - 1) & _M32:b}".count("1") for n in range(64)], np.uint32)
    above = np.array([f"{(mask & ((1 << n) - 1)) >> 32:b}".count("1") for n in range(64)], np.uint32)
    assert (outcomes[3].rows[0] == below + others).all()
    assert (outcomes[4].rows[0] == above + others).all()
    assert (outcomes[5].rows[0] == np.where(bits, others, values)).all()
    assert (outcomes[6].rows[0] == np.where(bits, others, values ^ np.uint32(1 << 31))).all()
    assert (outcomes[7].rows[0] == np.where(bits, values, others)).all()
    assert (outcomes[7].rows[10] == np.where(bits, others, values)).all()


_DPP: dict[str, Callable[[int], int | None]] = {
    "quad_perm:[2,0,3,1]": lambda n: n // 4 * 4 + (2, 0, 3, 1)[n % 4],
    "row_shl:3": lambda n: n + 3 if n % 16 < 13 else None,
    "row_shr:5": lambda n: n - 5 if n % 16 >= 5 else None,
    "row_ror:2": lambda n: n // 16 * 16 + (n - 2) % 16,
    "row_mirror": lambda n: n // 16 * 16 + 15 - n % 16,
    "row_half_mirror": lambda n: n // 8 * 8 + 7 - n % 8,
    "wave_shl:1": lambda n: n + 1 if n < 63 else None,
    "wave_rol:1": lambda n: (n + 1) % 64,
    "wave_shr:1": lambda n: n - 1 if n else None,
    "wave_ror:1": lambda n: (n - 1) % 64,
    "row_bcast:15": lambda n: n // 16 * 16 - 1 if n >= 16 else None,
    "row_bcast:31": lambda n: 31 if n >= 32 else None,
    "row_newbcast:4": lambda n: n // 16 * 16 + 4,
}


@pytest.mark.parametrize("bound_control", [False, True])
def test_dpp_moves_values_between_lanes(bound_control: bool) -> None:
    values, before, mask = _ints("u4", 0), _ints("u4", 1), 0xFFFF_F0FF_FFFF_7FFF
    ending = " row_mask:0xd bank_mask:0x7" + (" bound_ctrl:0" if bound_control else "")
    texts = [f"v_mov_b32_dpp v0, v10 {control}{ending}" for control in _DPP]
    cases = [Case(text, {}, {0: before, 10: values}, (), (0,), exec_mask=mask) for text in texts]
    for case, source_of, outcome in zip(cases, _DPP.values(), run(cases), strict=True):
        assert not outcome.stopped, outcome.stopped
        for lane in range(64):
            source = source_of(lane)
            readable = source is not None and mask >> source & 1
            enabled = mask >> lane & 1 and 0xD >> lane // 16 & 1 and 0x7 >> lane % 16 // 4 & 1
            wanted = int(before[lane])
            if enabled and readable and source is not None:
                wanted = int(values[source])
            elif enabled and bound_control:
                wanted = 0
            assert outcome.rows[0][lane] == wanted, f"{case.text}, lane {lane}"


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
    a, b, c = _ints("u4", 0), _ints("u4", 1), _ints("u4", 2)
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
    rows = {0: _ints("u4", 5), 10: a.copy().view(np.uint32).reshape(64), **rows_of(b, 12), **rows_of(c, 14)}
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


def test_a_stranger_is_named_and_not_guessed() -> None:
    outcomes = run(
        [
            Case("v_cubeid_f32 v0, v1, v2, v3"),
            Case("s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)"),
            Case("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1"),
        ]
    )
    assert outcomes[0].stopped == "instruction not implemented: 'v_cubeid_f32 v0, v1, v2, v3'"
    assert outcomes[1].stopped.startswith("message 3 is not implemented")
    assert "rounding mode" in outcomes[2].stopped
