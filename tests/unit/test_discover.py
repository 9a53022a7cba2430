"""How a program is built, where nobody said: never a guess that would build something else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from intelliperf.errors import UsageError
from intelliperf.project.recipes import build_recipe

HIP = "#include <hip/hip_runtime.h>\nint main() {}\n"


def commands(program: str, project: Path, directory: Path | None = None) -> tuple[tuple[str, ...], ...]:
    return build_recipe(program, project, directory or project).commands


def test_the_makefile_nearest_to_the_program_is_used(tmp_path: Path) -> None:
    (tmp_path / "Makefile").touch()
    (tmp_path / "tool").mkdir()
    assert commands("./app", tmp_path) == (("make",),)
    assert commands("tool/app", tmp_path) == (("make",),)
    (tmp_path / "tool" / "GNUmakefile").touch()
    assert commands("tool/app", tmp_path) == (("make", "-C", "tool"),)
    assert commands("./app", tmp_path, tmp_path / "tool") == (("make", "-C", "tool"),)


def test_a_makefile_outside_the_project_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "Makefile").touch()
    project = tmp_path / "project"
    project.mkdir()
    with pytest.raises(UsageError, match="-b"):
        build_recipe("./app", project, project)


def test_cmake_builds_where_the_program_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").touch()
    assert commands("out/bin/app", tmp_path)[1] == ("cmake", "--build", "out/bin")
    assert commands("./app", tmp_path)[1] == ("cmake", "--build", "build")


def test_a_build_tree_is_told_from_its_folders(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("add_subdirectory(tools)\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "CMakeLists.txt").write_text("add_executable(app app.cu)\n")
    assert commands("build/tools/app", tmp_path)[1] == ("cmake", "--build", "build")
    assert commands("build/release/tools/app", tmp_path)[1] == ("cmake", "--build", "build/release")
    (tmp_path / "tools" / "CMakeLists.txt").write_text("set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\n")
    assert commands("build/bin/app", tmp_path)[1] == ("cmake", "--build", "build")
    (tmp_path / "build" / "debug").mkdir(parents=True)
    (tmp_path / "build" / "debug" / "CMakeCache.txt").touch()
    assert commands("build/debug/bin/app", tmp_path)[1] == ("cmake", "--build", "build/debug")


def test_meson_builds_optimised_where_its_description_does_not_say_how(tmp_path: Path) -> None:
    (tmp_path / "meson.build").write_text("project('app', 'cuda')\n")
    assert commands("out/app", tmp_path) == (("meson", "setup", "out", "--buildtype=release"), ("ninja", "-C", "out"))
    (tmp_path / "meson.build").write_text("project('app', 'cuda', default_options: ['buildtype=debugoptimized'])\n")
    assert commands("./app", tmp_path)[0] == ("meson", "setup", "build")


def test_ninja_builds_from_the_file_nearest_to_the_program(tmp_path: Path) -> None:
    (tmp_path / "build.ninja").touch()
    assert commands("out/app", tmp_path) == (("ninja",),)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "build.ninja").touch()
    assert commands("out/app", tmp_path) == (("ninja", "-C", "out"),)


def test_the_source_of_the_programs_name_is_compiled_or_the_only_one(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(HIP)
    assert commands("./app", tmp_path) == (("hipcc", "-O3", "-o", "app", "a.hip"),)
    (tmp_path / "app.cu").touch()
    assert commands("./app", tmp_path) == (("nvcc", "-O3", "-o", "app", "app.cu"),)
    with pytest.raises(UsageError, match="cannot tell how ./other is built"):
        build_recipe("./other", tmp_path, tmp_path)


def test_a_host_source_counts_only_where_it_includes_hip(tmp_path: Path) -> None:
    (tmp_path / "b.cpp").write_text("int main() {}\n")
    (tmp_path / "a.cpp").write_text(HIP)
    assert commands("./app", tmp_path) == (("hipcc", "-O3", "-o", "app", "a.cpp"),)


@pytest.mark.parametrize("program", ["./run.sh", "python3", "/bin/ls", "../elsewhere"])
def test_what_starts_something_else_is_never_overwritten_by_a_guess(tmp_path: Path, program: str) -> None:
    (tmp_path / "a.hip").write_text(HIP)
    (tmp_path / "run.sh").write_text("#!/bin/sh\nexec ./real\n")
    with pytest.raises(UsageError, match="starts something else.*-b"):
        build_recipe(program, tmp_path, tmp_path)
    (tmp_path / "Makefile").touch()
    assert commands(program, tmp_path) == (("make",),)


def test_a_damaged_program_is_no_source_of_debug_information(tmp_path: Path) -> None:
    (tmp_path / "app").write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(UsageError, match="-b"):
        build_recipe("./app", tmp_path, tmp_path)


TRITON = "import triton\n"


@pytest.mark.parametrize("program", ["python3", "/usr/bin/python3.11", "./app.py", "./launch"])
def test_a_program_that_triton_compiles_at_run_time_needs_no_build(tmp_path: Path, program: str) -> None:
    (tmp_path / "app.py").write_text(f"#!/usr/bin/env python3\n{TRITON}")
    (tmp_path / "launch").write_text("#!/bin/sh\n'''exec' /a/long/path/bin/python3 \"$0\" \"$@\"\n")
    (tmp_path / "Makefile").touch()  # of the documentation, say
    assert commands(program, tmp_path) == ()


def test_a_script_that_drives_a_hip_program_is_built_as_before(tmp_path: Path) -> None:
    (tmp_path / "drive.py").write_text("import subprocess\n")
    (tmp_path / "Makefile").touch()
    assert commands("python3", tmp_path) == (("make",),)


def test_a_virtual_environment_in_the_project_says_nothing_about_the_program(tmp_path: Path) -> None:
    site = tmp_path / "env" / "lib"
    site.mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (site / "torch.py").write_text(TRITON)
    (tmp_path / "Makefile").touch()
    assert commands("python3", tmp_path) == (("make",),)


@pytest.mark.parametrize(
    "imports", ["import triton", "import sys, triton as t", "from torch import nn", "    import torch"]
)
def test_a_program_that_imports_triton_or_pytorch_needs_no_build_whatever_lies_beside_it(
    tmp_path: Path, imports: str
) -> None:
    (tmp_path / "app.py").write_text(f"{imports}\n")
    (tmp_path / "Makefile").write_text("app:\n\ttouch app\n")
    recipe = build_recipe(sys.executable, tmp_path, tmp_path)
    assert recipe.commands == () and "compiled as the Python program runs" in recipe.reason


def test_a_module_that_is_named_almost_like_triton_is_another(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import tritonic, sys  # triton\n")
    assert build_recipe(sys.executable, tmp_path, tmp_path).reason == "a Python program without a build file"
