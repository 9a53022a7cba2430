"""A PostgreSQL server of our own, from Debian's package, for the tests that need one."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_USER = "postgres"  # it refuses to run as root


def _tools() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def missing() -> str | None:
    """What a test with a server needs and this machine lacks."""
    if _tools() is None:
        return "needs PostgreSQL (apt-get install postgresql)"
    if os.getuid() == 0 and not (shutil.which("setpriv") and _account()):
        return "needs setpriv and a user postgres, since the server refuses to run as root"
    return None


def _account() -> bool:
    try:
        pwd.getpwnam(_USER)
    except KeyError:
        return False
    return True


def _run(*words: str) -> None:
    lower = ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"] if os.getuid() == 0 else []
    subprocess.run([*lower, *words], check=True, capture_output=True, cwd="/")


class Server:
    """`stop` and `start` for databases that go away in the middle."""

    def __init__(self, data: Path, port: int) -> None:
        self._data = data
        self._port = port
        self.url = f"postgresql://intelliperf:secret@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._data} -c fsync=off"
        _run(str(_bin() / "pg_ctl"), "-D", str(self._data), "-w", "-l", str(self._data / "log"), "-o", options, "start")

    def stop(self) -> None:
        _run(str(_bin() / "pg_ctl"), "-D", str(self._data), "-m", "immediate", "-w", "stop")


def _bin() -> Path:
    tools = _tools()
    assert tools is not None
    return tools


@contextlib.contextmanager
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        root = Path(name)
        password = root / "password"
        password.write_text("secret\n")
        if os.getuid() == 0:
            for path in (root, password):
                shutil.chown(path, _USER)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        words = ["-D", str(root / "data"), "-U", "intelliperf", "--auth=scram-sha-256", f"--pwfile={password}", "-N"]
        _run(str(_bin() / "initdb"), *words)
        made = Server(root / "data", port)
        made.start()
        try:
            yield made
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                made.stop()
