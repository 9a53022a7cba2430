"""Whole builds through the drop-ins, with the project's own build system, run on the emulator."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from inprocess import WITHOUT_FACTS

from intelliperf.backends import with_gpu
from intelliperf.emulator.buildenvironment import build_environment
from intelliperf.processes.process import Completed, run
from intelliperf.project.versions import remarks
from intelliperf.records import Application

Shell = Callable[..., Completed]
HOST = Path(__file__).parent / "host"
MAIN = """
#include <hip/hip_runtime.h>
#include <cstdio>
int expected();
__global__ void fill(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * 3;
}
int main() {
  int *out, host[100];
  hipMalloc(&out, sizeof host);
  fill<<<2, 64>>>(out, 100);
  hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
  printf("%s\\n", host[99] == expected() ? "PASS" : "FAIL");
}
"""
EXPECTED = "#include <vector>\nint expected() { return std::vector<int>(1, 297).at(0); }\n"


def as_cuda(text: str) -> str:
    return text.replace("#include <hip/hip_runtime.h>\n", "").replace("hip", "cuda")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    environment = {**build_environment(), **WITHOUT_FACTS}

    def call(*argv: str, expect: int = 0, **variables: str) -> Completed:
        done = run(argv, tmp_path, 120, tmp_path / "logs", "step", {**environment, **variables})
        assert done.exit_status == expect, done.tail("stdout") + done.tail()
        return done

    return call


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / (f"{stem}.{suffix}" if stem else suffix)).write_text(text, encoding="utf-8")


def output(done: Completed) -> str:
    return done.tail("stdout").strip()


def test_a_program_linked_with_a_search_path_of_its_own_finds_the_runtime(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, main_cu=as_cuda(MAIN), expected_cpp=EXPECTED)
    shell("nvcc", "-c", "main.cu", "-o", "main.o")
    shell("g++", "main.o", "expected.cpp", "-Wl,-rpath,/elsewhere", "-lcudart", "-o", "app")  # LD_RUN_PATH is not used
    application = with_gpu(Application(("./app",), tmp_path, tmp_path), "emulator", None)
    assert output(shell("./app", **dict(application.environment))) == "PASS"
    statically = ("-Wl,-Bstatic", "-lcudart_static", "-Wl,-Bdynamic", "-lrt", "-lpthread", "-ldl")  # FindCUDA's words
    shell("g++", "main.o", "expected.cpp", *statically, "-o", "app")
    assert output(shell("./app")) == "PASS"
    real = tmp_path / "toolkit" / "lib64"
    real.mkdir(parents=True)
    (real / "libcudart.so").write_text("the vendor's\n")
    words = ("main.o", "expected.cpp", f"-L{real}", "-lcudart", "-o", "app")
    shell("g++", *words, INTELLIPERF_TOOLKITS=str(real.parent))
    assert output(shell("./app")) == "PASS"


def test_projects_for_an_older_cmake_are_configured(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, old_cmake="cmake_minimum_required(VERSION 3.0)\n")
    shell("cmake", "-P", "old.cmake")


def test_a_makefile_may_mix_hipcc_and_gxx(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, main_hip=MAIN, expected_cpp=EXPECTED)
    rules = ["app: main.o expected.o", "\thipcc $^ -o $@", "main.o: main.hip", "\thipcc -O3 -MMD -c $< -o $@",
             "expected.o: expected.cpp", "\tg++ -c $< -o $@", "-include main.d"]  # fmt: skip
    (tmp_path / "Makefile").write_text("\n".join(rules) + "\n", encoding="utf-8")
    shell("make")
    assert output(shell("./app")) == "PASS"
    assert (tmp_path / "main.d").read_text(encoding="utf-8") == "main.o: main.hip\n"


@pytest.mark.parametrize("compiler", ["nvcc", "hipcc"])
def test_a_gpu_compiler_takes_sources_without_device_code(shell: Shell, tmp_path: Path, compiler: str) -> None:
    write(
        tmp_path,
        expected_cpp=EXPECTED,
        main_cpp='#include <cstdio>\nint expected();\nint main() { std::puts(expected() == 297 ? "PASS" : "FAIL"); }\n',
    )
    shell(compiler, "-c", "expected.cpp", "-o", "expected.o")
    shell(compiler, "main.cpp", "expected.o", "-o", "app")
    assert output(shell("./app")) == "PASS"


def test_nvcc_of_any_directory_is_the_drop_in(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, main_cu=as_cuda(MAIN).replace("int expected();", "int expected() { return 297; }"))
    lines = ["CUDA = /soft/nowhere/cuda-11.8", "NVCC := $(CUDA)/bin/nvcc", "app: main.cu", "\t$(NVCC) -o app main.cu"]
    (tmp_path / "Makefile").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shell("make")
    assert output(shell("./app")) == "PASS"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "suffix", "extra"),
    [("HIP", "hip", "find_package(hip REQUIRED)"), ("CUDA", "cu", "find_package(CUDAToolkit REQUIRED)")],
)
def test_cmake_builds_a_gpu_language(shell: Shell, tmp_path: Path, language: str, suffix: str, extra: str) -> None:
    text = MAIN if language == "HIP" else as_cuda(MAIN)
    (tmp_path / f"main.{suffix}").write_text(text, encoding="utf-8")
    write(tmp_path, expected_cpp=EXPECTED)
    library = "hip::host" if language == "HIP" else "CUDA::cudart CUDA::curand CUDA::cuda_driver CUDA::nvtx3"
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES CXX {language})\n{extra}\n"
        f"add_executable(app main.{suffix} expected.cpp)\ntarget_link_libraries(app PRIVATE {library})\n",
        encoding="utf-8",
    )
    shell("cmake", "-S", ".", "-B", "build")
    shell("cmake", "--build", "build")
    assert output(shell("build/app")) == "PASS"


@pytest.mark.slow
def test_cmake_compiles_what_the_old_hip_module_adds_with_hipcc(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, main_hip=MAIN, expected_cpp=EXPECTED.replace("297", "VALUE"))
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES CXX)\n"
        "include($ENV{HIP_PATH}/lib/cmake/hip/FindHIP.cmake)\nfind_package(HIP REQUIRED)\n"
        "hip_add_library(parts STATIC expected.cpp HIPCC_OPTIONS -DVALUE=297)\n"
        "hip_add_executable(app main.hip HIPCC_OPTIONS -O2 NVCC_OPTIONS -arch=sm_70)\n"
        "target_link_libraries(app PRIVATE parts)\n",
        encoding="utf-8",
    )
    shell("cmake", "-S", ".", "-B", "build")
    shell("cmake", "--build", "build")
    assert output(shell("build/app")) == "PASS"


HELPER = """
__device__ int offset = 7;
__device__ __noinline__ int helper(int x) { return x * 2; }
void set_offset(int value) { cudaMemcpyToSymbol(offset, &value, sizeof value); }
"""
CALLER = """
#include <cstdio>
extern __device__ int offset;
__device__ int helper(int);
void set_offset(int);
__global__ void k(int *out) { out[threadIdx.x] = helper(threadIdx.x) + offset; }
int main() {
  int *out, host[32];
  cudaMalloc(&out, sizeof host);
  set_offset(100);
  k<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d\\n", host[31]);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("archived", [False, True])
def test_device_code_is_linked_across_files(shell: Shell, tmp_path: Path, archived: bool) -> None:
    write(tmp_path, helper_cu=HELPER, caller_cu=CALLER)
    shell("nvcc", "-dc", "helper.cu", "caller.cu")
    helper = "helper.o"
    if archived:
        shell("ar", "rcs", "libhelper.a", "helper.o")
        helper = "libhelper.a"
    shell("nvcc", "-dlink", "caller.o", helper, "-o", "linked.o")
    shell("nvcc", "caller.o", helper, "linked.o", "-o", "app")
    assert output(shell("./app")) == "162"


RESOLVED = """
__device__ int twice(int i) { return 2 * i; }
__global__ void library(int *out) { out[threadIdx.x] = twice(threadIdx.x); }
"""
RESOLVING = """
#include <cstdio>
__global__ void library(int *out);
__global__ void own(int *out) { out[threadIdx.x] += 100; }
int main() {
  int *out, host[32];
  cudaMalloc(&out, sizeof host);
  auto launch = [&](void (*kernel)(int *)) { kernel<<<1, 32>>>(out); };
  launch(library);
  auto added = [&] { own<<<1, 32>>>(out); };
  added();
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d\\n", host[31]);
}
"""


def test_a_library_that_resolves_its_own_device_symbols_serves_a_program_that_launches_its_kernels(
    shell: Shell, tmp_path: Path
) -> None:
    """CMake's CUDA_RESOLVE_DEVICE_SYMBOLS: two device programs in one, of which each registers its own kernels.

    A lambda of a host function may run on either side for clang, which then looks for a launch from the device.
    """
    write(tmp_path, library_cu=RESOLVED, program_cu=RESOLVING)
    shell("nvcc", "-dc", "library.cu", "program.cu")
    shell("nvcc", "-dlink", "library.o", "-o", "library_link.o")
    shell("ar", "rcs", "liblibrary.a", "library.o", "library_link.o")
    shell("nvcc", "-dlink", "program.o", "-o", "program_link.o")
    shell("g++", "program.o", "program_link.o", "liblibrary.a", "-lcudart", "-o", "app")
    assert output(shell("./app")) == "162"
    shell("nvcc", "program.o", "liblibrary.a", "-o", "app")
    assert output(shell("./app")) == "162"


def test_what_the_real_target_needs_is_known_of_a_kernel_that_one_file_alone_has(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, own_cu="""
static __global__ void own(int *o) { if (o) *o = 1; }
int main() { own<<<1, 1>>>(nullptr); cudaDeviceSynchronize(); }
""")  # fmt: skip
    shell("nvcc", "-rdc=true", "own.cu", "-o", "app", **dict.fromkeys(WITHOUT_FACTS, ""))
    shell("./app", INTELLIPERF_TRACE_DIR=str(tmp_path))
    (module,) = [json.loads(file.read_text()) for file in tmp_path.glob("module-*.json")]
    (kernel,) = module["kernels"].values()
    assert kernel["static"] is not None


def test_a_missing_device_function_is_named(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, caller_cu=CALLER)
    assert "undefined device symbol: _Z6helperi" in shell("nvcc", "-c", "caller.cu", expect=1).tail()


ARGUMENTS = """
#include <cstdio>
struct Empty {};
struct Pair { float *data; int n; };
struct Large { double weights[8]; int *counts; };
struct Odd { char c[3]; };
template <class F> __global__ void apply(F f, int *out) { out[threadIdx.x] = f(threadIdx.x); }
template <class T, class... Rest>
__global__ void all(T *out, Empty, Pair p, bool flag, Large l, Odd o, short s, Rest... rest) {
  out[0] = p.data[0] + p.n + (flag ? 1000 : 0) + l.weights[7] + l.counts[0] + o.c[2] + s + (T(rest) + ...);
}
int main() {
  int *ints; float *floats, host;
  cudaMalloc(&ints, 256); cudaMalloc(&floats, 64);
  cudaMemset(ints, 0, 256); cudaMemset(floats, 0, 64);
  int factor = 5, back[64];
  apply<<<1, 64>>>([=] __device__(int i) { return i * factor; }, ints);
  cudaMemcpy(back, ints, sizeof back, cudaMemcpyDeviceToHost);
  Large l{}; l.weights[7] = 0.5; l.counts = ints;
  all<<<1, 1>>>(floats + 1, Empty{}, Pair{floats, 20}, true, l, Odd{{1, 2, 3}}, short(-4), 100L, 0.25f);
  cudaMemcpy(&host, floats + 1, 4, cudaMemcpyDeviceToHost);
  printf("%d %.2f\\n", back[63], host);
}
"""


def test_structs_lambdas_and_packs_arrive_as_arguments(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, arguments_cu=ARGUMENTS)
    shell("nvcc", "-std=c++17", "--extended-lambda", "arguments.cu", "-o", "app")
    assert output(shell("./app")) == "315 1119.75"


def test_errors_look_like_a_compilers_and_exit_with_1(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, wrong_hip="__global__ void k(int *p) { *p = nowhere; }\n")
    message = shell("hipcc", "-c", "wrong.hip", expect=1).tail()
    assert "wrong.hip:1:34: error: use of undeclared identifier 'nowhere'" in message
    assert "Traceback" not in message
    assert not (tmp_path / "wrong.o").exists()


def test_a_library_without_a_stand_in_is_named_where_it_is_called_and_only_there(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, main_hip=MAIN, expected_cpp=EXPECTED)
    shell("hipcc", "main.hip", "expected.cpp", "-lrocsparse", "-o", "app")
    (tmp_path / "call.cpp").write_text('extern "C" int rocsparse_create_handle(void**);\nvoid* h;\n'
                                       "int made = rocsparse_create_handle(&h);\n")  # fmt: skip
    message = shell("hipcc", "main.hip", "expected.cpp", "call.cpp", "-lrocsparse", "-o", "app", expect=1).tail()
    assert "calls rocsparse_create_handle: librocsparse has no stand-in" in message


def test_the_compile_log_has_a_line_for_each_gpu_source(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, main_hip=MAIN)
    log = tmp_path / "compile.jsonl"
    shell("hipcc", "-DX=1", "-c", "main.hip", "-o", "m.o", INTELLIPERF_COMPILE_LOG=str(log))
    (line,) = log.read_text(encoding="utf-8").splitlines()
    expected = {
        "source": str(tmp_path / "main.hip"),
        "arguments": ["hipcc", "-DX=1", "-c", "main.hip", "-o", "m.o"],
        "language": "hip",
        "directory": str(tmp_path),
        "output": str(tmp_path / "m.o"),
    }
    assert expected.items() <= json.loads(line).items()


def test_a_changed_header_is_not_served_from_the_cache(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, value_h="#define VALUE 1\n", main_cu='#include "value.h"\nint value() { return VALUE; }\n')
    shell("nvcc", "-c", "main.cu")
    first = (tmp_path / "main.o").read_bytes()
    (tmp_path / "value.h").write_text("#define VALUE 2\n", encoding="utf-8")
    shell("nvcc", "-c", "main.cu")
    second = (tmp_path / "main.o").read_bytes()
    shell("nvcc", "-c", "main.cu")
    assert first != second == (tmp_path / "main.o").read_bytes()


def test_the_null_device_is_not_replaced(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, empty_cu="\n")
    shell("nvcc", "-c", "empty.cu", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["nvcc", "--version"], ["release 12.4", "V12.4.131"]),
        (["hipcc", "--version"], ["HIP version: 6.", "clang version"]),
        (["hipconfig", "--platform"], ["amd"]),
        (["rocm_agent_enumerator"], ["gfx942"]),
        (["nvidia-smi", "-L"], ["GPU 0: NVIDIA H100"]),
        (["__nvcc_device_query"], ["90"]),
        (["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"], ["NVIDIA H100 80GB HBM3, 9.0"]),
    ],
)
def test_questions_are_answered(shell: Shell, argv: Sequence[str], words: Sequence[str]) -> None:
    reply = output(shell(*argv))
    assert all(word in reply for word in words)


