"""CUDA as programs of many authors write it: odd spellings, newer library parts, and refusals by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.dropins.spelling import as_clang_reads, host_constraints
from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.compiler.explain import explanation
from intelliperf.processes.process import Completed, run

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "breadth"
REFUSED = {
    "inline assembly": '__global__ void k(int* o) { asm("vadd.s32.s32.s32 %0, %1, %2;" : "=r"(*o) : "r"(1), "r"(2)); }',
    "surface references": "surface<void, 2> s;\nint main() { cudaBindSurfaceToArray(s, nullptr); }",
    "quasi-random numbers made in kernels": "#include <curand_kernel.h>\n"
    "__global__ void k(curandStateSobol32_t* s, float* o) { *o = curand_uniform(s); }",
    "memory mapped by hand": "#include <cuda.h>\nint main() { CUmemAllocationProp p; cuMemCreate(0, 1, &p, 0); }",
    "mipmapped textures": "int main() { cudaMipmappedArray_t a; cudaMipmappedArrayGetSparseProperties(0, a); }",
    "dynamic parallelism": "__global__ void c() {}\n__global__ void k() { c<<<1, 1>>>(); }",
    "this part of CUB and hipCUB (cub/grid/grid_barrier.cuh)": "#include <cub/grid/grid_barrier.cuh>\n",
    "Thrust systems defined by programs": "#include <thrust/execution_policy.h>\n"
    "struct mine : thrust::device_execution_policy<mine> {};",
    "this graph function": "int main() { cudaGraphConditionalHandleCreate(0, 0); }",
}
ARCHIVE = {
    "kernel.cu": "#include <cstdio>\n__device__ int three();\n__global__ void k(int* o) { *o = three(); }\n"
    "int ask() {\n  int *o, h;\n  cudaMalloc(&o, 4);\n  k<<<1, 1>>>(o);\n"
    "  cudaMemcpy(&h, o, 4, cudaMemcpyDeviceToHost);\n  return h;\n}",
    "three.cu": "__device__ int three() { return 3; }",
    "main.cpp": "#include <curand_kernel.h>\n#include <thrust/host_vector.h>\n#include <thrust/reduce.h>\n"
    "curandState states[4];\nint ask();\nint main() {\n  thrust::host_vector<int> all(1, ask());\n"
    '  std::printf("%d\\n", thrust::reduce(all.begin(), all.end()));\n}',
    "Makefile": "NVCC := $(CUDA_PATH)/bin/nvcc\napp: main.cpp\n\t$(NVCC) -dc kernel.cu three.cu\n"
    "\t$(NVCC) -dlink kernel.o three.o -o linked.o\n\tar rcs libparts.a kernel.o three.o linked.o\n"
    "\tg++ main.cpp -I$(CUDA_PATH)/include -o app -L. -lparts -L$(CUDA_PATH)/lib64 -lcudart\n",
}


def shell(folder: Path, *argv: str) -> Completed:
    environment = dict(EmulatorBackend(folder / "data").build_environment())
    return run(argv, folder, 120, folder / "logs", "step", environment)


def test_a_program_of_odd_spellings_and_newer_parts_computes_what_it_should(tmp_path: Path) -> None:
    built = shell(tmp_path, "nvcc", "-O2", str(PROGRAMS / "language.cu"), "-o", "language")
    assert built.exit_status == 0, built.tail()
    for order in ("auto", "always"):
        ran = shell(tmp_path, "env", f"INTELLIPERF_LOCKSTEP={order}", "./language")
        assert (ran.exit_status, ran.tail("stdout").split("\n")[0]) == (0, "all good"), ran.tail("stdout") + ran.tail()


def test_products_of_sparse_matrices_are_those_of_cusparse(tmp_path: Path) -> None:
    built = shell(tmp_path, "nvcc", str(PROGRAMS / "sparse.cu"), "-lcusparse", "-o", "sparse")
    assert built.exit_status == 0, built.tail()
    ran = shell(tmp_path, "./sparse")
    assert (ran.exit_status, ran.tail("stdout").strip()) == (0, "all good"), ran.tail("stdout")


def test_cublas_without_handles_computes_what_its_letters_say(tmp_path: Path) -> None:
    built = shell(tmp_path, "nvcc", str(PROGRAMS / "first_blas.cu"), "-lcublas", "-o", "first")
    assert built.exit_status == 0, built.tail()
    ran = shell(tmp_path, "./first")
    assert (ran.exit_status, ran.tail("stdout").strip()) == (0, "all good"), ran.tail("stdout")


@pytest.mark.parametrize("build", ["nvcc transforms.cu -lcufft", "hipcc transforms.hip -lhipfft"])
def test_fourier_transforms_are_those_of_their_definition(build: str, tmp_path: Path) -> None:
    compiler, source, library = build.split()
    built = shell(tmp_path, compiler, str(PROGRAMS / source), library, "-o", "transforms")
    assert built.exit_status == 0, built.tail()
    ran = shell(tmp_path, "./transforms")
    assert (ran.exit_status, ran.tail("stdout").strip()) == (0, "all good"), ran.tail("stdout")


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_emulator_lacks_is_refused_by_name(what: str, tmp_path: Path) -> None:
    (tmp_path / "program.cu").write_text(REFUSED[what], encoding="utf-8")
    built = shell(tmp_path, "nvcc", "-c", "program.cu", "-o", "program.o")
    lines = [line for line in built.tail().splitlines() if "intelliperf: " in line]
    assert built.exit_status == 1
    assert len(lines) == 1 and what in lines[0] and "not supported by the emulator" in lines[0], built.tail()


def test_a_device_link_in_an_archive_is_found_by_a_plain_link(tmp_path: Path) -> None:
    for name, text in ARCHIVE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    built = shell(tmp_path, "make")
    assert built.exit_status == 0, built.tail()
    assert shell(tmp_path, "./app").tail("stdout").strip() == "3"


def test_only_the_marks_of_launches_are_closed_up_and_columns_stay() -> None:
    launch = "kernel<2> << <grid, n >> 2 >> >(a, b); x = y >> z;"
    assert as_clang_reads(launch) == "kernel<2> <<< grid, n >> 2 >>> (a, b); x = y >> z;"
    shapes = "k<<<{a, 2},\n  {n}, 0>>>(x); v<<<f({1}), dim3{2}>>>(y); int w[] = {1}; k<<<1, n>>>(z);"
    assert as_clang_reads(shapes) == shapes.replace("{a", "dim3{a").replace("{n", "dim3{n")
    assert (
        as_clang_reads("  #define U #pragma unroll 4\n#pragma once\n")
        == '  #define U _Pragma("unroll 4")\n#pragma once\n'
    )
    cast = "  double (*u)[n2][n1] = (double (*)[n2][n1])pointer; int (*v)[3] = w;"
    assert as_clang_reads(cast) == "  auto u              = (double (*)[n2][n1])pointer; int (*v)[3] = w;"
    stray = 'int b = a + \\ // the rest\n  3; // "\\ // no"\n#define X \\ // kept\n'
    assert as_clang_reads(stray) == stray.replace("+ \\ ", "+   ")
    template = "std::vector<std::vector<std::vector<int>> > (v);"
    assert as_clang_reads(template) == template


def test_a_constraint_that_a_macro_hands_over_is_this_processors() -> None:
    macro = '#define ADD(r, t, op) asm("add."#t" %0, %1, "#op";" : "="#r(out) : #r(x), "r"(n))'
    spelled = host_constraints(macro)
    assert ': "=" SIMT_CONSTRAINT_##r(out) :  SIMT_CONSTRAINT_##r(x), "r"(n)' in spelled
    assert '"add."#t" %0, %1, "#op";"' in spelled


def test_an_ordinary_error_needs_no_explanation() -> None:
    assert explanation("a.cu:3:1: error: expected ';' after expression\n") == ""


def test_headers_of_mpi_that_are_not_searched_are_told_with_their_remedy() -> None:
    told = explanation("core.cu:7:10: fatal error: 'mpi.h' file not found\n")
    assert "mpicxx -show" in told and "not supported" not in told
