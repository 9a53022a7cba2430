"""Whole builds with Ninja, Meson, ccache, MPI, generated sources, unity files and questions asked while configuring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from intelliperf.emulator.buildenvironment import build_environment
from intelliperf.processes.process import Completed, run

pytestmark = [pytest.mark.slow, pytest.mark.build_tools]
Shell = Callable[..., Completed]
KERNEL = """
#include <cstdio>
#include "factor.h"
__global__ void scale(int* out) { out[threadIdx.x] = FACTOR * threadIdx.x; }
int last() {
  int *out, host[64];
  if (cudaMalloc(&out, sizeof host) != cudaSuccess) return -1;
  scale<<<1, 64>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[63];
}
"""
HOST = '#include <cstdio>\nint last();\nint main() { std::printf("%d\\n", last()); }\n'
PROBE = """
#include <cuda_runtime.h>
#include <cstdio>
int main() {
  int count = 0;
  cudaDeviceProp chip;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 1) return 1;
  cudaGetDeviceProperties(&chip, 0);
  std::printf("%d%d", chip.major, chip.minor);
}
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    environment = {**build_environment(), "CCACHE_DIR": str(tmp_path / "ccache"), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "INTELLIPERF_TARGET": "h100"}  # fmt: skip

    def call(*argv: str) -> str:
        done = run(argv, tmp_path, 300, tmp_path / "logs", "step", environment)
        assert done.ok, done.tail("stdout") + done.tail()
        return done.tail("stdout")

    return call


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")


def test_ninja_builds_generated_unity_sources_through_ccache(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, kernel_cu=KERNEL, main_cpp=HOST, extra_cpp="int unused() { return 1; }\n", CMakeLists_txt="""
cmake_minimum_required(VERSION 3.21)
project(x LANGUAGES CXX CUDA)
file(WRITE ${CMAKE_BINARY_DIR}/make.cmake "file(WRITE factor.h \\"#define FACTOR 5\\\\n\\")")
add_custom_command(OUTPUT factor.h COMMAND ${CMAKE_COMMAND} -P ${CMAKE_BINARY_DIR}/make.cmake)
add_executable(app kernel.cu main.cpp extra.cpp ${CMAKE_CURRENT_BINARY_DIR}/factor.h)
target_include_directories(app PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
set_target_properties(app PROPERTIES UNITY_BUILD ON)
""")  # fmt: skip
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("CXX", "CUDA")]
    shell("cmake", "-G", "Ninja", "-S", ".", "-B", "build", *launcher)
    shell("cmake", "--build", "build")
    assert shell("build/app").strip() == "315"
    assert "no work to do" in shell("cmake", "--build", "build")


def test_a_project_may_ask_for_its_gpu_while_it_is_configured(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, kernel_cu=KERNEL, main_cpp=HOST, probe_cu=PROBE, factor_h="#define FACTOR 2\n", CMakeLists_txt="""
cmake_minimum_required(VERSION 3.21)
project(x LANGUAGES CXX CUDA)
try_run(ran compiled ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/probe.cu RUN_OUTPUT_VARIABLE found)
if(NOT ran EQUAL 0)
  message(FATAL_ERROR "there is no GPU: ${ran} ${found}")
endif()
execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
  OUTPUT_VARIABLE told RESULT_VARIABLE bad)
if(bad)
  message(FATAL_ERROR "nvidia-smi: ${bad}")
endif()
message(STATUS "found ${found}, told ${told}")
find_package(CUDAToolkit REQUIRED)
add_executable(app kernel.cu main.cpp)
target_link_libraries(app CUDA::cusolver CUDA::nppicc)  # named, not called
set_target_properties(app PROPERTIES CUDA_ARCHITECTURES ${found})
""")  # fmt: skip
    assert "found 90, told 9.0" in shell("cmake", "-S", ".", "-B", "build")
    shell("cmake", "--build", "build", "--parallel", "2")
    assert shell("build/app").strip() == "126"


def test_meson_builds_cuda_as_a_language(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, kernel_cu=KERNEL, main_cpp=HOST, factor_h="#define FACTOR 3\n", meson_build="""
project('x', 'cpp', 'cuda')
executable('app', 'kernel.cu', 'main.cpp', link_language: 'cuda')
""")  # fmt: skip
    shell("meson", "setup", "build")
    shell("meson", "compile", "-C", "build")
    assert shell("build/app").strip() == "189"


def test_an_mpi_program_runs_as_one_rank(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, kernel_cu=KERNEL, factor_h="#define FACTOR 7\n", Makefile_mk="""
app: main.o kernel.o
\tmpicxx $^ -o $@ -lcudart
main.o: main.cpp
\tmpicxx -c $< -o $@
kernel.o: kernel.cu
\tnvcc -c $< -o $@
""", main_cpp="""
#include <mpi.h>
#include <mpi-ext.h>
#include <cstdio>
int last();
int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = -1, ranks = 0, own = last(), sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::printf("%d of %d: %d, takes device pointers: %d\\n", rank, ranks, sum, MPIX_Query_cuda_support());
  MPI_Finalize();
}
""")  # fmt: skip
    shell("make", "-f", "Makefile.mk")
    assert shell("./app").strip() == "0 of 1: 441, takes device pointers: 1"


def test_a_compiler_that_a_wrapper_calls_by_name_is_the_drop_in(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, kernel_cu=KERNEL, main_cpp=HOST, factor_h="#define FACTOR 1\n", wrapper_sh="""#!/bin/sh
# Parts the options of a toolchain rule from the words of its compiler.
unset LD_PRELOAD CPATH CUDA_PATH CUDA_HOME
for word; do shift; case $word in --rule=*) ;; *) set -- "$@" "$word" ;; esac; done
exec nvcc "$@"
""")  # fmt: skip
    (tmp_path / "wrapper.sh").chmod(0o755)
    shell("./wrapper.sh", "--rule=compile", "-c", "kernel.cu", "-o", "kernel.o")
    shell("./wrapper.sh", "--rule=link", "kernel.o", "main.cpp", "-o", "app")
    assert shell("./app").strip() == "63"
