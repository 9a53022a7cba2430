"""The runtime library that a wheel brings: taken where it is of these sources and whole, else built as ever."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from intelliperf.dropins.toolchain import host_processor
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
