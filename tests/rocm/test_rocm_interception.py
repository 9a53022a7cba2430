"""The tools library in real HIP programs under Debian's ROCr on the software gfx90a."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from rocmdevice import DEADLINE_S, HERE, LAUNCHER, compile_hip

from intelliperf.errors import BackendUnavailable
from intelliperf.interception.messages import Dispatch, End
from intelliperf.interception.wire import Deadline
from intelliperf.processes.process import output_of
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import ANY_KERNEL, Application, Interception, Kernel
from intelliperf.rocm import recording
from intelliperf.rocm.backend import RocmBackend
from intelliperf.validation.calibration import calibrate
from intelliperf.validation.checker import Checker
from intelliperf.validation.runs.events import Divergence, Rule
from intelliperf.validation.runs.lockstep import Paused, Setting, Sync, follow, record
from intelliperf.validation.runs.side import Side, SideFailed, SideRun

pytestmark = pytest.mark.gfx90a
SOURCE = HERE / "programs" / "saxpy.hip"
SHIFT = "_ZN12_GLOBAL__N_15shiftE4View"
SCALE = "_Z5scalePffi"
SCALE_KERNEL = Kernel(SCALE, "scale")


def program(place: Path, factor: str = "1.0f", launch: str = "true") -> Application:
    place.mkdir()
    compile_hip(SOURCE, place / "app", f"-DFACTOR={factor}", f"-DLAUNCH={launch}")
    return Application(("./app",), place, place, launcher=LAUNCHER)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interception")


@pytest.fixture(scope="module")
def reference(place: Path) -> Application:
    return program(place / "reference")


@pytest.fixture(scope="module")
def setting(place: Path) -> Setting:
    backend = RocmBackend(place / "device", None, UNCONFINED, LAUNCHER)
    return Setting(backend, SCALE_KERNEL, UNCONFINED, place / "logs", DEADLINE_S)


@pytest.fixture(scope="module")
def seen(setting: Setting, reference: Application) -> list[tuple[Dispatch, dict[int, bytes]]]:
    """All dispatches of one run, with the content of the buffers after each."""

    class Keep:
        def __init__(self) -> None:
            self.kept: list[tuple[Dispatch, dict[int, bytes]]] = []

        def compare(self, sync: Sync, base: Paused, other: Paused, *_: object) -> Divergence | None:
            contents = {a.id: bytes(base.content(a.id)) for a in base.dispatch.allocations}
            self.kept.append((base.dispatch, contents))
            return None

    keep = Keep()
    runs = [SideRun(label, reference, Interception(kernels=("*",))) for label in ("first", "second")]
    followed = follow(setting, runs, Rule(lambda dispatch: dispatch.target), keep)
    assert not followed.divergences
    return keep.kept


def test_every_dispatch_of_the_program_is_seen_and_none_of_the_runtime(
    setting: Setting, reference: Application
) -> None:
    events, _ = record(setting, SideRun("recorded", reference, Interception(kernels=("*",))))
    launches = [event for event in events if isinstance(event, Dispatch)]
    assert [(one.kernel, one.grid, one.block) for one in launches] == [
        ("saxpy", (8, 1, 1), (128, 1, 1)),
        ("saxpy", (8, 1, 1), (128, 1, 1)),
        (SHIFT, (8, 1, 1), (128, 1, 1)),
        (SCALE, (2, 1, 1), (64, 1, 1)),
    ]


def test_arguments_come_from_the_code_object_and_buffers_have_the_size_asked_for(seen: list) -> None:
    dispatch, _ = seen[0]
    values = [argument.value for argument in dispatch.arguments]
    assert values[2:] == [b"\x00\x00\x40\x40", (1000).to_bytes(4, "little")]
    assert [parameter.pointer for parameter in dispatch.parameters] == [True, True, False, False]
    pointed = [argument.pointers[0].allocation for argument in dispatch.arguments[:2]]
    sizes = {allocation.id: allocation.size for allocation in dispatch.allocations}
    assert [sizes[number] for number in pointed] == [4000, 4000]


def test_a_pointer_in_a_structure_by_value_and_one_into_a_buffer_are_followed(seen: list) -> None:
    by_kernel = {dispatch.kernel: dispatch for dispatch, _ in seen}
    (inside,) = by_kernel[SHIFT].arguments[0].pointers
    assert (inside.offset, inside.at) == (8, 0)
    assert by_kernel[SCALE].arguments[0].pointers[0].at == 400


def test_device_variables_are_buffers_with_names(seen: list) -> None:
    dispatch, contents = seen[1]
    of_hip = "_ZN17__HIP_Coordinates"  # HIP 5.2's own: blockIdx and its like
    named = {a.name: contents[a.id] for a in dispatch.allocations if a.name and not a.name.startswith(of_hip)}
    assert named == {"calls": (2).to_bytes(4, "little"), "offset": b"\x00\x00\x80\x3f"}


def test_buffers_hold_what_the_kernel_left_in_them(seen: list) -> None:
    import numpy as np

    for (dispatch, contents), expected in zip(seen, (8.0, 14.0, 15.0), strict=False):
        pointer = dispatch.arguments[0].pointers[0]
        assert set(np.frombuffer(contents[pointer.allocation], np.float32)) == {expected}


@pytest.mark.slow
def test_kernels_round_as_asked_for(setting: Setting, place: Path) -> None:
    import numpy as np

    found: dict[str, set[float]] = {}

    class Keep:
        def compare(self, sync: Sync, base: Paused, other: Paused, *_: object) -> Divergence | None:
            pointer = other.dispatch.arguments[0].pointers[0]
            scaled = bytes(other.content(pointer.allocation))[pointer.at :][:400]
            found[other.side.label] = set(np.frombuffer(scaled, np.float32))
            return None

    inexact = program(place / "inexact", "1.1f")
    runs = [
        SideRun("reference", inexact),
        *(SideRun(way, inexact, Interception(rounding=way)) for way in ("up", "down")),
    ]
    follow(setting, runs, Rule(lambda dispatch: dispatch.target), Keep())
    ((up,), (down,)) = found["up"], found["down"]
    assert down == np.float32(33.0)  # of 33.0000007…: 15 times twice the nearest float of 1.1
    assert up == np.nextafter(down, np.float32(np.inf))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "factor", "launch", "said"),
    [("wrong", "1.5f", "true", "45"), ("skipping", "1.0f", "false", SCALE)],
)
def test_what_computes_otherwise_is_told_from_the_reference(
    setting: Setting, reference: Application, place: Path, name: str, factor: str, launch: str, said: str
) -> None:
    rule = Rule(lambda dispatch: dispatch.target)
    checker = Checker(calibrate(setting, reference, SCALE, rule))
    runs = [SideRun("reference", reference), SideRun("candidate", program(place / name, factor, launch))]
    divergence = follow(setting, runs, rule, checker).divergences["candidate"]
    assert said in divergence.detail


TOOL = """
#include <stdlib.h>
__attribute__((constructor)) static void take_over(void) { unsetenv("HSA_TOOLS_LIB"); }  // as ROCr leaves it out
"""


def test_a_tool_that_the_application_brings_with_it_is_named(
    setting: Setting, reference: Application, place: Path
) -> None:
    tool = place / "librocprofiler-sdk.so.1"
    (place / "tool.c").write_text(TOOL)
    done, out, err = output_of(["gcc", "-shared", "-fPIC", str(place / "tool.c"), "-o", str(tool)], DEADLINE_S)
    assert done.ok, out + err
    own = replace(reference, command=("env", f"LD_PRELOAD={tool}", "./app"))
    with pytest.raises(SideFailed, match=r"and librocprofiler-sdk\.so\.1, but not our library of HSA_TOOLS_LIB"):
        record(replace(setting, deadline_s=60.0), SideRun("recorded", own, Interception(kernels=("*",))))


@pytest.mark.slow
def test_what_follows_a_kernel_that_waits_for_its_thread_leaves_its_buffers_until_they_were_read(place: Path) -> None:
    import numpy as np

    kept: dict[str, list[int]] = {}

    class Keep:
        def compare(self, sync: Sync, base: Paused, other: Paused, *_: object) -> Divergence | None:
            written = next(one for one in base.dispatch.arguments[::-1] if one.pointers)
            content = np.frombuffer(base.content(written.pointers[0].allocation), np.int32)
            kept[base.dispatch.kernel] = content[:64].tolist()
            return None

    home = place / "waiting"
    home.mkdir()
    compile_hip(HERE / "programs" / "waiting.hip", home / "app")
    application = Application(("./app",), home, home, launcher=LAUNCHER)
    backend = RocmBackend(place / "waiting-device", None, UNCONFINED, LAUNCHER)
    setting = Setting(backend, Kernel(ANY_KERNEL, "any"), UNCONFINED, place / "waiting-logs", DEADLINE_S)
    runs = [SideRun(label, application, Interception(kernels=(ANY_KERNEL,))) for label in ("first", "second")]
    followed = follow(setting, runs, Rule(lambda dispatch: dispatch.target), Keep())
    assert not followed.divergences
    assert all(ended.ok for ended in followed.ended.values())
    assert kept == {
        "_Z5waitsPVKiPi": [5 + i for i in range(64)],
        "_Z7doublesPi": [2 * (5 + i) for i in range(64)],
    }


@pytest.mark.slow
def test_kernels_of_a_graph_are_inspected_at_each_of_its_launches(place: Path) -> None:
    import numpy as np

    sums: list[float] = []

    class Keep:
        def compare(self, sync: Sync, base: Paused, other: Paused, *_: object) -> Divergence | None:
            written = base.dispatch.arguments[1].pointers[0]
            sums.append(float(np.frombuffer(base.content(written.allocation), np.float32)[0]))
            return None

    home = place / "captured"
    home.mkdir()
    compile_hip(HERE / "programs" / "captured.hip", home / "app")
    application = Application(("./app",), home, home, launcher=LAUNCHER)
    backend = RocmBackend(place / "captured-device", None, UNCONFINED, LAUNCHER)
    setting = Setting(backend, Kernel("_Z4foldPKfPfi", "fold"), UNCONFINED, place / "captured-logs", DEADLINE_S)
    followed = follow(setting, [SideRun(label, application) for label in ("first", "second")],
                      Rule(lambda dispatch: dispatch.target), Keep())  # fmt: skip
    assert not followed.divergences and all(ended.ok for ended in followed.ended.values())
    assert sums == [3.0 * 1024, 7.0 * 1024, 15.0 * 1024]
    launched = [event.kernel for event in followed.events if isinstance(event, Dispatch)]
    assert launched == ["_Z4growPfPKfi", "_Z4foldPKfPfi"] * 3


@pytest.mark.slow
def test_a_kernel_that_waits_for_its_thread_is_recorded(tmp_path: Path) -> None:
    shutil.copy(HERE / "programs" / "waiting.hip", tmp_path)
    build = ("hipcc", "-O2", "-g", "waiting.hip", "-o", "app")
    application = Application(("./app",), tmp_path, tmp_path, (build,), launcher=LAUNCHER)
    device = RocmBackend(tmp_path / "device", None, UNCONFINED, LAUNCHER).probe()
    kernel = Kernel("_Z5waitsPVKiPi", "waits")
    with recording.recording_beside(application, kernel, device, DEADLINE_S, tmp_path / "logs") as recorded:
        (dispatch,) = recorded().dispatches
    assert dispatch.fate == "recorded" and dispatch.kept_words > 0


def test_memory_that_the_runtime_did_not_allocate_is_named_as_not_compared(setting: Setting, tmp_path: Path) -> None:
    compile_hip(HERE / "programs" / "elsewhere.hip", tmp_path / "app")
    run = SideRun(
        "elsewhere", Application(("./app",), tmp_path, tmp_path, launcher=LAUNCHER), Interception(kernels=("*",))
    )
    with Side(run, setting.backend, setting.kernel, tmp_path, UNCONFINED) as side:
        deadline = Deadline.after(DEADLINE_S)
        side.connect(deadline)
        while isinstance(message := side.next(deadline), Dispatch):
            side.proceed()
        assert isinstance(message, End)
    (told,) = message.uncovered
    assert told.startswith("argument 2 of _Z4fillPfPKfi points to memory that ROCr did not allocate")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("HIP_VISIBLE_DEVICES", "7", "hides all of them from HIP: unset it, or name GPU 0"),
        ("CUDA_VISIBLE_DEVICES", "7", "hides all of them from HIP: unset it, or name GPU 0"),
        ("HIP_VISIBLE_DEVICES", "GPU-2f8a", "is not a number, which HIP requires: unset it, or name GPU 0 by number"),
    ],
)
def test_a_variable_that_hides_every_gpu_from_hip_is_named(
    variable: str, value: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(BackendUnavailable, match=f"{variable}={value} {said}"):
        RocmBackend(tmp_path / "device", None, UNCONFINED, LAUNCHER).probe()
