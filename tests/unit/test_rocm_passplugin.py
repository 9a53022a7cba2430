"""The plugin is made for the LLVM of the compiler in use, or what is missing is said; programs here are stand-ins."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.errors import ToolchainError
from intelliperf.rocm import passplugin
from intelliperf.rocm.compilers import Compiler
from intelliperf.rocm.passplugin import LLVM, llvm_of
from intelliperf.rocm.toolchain import with_plugin


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def compiler(place: Path) -> Compiler:
    clang = program(place / "clang++", f"echo 'clang version 23.1.0'; echo 'InstalledDir: {place}'")
    return Compiler((str(clang),), True, "clang version 23.1.0")


def configuration(place: Path, version: str = "23.1.0", rtti: str = "NO") -> None:
    answers = {
        "--version": version,
        "--includedir": place / "include",
        "--cppflags": "-I/x -D_GNU_SOURCE",
        "--has-rtti": rtti,
    }
    program(
        place / "llvm-config", "\n".join(f'[ "$1" = {ask} ] && echo "{told}"' for ask, told in answers.items()) + "\n:"
    )


def headers(place: Path, folder: str = "Passes") -> None:
    (place / "include" / "llvm" / folder).mkdir(parents=True)
    (place / "include" / "llvm" / folder / "PassPlugin.h").write_text("")


@pytest.mark.parametrize("folder", ["Passes", "Plugins"])
def test_headers_and_options_are_those_of_the_compilers_own_llvm(tmp_path: Path, folder: str) -> None:
    configuration(tmp_path)
    headers(tmp_path, folder)
    expected = LLVM("23.1.0", ("-D_GNU_SOURCE", "-isystem", str(tmp_path / "include")), ("-fno-rtti",))
    assert llvm_of(compiler(tmp_path)) == expected


def test_a_compiler_without_its_headers_is_told_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"llvm-config is missing: install rocm-llvm-dev .* llvm-23-dev"):
        llvm_of(compiler(tmp_path))
    configuration(tmp_path)
    with pytest.raises(ToolchainError, match="lacks LLVM's headers: install"):
        llvm_of(compiler(tmp_path))


def test_an_llvm_that_is_too_old_is_refused(tmp_path: Path) -> None:
    configuration(tmp_path, "17.0.6")
    headers(tmp_path)
    with pytest.raises(ToolchainError, match=r"LLVM 17\.0\.6; recording accesses needs 18"):
        llvm_of(compiler(tmp_path))


def test_the_plugin_sees_the_devices_code_alone_and_not_relocatable_code() -> None:
    words = with_plugin(["-O2", "k.hip"], "/x/plugin.so")
    assert words[:2] == ["-Xarch_device", "-fpass-plugin=/x/plugin.so"] and words[-2:] == ["-O2", "k.hip"]
    assert with_plugin(["-fgpu-rdc", "k.hip"], "") == ["-fgpu-rdc", "k.hip"]
    with pytest.raises(ToolchainError, match="-fgpu-rdc"):
        with_plugin(["-fgpu-rdc", "k.hip"], "/x/plugin.so")


def test_a_compiler_that_cannot_record_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer, older = (program(tmp_path / f"clang++-{number}", ":") for number in (22, 19))
    others = [Compiler((str(clang),), False, f"clang version {clang.name[-2:]}.1.0") for clang in (newer, older)]
    tried: list[str] = []

    def usable(compiler: Compiler, architecture: str) -> Path:
        tried.append(compiler.words[0])
        if compiler.words[0] != str(older):
            raise ToolchainError("loads no plugin")
        return tmp_path / "plugin.so"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(passplugin, "find_compiler", lambda _: Compiler(("/hipcc",), True, "clang version 15.0.6"))
    monkeypatch.setattr(passplugin, "clangs_for_hip", lambda oldest: iter(others))
    monkeypatch.setattr(passplugin, "_usable", usable)
    for _ in range(2):
        passplugin.recorder.cache_clear()
        assert passplugin.recorder("gfx90a").compiler.words[0] == str(older)
    passplugin.recorder.cache_clear()
    assert tried == ["/hipcc", str(newer), str(older), "/hipcc", str(older)]
