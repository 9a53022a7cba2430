"""What AMD's memory instructions do, by their names, of all generations."""

from __future__ import annotations

import pytest

from intelliperf.rocm.instructions import addressed_by, offsets, operation


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("global_load_dword", ("load", "global", 4, 1)),
        ("global_load_dwordx4", ("load", "global", 16, 1)),
        ("global_load_ubyte_d16_hi", ("load", "global", 1, 1)),
        ("global_load_d16_u8", ("load", "global", 1, 1)),
        ("global_load_b96", ("load", "global", 12, 1)),
        ("global_store_short", ("store", "global", 2, 1)),
        ("global_store_b16", ("store", "global", 2, 1)),
        ("flat_store_dwordx3", ("store", "mixed", 12, 1)),
        ("scratch_load_dwordx2", ("load", "local", 8, 1)),
        ("buffer_store_dword", ("store", "local", 4, 1)),
        ("global_atomic_add_f64", ("reduction", "global", 8, 1)),
        ("global_atomic_cmpswap_x2", ("reduction", "global", 8, 1)),
        ("global_atomic_pk_add_f16", ("reduction", "global", 4, 1)),
        ("global_atomic_add_u32", ("reduction", "global", 4, 1)),
        ("ds_read_u8", ("load", "shared", 1, 1)),
        ("ds_read2st64_b64", ("load", "shared", 8, 2)),
        ("ds_load_2addr_b32", ("load", "shared", 4, 2)),
        ("ds_store_2addr_stride64_b32", ("store", "shared", 4, 2)),
        ("ds_write_b128", ("store", "shared", 16, 1)),
        ("ds_add_u64", ("reduction", "shared", 8, 1)),
        ("ds_add_rtn_f32", ("atomic", "shared", 4, 1)),
        ("ds_wrxchg_rtn_b32", ("atomic", "shared", 4, 1)),
        ("ds_storexchg_rtn_b64", ("atomic", "shared", 8, 1)),
    ],
)
def test_an_instruction_is_known_by_its_name(name: str, expected: tuple[str, str, int, int]) -> None:
    found = operation(name)
    assert found is not None
    assert (found.access.value, found.space.value, found.width, found.places) == expected


@pytest.mark.parametrize(
    "name",
    [
        *("s_load_dword", "v_add_u32", "ds_bpermute_b32", "ds_swizzle_b32", "ds_nop", "buffer_wbl2"),
        *("buffer_inv", "buffer_wbinvl1_vol", "global_wb", "global_inv", "buffer_gl0_inv"),
    ],
)
def test_what_accesses_no_memory_of_a_lane_is_none(name: str) -> None:
    assert operation(name) is None


def test_an_atomic_that_gives_the_old_value_is_told_by_its_modifier() -> None:
    found = operation("global_atomic_add", returns=True)
    assert found is not None and found.access.value == "atomic"


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("global_load_dword", "v1, v[2:3], off offset:-8", (-8,)),
        ("global_load_dword", "v1, v[2:3], off", (0,)),
        ("ds_read2_b32", "v[0:1], v2 offset0:1 offset1:34", (4, 136)),
        ("ds_read2st64_b64", "v[0:3], v4 offset1:2", (0, 1024)),
    ],
)
def test_offsets_are_bytes(name: str, operands: str, expected: tuple[int, ...]) -> None:
    found = operation(name)
    assert found is not None and offsets(operands, found) == expected


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("global_load_dword", " v1, v[2:3], off offset:4", ("v[2:3]", "off")),
        ("global_store_dword", " v0, v1, s[2:3] offset:4", ("v0", "s[2:3]")),
        ("ds_write_b32", " v0, v1 offset:4", ("v0",)),
        ("ds_read_b32", " v0, v1 offset:4", ("v1",)),
    ],
)
def test_the_registers_of_the_address_are_told_from_those_of_the_data(
    name: str, operands: str, expected: tuple[str, ...]
) -> None:
    found = operation(name)
    assert found is not None and addressed_by(operands, found) == expected
