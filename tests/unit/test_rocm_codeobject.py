from __future__ import annotations

import struct
from pathlib import Path

import pytest

from intelliperf.dropins.toolchain import find_toolchain, tool_environment
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of
from intelliperf.rocm import codeobject
from intelliperf.rocm.codeobject import Accesses, find_tool, parse_disassembly

LISTING = """
k.co:	file format elf64-amdgpu

Disassembly of section .text:

0000000000002200 <_Z4copyPd>:
	s_load_dword s0, s[4:5], 0x24                              // 000000002200: C0020002 00000024
	global_load_dwordx2 v[2:3], v[2:3], off                    // 000000002254: DC548000 027F0002
	s_cbranch_execz 17                                         // 00000000222C: BF880011 <_Z4copyPd+0x74>
	global_store_dwordx2 v[0:1], v[2:3], off                   // 00000000226C: DC748000 007F0200

0000000000002300 <_Z5mixedPf>:
	global_load_ubyte v1, v0, s[10:11]
	buffer_load_short_d16_hi v1, off, s[0:3], 0
	ds_write2st64_b32 v4, v1, v2
	ds_add_u32 v2, v3 offset:4096
	ds_bpermute_b32 v2, v3, v4
	flat_store_dwordx4 v[0:1], v[2:5]
	global_atomic_add v1, v3, s[12:13]
	buffer_wbinvl1_vol
"""


def test_widths_and_kinds_are_those_of_the_instructions_names() -> None:
    found = parse_disassembly(LISTING)
    assert found["_Z4copyPd"] == Accesses(frozenset({8}), frozenset({8}))
    mixed = found["_Z5mixedPf"]
    assert (mixed.load_widths, mixed.store_widths) == ({1, 2}, {16})
    assert mixed.atomics and mixed.flat and mixed.lds_moves and mixed.lds_atomics and mixed.lds_shuffles
    assert not mixed.unknown_widths


@pytest.mark.parametrize(
    ("instruction", "width"),
    [
        ("global_load_b128 v[0:3], v[0:1], off", 16),
        ("global_load_b96 v[0:2], v[0:1], off", 12),
        ("global_load_d16_u8 v0, v[0:1], off", 1),
        ("global_load_i16 v0, v[0:1], off", 2),
        ("scratch_load_b32 v0, off, s0", 4),
        ("global_load_sbyte_d16 v0, v[0:1], off", 1),
        ("global_load_lds_dwordx4 v[0:1], off", 16),
        ("buffer_load_dwordx3 v[0:2], off, s[0:3], 0", 12),
    ],
)
def test_every_generations_spelling_has_its_width(instruction: str, width: int) -> None:
    assert parse_disassembly(f"0000000000000000 <k>:\n\t{instruction}\n")["k"].load_widths == {width}


@pytest.mark.parametrize("instruction", ["ds_wrxchg_rtn_b32 v0, v1, v2", "ds_storexchg_rtn_b32 v0, v1, v2"])
def test_an_exchange_in_lds_is_an_atomic_in_every_generations_spelling(instruction: str) -> None:
    found = parse_disassembly(f"0000000000000000 <k>:\n\t{instruction}\n")["k"]
    assert found.lds_atomics and not found.lds_moves


@pytest.mark.parametrize("instruction", ["image_load v0, v1, s[0:7]", "buffer_load_format_xyzw v[0:3], off, s[0:3], 0"])
def test_formats_and_images_have_no_known_width(instruction: str) -> None:
    assert parse_disassembly(f"0000000000000000 <k>:\n\t{instruction}\n")["k"].unknown_widths


def test_a_kernel_that_calls_may_do_what_any_function_of_the_object_does() -> None:
    text = LISTING + "\n0000000000003000 <_Z6callerv>:\n\ts_swappc_b64 s[30:31], s[4:5]\n"
    found = parse_disassembly(text)
    assert found["_Z6callerv"] == found["_Z4copyPd"].with_all_of(found["_Z5mixedPf"])


def test_a_missing_disassembler_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="comes with ROCm"):
        find_tool("llvm-no-such-tool", {"PATH": str(tmp_path)})
    rocm = tmp_path / "llvm" / "bin" / "llvm-objdump"
    rocm.parent.mkdir(parents=True)
    rocm.write_text("")
    rocm.chmod(0o755)
    assert find_tool("llvm-objdump", {"PATH": "", "ROCM_PATH": str(tmp_path)}) == rocm


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no program")
    with pytest.raises(ToolchainError, match="not a program with device code"):
        codeobject.code_objects(text, "gfx90a", tmp_path)


def bundle(images: dict[str, bytes]) -> bytes:
    """As clang's offload bundler lays them out."""
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(images))
    at = len(header) + sum(24 + len(target) for target in images)
    body = b""
    for target, image in images.items():
        header += struct.pack("<QQQ", at + len(body), len(image), len(target)) + target.encode()
        body += image
    return header + body


def host_program(directory: Path, section: bytes) -> Path:
    """An object file of this machine that carries the bytes as clang makes it carry device code."""
    (directory / "bundle").write_bytes(section)
    source, program = directory / "host.s", directory / "host.o"
    source.write_text('.section .hip_fatbin,"a"\n.incbin "bundle"\n')
    argv = [*find_toolchain().clang, "--target=x86_64-unknown-linux-gnu", "-c", str(source), "-o", str(program)]
    done, _, err = output_of(argv, 120.0, tool_environment(), directory)
    assert done.ok, err
    return program


def test_code_for_one_architecture_is_found_among_the_bundles_of_a_host_program(tmp_path: Path) -> None:
    first = bundle(
        {
            "host-x86_64-unknown-linux-gnu-": b"",
            "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-": b"first",
            "hipv4-amdgcn-amd-amdhsa--gfx1100": b"other",
        }
    )
    second = bundle({"hipv4-amdgcn-amd-amdhsa--gfx90a": b"second"})
    program = host_program(tmp_path, first.ljust(4096, b"\0") + second)
    assert codeobject.code_objects(program, "gfx90a", tmp_path) == [b"first", b"second"]
    assert codeobject.code_objects(program, "gfx1100", tmp_path) == [b"other"]
    assert codeobject.code_objects(program, "gfx950", tmp_path) == []
    assert codeobject.from_program(program, "gfx950", tmp_path) == {}


def test_compressed_code_that_cannot_be_unpacked_is_an_error(tmp_path: Path) -> None:
    program = host_program(tmp_path, b"CCOB and nothing that could be unpacked")
    with pytest.raises(ToolchainError):
        codeobject.code_objects(program, "gfx90a", tmp_path)
