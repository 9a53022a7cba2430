"""Timing, NVML and compute-sanitizer on a real NVIDIA GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.cuda.backend import CudaBackend
from intelliperf.cuda.clocks import open_gpu
from intelliperf.cuda.sanitizer import Sanitizer, planted_program
from intelliperf.cuda.toolkit import find_toolkit
from intelliperf.errors import MissingMetric
from intelliperf.formulas import find_formula
from intelliperf.processes.process import output_of
from intelliperf.records import Application, Check, CheckStatus, Kernel, Measurement, Metric, Scope

pytestmark = pytest.mark.nvidia

_PROGRAMS = Path(__file__).parent / "programs"
_KERNELS = {"copy": "_Z4copyPK6float4PS_i", "add_one": "_Z7add_onePfi", "spin": "_Z4spinPfi"}
_RUN_DEADLINE_S = 60.0
_BUDGET_S = 15.0
_FAULTY = """
__global__ void shift(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1];
  EXTRA
}
int main() {
  int *in, *out;
  if (cudaMalloc(&in, 4096) != cudaSuccess) return 3;
  cudaMalloc(&out, 4096);
  cudaMemset(in, 0, 4096);
  cudaMemset(out, 0, 4096);
  shift<<<4, 256>>>(in, out, 1024);
  cudaDeviceSynchronize();
  return 0;
}
"""


def _build(source: Path, program: Path) -> Path:
    done, out, err = output_of(
        [str(find_toolkit().nvcc), "-lineinfo", "-arch=native", "-o", str(program), str(source)], 120
    )
    assert done.ok, out + err
    return program


@pytest.fixture
def steady(tmp_path: Path) -> Path:
    return _build(_PROGRAMS / "steady.cu", tmp_path / "steady")


def _timed(steady: Path, name: str, before: str, after: str) -> dict[Scope, Measurement]:
    home = steady.parent
    reference, candidate = (Application((str(steady), rounds), home, home) for rounds in (before, after))
    backend = CudaBackend(home / "run")
    measured = backend.time(reference, candidate, Kernel(_KERNELS[name], name), _BUDGET_S)
    return {measurement.scope: measurement for measurement in measured.measurements}


@pytest.mark.parametrize("name", ["copy", "add_one"])
def test_an_unchanged_program_has_not_changed(steady: Path, name: str) -> None:
    kernel = _timed(steady, name, "20000", "20000")[Scope.KERNEL]
    assert kernel.low < 1.0 < kernel.high


def test_a_kernel_that_does_a_fifth_less_is_a_quarter_faster(steady: Path) -> None:
    kernel = _timed(steady, "spin", "20000", "16000")[Scope.KERNEL]
    assert kernel.low > 1.15
    assert 1.2 < kernel.ratio < 1.3


def test_a_kernel_whose_data_lie_in_the_l2_is_slower_where_that_is_emptied_before_it(tmp_path: Path) -> None:
    program = _build(_PROGRAMS / "resident.cu", tmp_path / "resident")
    application = Application((str(program),), tmp_path, tmp_path)
    took: dict[bool, dict[Scope, float]] = {}
    told: dict[bool, str] = {}
    for flush in (False, True):
        backend = CudaBackend(tmp_path / f"flush-{flush}", flush_l2=flush)
        timing = backend.time(application, application, Kernel("_Z3sumPK6float4Pfi", "sum"), 2.0)
        took[flush] = {measurement.scope: measurement.baseline_ns for measurement in timing.measurements}
        told[flush] = " | ".join(timing.notes)
    assert took[True][Scope.KERNEL] > 1.15 * took[False][Scope.KERNEL]
    # Only the kernel runs, and two fills: what empties the L2 takes several times as long and is not counted.
    assert took[True][Scope.APPLICATION] < 2 * took[True][Scope.KERNEL]
    assert "the L2 was emptied before each of the" in told[True]
    assert "emptied" not in told[False].replace("from emptied caches", "")


def test_memory_that_is_read_again_and_again_is_found_and_memory_that_is_read_once_is_not(tmp_path: Path) -> None:
    program = _build(_PROGRAMS / "again.cu", tmp_path / "again")
    backend = CudaBackend(tmp_path / "run")
    formula = find_formula("memoryLocality")
    found = {}
    for times in ("1", "4"):
        application = Application((str(program), times), tmp_path, tmp_path)
        (profile,) = backend.profile(application, _RUN_DEADLINE_S).kernels
        (counted,) = backend.quantities(application, [profile], _RUN_DEADLINE_S)
        found[times] = counted
        backend = CudaBackend(tmp_path / "again-4")  # counters are kept per program, whatever its arguments
    with pytest.raises(MissingMetric, match="no more is read than all memory that can be reached"):
        formula.diagnose(found["1"], backend.probe())
    four = {metric: found["4"].quantity(metric).value for metric in found["4"].quantities}
    assert four[Metric.DRAM_BYTES] > 2 * four[Metric.DRAM_BYTES_COMPULSORY_AT_MOST]
    assert any("fetches some again" in note for note in found["4"].notes)
    finding = formula.diagnose(found["4"], backend.probe())
    # An H200 reads its memory as fast as its L2, so that hits would not save much there; an H100 is in between.
    assert finding is not None or four[Metric.DRAM_TIME_NS] <= 1.2 * four[Metric.L2_TIME_NS]
    if finding is not None:
        assert "at least" in finding.sentence and finding.value > 2 * finding.ideal and finding.gain_ceiling > 1


def test_nvml_tells_clocks_and_temperature() -> None:
    with open_gpu() as gpu:
        reading = gpu.read()
        highest, _ = gpu.max_clocks_mhz()
    assert reading.sm_clock_mhz is not None
    assert highest is not None
    assert 0 < reading.sm_clock_mhz <= highest
    assert reading.temperature_c is not None
    assert 10 < reading.temperature_c < 100


def _checks(tmp_path: Path, extra: str) -> dict[str, Check]:
    applications = []
    for side, text in (("original", ""), ("candidate", extra)):
        home = tmp_path / side
        home.mkdir()
        (home / "app.cu").write_text(_FAULTY.replace("EXTRA", text))
        applications.append(Application((str(_build(home / "app.cu", home / "app")),), home, home))
    sanitizer = Sanitizer(find_toolkit(), tmp_path / "logs")
    made = sanitizer.checks(applications[0], applications[1], Kernel("_Z5shiftPKiPii", "shift"), _RUN_DEADLINE_S)
    return {check.name: check for check in made}


def test_every_tool_finds_its_planted_fault_and_the_originals_own_is_not_blamed(tmp_path: Path) -> None:
    checks = _checks(tmp_path, "")
    assert {check.status for check in checks.values()} == {CheckStatus.PASSED}
    assert all("which finds a planted fault here" in check.detail for check in checks.values())
    assert "the original has Invalid __global__ read at app.cu:4" in checks["out of bounds"].detail


def test_new_faults_are_found_with_their_lines(tmp_path: Path) -> None:
    checks = _checks(
        tmp_path,
        "__shared__ int t[256]; t[threadIdx.x] = i;\n  out[i] += t[255 - threadIdx.x];\n  if (i == 5) out[n + 9] = 1;",
    )
    assert checks["races"].status is CheckStatus.FAILED
    assert "app.cu:5 against app.cu:6" in checks["races"].detail
    assert checks["out of bounds"].status is CheckStatus.FAILED
    assert "Invalid __global__ write at app.cu:7" in checks["out of bounds"].detail
    assert "thread (5,0,0) of block (0,0,0)" in checks["out of bounds"].detail


def test_the_planted_program_without_a_fault_is_clean_under_every_tool(tmp_path: Path) -> None:
    clean = Application((str(planted_program(find_toolkit())), "clean"), tmp_path, tmp_path)
    sanitizer = Sanitizer(find_toolkit(), tmp_path / "logs")
    checks = sanitizer.checks(clean, clean, Kernel("", ""), _RUN_DEADLINE_S)
    assert {check.status for check in checks} == {CheckStatus.PASSED}
    assert not any("the original has" in check.detail for check in checks)
