"""Handles by dmabuf are asked for by an abstract socket: out of a sandbox none is, and none is waited for."""

from __future__ import annotations

import socket
import struct
import time
from pathlib import Path

from intelliperf.protocols import SharedBuffer
from intelliperf.rocm.ipc import IpcReader, reachable_handles
from intelliperf.rocm.ipcreader import exporter_is_here

MODE = "HSA_ENABLE_IPC_MODE_LEGACY"


def handle(process: int) -> bytes:
    return struct.pack("<QI", 0x7F0000000000, process).ljust(32, b"\0")


def test_an_exporter_is_known_by_its_socket_in_this_namespace() -> None:
    process = 4194304  # above the kernel's highest
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        # As ROCr binds it: the whole address, padded with zeros.
        server.bind(f"\0hsa{process}".encode().ljust(108, b"\0"))
        server.listen(1)
        listed = Path("/proc/net/unix").read_text()
        assert exporter_is_here(handle(process), listed)
        assert not exporter_is_here(handle(process // 10), listed)
    assert not exporter_is_here(handle(process), Path("/proc/net/unix").read_text())


def test_a_dmabuf_handle_from_a_sandbox_is_refused_at_once(tmp_path: Path) -> None:
    reader = IpcReader(("/nowhere",), tmp_path, confined=True)
    started = time.monotonic()
    opened = [reader.read(SharedBuffer(handle(2), 4096, 0, "dmabuf"), 4096) for _ in range(100)]
    assert time.monotonic() - started < 0.5
    assert {one.how for one in opened} == {"dmabuf handles do not leave the sandbox's namespaces"}


def test_confined_applications_make_handles_of_the_older_kind_unless_told_otherwise() -> None:
    assert reachable_handles({}, confined=True) == {MODE: "1"}
    assert reachable_handles({}, confined=False) == reachable_handles({MODE: "0"}, confined=True) == {}
