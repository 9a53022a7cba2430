"""Habits of HIP programs in the wild, each in a small program of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.emulator.buildenvironment import build_environment
from intelliperf.processes.process import Completed, run

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "breadth"
KERNELS = """
#include <hip/hip_runtime.h>
__device__ float offset;
__constant__ int table[4];
extern "C" __global__ void shifted(const float *in, float *out, char unused, double by, float4 four) {
  out[threadIdx.x] = in[threadIdx.x] * static_cast<float>(by) + offset + table[threadIdx.x % 4] + four.w;
}
"""
LOADER = """
#include <hip/hip_runtime.h>
#include <cstdio>
#define CHECK(call) do { hipError_t e = (call); if (e != hipSuccess) { \\
  std::printf("%s: %s\\n", #call, hipGetErrorName(e)); return 1; } } while (0)
int main() {
  hipModule_t module, missing;
  hipFunction_t function;
  if (hipModuleLoad(&missing, "absent.co") != hipErrorFileNotFound) return 2;
  CHECK(hipModuleLoad(&module, "kernels.co"));
  CHECK(hipModuleGetFunction(&function, module, "shifted"));
  hipDeviceptr_t variable;
  size_t bytes;
  float five = 5, host[64], *in, *out;
  int table[4] = {0, 10, 20, 30};
  CHECK(hipModuleGetGlobal(&variable, &bytes, module, "offset"));
  CHECK(hipMemcpyHtoD(variable, &five, bytes));
  CHECK(hipModuleGetGlobal(&variable, &bytes, module, "table"));
  CHECK(hipMemcpyHtoD(variable, table, bytes));
  for (int i = 0; i < 64; ++i) host[i] = i;
  CHECK(hipMalloc(&in, sizeof host));
  CHECK(hipMalloc(&out, sizeof host));
  CHECK(hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice));
  struct { float *in, *out; char unused; double by; float4 four; } packed = {in, out, 'x', 2.0, {0, 0, 0, 100}};
  size_t size = sizeof packed;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  void *arguments[] = {&packed.in, &packed.out, &packed.unused, &packed.by, &packed.four};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  if (hipModuleGetFunction(&function, module, "absent") != hipErrorNotFound) return 3;
  CHECK(hipModuleUnload(module));
  std::puts(host[63] == 63 * 2 + 5 + 30 + 100 ? "all good" : "failed");
}
"""


def step(folder: Path, *argv: str) -> Completed:
    done = run(argv, folder, 120, folder / "logs", "step", build_environment())
    assert done.exit_status == 0, done.tail("stdout") + done.tail()
    return done


@pytest.mark.parametrize("name", ["algorithms", "language", "libraries"])
def test_a_program_in_the_style_of_others_builds_and_agrees(name: str, tmp_path: Path) -> None:
    step(tmp_path, "hipcc", "-std=c++17", str(PROGRAMS / f"{name}.hip"), "-o", "app")
    assert step(tmp_path, "./app").tail("stdout").strip() == "all good"


def test_a_program_loads_the_module_that_genco_made(tmp_path: Path) -> None:
    (tmp_path / "kernels.hip").write_text(KERNELS, encoding="utf-8")
    (tmp_path / "loader.cpp").write_text(LOADER, encoding="utf-8")
    step(tmp_path, "hipcc", "--genco", "--offload-arch=gfx942", "kernels.hip", "-o", "kernels.co")
    step(tmp_path, "hipcc", "loader.cpp", "-o", "app")
    assert step(tmp_path, "./app").tail("stdout").strip() == "all good"


MAKEFILE = """
HIPCC = /opt/rocm-9.9.9/bin/hipcc
ifeq ($(wildcard $(HIPCC)),)
$(error no $(HIPCC))
endif
ifneq ($(shell which $(HIPCC) > /dev/null; echo $$?), 0)
$(error which does not find $(HIPCC))
endif
ifneq ($(shell grep -q hip::host /opt/rocm-9.9.9/lib/cmake/hip/hip-config.cmake; echo $$?), 0)
$(error no CMake package)
endif
ifneq ($(shell test -f /opt/rocm-9.9.9/hip/include/hip/hip_runtime.h && ls /opt/rocm-9.9.9/llvm; echo $$?), 2)
$(error a header by its old place, and no folder that we lack)
endif
CLANG = /opt/rocm-9.9.9/llvm/bin/clang++
app: kernels.hip plain.o
\t$(HIPCC) $(shell /opt/rocm-9.9.9/bin/hipconfig --cpp_config) kernels.hip plain.o -o app
plain.o: plain.cpp
\t$(CLANG) -c plain.cpp -o plain.o
"""
PLAIN = """
#include <cstdio>
int run();
int main() { std::puts(run() == 64 ? "all good" : "failed"); }
"""
RUN = """
#include <hip/hip_runtime.h>
__global__ void count(int* to) { atomicAdd(to, 1); }
int run() {
  int* counter;
  if (hipMallocManaged(&counter, sizeof(int)) != hipSuccess) return 0;
  *counter = 0;
  count<<<1, 64>>>(counter);
  return hipDeviceSynchronize() == hipSuccess ? *counter : 0;
}
"""


def test_a_makefile_that_names_the_compiler_by_its_absolute_path_gets_the_drop_in(tmp_path: Path) -> None:
    for name, text in (("Makefile", MAKEFILE), ("plain.cpp", PLAIN), ("kernels.hip", RUN)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    step(tmp_path, "make")
    assert step(tmp_path, "./app").tail("stdout").strip() == "all good"


UNKNOWN = {
    "hipMemAddressReserve": "void f() { hipMemAddressReserve(nullptr, 1, 1, nullptr, 0); }",
    "rocprim::search_n": "#include <rocprim/rocprim.hpp>\nvoid f() { rocprim::search_n(1); }",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_the_headers_do_not_declare_is_named_once(name: str, tmp_path: Path) -> None:
    (tmp_path / "unit.hip").write_text(f"#include <hip/hip_runtime.h>\n{UNKNOWN[name]}\n", encoding="utf-8")
    done = run(("hipcc", "-c", "unit.hip"), tmp_path, 120, tmp_path / "logs", "step", build_environment())
    said = [line for line in done.tail().splitlines() if line.startswith("intelliperf: ")]
    assert (done.exit_status, said) == (1, [f"intelliperf: {name}: not known to the emulator"])


MANAGED = {
    "main.hip": """
#include <hip/hip_runtime.h>
#include <cstdio>
__device__ __managed__ int shared_count = 5;
void from_the_other_file();
__global__ void add() { shared_count += 1; }
int main() {
  shared_count += 1;
  add<<<1, 1>>>();
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  from_the_other_file();
  std::printf("%d\\n", shared_count);
}
""",
    "other.hip": """
#include <hip/hip_runtime.h>
extern __device__ __managed__ int shared_count;
__global__ void add_ten() { shared_count += 10; }
void from_the_other_file() {
  shared_count += 100;
  add_ten<<<1, 1>>>();
  (void)hipDeviceSynchronize();
}
""",
}


def test_a_managed_variable_is_one_over_relocatable_objects_and_both_sides(tmp_path: Path) -> None:
    for name, text in MANAGED.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    step(tmp_path, "hipcc", "-fgpu-rdc", "main.hip", "other.hip", "-o", "app")
    assert step(tmp_path, "./app").tail("stdout").strip() == "117"
