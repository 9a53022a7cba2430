"""The runtime library that a wheel brings: taken where it is of these sources and whole, else built as ever."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from intelliperf.dropins.toolchain import find_toolchain, host_processor
from intelliperf.emulator import native


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package directory with the library of this machine, as a wheel would bring it."""
    library = tmp_path / host_processor() / native.LIBRARY_NAME
    library.parent.mkdir()
    shutil.copyfile(native.runtime_library(), library)
    manifest = {
        "sources": native._digest([], native._read_sources()),
        host_processor(): hashlib.sha256(library.read_bytes()).hexdigest(),
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(native, "SHIPPED", tmp_path)
    return library


def test_a_shipped_library_of_these_sources_is_taken(shipped: Path) -> None:
    assert native._shipped_library(native._read_sources()) == shipped


def test_a_shipped_library_of_other_sources_is_not(shipped: Path) -> None:
    changed = {**native._read_sources(), "emulator/runtime/new.cpp": b""}
    assert native._shipped_library(changed) is None


def test_a_shipped_library_that_is_not_whole_is_not(shipped: Path) -> None:
    shipped.write_bytes(shipped.read_bytes()[:-1])
    assert native._shipped_library(native._read_sources()) is None


def test_without_a_shipped_library_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "SHIPPED", tmp_path)
    assert native._shipped_library(native._read_sources()) is None


def test_an_object_is_kept_by_what_its_source_may_include(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "runtime/one.cpp": b'#include "near.h"\n#include <vector>\n',
        "runtime/other.cpp": b'#  include "shared/far.h"\n',
        "runtime/near.h": b'#pragma once\n#include "far.h"\n',
        "runtime/lone.h": b"",
        "shared/far.h": b"",
    }
    toolchain = find_toolchain()

    def changed(edited: str) -> list[str]:
        before = native._objects(toolchain, files, "x86-64-v2")
        after = native._objects(toolchain, files | {edited: b"// edited\n" + files[edited]}, "x86-64-v2")
        return [name for name in before if before[name] != after[name]]

    assert changed("shared/far.h") == ["runtime/one.cpp", "runtime/other.cpp"]
    assert changed("runtime/near.h") == changed("runtime/one.cpp") == ["runtime/one.cpp"]
    assert changed("runtime/lone.h") == []


def test_a_library_that_another_copy_of_the_package_built_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    native.runtime_library()
    monkeypatch.setattr(native, "_state_of_sources", lambda toolchain: "of a copy just made")
    assert native.runtime_is_ready()
    monkeypatch.setattr(native, "_COMPILE_FLAGS", (*native._COMPILE_FLAGS, "-DOTHER"))
    assert not native.runtime_is_ready()