def test_the_tools_that_these_builds_need_are_here() -> None:
    assert all(shutil.which(tool) for tool in ("make", "cmake", "g++", "ar"))


OLD_STYLE = """
#include <cinttypes>
#include <cooperative_groups.h>
#include <cstdio>
#include <memory>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
void *nothing() throw(std::bad_alloc) { return 0; }
__global__ void count(unsigned *total) {
  register unsigned rank = cooperative_groups::this_thread_block().thread_rank();
  atomicAdd(total, rank);
}
int main(int argc, char **) {
  unsigned few[2] = {argc, argc + 1};
  std::auto_ptr<int> owned(new int(7));
  thrust::device_vector<unsigned> total(1);
  count<<<1, 4>>>(thrust::raw_pointer_cast(total.data()));
  uint64_t sum = thrust::reduce(total.begin(), total.end()) + few[1] + *owned;
  printf("%"PRIu64"\\n", sum);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("standard", ["--std=c++11", "-std=c++03"])
def test_nvcc_takes_old_standards_with_its_own_headers(shell: Shell, tmp_path: Path, standard: str) -> None:
    write(tmp_path, old_cu=OLD_STYLE)
    shell("nvcc", standard, "--threads", "0", "old.cu", "-o", "old")
    assert output(shell("./old")) == "15"


def test_nvcc_takes_what_it_only_warns_of(shell: Shell, tmp_path: Path) -> None:
    dated = OLD_STYLE.replace("throw(std::bad_alloc)", "").replace("std::auto_ptr<int>", "std::unique_ptr<int>")
    write(tmp_path, dated_cu=dated)
    shell("nvcc", "dated.cu", "-o", "dated")
    assert output(shell("./dated")) == "15"


@pytest.mark.slow
def test_hipcc_takes_an_old_standard_with_its_own_headers(shell: Shell, tmp_path: Path) -> None:
    text = "#include <hip/hip_runtime.h>\n" + OLD_STYLE.replace("argc, argc + 1", "1u, 2u").replace(
        'PRIu64"', 'PRIu64 "'
    )
    text = text.replace("<cooperative_groups.h>", "<hip/hip_cooperative_groups.h>").replace('"%"', '"%" ')
    write(tmp_path, old_hip=text)
    shell("hipcc", "-std=c++14", "old.hip", "-o", "old")
    assert output(shell("./old")) == "15"


@pytest.mark.parametrize(("compiler", "name", "target", "words"), [
    ("hipcc", "a.hip", "h100", "it is HIP; translate it to CUDA"),
    ("nvcc", "a.cu", "mi300x", "translate it with hipify-perl"),
])  # fmt: skip
def test_a_source_for_the_other_vendors_chip_gets_a_remedy(
    shell: Shell, tmp_path: Path, compiler: str, name: str, target: str, words: str
) -> None:
    (tmp_path / name).write_text("__global__ void k() {}\n")
    message = shell(compiler, "-c", name, f"--intelliperf-target={target}", expect=1).tail()
    assert f"{name} cannot be compiled for {target}" in message and words in message


def test_cuda_under_hipcc_gets_a_remedy(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("#include <cuda_runtime.h>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
    assert "if it is a CUDA program, build it with nvcc" in shell("hipcc", "-c", "a.cu", expect=1).tail()


def test_omp_h_needs_no_option(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text("#include <omp.h>\nint main() { return 0; }\n")
    shell("hipcc", "a.hip", "-c", "-o", "a.o")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "source"), [("hipcc -fopenmp", "openmp.hip"), ("nvcc -Xcompiler -fopenmp", "openmp.cu")]
)
def test_parallel_regions_of_gpu_sources_run_on_threads(shell: Shell, words: str, source: str) -> None:
    sources = [str(HOST / name) for name in (source, "openmp_locks.cpp")]
    shell(*words.split(), *sources, "-o", "app")
    assert output(shell("./app")) == "PASS"


@pytest.mark.slow  # zig builds its C++ library at the first link
def test_parallel_regions_that_run_on_one_thread_are_told(shell: Shell, tmp_path: Path) -> None:
    loop = "for (int i = 0; i < 9; ++i) a[i] = i;"
    text = f"void all(int* a) {{\n#pragma omp HOW\n  {loop}\n}}\n"
    write(tmp_path, regions_hip=text.replace("HOW", "parallel for"), loops_hip=text.replace("HOW", "simd"))
    log = tmp_path / "compile.jsonl"
    logged = {"INTELLIPERF_COMPILE_LOG": str(log)}
    without_gcc = {**logged, "INTELLIPERF_STANDARD_LIBRARY": "libc++"}
    shell("hipcc", "-fopenmp", "-c", "loops.hip", **without_gcc)
    shell("hipcc", "-c", "regions.hip", **without_gcc)
    shell("hipcc", "-fopenmp", "-c", "regions.hip", **logged)
    assert remarks(log) == ()
    shell("hipcc", "-fopenmp", "-c", "regions.hip", **without_gcc)
    (told,) = remarks(log)
    assert told.startswith("OpenMP: parallel regions in GPU sources run on one thread")


@pytest.mark.parametrize(("registers", "status"), [(64, 0), (68, 0), (90, 701)])
def test_a_launch_is_refused_only_where_compilers_would_agree_on_it(
    shell: Shell, tmp_path: Path, registers: int, status: int
) -> None:
    """nvcc gave 62 registers to a kernel that got 68 from clang: 1,024 threads of it start on a device."""
    launch = 'fill<<<1, 1024>>>(out); std::printf("%d\\n", cudaGetLastError());'
    (tmp_path / "a.cu").write_text(
        "#include <cstdio>\n__global__ void fill(int* out) { out[threadIdx.x] = 1; }\n"
        f"int main() {{ int* out; cudaMalloc(&out, 4096); {launch} }}\n"
    )
    (tmp_path / "bin").mkdir()
    assembler = tmp_path / "bin" / "ptxas"
    report = f"Compiling entry function '_Z4fillPi' for 'sm_90'\nptxas info : Used {registers} registers"
    assembler.write_text(f'#!/bin/sh\necho "ptxas info : {report}"\n')
    assembler.chmod(0o755)
    path = {"PATH": f"{tmp_path / 'bin'}:{build_environment()['PATH']}"}
    shell("nvcc", "a.cu", "-o", "app", INTELLIPERF_FACTS="1", **path)
    assert output(shell("./app")) == str(status)
