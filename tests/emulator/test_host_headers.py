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


def test_a_program_names_every_error_of_the_driver(tmp_path: Path) -> None:
    """Tables of all errors are common; the values at the ends of their groups are those of the real header."""
    source = tmp_path / "app.c"
    source.write_text(
        "#include <cuda.h>\nstatic CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;\n"
        "static CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;\n"
        "int main(void) {\n  int wrong = CUDA_ERROR_PROFILER_ALREADY_STOPPED != 8;\n"
        "  wrong |= CUDA_ERROR_CONTAINED != 226 || CUDA_ERROR_INVALID_PC != 718;\n"
        "  wrong |= CUDA_ERROR_CDP_VERSION_MISMATCH != 812 || CUDA_ERROR_KEY_ROTATION != 916;\n"
        "  return wrong || mode != 2 || status != 2;\n}\n"
    )
    program = tmp_path / "app"
    _built("gcc", source, program)
    assert subprocess.run([str(program)], timeout=60).returncode == 0


def test_hips_small_formats_serve_host_files(tmp_path: Path) -> None:
    source = tmp_path / "app.cpp"
    headers = "".join(f"#include <hip/{name}.h>\n" for name in ("hip_runtime", "hip_fp16", "hip_bf16"))
    body = "int main() { return float(__float2half(1.5f)) + float(__float2bfloat16(2.5f)) != 4; }\n"
    source.write_text(f"{headers}#include <hipblas/hipblas.h>\n{body}")
    _built("g++", source, tmp_path / "app", "-std=c++17", "-D__HIP_PLATFORM_AMD__")
    assert subprocess.run([str(tmp_path / "app")], timeout=60).returncode == 0


@pytest.mark.parametrize("standard", ["c99", "c17"])
def test_the_first_interface_of_cublas_serves_programs_in_c(standard: str, tmp_path: Path) -> None:
    _built("gcc", PROGRAMS / "first_blas.c", tmp_path / "app.o", f"-std={standard}", "-c")


@pytest.mark.parametrize("header", ["cublas_v2", "cublasLt", "curand"])
@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_a_librarys_header_serves_beside_a_real_runtimes(compiler: str, header: str, tmp_path: Path) -> None:
    """As on a machine with a toolkit that lacks the library: host files see the toolkit's runtime and our library."""
    for name in ("cuda_runtime_api", "cuda_runtime", "cuda_fp16", "cuda_bf16", "cuComplex", "library_types"):
        (tmp_path / f"{name}.h").write_text('#include "real.h"\n')
    (tmp_path / "real.h").write_text(
        "#pragma once\n#include <stddef.h>\n"
        "typedef struct CUstream_st* cudaStream_t;\n"
        "typedef struct { float x, y; } cuComplex;\ntypedef struct { double x, y; } cuDoubleComplex;\n"
        "struct __half { unsigned short x; };\n"
        "typedef enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_C_64F, CUDA_R_32I } cudaDataType;\n"
        "#ifndef __cplusplus\ntypedef enum cudaDataType_t cudaDataType_t;\n#endif\n"
        "typedef enum libraryPropertyType_t { MAJOR_VERSION } libraryPropertyType;\n"
    )
    for name in ("cublas_v2.h", "cublasLt.h", "curand.h"):
        (tmp_path / name).symlink_to(include_directory() / name)
    (tmp_path / "simt").symlink_to(include_directory() / "simt")
    (tmp_path / ("app.c" if compiler == "gcc" else "app.cpp")).write_text(f"#include <{header}.h>\n")
    command = [compiler, "-fsyntax-only", "-I.", "app.c" if compiler == "gcc" else "app.cpp"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
