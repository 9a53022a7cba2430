"""Which compiler builds: the one that PATH or the command names, unless it does not work; programs are stand-ins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from intelliperf.dropins.programs import kept_programs
from intelliperf.dropins.redirect import redirecting
from intelliperf.errors import ToolchainError
from intelliperf.project.versions import compilers_used
from intelliperf.rocm import compilers, toolchain
from intelliperf.rocm.compilers import Compiler, clang_within, find_compiler

WORKS = """
for word; do case "$word" in --version) echo "HIP version: 9.9"; echo "AMD clang version 23.0.0"; exit;; esac; done
while [ $# -gt 0 ]; do [ "$1" = -o ] && printf '%s\\n' "$0" > "$2"; shift; done"""
FAILS = 'echo "HIP version: 1.0"; echo "clang: error: no libdevice" >&2; exit 1'


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'first'}:{tmp_path / 'second'}:/usr/bin:/bin")
    monkeypatch.setattr(compilers, "roots", lambda: iter([tmp_path / "rocm"]))
    monkeypatch.setattr(compilers, "clangs_for_hip", lambda *_: iter([]))
    find_compiler.cache_clear()


def test_hipcc_is_what_path_names_also_where_rocm_is_installed(tmp_path: Path) -> None:
    program(tmp_path / "rocm" / "bin" / "hipcc", WORKS)
    named = program(tmp_path / "first" / "hipcc", WORKS)
    found = find_compiler("gfx90a")
    assert found == Compiler((str(named),), True, "HIP 9.9, AMD clang version 23.0.0")
    assert found.clang == 23 and found.describe() == f"{named} (HIP 9.9, AMD clang version 23.0.0)"


def test_another_compiler_builds_only_where_the_named_one_fails_and_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "first"))  # without a hipcc of the distribution
    broken = program(tmp_path / "first" / "hipcc", FAILS)
    works = program(tmp_path / "rocm" / "bin" / "hipcc", WORKS)
    found = find_compiler("gfx90a")
    assert found.words == (str(works),)
    reason = f"{broken} builds no HIP program for gfx90a (clang: error: no libdevice)"
    assert found.instead == reason and found.describe().endswith(f"builds in place of hipcc: {reason}")


def test_where_nothing_builds_the_error_names_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "first"))
    program(tmp_path / "first" / "hipcc", FAILS)
    with pytest.raises(ToolchainError, match=r"first/hipcc builds no HIP program for gfx90a .*install ROCm"):
        find_compiler("gfx90a")


@pytest.mark.parametrize("way", ["name", "path", "make"])
def test_a_build_gets_the_compiler_that_it_names_and_says_so(tmp_path: Path, way: str) -> None:
    first = program(tmp_path / "first" / "hipcc", WORKS)
    other = program(tmp_path / "opt" / "rocm-6" / "bin" / "hipcc", WORKS)
    (tmp_path / "k.hip").write_text("__global__ void k() {}\n")
    (tmp_path / "Makefile").write_text(f"app:\n\t{other} -c k.hip -o app\n")
    command = {"name": "hipcc -c k.hip -o app", "path": f"{other} -c k.hip -o app", "make": "make"}[way]
    environment = {**os.environ, **toolchain.build_environment("gfx90a")}
    environment["INTELLIPERF_COMPILE_LOG"] = str(tmp_path / "log")
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, check=True)
    expected = first if way == "name" else other
    assert (tmp_path / "app").read_text().strip() == str(expected)
    assert compilers_used(tmp_path / "log") == (f"{expected} (HIP 9.9, AMD clang version 23.0.0)",)


def test_the_build_that_records_takes_another_compiler_for_hip_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Compiler(("/x/clang++-19",), False, "clang version 19")
    monkeypatch.setenv(toolchain.RECORDER, compilers.as_text(recorder))
    real = program(tmp_path / "first" / "clang++", WORKS)
    assert toolchain._real_compiler("hipcc", "/opt/rocm/bin/hipcc", True) == recorder
    assert toolchain._real_compiler("clang++", "", False).words == (str(real),)


@pytest.mark.parametrize("folder", ["3.25.1/CompilerIdHIP", "CMakeScratch/TryCompile-a1", "CMakeTmp"])
def test_cmake_tries_the_compiler_of_the_build_also_where_another_records(tmp_path: Path, folder: str) -> None:
    where = tmp_path / "build" / "CMakeFiles" / folder
    where.mkdir(parents=True)
    real = program(tmp_path / "first" / "hipcc", WORKS)
    (where / "k.hip").write_text("int main() {}\n")
    recorder = Compiler((str(tmp_path / "recorder"),), False, "clang version 19")
    variables = {toolchain.RECORDER: compilers.as_text(recorder), toolchain.PLUGIN: "/x/records.so"}
    environment = {**os.environ, **toolchain.build_environment("gfx90a"), **variables}
    subprocess.run(["hipcc", "-c", "k.hip", "-o", "k.o"], cwd=where, env=environment, check=True)
    assert (where / "k.o").read_text().strip() == str(real)


def test_a_drop_in_loads_nothing_that_starts_processes_before_it_must() -> None:
    asked = "import sys, intelliperf.rocm.toolchain; print('intelliperf.processes.process' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_programs_that_are_no_compilers_of_ours_are_not_redirected(tmp_path: Path) -> None:
    ours = kept_programs("test", {"hipcc": "#!/bin/sh\necho ours $INTELLIPERF_NAMED\n"})
    hipcc, other = program(tmp_path / "hipcc", "echo theirs"), program(tmp_path / "other", "echo other")
    environment = {**os.environ, **redirecting(ours)}
    said = [
        subprocess.run(["sh", "-c", str(one)], env=environment, capture_output=True, text=True, check=True).stdout
        for one in (hipcc, other, ours / "hipcc")
    ]
    assert said == [f"ours {hipcc}\n", "other\n", "ours\n"]


def test_a_compiler_survives_its_way_through_a_variable() -> None:
    told = Compiler(("/usr/bin/hipcc", "-x"), True, "HIP 5.2", "because")
    assert compilers.from_text(compilers.as_text(told)) == told
    assert json.loads(compilers.as_text(told))["complete"] is True


@pytest.mark.parametrize(
    ("version", "within"), [("Debian clang version 15.0.6", True), ("clang version 15.0.7", False)]
)
def test_cmake_gets_the_clang_that_hipcc_starts_and_no_other(
    monkeypatch: pytest.MonkeyPatch, version: str, within: bool
) -> None:
    known = Compiler(("/usr/bin/clang++-15", "--rocm-device-lib-path=/bitcode"), False, version)
    monkeypatch.setattr(compilers, "clangs_for_hip", lambda oldest, newest: iter([known][: oldest == newest == 15]))
    hipcc = Compiler(("/usr/bin/hipcc",), True, "HIP 5.2.21153-0, Debian clang version 15.0.6")
    found = clang_within(hipcc)
    assert (found.words[0] == known.words[0]) == within and (found == hipcc) != within
    assert not within or "--rocm-path=/usr" in found.words
