"""The tools library under newer releases of ROCr and HIP, where some are unpacked: see tests/gfx90a/newer.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rocmdevice import DEADLINE_S, HERE, LAUNCHER, build_device, compile_hip

sys.path.insert(0, str(HERE.parent / "gfx90a"))

import newer  # noqa: E402  beside the device

from intelliperf.interception.messages import Dispatch  # noqa: E402
from intelliperf.interception.wire import Deadline  # noqa: E402
from intelliperf.processes.sandbox import UNCONFINED  # noqa: E402
from intelliperf.records import Application, Interception, Kernel, Launcher  # noqa: E402
from intelliperf.rocm.backend import RocmBackend  # noqa: E402
from intelliperf.validation.calibration import calibrate  # noqa: E402
from intelliperf.validation.checker import Checker  # noqa: E402
from intelliperf.validation.runs.events import Rule  # noqa: E402
from intelliperf.validation.runs.lockstep import Setting, follow, record  # noqa: E402
from intelliperf.validation.runs.side import Side, SideRun  # noqa: E402

pytestmark = [pytest.mark.gfx90a, pytest.mark.newer_rocr]
SCALE = "_Z5scalePffi"


@pytest.fixture(params=newer.runtimes() or [Path("none")], ids=lambda root: root.name)
def launcher(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    build_device()
    words = LAUNCHER.words[:-1] + ("--runtime", str(request.param), "--")
    with newer.headers_of(request.param):
        yield Launcher(words)


def program(place: Path, launcher: Launcher, factor: str) -> Application:
    place.mkdir()
    compile_hip(HERE / "programs" / "saxpy.hip", place / "app", f"-DFACTOR={factor}", "-DLAUNCH=true")
    return Application(("./app",), place, place, launcher=launcher)


def test_dispatches_and_buffers_are_seen_and_a_wrong_candidate_is_told(launcher: Launcher, tmp_path: Path) -> None:
    backend = RocmBackend(tmp_path / "device", None, UNCONFINED, launcher)
    assert backend.probe().architecture == "gfx90a"
    setting = Setting(backend, Kernel(SCALE, "scale"), UNCONFINED, tmp_path / "logs", DEADLINE_S)
    reference = program(tmp_path / "reference", launcher, "1.0f")
    events, _ = record(setting, SideRun("recorded", reference, Interception(kernels=("*",))))
    launches = [event for event in events if isinstance(event, Dispatch)]
    assert [one.kernel for one in launches][:2] == ["saxpy", "saxpy"] and launches[-1].kernel == SCALE
    with Side(
        SideRun("buffers", reference, Interception(kernels=("*",))), backend, setting.kernel, tmp_path, UNCONFINED
    ) as side:
        deadline = Deadline.after(DEADLINE_S)
        side.connect(deadline)
        dispatch = side.next(deadline)
        assert isinstance(dispatch, Dispatch)
        values = [argument.value for argument in dispatch.arguments]
        assert values[2:] == [b"\x00\x00\x40\x40", (1000).to_bytes(4, "little")]
        for allocation in dispatch.allocations:
            assert side.read(allocation) == side.copied(allocation, deadline)
        ways = " ".join(side.ways)
    assert "then copied device to host" in ways or "copied by the application" in ways, ways
    rule = Rule(lambda dispatch: dispatch.target)
    checker = Checker(calibrate(setting, reference, SCALE, rule))
    runs = [SideRun("reference", reference), SideRun("candidate", program(tmp_path / "wrong", launcher, "1.5f"))]
    followed = follow(setting, runs, rule, checker)
    assert "45" in followed.divergences["candidate"].detail
