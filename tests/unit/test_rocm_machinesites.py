"""From numbered accesses to machine instructions: merged, split, scalar and unknown ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intelliperf.errors import ToolchainError
from intelliperf.rocm.machinesites import Module, read_module

HEAD = "k:\n\t.loc\t0 0 0\n"


def site(
    number: int, kind: str = "load", width: int = 4, space: int = 1, base: int = 0, offset: int = 0, **more: object
) -> dict[str, object]:
    entry = {"function": "k", "kind": kind, "operation": kind, "space": space, "bytes": width, "returns": True}
    chain = [{"file": "/p/k.hip", "line": number + 10, "column": 1, "function": "k"}]
    return {**entry, "written_as": number, "base": base, "offset": offset, "moved": False, "chain": chain, **more}


def read(place: Path, code: str, *sites: dict[str, object], version: int = 1) -> Module:
    told = {"version": version, "module": "7", "kernels": ["k"], "unknown": [], "indirect_calls": 0, "sites": sites}
    (place / "7.json").write_text(json.dumps(told))
    (place / "7.s").write_text(HEAD + code)
    return read_module(place / "7.json")


def accesses(module: Module) -> list[tuple[int, str, list[tuple[int, int]]]]:
    return [
        (one.site.number, one.operation.name, [(part.displacement, part.width) for part in one.parts])
        for one in module.accesses
    ]


def test_one_access_is_one_instruction(tmp_path: Path) -> None:
    module = read(tmp_path, "\t.loc\t0 1 0\n\tglobal_load_dword v1, v[2:3], off\n", site(0))
    assert accesses(module) == [(0, "global_load_dword", [(0, 4)])]
    assert module.order == {"k": ("global_load_dword",)} and not module.unresolved


def test_neighbours_that_became_one_instruction_are_one_access(tmp_path: Path) -> None:
    code = "\t.loc\t0 2 0\n\tglobal_load_dwordx2 v[0:1], v[2:3], off offset:4\n"
    module = read(tmp_path, code, site(0, offset=4), site(1, offset=8), site(2, offset=64, base=1))
    assert accesses(module) == [(1, "global_load_dwordx2", [(-4, 8)])]
    assert [one.number for one in module.unresolved] == [2]


def test_two_places_of_lds_in_one_instruction_keep_their_distance(tmp_path: Path) -> None:
    code = "\t.loc\t0 1 0\n\tds_read2_b32 v[0:1], v2 offset1:33\n"
    module = read(tmp_path, code, site(0, space=3), site(1, space=3, offset=132))
    assert accesses(module) == [(0, "ds_read2_b32", [(0, 4), (132, 4)])]
    assert not module.unresolved


def test_a_merged_instruction_without_a_number_is_of_the_accesses_that_it_fits(tmp_path: Path) -> None:
    code = "\tds_read2st64_b32 v[0:1], v2 offset1:4\n\tds_read2st64_b32 v[4:5], v2 offset0:8 offset1:12\n"
    sites = [site(number, space=3, offset=1024 * number) for number in range(4)]
    module = read(tmp_path, code, *sites, site(4, space=3, base=1), site(5, "store", space=3))
    assert accesses(module) == [
        (0, "ds_read2st64_b32", [(0, 4), (1024, 4)]),
        (2, "ds_read2st64_b32", [(0, 4), (1024, 4)]),
    ]
    assert [one.number for one in module.unresolved] == [4, 5]


def test_accesses_that_merged_instructions_do_not_come_out_even_with_stay_unknown(tmp_path: Path) -> None:
    code = "\tds_read2st64_b32 v[0:1], v2 offset1:4\n"
    module = read(tmp_path, code, *[site(number, space=3, offset=1024 * number) for number in range(3)])
    assert not module.accesses and len(module.unresolved) == 3


def test_a_wide_access_in_two_instructions_is_two(tmp_path: Path) -> None:
    code = "\t.loc\t0 1 0\n\tds_write_b64 v0, v[2:3] offset:16\n\tds_write_b64 v0, v[4:5] offset:24\n"
    module = read(tmp_path, code, site(0, "store", 16, 3))
    assert accesses(module) == [(0, "ds_write_b64", [(0, 8)]), (0, "ds_write_b64", [(8, 8)])]


def test_parts_that_do_not_fit_together_are_not_guessed(tmp_path: Path) -> None:
    code = "\t.loc\t0 1 0\n\tds_write_b64 v0, v[2:3] offset:16\n\tds_write_b64 v0, v[4:5] offset:40\n"
    module = read(tmp_path, code, site(0, "store", 16, 3))
    assert not module.accesses and len(module.unresolved) == 1


def test_what_scalar_instructions_load_is_no_access_of_lanes(tmp_path: Path) -> None:
    module = read(tmp_path, "\t.loc\t0 1 0\n\ts_load_dword s0, s[2:3], 0x0\n", site(0))
    assert not module.accesses and not module.unresolved


def test_a_spilled_register_is_not_taken_for_the_access_before_it(tmp_path: Path) -> None:
    code = "\t.loc\t0 1 0\n\tscratch_load_dword v1, off, s0\n\tscratch_load_dword v2, off, s0 ; 4-byte Folded Reload\n"
    module = read(tmp_path, code, site(0, space=5))
    assert accesses(module) == [(0, "scratch_load_dword", [(0, 4)])]


def test_both_sides_of_a_copy_are_told_apart(tmp_path: Path) -> None:
    code = "\t.loc\t0 2 0\n\tglobal_load_dwordx2 v[0:1], v[2:3], off\n\tglobal_store_dwordx2 v[4:5], v[0:1], off\n"
    module = read(tmp_path, code, site(0, width=8, written_as=1), site(1, "store", 8))
    assert accesses(module) == [(0, "global_load_dwordx2", [(0, 8)]), (1, "global_store_dwordx2", [(0, 8)])]


def test_a_table_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="version 2"):
        read(tmp_path, "", version=2)
