"""What is shown of a build that takes long."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from intelliperf.project.buildprogress import BuildProgress
from intelliperf.project.scratch import Workspace
from intelliperf.records import Application


def test_a_long_build_shows_what_was_compiled_and_what_it_printed_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    now, shown, noted = [0.0], list[str](), list[str]()
    log, printed = tmp_path / "log", tmp_path / "build-1.stdout"
    commands = [("cmake", "-S", "."), ("/bin/sh", "-c", "make -C src")]
    progress = BuildProgress(commands, log, tmp_path, shown.append, noted.append, lambda: now[0])

    def after(seconds: float) -> None:
        now[0] = seconds
        progress.look()

    after(2)
    log.write_text('{"source": "a.cu"}\n')
    printed.write_text("nvcc -c a.cu -o a.o\nnvcc -c b.cu -o b.o\n")
    after(2.5)  # looks once a second
    assert shown == []
    after(4)
    after(6)
    log.write_text('{"source": "a.cu"}\n{"source": "b.cu"}\n')
    after(31)
    after(40)
    assert shown == ["1 GPU source compiled; nvcc -c b.cu -o b.o", "2 GPU sources compiled; nvcc -c b.cu -o b.o"]
    assert noted == [f"still building after 31 s: {shown[1]} (-b 'make -C src -j8' builds in parallel)"]
    after(63)
    assert len(noted) == 2


@pytest.mark.parametrize("command", ["make -j4", "make --jobs", "make && ./install", "ninja", "cmake --build build"])
def test_no_remedy_is_named_for_what_is_parallel_or_no_lone_make(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    now, noted = [0.0], list[str]()
    progress = BuildProgress([command.split()], tmp_path, tmp_path, noted.append, noted.append, lambda: now[0])
    now[0] = 40
    progress.look()
    assert noted == ["still building after 40 s: nothing printed yet"]


def test_cmake_builds_with_all_processors_unless_the_user_says_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    command = ("/bin/sh", "-c", "echo $CMAKE_BUILD_PARALLEL_LEVEL > jobs")
    workspace = Workspace.create(Application(("./app",), project, project, (command,)), tmp_path / "copy")
    monkeypatch.delenv("CMAKE_BUILD_PARALLEL_LEVEL", raising=False)
    assert workspace.build({}, 10, tmp_path / "logs").ok
    assert (workspace.application.directory / "jobs").read_text() == f"{os.cpu_count()}\n"
    monkeypatch.setenv("CMAKE_BUILD_PARALLEL_LEVEL", "1")
    assert workspace.build({}, 10, tmp_path / "logs").ok
    assert (workspace.application.directory / "jobs").read_text() == "1\n"
