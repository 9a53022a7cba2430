"""The compiler's version is asked once per compiler file, and never remembered for what only stands in front of one."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from intelliperf.dropins import toolchain


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The compilers that were run for their version."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    calls: list[tuple[str, ...]] = []

    def answer(clang: tuple[str, ...]) -> tuple[str, int]:
        calls.append(clang)
        return f"clang version {20 + len(calls)}.1", 20 + len(calls)

    monkeypatch.setattr(toolchain, "_ask_version", answer)
    return calls


def test_a_compiler_is_asked_once_until_its_file_changes(tmp_path: Path, asked: list[tuple[str, ...]]) -> None:
    compiler = tmp_path / "clang-21"
    shutil.copyfile(Path(sys.executable).resolve(), compiler)
    command = (str(compiler),)
    assert toolchain._version_of(command) == toolchain._version_of(command) == ("clang version 21.1", 21)
    os.utime(compiler, ns=(1, 1))
    assert toolchain._version_of(command) == ("clang version 22.1", 22)
    assert len(asked) == 2


def test_a_script_in_front_of_a_compiler_is_asked_every_time(tmp_path: Path, asked: list[tuple[str, ...]]) -> None:
    script = tmp_path / "clang"
    script.write_text('#!/bin/sh\nexec clang-21 "$@"\n')
    assert toolchain._version_of((str(script),)) != toolchain._version_of((str(script),))
    assert len(asked) == 2
