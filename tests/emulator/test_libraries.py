"""Libraries made of headers: where they come from, and our stand-ins where there is none."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from intelliperf.dropins.headers import LIBRARIES, find_libraries, named_libraries, search_order, version_of
from intelliperf.dropins.toolchain import include_directory, standins_directory
from intelliperf.emulator.isa import strict_compile


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A toolkit that has CCCL, or something that looks like it."""
    monkeypatch.delenv("INTELLIPERF_STANDINS", raising=False)
    root = tmp_path / "toolkit"
    for folder in ("cub", "thrust", "cuda/std", "nv"):
        (root / "include" / folder).mkdir(parents=True)
    (root / "include/thrust/version.h").write_text("#define THRUST_VERSION 200802\n")
    (root / "include/cub/cub.cuh").write_text(
        "#pragma once\n#define FROM_TOOLKIT 1\n"
        '__device__ inline float square(float x) { asm("mul.f32 %0, %0, %0;" : "+f"(x)); return x; }\n'
        "namespace cub {}\n"
    )
    (root / "include/stdlib.h").write_text("#error the toolkit's other headers are not to be found\n")
    monkeypatch.setenv("INTELLIPERF_TOOLKITS", str(root))
    return root


def nvcc(*words: str, directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "intelliperf.emulator.driver", "nvcc", *words]
    return subprocess.run(
        command, cwd=directory, env={**os.environ, **variables}, capture_output=True, text=True, timeout=400
    )


def test_a_named_toolkits_library_serves_and_the_log_tells_which(toolkit: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "#include <cub/cub.cuh>\n#include <cstdlib>\n#include <cstdio>\n"
        "__global__ void k(float* o) { *o = square(3.0f); }\n"
        'int main() { float* o; cudaMallocManaged(&o, 4); k<<<1, 1>>>(o); cudaDeviceSynchronize(); printf("%g", *o); '
        "return FROM_TOOLKIT - 1; }\n"
    )
    log = tmp_path / "log"
    built = nvcc("a.cu", "-o", "a", directory=tmp_path, INTELLIPERF_COMPILE_LOG=str(log))
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([tmp_path / "a"], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "9")
    (entry,) = map(json.loads, log.read_text().splitlines())
    assert not entry["standins"]
    assert entry["libraries"][0].startswith("CCCL 2.8.2 (")


