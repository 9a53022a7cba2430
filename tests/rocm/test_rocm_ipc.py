"""Device memory of real HIP programs, opened in another process by handles: Debian's ROCr on the software gfx90a."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rocmdevice import DEADLINE_S, HERE, LAUNCHER, compile_hip

from intelliperf.errors import ProtocolError, UsageError
from intelliperf.interception.messages import Allocation, Dispatch
from intelliperf.interception.wire import Deadline
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.protocols import SharedBuffer
from intelliperf.records import Application, Interception, Kernel
from intelliperf.rocm.backend import RocmBackend
from intelliperf.rocm.ipc import IpcReader
from intelliperf.rocm.ipcreader import mapped_from
from intelliperf.validation.runs.side import Failure, Side, SideFailed, SideRun

pytestmark = pytest.mark.gfx90a
FILL = "_Z4fillPhmj"
HIP = pytest.param(("hip",), marks=pytest.mark.hip_python)
SIZES = [4, 2048, 5000, 1000000, 3 << 20, 3000, 3000, 6000]
SEEDS = [0, 17, 34, 51, 68, 101, 202, 303]


def expected(size: int, seed: int) -> np.ndarray:
    return ((np.arange(size, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(seed)) >> 7).astype(np.uint8)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ipc")


@pytest.fixture(scope="module")
def application(place: Path) -> Application:
    (place / "project").mkdir()
    compile_hip(HERE / "programs" / "buffers.hip", place / "project" / "app")
    return Application(("./app",), place / "project", place / "project", launcher=LAUNCHER)


@pytest.fixture
def reader(place: Path, tmp_path: Path) -> Iterator[IpcReader]:
    made = IpcReader(LAUNCHER.words, tmp_path, ("hsa",))
    yield made
    made.close()


class Opening(RocmBackend):
    """Opens handles in the given ways only."""

    def __init__(self, directory: Path, reader: IpcReader) -> None:
        super().__init__(directory, None, UNCONFINED, LAUNCHER)
        self._reader = reader


def side(application: Application, backend: RocmBackend, logs: Path) -> Side:
    return Side(SideRun("one", application), backend, Kernel(FILL, "fill"), logs, UNCONFINED)


def buffer_of(dispatch: Dispatch, number: int) -> Allocation:
    (found,) = (one for one in dispatch.allocations if one.id == number)
    return found


def paused(one: Side) -> Dispatch:
    """At the next dispatch."""
    if one.hello is None:
        one.connect(Deadline.after(DEADLINE_S))
    else:
        one.proceed()
    dispatch = one.next(Deadline.after(DEADLINE_S))
    assert isinstance(dispatch, Dispatch)
    return dispatch


@pytest.mark.slow
@pytest.mark.parametrize("ways", [("hsa",), HIP])
def test_every_buffer_is_what_the_kernel_left_and_what_the_application_copies(
    application: Application, tmp_path: Path, ways: tuple[str, ...]
) -> None:
    reader = IpcReader(LAUNCHER.words, tmp_path, ways)
    with side(application, Opening(tmp_path, reader), tmp_path) as one:
        for size, seed in zip(SIZES, SEEDS, strict=True):
            dispatch = paused(one)
            pointer = dispatch.arguments[0].pointers[0]
            content = np.frombuffer(one.read(buffer_of(dispatch, pointer.allocation)), np.uint8)
            assert np.array_equal(content[pointer.at : pointer.at + size], expected(size, seed))
            for allocation in dispatch.allocations:
                if allocation.shared is None:
                    continue
                copied = one.copied(allocation, Deadline.after(DEADLINE_S))
                assert one.read(allocation) == copied
        assert {a.size for a in dispatch.allocations if a.shared} >= {4, 2048, 7000, 1000000, 3 << 20}
        (variable,) = [a for a in dispatch.allocations if a.name == "counted"]
        assert variable.size == 1200
        counts = np.frombuffer(one.read(variable), np.uint32)
        assert counts[0] == sum(SEEDS)
    reader.close()
    name = "HIP IPC (hip-python)" if ways == ("hip",) else "HSA IPC"
    opened = f"opened by {name} with a legacy handle, then copied device to host"
    assert set(one.ways) == {
        opened,
        "copied by the application (host memory, pinned or managed)",
    }


def test_a_handle_outlives_neither_its_buffer_nor_its_process(
    application: Application, reader: IpcReader, tmp_path: Path
) -> None:
    with side(application, Opening(tmp_path, reader), tmp_path) as one:
        dispatch = paused(one)
        large = next(a for a in dispatch.allocations if a.size == 3 << 20)
        small = next(a for a in dispatch.allocations if a.size == 5000)
        assert large.shared and small.shared
        assert reader.read(large.shared, large.size).view is not None
        handles = {small.shared.handle}
        for _ in SIZES[1:]:
            dispatch = paused(one)
        handles |= {a.shared.handle for a in dispatch.allocations if a.shared and a.size == 7000}
        assert len(handles) == 2
        one.proceed()
        one.next(Deadline.after(DEADLINE_S))
        one.finish(Deadline.after(DEADLINE_S))
        gone = reader.read(large.shared, large.size)
    assert gone.view is None
    assert gone.how.startswith("the handle leads nowhere: its process is gone, has freed the memory")


def test_a_handle_to_less_than_announced_is_a_broken_protocol(
    application: Application, reader: IpcReader, tmp_path: Path
) -> None:
    with side(application, Opening(tmp_path, reader), tmp_path) as one:
        dispatch = paused(one)
        for size, more in ((3 << 20, 3), (5000, 1000)):
            allocation = next(a for a in dispatch.allocations if a.size == size)
            assert allocation.shared
            whole = dataclasses.replace(allocation.shared, size=allocation.shared.size * more)
            with pytest.raises(
                ProtocolError, match=rf"leads to \d+ bytes, a buffer of {size * more} at 0 was announced"
            ):
                reader.read(whole, size * more)
        forged = dataclasses.replace(allocation, size=size * 2)
        with pytest.raises(SideFailed, match="bytes, a buffer of 10000 at 0 was announced") as failed:
            one.read(forged)
        assert failed.value.failure is Failure.MALFORMED


def test_an_application_that_dies_while_its_buffers_are_read_is_a_crash(
    application: Application, reader: IpcReader, tmp_path: Path
) -> None:
    with side(application, Opening(tmp_path, reader), tmp_path) as one:
        dispatch = paused(one)
        os.kill(int(one.hello.raw["pid"]), signal.SIGKILL)  # type: ignore[union-attr, call-overload]
        while one._child.running():
            time.sleep(0.01)
        with pytest.raises(SideFailed, match="killed by SIGKILL") as failed:
            one.read(next(a for a in dispatch.allocations if a.shared))
        assert failed.value.failure is Failure.CRASHED


def test_where_handles_do_not_open_the_application_copies_and_the_report_says_why(
    application: Application, tmp_path: Path
) -> None:
    reader = IpcReader(("false",), tmp_path)
    with side(application, Opening(tmp_path, reader), tmp_path) as one:
        dispatch = paused(one)
        content = np.frombuffer(one.read(buffer_of(dispatch, dispatch.arguments[0].pointers[0].allocation)), np.uint8)
        assert np.array_equal(content, expected(SIZES[0], SEEDS[0]))
    (way,) = one.ways
    assert way == "copied by the application (the process that opens handles failed: exit status 1)"


def test_a_reader_that_dies_of_one_handle_is_there_for_the_next(
    application: Application, reader: IpcReader, tmp_path: Path
) -> None:
    with side(application, Opening(tmp_path, reader), tmp_path) as one:
        shared = next(a.shared for a in paused(one).allocations if a.size == 5000)
        assert shared
        assert reader.read(shared, 5000).view is not None
        assert reader._running is not None
        reader._running._child.kill()
        assert "killed by SIG" in reader.read(shared, 5000).how
        assert reader.read(shared, 5000).view is not None


def test_a_forged_handle_is_refused(reader: IpcReader) -> None:
    forged = reader.read(SharedBuffer(b"\x5a" * 32, 4096, 0, "legacy"), 4096)
    assert forged.view is None and "leads nowhere" in forged.how


def test_copies_can_be_asked_for(
    application: Application, reader: IpcReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTELLIPERF_EXPORT_MEMORY", "copy")
    with side(application, Opening(tmp_path, reader), tmp_path) as one:
        dispatch = paused(one)
        content = np.frombuffer(one.read(buffer_of(dispatch, dispatch.arguments[0].pointers[0].allocation)), np.uint8)
        assert np.array_equal(content, expected(SIZES[0], SEEDS[0]))
        assert not one.ways and all(a.shared is None for a in dispatch.allocations)


def test_what_is_mapped_is_known_for_files_only() -> None:
    maps = (
        "1000-3000 rw-s 00000000 00:01 77 /dev/dri/renderD128\n"
        "3000-4000 rw-s 00002000 00:01 77 /dev/dri/renderD128\n"
        "4000-6000 rw-s 00000000 00:01 78 /dev/dri/renderD128\n"
        "6000-9000 ---p 00000000 00:00 0\n"
    )
    assert [mapped_from(address, maps) for address in (0x1800, 0x3000, 0x4000, 0x7000, 0x9000)] == [
        *(0x2800, 0x1000, 0x2000, 0, 0)
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ROCP_TOOL_LIBRARIES", "/opt/rocm/lib/rocprofiler-sdk/librocprofiler-sdk-tool.so"),
        ("HSA_TOOLS_LIB", "libother.so"),
        ("LD_PRELOAD", "libc.so /opt/rocm/lib/librocprofiler-sdk.so.1"),
    ],
)
def test_another_tool_in_the_application_is_refused_by_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    from intelliperf.rocm.native import refuse_other_tools

    refuse_other_tools({"LD_PRELOAD": "libmimalloc.so"})
    monkeypatch.setenv(name, value)
    backend = RocmBackend(tmp_path, None, UNCONFINED, LAUNCHER)
    for use in (
        backend.probe,  # before the build
        lambda: backend.intercept_environment(tmp_path / "socket", Kernel(FILL, "fill"), Interception()),
        lambda: backend.profile(Application(("./app",), tmp_path, tmp_path), 10.0),
    ):
        with pytest.raises(UsageError, match=f"{name}.*librocprofiler-sdk|{name}=libother.so"):
            use()
