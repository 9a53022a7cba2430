"""Vector instructions of the software gfx90a that deal in masks, carries and other lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from opcode_arithmetic import signed
from opcode_cases import ALL_LANES, VCC, Case, Row, pair, rows_of, run, values_of
from opcode_reference import integers

pytestmark = [pytest.mark.gfx90a, pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")]
_M32, _M64 = 0xFFFFFFFF, ALL_LANES


def _mask_of(bits: np.ndarray) -> int:
    return sum(1 << int(lane) for lane in np.flatnonzero(bits))


@pytest.mark.parametrize("carry_in", [False, True])
def test_sums_and_differences_carry(carry_in: bool) -> None:
    a, b = integers("u4", 0).astype(object), integers("u4", 1).astype(object)
    carry = 0x0123456789ABCDEF
    carries = np.array([carry >> n & 1 for n in range(64)], object) * carry_in
    totals = {"add": a + b + carries, "sub": a - b - carries, "subrev": b - a - carries}
    names = {"add": "addc", "sub": "subb", "subrev": "subbrev"} if carry_in else dict.fromkeys(())
    rows = {10: a.astype(np.uint32), 12: b.astype(np.uint32)}
    for name, total in totals.items():
        more = ", s[16:17]" if carry_in else ""
        text = f"v_{names.get(name, name)}_co_u32_e64 v0, s[20:21], v10, v12{more}"
        (outcome,) = run([Case(text, pair(16, carry), rows, (20, 21), (0,))])
        assert list(outcome.rows[0]) == [value & _M32 for value in total], name
        assert outcome.pair(20) == _mask_of(np.array([not 0 <= value <= _M32 for value in total])), name


def test_long_products_add_and_carry() -> None:
    a, b, c = integers("u4", 0), integers("u4", 1), integers("u8", 2)
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
    values, others, mask = integers("u4", 0), integers("u4", 1), 0xF00F_1234_5678_9ABD
    rows = {0: others, 10: values, 12: others}
    scalars = {**pair(14, mask), 16: 0x55, 17: 70, VCC: mask & _M32, VCC + 1: mask >> 32}
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


@pytest.mark.parametrize("mask", [0xFFFF_F0FF_FFFF_7FFF, 0xFFFF_FFFF_FFFF_FFFF])
@pytest.mark.parametrize("register", [0, 10, 255])  # with and without others on both sides
@pytest.mark.parametrize("bound_control", [False, True])
def test_dpp_moves_values_between_lanes(bound_control: bool, register: int, mask: int) -> None:
    values, before = integers("u4", 0), integers("u4", 1)
    ending = " row_mask:0xd bank_mask:0x7" + (" bound_ctrl:0" if bound_control else "")
    texts = [f"v_mov_b32_dpp v5, v{register} {control}{ending}" for control in _DPP]
    cases = [Case(text, {}, {5: before, register: values}, (), (5,), exec_mask=mask) for text in texts]
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
            assert outcome.rows[5][lane] == wanted, f"{case.text}, lane {lane}"
