"""Device code that a program loads by itself: compiled beside it, or by NVRTC and hipRTC while it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intelliperf.dropins.frontend import CompilerMessage
from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.compiler.rtc import answer_request
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


@pytest.mark.parametrize(("name", "told"), [("bad.cu", "bad.cu:2:"), ("", "default_program:2:")])
def test_errors_name_the_source_and_headers_as_the_program_does(name: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "headers").mkdir()
    texts = {"source": '#include "own.h"\n__global__ void k() { nothing(); worse(); }\n', "name": name}
    for file, text in {**texts, "options": "", "expressions": "", "headers/own.h": "void worse(int);\n"}.items():
        (tmp_path / file).write_text(text)
    with pytest.raises(CompilerMessage) as refused:
        answer_request("cuda", "h100", str(tmp_path))
    places = [line.split(" ")[0] for line in str(refused.value).splitlines() if ": error:" in line or ": note:" in line]
    assert told in str(refused.value) and "own.h:1:" in str(refused.value)
    assert not any("/" in place for place in places)
