"""The emulator as a backend: what it says of good, bad and foreign programs."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from profile_programs import RUN_DEADLINE_S, Program, build

from intelliperf.emulator import safety, table
from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.errors import ApplicationFailed, MissingMetric
from intelliperf.records import (
    Application,
    Check,
    CheckStatus,
    Interception,
    Kernel,
    Metric,
    Order,
    Provenance,
    Scope,
)

HEAD = "#include <hip/hip_runtime.h>\n#include <cstdio>\n#include <cstdlib>\n"
MAIN = """
int main(int argc, char** argv) {
  const int n = 64 * 64;
  float *in, *out;
  if (hipMalloc((void**)&in, n * sizeof(float)) != hipSuccess) return 1;
  if (hipMalloc((void**)&out, n * sizeof(float)) != hipSuccess) return 1;
  float host[n];
  for (int i = 0; i < n; ++i) host[i] = i;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice) != hipSuccess) return 1;
  step<<<n / 256, 256>>>(in, out, n);
  if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::printf("%g\\n", host[n - 1]);
  if (argc > 2) std::printf("%s\\n", *static_cast<char* volatile*>(nullptr));
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
"""
GOOD = """
__global__ void step(const float* in, float* out, int n) {
  __shared__ float tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[255 - threadIdx.x];
}
"""
RACY = GOOD.replace("  __syncthreads();\n", "")
BEYOND = GOOD.replace("tile[threadIdx.x] = in[i];", "tile[threadIdx.x] = in[i + 1];")
UNWRITTEN = GOOD.replace("tile[threadIdx.x] = in[i];", "if (threadIdx.x < 128) tile[threadIdx.x] = in[i];")
SLOW = GOOD.replace(
    "  out[i] = tile[255 - threadIdx.x];",
    "  float sum = 0;\n  for (int k = 0; k < 64; ++k) sum += in[(i * 64 + k) % n] * 0;\n"
    "  out[i] = tile[255 - threadIdx.x] + sum;",
)


def make(directory: Path, text: str) -> Program:
    directory.mkdir(parents=True)
    (directory / "app.hip").write_text(HEAD + text + MAIN)
    return build(directory, [["hipcc", "-O2", "app.hip", "-o", "app"]], ["./app"])


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return make(tmp_path_factory.mktemp("good") / "project", GOOD)


def failed(checks: tuple[Check, ...]) -> list[str]:
    return [check.name for check in checks if check.status is CheckStatus.FAILED]


@pytest.mark.parametrize(
    ("text", "expected", "says"),
    [
        (RACY, safety.RACES, "out[i] = tile[255 - threadIdx.x];"),
        (BEYOND, safety.BOUNDS, "tile[threadIdx.x] = in[i + 1];"),
        (UNWRITTEN, safety.UNINITIALISED, "out[i] = tile[255 - threadIdx.x];"),
    ],
    ids=["race", "out of bounds", "uninitialised"],
)
def test_what_a_candidate_breaks_is_found_and_placed(
    good: Program, tmp_path: Path, text: str, expected: str, says: str
) -> None:
    bad = make(tmp_path / "bad" / "project", text)
    kernel = good.kernel("step").kernel
    backend = good.backend
    checks = backend.safety(good.application, bad.application, kernel, RUN_DEADLINE_S)
    (check,) = (check for check in checks if check.name == expected)
    assert check.status is CheckStatus.FAILED
    assert says in check.detail
    assert failed(backend.safety(bad.application, bad.application, kernel, RUN_DEADLINE_S)) == []


def test_an_unchanged_program_is_neither_unsafe_nor_faster(good: Program, tmp_path: Path) -> None:
    twin = make(tmp_path / "twin" / "project", GOOD)
    kernel = good.kernel("step").kernel
    assert failed(good.backend.safety(good.application, twin.application, kernel, RUN_DEADLINE_S)) == []
    for measurement in good.backend.time(good.application, twin.application, kernel, RUN_DEADLINE_S).measurements:
        assert measurement.ratio == 1.0
        assert measurement.low < 1.0 < measurement.high
        assert measurement.provenance is Provenance.MODELLED


def test_more_work_takes_longer_in_the_kernel_and_in_the_whole(good: Program, tmp_path: Path) -> None:
    slow = make(tmp_path / "slow" / "project", SLOW)
    step = good.kernel("step").kernel
    kernel, whole = good.backend.time(slow.application, good.application, step, RUN_DEADLINE_S).measurements
    assert (kernel.scope, whole.scope) == (Scope.KERNEL, Scope.APPLICATION)
    assert kernel.low > 1.0
    assert 1.0 < whole.ratio < kernel.ratio  # copies are the same in both


def test_real_target_facts_stand_beside_the_counts(good: Program) -> None:
    profile = good.kernel("step")
    assert profile.quantity(Metric.LDS_REQUESTS).provenance is Provenance.MEASURED
    assert profile.quantity(Metric.VGPRS).provenance is Provenance.STATIC
    assert profile.quantity(Metric.LDS_BYTES).value == 1024
    assert good.backend.strictness(good.application, good.application).status is CheckStatus.PASSED


@pytest.mark.slow
def test_more_lds_than_the_chip_has_fails_the_strictness_gate(good: Program, tmp_path: Path) -> None:
    bad = make(tmp_path / "scratch" / "root" / "project", GOOD.replace("tile[256]", "tile[40000]"))
    check = good.backend.strictness(good.application, bad.application)
    assert check.status is CheckStatus.FAILED
    assert re.search("LDS|local memory", check.detail)


def test_a_kernel_that_did_not_run_has_no_time_to_compare(good: Program) -> None:
    with pytest.raises(ApplicationFailed, match="does not launch other"):
        good.backend.time(good.application, good.application, Kernel("other", "other"), RUN_DEADLINE_S)


def test_a_program_that_fails_is_told_with_its_last_output(good: Program) -> None:
    application = Application(("./app", "3"), good.application.project, good.application.directory)
    with pytest.raises(ApplicationFailed, match=r"status 3 \(.* always ends: --expect-exit 3\); last output"):
        good.backend.profile(application, RUN_DEADLINE_S)
    assert good.backend.profile(replace(application, exit_status=3), RUN_DEADLINE_S).exit_status == 3
    with pytest.raises(ApplicationFailed, match="exit status 3, not 4 as --expect-exit says"):
        good.backend.profile(replace(application, exit_status=4), RUN_DEADLINE_S)


def _plain(tmp_path: Path, *command: str) -> tuple[EmulatorBackend, Application]:
    return EmulatorBackend(tmp_path / "records"), Application(command, tmp_path, tmp_path)


def test_a_program_that_never_saw_our_compilers_is_named_as_such(tmp_path: Path) -> None:
    backend, application = _plain(tmp_path, "true")
    with pytest.raises(ApplicationFailed, match="never called the GPU runtime of the emulator"):
        backend.profile(application, RUN_DEADLINE_S)


def test_a_program_that_crashes_or_hangs_is_named_as_such(tmp_path: Path) -> None:
    backend, application = _plain(tmp_path, sys.executable, "-c", "import os; os.abort()")
    with pytest.raises(ApplicationFailed, match="crashes on the emulator: killed by SIGABRT"):
        backend.profile(application, RUN_DEADLINE_S)
    backend, application = _plain(tmp_path, sys.executable, "-c", "import time; time.sleep(60)")
    with pytest.raises(ApplicationFailed, match="timed out after 1 s"):
        backend.profile(application, 1.0)


def test_a_crash_of_the_host_s_code_is_not_blamed_on_a_kernel(good: Program, tmp_path: Path) -> None:
    application = replace(good.application, command=("./app", "0", "crash"))
    with pytest.raises(ApplicationFailed, match=r"killed by SIGSEGV; .*in its own host code, after 1 launch\b"):
        EmulatorBackend(tmp_path).profile(application, RUN_DEADLINE_S)


def test_builds_see_our_compilers_first(tmp_path: Path) -> None:
    environment = EmulatorBackend(tmp_path, "MI250X").build_environment()
    first = Path(environment["PATH"].split(os.pathsep)[0])
    assert all(os.access(first / name, os.X_OK) for name in ("hipcc", "nvcc", "clang++"))
    assert environment["INTELLIPERF_TARGET"] == "mi250x"
    assert "INTELLIPERF_TARGET" not in EmulatorBackend(tmp_path).build_environment()


def test_the_device_is_the_one_that_the_program_was_built_for(good: Program, tmp_path: Path) -> None:
    good.profile()
    assert good.backend.probe().name == "MI300X"
    assert good.backend.probe().emulated


def test_interception_options_become_the_runtimes_variables(tmp_path: Path) -> None:
    backend = EmulatorBackend(tmp_path)
    kernel = Kernel("_Z4stepv", "step()")
    asked = Interception(lane_order=Order(), poison=90, other_shapes=((4, 1, 1), (8, 1, 1)), before=True)
    environment = backend.intercept_environment(tmp_path / "socket", kernel, asked)
    assert environment["INTELLIPERF_EXPORT_KERNEL"] == "_Z4stepv"
    assert environment["INTELLIPERF_LANE_ORDER"] == "reverse"
    assert environment["INTELLIPERF_POISON"] == "90"
    assert environment["INTELLIPERF_OTHER_SHAPES"] == "4,1,1;8,1,1"
    assert environment["INTELLIPERF_EXPORT_BEFORE"] == "1"
    assert "INTELLIPERF_BLOCK_ORDER" not in environment
    every = backend.intercept_environment(tmp_path, kernel, Interception(kernels=("*",)))
    assert every["INTELLIPERF_EXPORT_KERNEL"] == "*"


def test_the_table_shows_every_line_in_each_form(good: Program) -> None:
    emulation = table.emulate(good.backend, good.application, RUN_DEADLINE_S, 10)
    project = good.application.project
    text = table.plain_text(emulation, project)
    assert "app.hip:10:" in text and "out[i] = tile[255 - threadIdx.x];" in text
    assert "modelled for MI300X (gfx942, waves of 64)" in text
    shown = table.json_object(emulation)
    assert shown["device"] == {"name": "MI300X", "architecture": "gfx942", "wave_size": 64, "emulated": True}


def test_a_quantity_that_no_formula_may_guess_raises(good: Program) -> None:
    with pytest.raises(MissingMetric, match="atomic_hottest_address_share was not collected"):
        good.kernel("step").quantity(Metric.ATOMIC_HOTTEST_SHARE)


LIBRARY = """
#include <hip/hip_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/transform.h>
struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};
int main() {
  thrust::device_vector<float> values(5000, 1.0f);
  thrust::transform(values.begin(), values.end(), values.begin(), Twice());
  return values[4999] == 2 ? 0 : 1;
}
"""


def test_a_kernel_that_stands_in_for_a_librarys_says_nothing_of_how_the_library_launches(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "app.hip").write_text(LIBRARY)
    program = build(tmp_path / "project", [["hipcc", "-O2", "app.hip", "-o", "app"]], ["./app"])
    kernels = program.profile().kernels
    assert kernels
    for kernel in kernels:
        assert any("stand-in for a library's kernel" in note for note in kernel.notes)
        assert "/" not in kernel.kernel.name.split("lambda at ")[0] and "lambda at /" not in kernel.kernel.name
        assert kernel.has(Metric.REQUESTS) and not kernel.has(Metric.UNIT_FILL_RATIO)
