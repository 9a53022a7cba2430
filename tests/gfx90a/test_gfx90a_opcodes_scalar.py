"""Scalar instructions of the software gfx90a, one by one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from opcode_arithmetic import field, leading, sign_run, signed, signed_field
from opcode_cases import ALL_LANES, EXEC, Case, pair, run

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
                cases.append(Case(text, {**pair(10, a), **pair(12, b)}, scalars_out=(0, 1), scc=True))
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
            Case("s_bitset1_b64 s[0:1], s12", {**pair(0, 1), 12: 40}, scalars_out=(0, 1)),
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
        f"s_{name}_saveexec_b64 s[0:1], s[10:11]", pair(10, mask), scalars_out=(0, 1, EXEC, EXEC + 1), exec_mask=before
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
