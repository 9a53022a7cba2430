"""A Ray cluster of two nodes on this machine, for the tests of nights that are spread over one."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


def missing() -> str | None:
    return None if importlib.util.find_spec("ray") is not None else "needs Ray (pip install 'intelliperf[ray]')"


@contextlib.contextmanager
def two_nodes() -> Iterator[str]:
    """Its address. The directory lies right below /tmp: Ray's sockets in it have names of 107 bytes at most."""
    place = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    common = ["--node-ip-address=127.0.0.1", "--num-cpus=1", "--disable-usage-stats"]
    try:
        _start("--head", f"--port={port}", f"--temp-dir={place}", "--include-dashboard=false", *common)
        _start(f"--address=127.0.0.1:{port}", *common)
        yield f"127.0.0.1:{port}"
    finally:
        _end(place)
        shutil.rmtree(place, ignore_errors=True)


def _start(*words: str) -> None:
    """One node; its daemons outlive this. Their output is not captured, as a pipe would stay open with them."""
    with tempfile.TemporaryFile() as log:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=120, check=False)
        log.seek(0)
        assert done.returncode == 0, log.read().decode(errors="replace")


def _end(place: Path) -> None:
    """This cluster's own processes alone: those that name its directory, and those that they started."""
    for _ in range(50):
        found = _processes(place)
        if not found:
            return
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.1)


def _processes(place: Path) -> list[int]:
    named, parents = set(), {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            process = int(entry.name)
            if str(place).encode() in (entry / "cmdline").read_bytes():
                named.add(process)
            parents[process] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    below = {process for process, parent in parents.items() if parent in named}
    return sorted((named | below) - {os.getpid()})
