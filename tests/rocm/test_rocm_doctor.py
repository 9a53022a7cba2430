"""`intelliperf doctor --amd` on the software gfx90a."""

from __future__ import annotations

import os
import re
import shlex
import tarfile
from pathlib import Path

import pytest
from rocmdevice import LAUNCHER, STAND_IN, build_device

from intelliperf.cli.doctor import Health, Observation
from intelliperf.cli.doctoramd import examine_amd, once
from intelliperf.records import Launcher
from intelliperf.rocm.backend import RocmBackend

pytestmark = pytest.mark.gfx90a


@pytest.fixture(autouse=True)
def _device() -> None:
    build_device()


@pytest.mark.slow
def test_every_step_is_tried_and_the_bundle_holds_its_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(STAND_IN), os.environ["PATH"]]))
    bundle = tmp_path / "bundle.tar.gz"
    status = examine_amd(shlex.join(LAUNCHER.words), False, bundle)
    said = capsys.readouterr().out
    assert status == 0, said
    assert "[ok] sandbox: available: every step below runs in it" in said
    assert "[ok] device: Software gfx90a" in said and "no hardware but the software gfx90a" in said
    assert "[ok] source lines: " in said and "probe.hip:" in said
    assert "[ok] PC samples: lines of probe: from what instrumented code recorded; " in said
    assert "[ok] tools library: 1 dispatch of 1024 threads" in said
    assert "[ok] buffers: " in said and "with a legacy handle, then copied device to host" in said
    (slowest,) = re.findall(r"the slowest took ([\d.]+) s", said)
    assert float(slowest) < 0.5 and "calls seen through HSA_TOOLS_LIB" in said
    assert "(HIP 5.2" in said and "made a program of one kernel for gfx90a" in said
    assert "[ok] instrumentation: 1024 stores of one kernel" in said
    with tarfile.open(bundle) as archive:
        names = archive.getnames()
    assert "intelliperf-doctor-amd/doctor.txt" in names
    assert any(name.endswith("run.stderr") or "trace" in name for name in names)


@pytest.mark.slow
def test_without_rocprofv3_every_step_that_can_do_without_it_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert examine_amd(shlex.join(LAUNCHER.words), False, tmp_path / "bundle.tar.gz") == 1
    said = capsys.readouterr().out
    assert "[!!] rocprofv3: " in said and "[!!] trace: for the same reason as rocprofv3" in said
    for step in ("tools library", "buffers", "source lines", "instrumentation"):
        assert f"[ok] {step}: " in said, said


def test_without_a_device_the_cause_is_said_once_and_the_rest_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "7")
    assert examine_amd(shlex.join(LAUNCHER.words), False, tmp_path / "bundle.tar.gz") == 1
    said = capsys.readouterr().out
    assert "finds no GPU: ROCR_VISIBLE_DEVICES=7 hides all of them: unset it" in said and said.count("[!!] device") == 1
    for tried in ("compilers", "plugin that records accesses", "tools library's build", "counters' tables"):
        assert f"[ok] {tried}: " in said
    assert "[ok] shared host memory: 256 bytes came out of the sandbox unchanged" in said
    assert "[--] not tried without a device: build, trace, counters" in said


def test_what_several_steps_lack_is_said_once() -> None:
    lacking, causes = "no HSA headers here; install them: apt-get install libhsa-runtime-dev", dict[str, str]()
    first = Observation("HSA headers", Health.BAD, lacking)
    assert once(first, causes) == first
    again = once(Observation("tools library's build", Health.BAD, lacking), causes)
    assert again == Observation("tools library's build", Health.BAD, "for the same reason as HSA headers")
    assert once(Observation("rocprofv3", Health.GOOD, "allowed"), causes).detail == "allowed"


def test_a_hidden_gpu_a_partition_and_mixed_releases_are_told_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hipcc, libraries = tmp_path / "rocm-6.2.0" / "bin" / "hipcc", tmp_path / "rocm-5.7.1" / "lib"
    for file in (hipcc, libraries / "libamdhip64.so.5"):
        file.parent.mkdir(parents=True)
        file.touch(0o755)
    monkeypatch.setenv("PATH", f"{hipcc.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(libraries))
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    launcher = Launcher(("env", "GFX90A_GPUS=2", "GFX90A_COMPUTE_UNITS=26", *LAUNCHER.words))
    told: list[str] = []
    RocmBackend(tmp_path / "device", launcher=launcher, tell=told.append).probe()
    mixed, hidden, parted = told
    assert mixed.startswith(f"{hipcc} is of ROCm 6.2, {libraries} is of ROCm 5.7: take all from one release")
    assert hidden == "1 of 2 GPUs visible with HIP_VISIBLE_DEVICES=1: the program runs there; unset it to show all"
    assert parted.startswith("a partition: 26 of the chip's 110 compute units")