@pytest.mark.slow
def test_what_the_real_headers_refuse_is_compiled_with_the_stand_in_and_said_so(toolkit: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("#include <cub/cub.cuh>\nusing Sum = cub::BlockReduce<int, 64>;\nint main() {}\n")
    log = tmp_path / "log"
    built = nvcc("-c", "a.cu", directory=tmp_path, INTELLIPERF_COMPILE_LOG=str(log))
    assert built.returncode == 0, built.stderr
    assert "a.cu: warning: CCCL 2.8.2" in built.stderr
    (entry,) = map(json.loads, log.read_text().splitlines())
    assert entry["libraries"] == ["CCCL (stand-in: counts and time are not the library's)"]
    assert re.fullmatch(r"CCCL 2\.8\.2 \(.*\) cannot be compiled: a\.cu:2: .*BlockReduce.*", *entry["remarks"])


@pytest.mark.slow
def test_what_neither_takes_is_refused_in_the_words_for_the_real_one(toolkit: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("#include <cub/cub.cuh>\nint x = cub::nonsense + FROM_TOOLKIT;\n")
    built = nvcc("-c", "a.cu", directory=tmp_path)
    assert built.returncode == 1
    assert "nonsense" in built.stderr
    assert "FROM_TOOLKIT" not in built.stderr.partition("error:")[2].splitlines()[0]


@pytest.mark.parametrize("broken", ["thrust/version.h", "nv", "cub/cub.cuh"])
def test_half_a_library_is_none(toolkit: Path, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = toolkit / "include" / broken
    if path.is_dir():
        path.rmdir()
    elif broken == "cub/cub.cuh":
        path.unlink()
        path.parent.rmdir()
    else:
        path.write_text("")
    (found,) = find_libraries("cuda", (toolkit / "include",))
    assert found.directory is None or toolkit not in found.directory.parents


def test_versions_are_read_as_numbers_and_as_sums() -> None:
    cccl, rocprim = LIBRARIES[:2]
    assert version_of(cccl, "#define THRUST_VERSION 200802 // macro") == "2.8.2"
    assert version_of(rocprim, "#define ROCPRIM_VERSION 2 * 100000 + 10 * 100 + 9\n") == "2.10.9"
    assert version_of(rocprim, "") is None


def test_the_users_directories_come_before_ours_and_whole_toolkits_after(toolkit: Path, tmp_path: Path) -> None:
    real = tmp_path / "cuda"
    (real / "include/crt").mkdir(parents=True)
    (real / "include/crt/host_config.h").write_text("")
    (real / "include/solver.h").write_text("")
    flags = ["-Iown", "-isystem", str(real / "include"), "-DX", "-I", "more"]
    order = search_order("cuda", flags, tmp_path)
    assert order[:4] == ["-Iown", "-DX", "-I", "more"]
    places = [word for word in order[4:] if word != "-isystem"]
    assert places[0] == str(include_directory())
    assert (Path(places[1]) / "solver.h").samefile(real / "include/solver.h")
    assert search_order("cuda", [], tmp_path, standins=True)[-1].startswith(str(standins_directory()))


SOLVER = '#include "driver_types.h"\n#include "own_types.h"\nsolver_t* made(cudaStream_t stream);\n'


@pytest.mark.parametrize("flags", [(), ("-Iroot/include",)])
def test_a_toolkits_header_that_we_lack_is_found_and_reads_our_types(flags: tuple[str, ...], tmp_path: Path) -> None:
    """By the environment's root, as nvcc finds it by itself, or by a flag; beside the types of the real runtime."""
    headers = tmp_path / "root/include"
    headers.mkdir(parents=True)
    for name in ("cuda_runtime_api.h", "driver_types.h", "vector_types.h"):
        (headers / name).write_text("#error these would be types of two runtimes\n")
    (headers / "own_types.h").write_text("typedef struct solver solver_t;\n")
    (headers / "solver.h").write_text(SOLVER)
    (tmp_path / "a.cu").write_text("#include <solver.h>\n__global__ void k(solver_t* of) {}\nint main() {}\n")
    root = {} if flags else {"INTELLIPERF_TOOLKITS": str(tmp_path / "root")}
    built = nvcc("a.cu", "-o", "a", *flags, directory=tmp_path, **root)
    assert built.returncode == 0, built.stderr


SMALL_FORMATS = """#include <cuda_fp8.h>
__global__ void k(float2* o, double4_32a* wide) {
  const enum cudaRoundMode mode = cudaRoundNearest;
  __nv_bfloat162 pair(__nv_bfloat16(1.0f), __nv_bfloat16(-2.5f));
  const __nv_bfloat162_raw bits = pair;
  const __half2_raw halves = __floats2half2_rn(0.5f, 8.0f);
  const float2 both = __internal_halfraw2_to_float2(halves);
  o[0] = make_float2(__internal_bf16raw_to_float(__nv_bfloat16_raw{bits.y}), both.y + float(mode));
  *wide = make_double4_32a(1, 2, 3, double(__internal_pack_u16x2_to_u32(2, 1)));
}
static_assert(alignof(double4_32a) == 32 && alignof(double4_16a) == 16);
int main() {
  float2* o;
  double4_32a* wide;
  cudaMallocManaged(&o, sizeof(float2)), cudaMallocManaged(&wide, sizeof(double4_32a));
  k<<<1, 1>>>(o, wide);
  cudaDeviceSynchronize();
  return o->x == -2.5f && o->y == 8.0f && wide->w == 65538 ? 0 : 1;
}
"""


def test_a_toolkits_formats_below_8_bits_find_what_they_take_from_our_header(tmp_path: Path) -> None:
    """CUDA 13's libcu++ includes cuda_fp6.h and cuda_fp4.h wherever a toolkit has them."""
    (tmp_path / "a.cu").write_text(SMALL_FORMATS)
    built = nvcc("a.cu", "-o", "a", directory=tmp_path)
    assert built.returncode == 0, built.stderr
    assert subprocess.run([tmp_path / "a"], timeout=60, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/local/cuda/include/cuda_fp4.h").is_file(), reason="no toolkit of CUDA 12.8 or later")
def test_the_machines_own_libraries_compile_beside_its_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTELLIPERF_STANDINS", raising=False)
    (tmp_path / "a.cu").write_text(
        "#include <cub/block/block_reduce.cuh>\n#include <cuda_fp4.h>\n#include <cuda_fp6.h>\n"
        "__global__ void k(float* o) { *o = float(__nv_fp4_e2m1(2.8f)) + float(__nv_fp6_e2m3(2.8f)); }\n"
        "int main() { float* o; cudaMallocManaged(&o, 4); k<<<1, 1>>>(o); cudaDeviceSynchronize(); "
        "return *o == 3.0f + 2.75f ? 0 : 1; }\n"
    )
    built = nvcc("a.cu", "-o", "a", directory=tmp_path)
    assert (built.returncode, built.stderr) == (0, "")
    assert subprocess.run([tmp_path / "a"], timeout=60, check=False).returncode == 0


def test_only_the_stand_ins_that_a_program_includes_are_named(tmp_path: Path) -> None:
    """Ours are made of each other: rocPRIM's includes CUB's, which includes Thrust's and libcu++'s."""
    (tmp_path / "a.hip").write_text("#include <cstdio>\n#  include <rocprim/rocprim.hpp>\n")
    inner = ("rocprim/rocprim/rocprim.hpp", "cub/cub/cub.cuh", "libcudacxx/cuda/std/type_traits")
    dependencies = ["a.hip", *(str(standins_directory() / file) for file in inner)]
    found = find_libraries("hip", standins=True)
    assert [where.package.name for where in found if where.serves(dependencies)] == ["rocPRIM", "hipCUB", "libcu++"]
    assert [where.package.name for where in named_libraries(found, dependencies, tmp_path)] == ["rocPRIM"]
    (tmp_path / "a.hip").write_text("")  # named by a macro: all that serve
    assert len(named_libraries(found, dependencies, tmp_path)) == 3


def test_directories_of_the_system_and_of_our_own_root_keep_their_places(tmp_path: Path) -> None:
    """A `-I/usr/include` before C++'s own directory hides `math.h` from `cmath`; our root has CUDA's Thrust in it."""
    own = tmp_path / "root" / "include"
    (own / "crt").mkdir(parents=True)
    (own / "crt/host_config.h").write_text("")
    (own / "simt").mkdir()
    flags = ["-I/usr/include", "-isystem", "/usr/local/include/", "-Ix", f"-I{own}", "-I", "/usr/./include"]
    assert search_order("hip", flags, tmp_path) == ["-Ix", *search_order("hip", [], tmp_path)]


def test_a_users_header_hides_ours_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/vector_types.h").write_text("#define OWN 1\n")
    (tmp_path / "a.cu").write_text(
        "#include <cuda_fp16.h>\n#include <vector_types.h>\nint main() { return OWN - 1; }\n"
    )
    built = nvcc("-Iown", "-c", "a.cu", directory=tmp_path)
    assert built.returncode == 0, built.stderr


def test_what_libraries_call_compiles_for_the_real_chip_too(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "__global__ void k(float* o) {\n  __shared__ float x[32];\n  x[threadIdx.x] = 1; ::__syncthreads();\n"
        "  auto from = static_cast<float*>(__cvta_shared_to_generic(__cvta_generic_to_shared(x)));\n"
        "  static_cast<float*>(__cvta_global_to_generic(__cvta_generic_to_global(o)))[0] = from[0];\n}\n"
    )
    entry = {"arguments": ["nvcc", "a.cu"], "source": str(tmp_path / "a.cu"), "directory": str(tmp_path)}
    assert strict_compile({**entry, "language": "cuda"}, "sm_90").errors == ()
