"""The device language of include/, checked by HIP and CUDA programs that compare with host references."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from inprocess import Compiled, compile_here

pytestmark = pytest.mark.slow
PROGRAMS = Path(__file__).parent / "headers"
COMPILER = {".hip": "hipcc", ".cu": "nvcc"}


REFUSED = {
    "this matrix instruction": "typedef float v4 __attribute__((ext_vector_type(4)));\n"
    "__global__ void k(float* o) { v4 a = {}; __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(1l, 1l, a, 0, 0, 0); }",
    "this chip has no WMMA": "typedef float v8 __attribute__((ext_vector_type(8)));\n"
    "typedef _Float16 h16 __attribute__((ext_vector_type(16)));\n"
    "__global__ void k(v8* o, h16* i) { *o = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(*i, *i, *o); }",
    "lane masks are 64 bits wide": "__global__ void k(int* o) { *o = __shfl_down_sync(0xffffffff, *o, 1); }",
}


def compiled(source: Path, program: Path, *words: str) -> Compiled:
    return compile_here(COMPILER[source.suffix], str(source), *words, "-o", str(program), directory=program.parent)


def build(source: Path, folder: Path) -> Path:
    program = folder / source.stem
    built = compiled(source, program)
    assert built.status == 0, built.said
    return program


@pytest.mark.parametrize("source", sorted(PROGRAMS.glob("*.hip")) + sorted(PROGRAMS.glob("*.cu")), ids=lambda s: s.name)
def test_a_program_agrees_with_its_host_references(source: Path, tmp_path: Path) -> None:
    program = build(source, tmp_path)
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert (ran.returncode, ran.stdout.splitlines()[-1:]) == (0, ["all good"]), ran.stdout + ran.stderr


def test_a_chip_with_waves_of_32_lanes_has_other_matrix_instructions(tmp_path: Path) -> None:
    program = tmp_path / "app"
    built = compiled(PROGRAMS / "instructions.hip", program, "--intelliperf-target=rx7900xtx")
    assert built.status == 0, built.said
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert (ran.returncode, ran.stdout.splitlines()[-1:]) == (0, ["all good"]), ran.stdout + ran.stderr


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_emulator_lacks_is_refused_by_name(what: str, tmp_path: Path) -> None:
    source = tmp_path / "refused.hip"
    source.write_text(f"#include <hip/hip_runtime.h>\n{REFUSED[what]}\nint main() {{}}\n")
    built = compiled(source, tmp_path / "refused")
    assert built.status != 0
    assert what in built.said


def test_a_library_may_declare_the_failure_of_an_assertion_for_host_and_device(tmp_path: Path) -> None:
    source = tmp_path / "asserts.cu"
    declared = "__host__ __device__ void __assert_fail(const char*, const char*, unsigned, const char*) noexcept;"
    kernel = "#undef NDEBUG\n#include <cassert>\n__global__ void k(int* p) { assert(*p); }"
    source.write_text(f'extern "C" {declared}\nint main() {{}}\n')
    assert not compiled(source, tmp_path / "asserts", "-DNDEBUG").said
    source.write_text(f"{kernel}\nint main() {{}}\n")
    assert not compiled(source, tmp_path / "asserts", "-DNDEBUG").said


def test_macros_of_one_letter_do_not_reach_the_headers(tmp_path: Path) -> None:
    source = tmp_path / "macros.hip"
    source.write_text("#include <hip/hip_runtime.h>\n__global__ void k(T* o) { o[N] = M; }\nint main() {}\n")
    built = compiled(source, tmp_path / "macros", "-DT=float", "-DN=1", "-DM=2", "-DF=3", "-DA=4", "-DK=5", "-DX=6")
    assert built.status == 0, built.said


@pytest.mark.parametrize("suffix", [".hip", ".cu"])
def test_a_template_keyword_may_stand_before_a_name_without_arguments(suffix: str, tmp_path: Path) -> None:
    """As in ROCm's own headers before 6.2, whose clang took it."""
    source = tmp_path / f"a{suffix}"
    source.write_text(
        ("#include <hip/hip_runtime.h>\n" if suffix == ".hip" else "")
        + "struct S { template <class T> __device__ void put(T* at) { *at = 1; } };\n"
        "template <class X> __global__ void k(int* o) { X().template put(o); }\n"
        "template __global__ void k<S>(int*);\nint main() {}\n"
    )
    assert compiled(source, tmp_path / "a").status == 0
