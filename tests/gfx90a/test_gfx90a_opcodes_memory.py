"""Instructions of the software gfx90a on memory: loads, stores and atomics on LDS, global and flat addresses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from opcode_arithmetic import signed
from opcode_cases import Case, rows_of, run, values_of

pytestmark = pytest.mark.gfx90a
_BYTES = np.random.default_rng(11).integers(0, 256, 4096, np.uint8)
_LANES = np.arange(64)
_PLACES = (_LANES * 40 % 2048).astype(np.uint32)  # far enough apart for any width, and not in order
_BEFORE = np.full(64, 0xA5A5A5A5, np.uint32)
_ODD = 0xAAAA_AAAA_AAAA_AAAA
_GLOBAL = "global_load_{} {}, v10, s[2:3] offset:16"


def _word_at(place: int, count: int = 4) -> int:
    return int.from_bytes(_BYTES[place : place + count].tobytes(), "little")


_NARROW: dict[str, Callable[[int], int]] = {
    "ubyte": lambda p: _word_at(p, 1),
    "sbyte": lambda p: signed(_word_at(p, 1), 8) & 0xFFFFFFFF,
    "ushort": lambda p: _word_at(p, 2),
    "sshort": lambda p: signed(_word_at(p, 2), 16) & 0xFFFFFFFF,
    "ubyte_d16": lambda p: 0xA5A50000 | _word_at(p, 1),
    "ubyte_d16_hi": lambda p: 0xA5A5 | _word_at(p, 1) << 16,
    "sbyte_d16": lambda p: 0xA5A50000 | signed(_word_at(p, 1), 8) & 0xFFFF,
    "sbyte_d16_hi": lambda p: 0xA5A5 | (signed(_word_at(p, 1), 8) & 0xFFFF) << 16,
    "short_d16": lambda p: 0xA5A50000 | _word_at(p, 2),
    "short_d16_hi": lambda p: 0xA5A5 | _word_at(p, 2) << 16,
}
_LDS_NAMES = {
    "ubyte": "u8",
    "sbyte": "i8",
    "ushort": "u16",
    "sshort": "i16",
    "ubyte_d16": "u8_d16",
    "ubyte_d16_hi": "u8_d16_hi",
    "sbyte_d16": "i8_d16",
    "sbyte_d16_hi": "i8_d16_hi",
    "short_d16": "u16_d16",
    "short_d16_hi": "u16_d16_hi",
}


@pytest.mark.parametrize("space", ["global", "lds"])
def test_narrow_loads_extend_or_keep_the_other_half(space: str) -> None:
    rows = {0: _BEFORE, 10: _PLACES}
    cases = []
    for name in _NARROW:
        text = _GLOBAL.format(name, "v0") if space == "global" else f"ds_read_{_LDS_NAMES[name]} v0, v10 offset:16"
        memory = {"memory": _BYTES.tobytes()} if space == "global" else {"lds": _BYTES.tobytes()}
        cases.append(Case(text, {}, rows, (), (0,), exec_mask=_ODD, **memory))
    for case, value_at, outcome in zip(cases, _NARROW.values(), run(cases), strict=True):
        assert not outcome.stopped, outcome.stopped
        wanted = [value_at(int(place) + 16) if lane % 2 else 0xA5A5A5A5 for lane, place in enumerate(_PLACES)]
        assert outcome.rows[0].tolist() == wanted, case.text


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_words_are_loaded_and_stored_in_every_space(words: int) -> None:
    several = "v0" if words == 1 else f"v[0:{words - 1}]"
    data = "v20" if words == 1 else f"v[20:{19 + words}]"
    suffix, bits = ("" if words == 1 else f"x{words}"), 32 * words
    rows = {10: _PLACES, **{n: _BEFORE for n in range(words)}}
    rows |= {20 + n: (_LANES * 1000 + n).astype(np.uint32) for n in range(words)}
    through = "v_add_co_u32 v12, vcc, s2, v10\nv_mov_b32 v13, s3\nv_addc_co_u32 v13, vcc, 0, v13, vcc\n"
    payload = _BYTES.tobytes()
    loads = [
        Case(_GLOBAL.format(f"dword{suffix}", several), {}, rows, (), tuple(range(words)), memory=payload),
        Case(
            f"{through}flat_load_dword{suffix} {several}, v[12:13] offset:16",
            {},
            rows,
            (),
            tuple(range(words)),
            memory=payload,
        ),
        Case(f"ds_read_b{bits} {several}, v10 offset:16", {}, rows, (), tuple(range(words)), lds=payload),
    ]
    for case, outcome in zip(loads, run(loads), strict=True):
        assert not outcome.stopped, outcome.stopped
        for n in range(words):
            wanted = [_word_at(int(place) + 16 + 4 * n) for place in _PLACES]
            assert outcome.rows[n].tolist() == wanted, case.text
    stores = [
        Case(f"global_store_dword{suffix} v10, {data}, s[2:3] offset:16", {}, rows, memory=payload),
        Case(f"{through}global_store_dword{suffix} v[12:13], {data}, off offset:16", {}, rows, memory=payload),
        Case(f"ds_write_b{bits} v10, {data} offset:16", {}, rows, lds=payload),
    ]
    expected = _BYTES.copy()
    for lane, place in enumerate(_PLACES):
        words_of_lane = np.array([lane * 1000 + n for n in range(words)], np.uint32)
        expected[int(place) + 16 : int(place) + 16 + 4 * words] = words_of_lane.view(np.uint8)
    for case, outcome in zip(stores, run(stores), strict=True):
        assert not outcome.stopped, outcome.stopped
        assert (outcome.memory or outcome.lds) == expected.tobytes(), case.text


@pytest.mark.parametrize(
    ("name", "count", "shift"), [("byte", 1, 0), ("short", 2, 0), ("byte_d16_hi", 1, 16), ("short_d16_hi", 2, 16)]
)
def test_narrow_stores_write_their_bytes_only(name: str, count: int, shift: int) -> None:
    data = (_LANES * 0x01234567).astype(np.uint32)
    (outcome,) = run(
        [Case(f"global_store_{name} v10, v20, s[2:3]", {}, {10: _PLACES, 20: data}, memory=_BYTES.tobytes())]
    )
    expected = _BYTES.copy()
    for lane, place in enumerate(_PLACES):
        expected[int(place) : int(place) + count] = np.frombuffer(
            int(data[lane] >> shift).to_bytes(4, "little")[:count], np.uint8
        )
    assert outcome.memory == expected.tobytes()


@pytest.mark.parametrize(("bits", "stride"), [(32, 4), (64, 8), (32, 256), (64, 512)])
def test_two_places_of_lds_are_read_and_written_at_once(bits: int, stride: int) -> None:
    words, name = bits // 32, "st64" if stride >= 256 else ""
    first, last = 1, 3 if stride >= 256 else 120
    base = (_LANES * 8).astype(np.uint32)
    read = Case(
        f"ds_read2{name}_b{bits} v[0:{2 * words - 1}], v10 offset0:{first} offset1:{last}",
        {},
        {10: base},
        (),
        tuple(range(2 * words)),
        lds=_BYTES.tobytes(),
    )
    (outcome,) = run([read])
    assert not outcome.stopped, outcome.stopped
    for n, offset in enumerate((first, last)):
        for part in range(words):
            wanted = [_word_at(int(place) + offset * stride + 4 * part) for place in base]
            assert outcome.rows[n * words + part].tolist() == wanted
    pairs = {
        20: _LANES.astype(np.uint32),
        21: _LANES.astype(np.uint32) + 500,
        22: _LANES.astype(np.uint32) + 900,
        23: _LANES.astype(np.uint32) + 1900,
    }
    data = ("v20", "v22") if words == 1 else ("v[20:21]", "v[22:23]")
    apart = (_LANES * 8 if stride >= 256 else _LANES * 16).astype(np.uint32)
    text = f"ds_write2{name}_b{bits} v10, {data[0]}, {data[1]} offset0:0 offset1:{2 if stride >= 256 else 1}"
    (outcome,) = run([Case(text, {}, {10: apart, **pairs}, lds=_BYTES.tobytes())])
    found = np.frombuffer(outcome.lds, np.uint32)
    second = (2 if stride >= 256 else 1) * stride // 4
    assert found[apart // 4].tolist() == pairs[20].tolist()
    assert found[apart // 4 + second].tolist() == pairs[22].tolist()


def _atomic_references(bits: int) -> dict[str, Callable[[int, int], int]]:
    return {
        "add": lambda old, x: old + x,
        "sub": lambda old, x: old - x,
        "smin": lambda old, x: min(signed(old, bits), signed(x, bits)),
        "umin": min,
        "smax": lambda old, x: max(signed(old, bits), signed(x, bits)),
        "umax": max,
        "and": lambda old, x: old & x,
        "or": lambda old, x: old | x,
        "xor": lambda old, x: old ^ x,
        "inc": lambda old, x: 0 if old >= x else old + 1,
        "dec": lambda old, x: x if old == 0 or old > x else old - 1,
        "swap": lambda old, x: x,
    }


_LDS_ATOMICS = {
    "smin": "min_i",
    "umin": "min_u",
    "smax": "max_i",
    "umax": "max_u",
    "swap": "wrxchg",
    "and": "and_b",
    "or": "or_b",
    "xor": "xor_b",
}


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("space", ["global", "lds"])
@pytest.mark.parametrize("returning", [True, False])
def test_atomics_change_memory_lane_after_lane(bits: int, space: str, returning: bool) -> None:
    kind = np.dtype(f"u{bits // 8}")
    start = np.random.default_rng(2).integers(0, 256, 8 * kind.itemsize, np.uint8).view(kind)
    data = np.random.default_rng(3).integers(0, 256, 64 * kind.itemsize, np.uint8).view(kind)
    data[::5] = start[0]
    places = (_LANES % 8 * kind.itemsize).astype(np.uint32)
    rows = {10: places, **rows_of(data, 20)}
    source, target = ("v20", "v0") if bits == 32 else ("v[20:21]", "v[0:1]")
    references = _atomic_references(bits)
    cases = []
    for name in references:
        if space == "global":
            suffix = "_x2" if bits == 64 else ""
            parts = f"{target}, v10, {source}, s[2:3] glc" if returning else f"v10, {source}, s[2:3]"
            text = f"global_atomic_{name}{suffix} {parts}"
        else:
            base, _, letter = _LDS_ATOMICS.get(name, f"{name}_u").partition("_")
            middle = "_rtn" if returning or base == "wrxchg" else ""
            operands = f"{target}, v10, {source}" if middle else f"v10, {source}"
            text = f"ds_{base}{middle}_{letter or 'b'}{bits} {operands}"
        memory = {"memory" if space == "global" else "lds": start.tobytes()}
        cases.append(Case(text, {}, rows, (), (0, 1), **memory))
    for case, change, outcome in zip(cases, references.values(), run(cases), strict=True):
        assert not outcome.stopped, outcome.stopped
        state, returned = [int(value) for value in start], []
        for lane in range(64):
            returned.append(state[lane % 8])
            state[lane % 8] = change(state[lane % 8], int(data[lane])) % (1 << bits)
        assert np.frombuffer(outcome.memory or outcome.lds, kind).tolist() == state, case.text
        if returning:
            assert values_of(outcome.rows, 0, kind).tolist() == returned, case.text


@pytest.mark.parametrize(
    "text",
    [
        "global_atomic_cmpswap v0, v10, v[20:21], s[2:3] glc",
        "global_atomic_cmpswap_x2 v[0:1], v10, v[20:23], s[2:3] glc",
        "ds_cmpst_rtn_b32 v0, v10, v21, v20",
    ],
)
def test_memory_is_exchanged_where_it_compares_equal(text: str) -> None:
    wide = "x2" in text
    kind = np.dtype(np.uint64 if wide else np.uint32)
    start = np.arange(100, 164).astype(kind)
    new, compared = (start + 1000).astype(kind), np.where(_LANES % 3 == 0, start, 7).astype(kind)
    places = (_LANES * kind.itemsize).astype(np.uint32)
    rows = {10: places, **rows_of(new, 20), **rows_of(compared, 22 if wide else 21)}
    memory = {"lds" if text.startswith("ds") else "memory": start.tobytes()}
    (outcome,) = run([Case(text, {}, rows, (), (0, 1), **memory)])
    assert not outcome.stopped, outcome.stopped
    wanted = np.where(_LANES % 3 == 0, new, start)
    assert np.frombuffer(outcome.memory or outcome.lds, kind).tolist() == wanted.tolist()
    assert values_of(outcome.rows, 0, kind).tolist() == start.tolist()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("global_atomic_add_f32 v10, v20, s[2:3]", "f4"),
        ("global_atomic_add_f64 v10, v[20:21], s[2:3]", "f8"),
        ("ds_add_f32 v10, v20", "f4"),
        ("ds_add_f64 v10, v[20:21]", "f8"),
        ("global_atomic_min_f64 v10, v[20:21], s[2:3]", "f8"),
        ("global_atomic_max_f64 v10, v[20:21], s[2:3]", "f8"),
    ],
)
def test_floats_are_added_and_bounded_in_memory(text: str, kind: str) -> None:
    data = (np.random.default_rng(8).standard_normal(64) * 100).astype(kind)
    start = np.array([3.25, -1.5], kind)
    places = (_LANES % 2 * start.itemsize).astype(np.uint32)
    memory = {"lds" if text.startswith("ds") else "memory": start.tobytes()}
    (outcome,) = run([Case(text, {}, {10: places, **rows_of(data, 20)}, **memory)])
    assert not outcome.stopped, outcome.stopped
    wanted = start.copy()
    change = np.minimum if "min" in text else np.maximum if "max" in text else np.add
    for lane in range(64):
        wanted[lane % 2] = change(wanted[lane % 2], data[lane])
    assert np.frombuffer(outcome.memory or outcome.lds, kind).tolist() == wanted.tolist()


def test_scalar_loads_fill_consecutive_registers() -> None:
    cases = [
        Case(
            f"s_load_dword{'' if n == 1 else f'x{n}'} {'s40' if n == 1 else f's[40:{39 + n}]'}, s[2:3], 0x14",
            {},
            {},
            tuple(range(40, 40 + n)),
            memory=_BYTES.tobytes(),
        )
        for n in (1, 2, 4, 8, 16)
    ]
    for case, outcome in zip(cases, run(cases), strict=True):
        assert list(outcome.scalars.values()) == [_word_at(20 + 4 * n) for n in range(len(case.scalars_out))], case.text


def test_values_move_through_the_network_of_lds() -> None:
    values, targets = (_LANES * 7 + 1).astype(np.uint32), (_LANES * 5 % 64 * 4).astype(np.uint32)
    rows = {0: _BEFORE, 10: targets, 12: values}
    active = 0xFFFF_FFFF_FFFF_00FF
    cases = [
        Case("ds_bpermute_b32 v0, v10, v12", {}, rows, (), (0,), exec_mask=active),
        Case("ds_permute_b32 v0, v10, v12", {}, rows, (), (0,)),
        Case("ds_swizzle_b32 v0, v12 offset:swizzle(BROADCAST,8,3)", {}, rows, (), (0,)),
        Case("ds_swizzle_b32 v0, v12 offset:swizzle(SWAP,4)", {}, rows, (), (0,)),
        Case("ds_swizzle_b32 v0, v12 offset:swizzle(QUAD_PERM,1,0,3,2)", {}, rows, (), (0,)),
        Case("ds_swizzle_b32 v0, v12 offset:swizzle(REVERSE,16)", {}, rows, (), (0,)),
    ]
    found = [outcome.rows[0].tolist() for outcome in run(cases)]
    fetched = [int(values[n * 5 % 64]) if active >> (n * 5 % 64) & 1 else 0 for n in range(64)]
    assert found[0] == [fetched[n] if active >> n & 1 else 0xA5A5A5A5 for n in range(64)]
    assert [found[1][n * 5 % 64] for n in range(64)] == values.tolist()
    assert found[2] == [int(values[n // 8 * 8 + 3]) for n in range(64)]
    assert found[3] == [int(values[n ^ 4]) for n in range(64)]
    assert found[4] == [int(values[n ^ 1]) for n in range(64)]
    assert found[5] == [int(values[n // 16 * 16 + 15 - n % 16]) for n in range(64)]


def test_accumulators_hold_what_is_moved_to_and_from_them() -> None:
    rows = {10: _LANES.astype(np.uint32), 256 + 7: _LANES.astype(np.uint32) + 900, 12: _PLACES}
    texts = {
        "v_accvgpr_read_b32 v0, a7": 0,
        "v_accvgpr_write_b32 a0, v10": 256,
        "v_accvgpr_mov_b32 a0, a7": 256,
        "global_load_dword a0, v12, s[2:3]": 256,
    }
    cases = [Case(text, {}, rows, (), (0, 256), memory=_BYTES.tobytes()) for text in texts]
    moved, written, copied, loaded = run(cases)
    assert moved.rows[0].tolist() == (_LANES + 900).tolist()
    assert written.rows[256].tolist() == _LANES.tolist()
    assert copied.rows[256].tolist() == (_LANES + 900).tolist()
    assert loaded.rows[256].tolist() == [_word_at(int(place)) for place in _PLACES]


def test_memory_that_the_device_does_not_have_is_a_fault() -> None:
    rows = {10: np.full(64, 4093, np.uint32)}
    cases = [
        Case("global_load_dword v0, v10, s[2:3]", {}, rows, memory=_BYTES.tobytes()),
        Case("ds_read_b32 v0, v10", {}, rows, lds=_BYTES.tobytes()),
        Case("ds_add_u32 v10, v10 offset:5", {}, {10: np.zeros(64, np.uint32)}, lds=_BYTES.tobytes()),
    ]
    beyond, beyond_lds, misaligned = (outcome.stopped for outcome in run(cases))
    assert "memory access fault: 4 bytes" in beyond
    assert "global_load_dword v0, v10, s[2:3]" in beyond
    assert beyond_lds == "access to LDS at byte 4093 of a group that has 4096"
    assert misaligned == "an atomic on an address that is not aligned"
