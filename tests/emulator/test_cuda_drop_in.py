"""The drop-in for the real nvcc, before a stand-in that writes down how it was called."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from intelliperf.cuda import toolchain, toolkit
from intelliperf.cuda.toolchain import build_environment, completed
from intelliperf.processes.process import output_of

_DEADLINE_S = 60.0
_SOURCE = "__global__ void k(int* p) { p[0] = 1; }\nint main() { k<<<1, 1>>>(nullptr); }\n"


class _Machine:
    def __init__(self, home: Path) -> None:
        self.project = home / "a project"
        self.nvcc = home / "toolkit" / "bin" / "nvcc"
        self.calls = home / "calls"
        self.log = home / "log.jsonl"
        self.project.mkdir()
        (self.project / "a.cu").write_text(_SOURCE)
        self.nvcc.parent.mkdir(parents=True)
        (home / "toolkit" / "include").mkdir()
        (home / "toolkit" / "include" / "cuda.h").touch()
        self.nvcc.write_text(
            '#!/bin/sh\ncase "$*" in *--version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit;; esac\n'
            f'for word in "$@"; do printf "%s\\n" "$word" >> {self.calls}; done; echo "as $0" >> {self.calls}\n'
        )
        self.nvcc.chmod(self.nvcc.stat().st_mode | stat.S_IXUSR)

    def build(self, *argv: str, **changes: str) -> list[str]:
        """The words that the stand-in was called with."""
        environment = {**build_environment(""), "INTELLIPERF_COMPILE_LOG": str(self.log), **changes}
        done, out, err = output_of(argv, _DEADLINE_S, environment, self.project)
        assert done.ok, out + err
        return self.calls.read_text().splitlines()

    @property
    def logged(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Machine:
    made = _Machine(tmp_path)
    monkeypatch.setenv("PATH", f"{made.nvcc.parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("CUDA_HOME", "CUDA_PATH", "LD_PRELOAD"):
        monkeypatch.delenv(name, raising=False)
    toolkit.find_toolkit.cache_clear()
    return made


@pytest.fixture(autouse=True)
def _forget_the_stand_in() -> object:
    yield
    toolkit.find_toolkit.cache_clear()


@pytest.mark.parametrize("own", ["-lineinfo", "--generate-line-info", "-G", "--device-debug"])
def test_line_information_is_asked_for_once_and_not_beside_whole_debugging(own: str) -> None:
    assert completed([own, "-c", "a.cu"], "") == [own, "-c", "a.cu"]
    assert completed(["-g", "-c", "a.cu"], "") == ["-lineinfo", "-g", "-c", "a.cu"]
    assert completed(["-c", "a.cu"], "sm_90", [own, "-gencode=arch=compute_80,code=sm_80"]) == ["-c", "a.cu"]


def test_a_bare_nvcc_gets_line_information_and_is_logged(machine: _Machine) -> None:
    called = machine.build("nvcc", "-O3", "-DN=3", "-c", "a.cu", "-o", "b c.o")
    assert called == ["-lineinfo", "-O3", "-DN=3", "-c", "a.cu", "-o", "b c.o", f"as {machine.nvcc}"]
    (entry,) = machine.logged
    assert entry["source"] == str(machine.project / "a.cu")
    assert entry["directory"] == str(machine.project)
    assert entry["arguments"] == ["nvcc", "-O3", "-DN=3", "-c", "a.cu", "-o", "b c.o"]
    flags = entry["reader_flags"]
    assert isinstance(flags, list)
    assert "-DN=3" in flags or flags[flags.index("-D") : flags.index("-D") + 2] == ["-D", "N=3"]


def test_an_nvcc_named_by_its_path_in_a_makefile_is_logged_too(machine: _Machine) -> None:
    (machine.project / "Makefile").write_text(f"NVCC := {machine.nvcc} -O3\napp: a.cu\n\t$(NVCC) -o $@ $<\n")
    assert machine.build("make") == ["-lineinfo", "-O3", "-o", "app", "a.cu", f"as {machine.nvcc}"]
    assert len(machine.logged) == 1


def test_a_path_that_a_shell_script_calls_is_logged_once(machine: _Machine) -> None:
    script = machine.project / "build.sh"
    script.write_text(f"set -e\ncd .\n'{machine.nvcc}' -c a.cu && true\n")
    assert machine.build("/bin/sh", "build.sh")[0] == "-lineinfo"
    assert len(machine.logged) == 1


def test_a_build_that_clears_its_environment_still_finds_the_real_one(machine: _Machine) -> None:
    called = machine.build("env", "-u", toolchain.REAL_NVCC, "nvcc", "-c", "a.cu")
    assert called == ["-lineinfo", "-c", "a.cu", f"as {machine.nvcc}"]


@pytest.mark.parametrize("stage", ["-ptx", "--cubin", "-fatbin"])
def test_modules_of_the_driver_api_are_logged(machine: _Machine, stage: str) -> None:
    assert stage in machine.build("nvcc", stage, "-arch=sm_90", "a.cu")
    (entry,) = machine.logged
    assert entry["source"] == str(machine.project / "a.cu")


def test_objects_and_links_are_passed_on_without_a_log(machine: _Machine) -> None:
    assert machine.build("nvcc", "-o", "app", "a.o")[-2:] == ["a.o", f"as {machine.nvcc}"]
    assert not machine.log.exists()


def test_what_was_preloaded_stays_preloaded(machine: _Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/lib/own.so")
    ours, _, others = build_environment("")["LD_PRELOAD"].partition(":")
    assert Path(ours).is_file()
    assert others == "/lib/own.so"


def test_cmake_and_others_are_told_by_cudacxx(machine: _Machine) -> None:
    environment = build_environment("")
    first = environment["PATH"].split(os.pathsep)[0]
    assert environment["CUDACXX"] == f"{first}/nvcc"
    assert os.access(environment["CUDACXX"], os.X_OK)


def test_a_build_without_an_architecture_is_made_for_the_gpu_at_hand(machine: _Machine) -> None:
    assert machine.build("nvcc", "-c", "a.cu", **{toolchain.ARCHITECTURE: "sm_90"})[:2] == ["-lineinfo", "-arch=sm_90"]


@pytest.fixture
def hip(machine: _Machine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The include directory of a HIP that knows the NVIDIA platform."""
    include = machine.nvcc.parents[2] / "rocm" / "include"
    (include / "hip" / "nvidia_detail").mkdir(parents=True)
    (include / "hip" / "nvidia_detail" / "nvidia_hip_runtime.h").touch()
    monkeypatch.setenv("HIP_PATH", str(include.parent))
    return include


