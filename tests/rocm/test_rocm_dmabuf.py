"""Handles by dmabuf, as ROCr 6.3 to 7 make them, on the software gfx90a: shared, replaced, or not waited for.

The sockets and process numbers behind such handles do not exist outside of a sandbox's namespaces.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from rocmdevice import DEADLINE_S, HERE, LAUNCHER, compile_hip

from intelliperf.interception.messages import Allocation, Dispatch
from intelliperf.interception.wire import Deadline
from intelliperf.processes.sandbox import UNCONFINED, Sandbox
from intelliperf.records import Application, Kernel
from intelliperf.rocm.backend import RocmBackend
from intelliperf.rocm.ipc import IpcReader
from intelliperf.validation.runs.side import Side, SideRun

pytestmark = pytest.mark.gfx90a
FILL = Kernel("_Z4fillPhmj", "fill")
PATIENCE_S = 5.0  # half of what ROCr waits for an exporter that does not listen


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    place = tmp_path_factory.mktemp("dmabuf")
    compile_hip(HERE / "programs" / "buffers.hip", place / "app")
    return Application(("./app",), place, place, launcher=LAUNCHER)


def inspected(application: Application, place: Path, sandbox: Sandbox) -> tuple[set[str], float]:
    """How the device's buffers were read after the first dispatch, and the longest of these reads, in seconds."""
    backend = RocmBackend(place / "device", None, sandbox, LAUNCHER)
    backend._reader = IpcReader(LAUNCHER.words, place, ("hsa",), confined=sandbox.available)
    longest = 0.0
    (place / "logs").mkdir()  # before a sandbox, which measures the room there
    with Side(SideRun("one", application), backend, FILL, place / "logs", sandbox) as one:
        one.connect(Deadline.after(DEADLINE_S))
        dispatch = one.next(Deadline.after(DEADLINE_S))
        assert isinstance(dispatch, Dispatch)
        buffers = [a for a in dispatch.allocations if not a.name]
        assert {a.size for a in buffers} >= {4, 2048, 5000, 1000000, 3 << 20}
        one.read(buffers[0])  # starts the reader, whose runtime takes its time
        for buffer in buffers[1:]:
            begun = time.monotonic()
            one.read(buffer)
            longest = max(longest, time.monotonic() - begun)
        assert content(one, buffers, dispatch).tolist() == [(i * 2654435761 >> 7) & 0xFF for i in range(4)]
    backend._reader.close()
    return {way for way in one.ways if "pinned or managed" not in way}, longest


def content(one: Side, buffers: list[Allocation], dispatch: Dispatch) -> np.ndarray:
    (written,) = (a for a in buffers if a.id == dispatch.arguments[0].pointers[0].allocation)
    return np.frombuffer(one.read(written), np.uint8)


def test_both_processes_in_one_namespace_share_by_dmabuf(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GFX90A_IPC", "dmabuf-only")
    ways, longest = inspected(application, tmp_path, UNCONFINED)
    assert ways == {"opened by HSA IPC with a dmabuf handle, then copied device to host"}
    assert longest < PATIENCE_S


@pytest.mark.namespaces
def test_out_of_a_sandbox_the_older_handles_are_asked_for(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GFX90A_IPC", "dmabuf")
    ways, longest = inspected(application, tmp_path, Sandbox.probe(tmp_path, ("GFX90A_IPC",)))
    assert ways == {"opened by HSA IPC with a legacy handle, then copied device to host"}
    assert longest < PATIENCE_S


@pytest.mark.namespaces
@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (None, "hsa_amd_ipc_memory_create fails with 0x1001"),  # a driver without the older kind
        ("0", "dmabuf handles do not leave the sandbox's namespaces"),  # as the user insists
    ],
)
def test_where_no_handle_leaves_the_sandbox_the_application_copies_at_once(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str | None, said: str
) -> None:
    monkeypatch.setenv("GFX90A_IPC", "dmabuf-only")
    if mode is not None:
        monkeypatch.setenv("HSA_ENABLE_IPC_MODE_LEGACY", mode)
    ways, longest = inspected(application, tmp_path, Sandbox.probe(tmp_path, ("GFX90A_IPC",)))
    assert ways == {f"copied by the application ({said})"}
    assert longest < PATIENCE_S


def test_a_handle_to_freed_memory_is_given_up_and_no_other_is_waited_for(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GFX90A_IPC", "dmabuf-only")
    backend = RocmBackend(tmp_path / "device", None, UNCONFINED, LAUNCHER)
    reader = IpcReader(LAUNCHER.words, tmp_path, ("hsa",))
    with Side(SideRun("one", application), backend, FILL, tmp_path / "logs", UNCONFINED) as one:
        one.connect(Deadline.after(DEADLINE_S))
        dispatch = one.next(Deadline.after(DEADLINE_S))
        assert isinstance(dispatch, Dispatch)
        shared = next(a.shared for a in dispatch.allocations if a.size == 3 << 20)
        assert shared is not None and shared.style == "dmabuf"
        assert reader.read(shared, 3 << 20).view is not None
        address = int.from_bytes(shared.handle[:8], "little") + (1 << 30)  # never exported: as if it had been freed
        gone = type(shared)(address.to_bytes(8, "little") + shared.handle[8:], shared.size, shared.at, shared.style)
        begun = time.monotonic()
        assert "timed out" in reader.read(gone, 3 << 20).how
        assert time.monotonic() - begun < 2 * PATIENCE_S
        begun = time.monotonic()
        assert reader.read(shared, 3 << 20).view is None
        assert time.monotonic() - begun < 0.1
