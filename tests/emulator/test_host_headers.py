"""Headers of CUDA and HIP in files that a plain host compiler compiles, as projects have them beside their kernels."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from intelliperf.dropins.toolchain import include_directory

PROGRAMS = Path(__file__).parent / "host"
_WARNINGS = ("-Wall", "-Wextra", "-Werror")


def _built(compiler: str, source: Path, program: Path, *flags: str) -> None:
    command = [compiler, *flags, *_WARNINGS, f"-I{include_directory()}", str(source), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize("standard", ["c++11", "c++17"])
def test_small_formats_are_exact_in_a_host_compiler(standard: str, tmp_path: Path) -> None:
    program = tmp_path / "app"
    _built("g++", PROGRAMS / "small_formats.cpp", program, f"-std={standard}", "-O1")
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "all good\n")


def test_types_of_cuda_serve_programs_in_c(tmp_path: Path) -> None:
    program = tmp_path / "app"
    _built("gcc", PROGRAMS / "plain.c", program)
    assert subprocess.run([str(program)], timeout=60).returncode == 0


def test_hips_small_formats_serve_host_files(tmp_path: Path) -> None:
    source = tmp_path / "app.cpp"
    headers = "".join(f"#include <hip/{name}.h>\n" for name in ("hip_runtime", "hip_fp16", "hip_bf16"))
    body = "int main() { return float(__float2half(1.5f)) + float(__float2bfloat16(2.5f)) != 4; }\n"
    source.write_text(f"{headers}#include <hipblas/hipblas.h>\n{body}")
    _built("g++", source, tmp_path / "app", "-std=c++17", "-D__HIP_PLATFORM_AMD__")
    assert subprocess.run([str(tmp_path / "app")], timeout=60).returncode == 0
