"""Device code that a program loads by itself: compiled beside it, or by NVRTC and hipRTC while it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.processes.process import Completed, run

PROGRAMS = Path(__file__).parent / "breadth"
KERNEL = """extern "C" __global__ void scale(float* data, float by, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= by;
}
"""


def step(folder: Path, *argv: str, prepared: bool = True) -> Completed:
    environment = dict(EmulatorBackend(folder / "data").build_environment()) if prepared else {}
    done = run(argv, folder, 120, folder / "logs", Path(argv[0]).name, environment)
    assert done.ok, done.tail("stdout") + done.tail()
    return done


@pytest.mark.parametrize("form", ["ptx", "fatbin"])
def test_a_driver_program_without_device_code_loads_what_nvcc_wrote(form: str, tmp_path: Path) -> None:
    (tmp_path / "scale.cu").write_text(KERNEL, encoding="utf-8")
    program = PROGRAMS / "driver_modules.cpp"
    step(tmp_path, "nvcc", f"-{form}", "-arch=sm_90", "scale.cu")
    step(tmp_path, "g++", str(program), "-o", "app", "-lcuda")
    assert step(tmp_path, "./app", f"scale.{form}", prepared=False).tail("stdout").strip() == "all good"


@pytest.mark.slow
def test_nvrtc_compiles_names_and_refuses_as_its_own_does(tmp_path: Path) -> None:
    program = PROGRAMS / "nvrtc.cpp"
    step(tmp_path, "g++", str(program), "-o", "app", "-lnvrtc", "-lcuda")
    assert step(tmp_path, "./app", prepared=False).tail("stdout").strip() == "NVRTC_ERROR_COMPILATION"


@pytest.mark.slow
def test_lines_of_a_source_compiled_at_run_time_are_the_programs_own(tmp_path: Path) -> None:
    (tmp_path / "scale.cu").write_text(KERNEL, encoding="utf-8")
    program = PROGRAMS / "hiprtc.cpp"
    words = ["emulate", "--json", "-b", f"hipcc {program} -o app -lhiprtc", "--", "./app"]
    done = step(tmp_path, "intelliperf", *words, prepared=False)
    (kernel,) = json.loads(done.tail("stdout"))["kernels"]
    assert kernel["name"] == "scale"
    assert {(Path(line["file"]).name, line["line"]) for line in kernel["lines"]} >= {("scale.cu", 3)}
