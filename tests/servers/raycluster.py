"""A Ray cluster of two nodes on this machine, for the tests of nights that are spread over one."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


def missing() -> str | None:
    return None if importlib.util.find_spec("ray") is not None else "needs Ray (pip install 'intelliperf[ray]')"


def environment() -> dict[str, str]:
    """With a token of its own: Ray would write one to the home directory, and every later cluster would ask for it."""
    return {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


@dataclass(frozen=True)
class Cluster:
    address: str
    place: Path  # of its sockets and logs

    def workers(self, title: str) -> list[int]:
        """The processes that do a task whose name begins so: Ray writes it into their title."""
        return [process for process in _processes(self.place) if _words(process).startswith(title.encode())]


@contextlib.contextmanager
def two_nodes(environment: Mapping[str, str]) -> Iterator[Cluster]:
    """The directory lies right below /tmp: Ray's sockets in it have names of 107 bytes at most."""
    place = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    common = ["--node-ip-address=127.0.0.1", "--num-cpus=1", "--disable-usage-stats"]
    try:
        head = ["--head", f"--port={port}", f"--temp-dir={place}", "--include-dashboard=false"]
        for words in (head, [f"--address=127.0.0.1:{port}"]):
            _start([*words, *common], environment)
        yield Cluster(f"127.0.0.1:{port}", place)
    finally:
        _end(place)
        shutil.rmtree(place, ignore_errors=True)


def _start(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """One node; its daemons outlive this. Their output is not captured, as a pipe would stay open with them."""
    with tempfile.TemporaryFile() as log:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *words]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        done = subprocess.run(command, env=environment, timeout=120, check=False, **quiet)
        log.seek(0)
        assert done.returncode == 0, log.read().decode(errors="replace")


def _end(place: Path) -> None:
    """This cluster's own processes alone."""
    for _ in range(50):
        found = _processes(place)
        if not found:
            return
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.1)


def _processes(place: Path) -> list[int]:
    """Those that name the directory, and their children."""
    named, parents = set(), {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            process = int(entry.name)
            if str(place).encode() in _words(process):
                named.add(process)
            parents[process] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    below = {process for process, parent in parents.items() if parent in named}
    return sorted((named | below) - {os.getpid()})


def _words(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
