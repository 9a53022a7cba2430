"""`intelliperf doctor --amd` on the software gfx90a."""

from __future__ import annotations

import os
import shlex
import tarfile
from pathlib import Path

import pytest
from rocmdevice import LAUNCHER, STAND_IN, build_device

from intelliperf.cli.doctoramd import examine_amd

pytestmark = pytest.mark.gfx90a


@pytest.fixture(autouse=True)
def _device() -> None:
    build_device()


def test_every_step_is_tried_and_the_bundle_holds_its_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(STAND_IN), os.environ["PATH"]]))
    bundle = tmp_path / "bundle.tar.gz"
    status = examine_amd(shlex.join(LAUNCHER.words), False, bundle)
    said = capsys.readouterr().out
    assert status == 0, said
    assert "[ok] device: Software gfx90a" in said and "no hardware but the software gfx90a" in said
    assert "[ok] source lines: " in said and "probe.hip:" in said
    assert "[ok] PC samples: lines of probe: from what instrumented code recorded; " in said
    assert "[ok] tools library: 1 dispatch of 1024 threads" in said
    assert "[ok] buffers: " in said and "with a legacy handle, then copied device to host" in said
    assert "[ok] instrumentation: 1024 stores of one kernel" in said
    with tarfile.open(bundle) as archive:
        names = archive.getnames()
    assert "intelliperf-doctor-amd/doctor.txt" in names
    assert any(name.endswith("run.stderr") or "trace" in name for name in names)


def test_a_broken_step_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "7")
    assert examine_amd(shlex.join(LAUNCHER.words), False, tmp_path / "bundle.tar.gz") == 1
    said = capsys.readouterr().out
    assert "[!!] device: no AMD GPU" in said
    assert "[!!] tools library: the probe was not built" in said
    assert "[!!] instrumentation: the probe was not built" in said