def test_a_hip_program_is_compiled_as_cuda_and_logged(machine: _Machine, hip: Path) -> None:
    (machine.project / "k.hip").write_text("__global__ void k(int* p) { p[0] = 1; }\n")
    called = machine.build("hipcc", "-O3", "--offload-arch=gfx942", "-Wall", "-fgpu-rdc", "-c", "k.hip", "-o", "k.o")
    platform = ["-x", "cu", "-D__HIP_PLATFORM_NVIDIA__=1", f"-I{hip}"]
    assert called[:-1] == ["-lineinfo", *platform, "-O3", "-Xcompiler=-Wall", "-rdc=true", "-c", "k.hip", "-o", "k.o"]
    (entry,) = machine.logged
    assert (entry["source"], entry["language"]) == (str(machine.project / "k.hip"), "cuda")


def test_hip_sources_beside_objects_are_compiled_first(machine: _Machine, hip: Path) -> None:
    (machine.project / "k.hip").write_text("__global__ void k(int* p) { p[0] = 1; }\n")
    called = machine.build("hipcc", "-o", "app", "k.hip", "main.o", "-lm", "-Wl,-rpath,/x")
    first, last = called[: called.index(f"as {machine.nvcc}")], called[called.index(f"as {machine.nvcc}") + 1 : -1]
    assert first[1:3] == ["-x", "cu"]
    made = first[-1]
    assert first[-4:-1] == ["-c", "k.hip", "-o"]
    linked = ["-lineinfo", made, "main.o", "-lm", "-Xlinker", "-rpath", "-Xlinker", "/x", "-o", "app"]
    assert last == linked


def test_hip_is_told_its_platform_only_where_its_headers_are(machine: _Machine, hip: Path) -> None:
    assert build_environment("")["HIP_PLATFORM"] == "nvidia"
    (hip / "hip" / "nvidia_detail" / "nvidia_hip_runtime.h").unlink()
    environment = build_environment("")
    assert "HIP_PLATFORM" not in environment
    assert not (Path(environment["PATH"].split(os.pathsep)[0]) / "hipcc").exists()


@pytest.mark.parametrize("sources", ["k.hip|*/probe.cu", "k.hip"])
def test_headers_of_hip_that_this_cuda_does_not_know_are_named_and_the_program_is_not(
    machine: _Machine, hip: Path, sources: str
) -> None:
    version = "#define HIP_VERSION_MAJOR 5\n#define HIP_VERSION_MINOR 2\n"
    (hip / "hip" / "hip_version.h").write_text(version)
    header = hip / "hip" / "nvidia_detail" / "nvidia_hip_runtime_api.h"
    told = f'{header}(2240): error: identifier \\"cudaBindTexture\\" is undefined'
    failing = f'for word in "$@"; do case "$word" in {sources}) echo "{told}" >&2; exit 2;; esac; done\n'
    machine.nvcc.write_text(machine.nvcc.read_text() + failing)
    (machine.project / "k.hip").write_text("__global__ void k(int* p) { p[0] = 1; }\n")
    done, _, err = output_of(["hipcc", "-c", "k.hip"], _DEADLINE_S, build_environment(""), machine.project)
    assert done.exit_status == 2, err
    assert err.strip().endswith("is undefined")
    line = (
        f'intelliperf: the headers of HIP 5.2 in {hip} do not compile with CUDA 13.0 (identifier "cudaBindTexture" is '
        "undefined): put the nvcc of an older CUDA on PATH, or name a HIP that knows CUDA 13.0 in HIP_PATH"
    )
    assert (line in err.splitlines()) == ("probe" in sources)
