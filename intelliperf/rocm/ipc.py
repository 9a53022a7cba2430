"""Buffers of a paused application by HSA's IPC handles, without the application's help.

The device is read in a process that opens the handle, copies device to host and closes the handle: comparing
is done on the host. Where a handle cannot be opened, the application copies its buffers to shared host memory.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import socket
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.errors import ProtocolError
from intelliperf.interception.arena import SharedArena, open_shared_arena
from intelliperf.processes.process import Child
from intelliperf.protocols import Difference, Numbers, Opened, SharedBuffer

_SCRIPT = Path(__file__).with_name("ipcreader.py")
_START_S = 60.0
# Of one handle once the runtime is up, beside its copy. For a file that its exporter dropped ROCr waits without end.
_OPEN_S = 2.0
_SLOWEST_COPY = 20e6  # bytes per second
_ANSWER_BYTES = 1 << 16
_STARTS = 3  # a runtime that dies of every handle is not started forever
_REFUSALS = 3  # then the application copies
_MODE = "HSA_ENABLE_IPC_MODE_LEGACY"
WAYS = ("hip", "hsa")


def reachable_handles(environment: Mapping[str, str], confined: bool) -> dict[str, str]:
    """For an application: handles that another process can open, unless the user chose their kind.

    A dmabuf handle is asked for by an abstract socket, which ends at the sandbox's network namespace. A driver
    without the older kind refuses at once, and the application copies.
    """
    return {_MODE: "1"} if confined and _MODE not in environment else {}


class IpcReader:
    """The process that opens handles; started when it is first needed. Ends with its owner, or by `close`."""

    def __init__(self, launcher: Sequence[str], logs: Path, ways: Sequence[str] = WAYS, confined: bool = False) -> None:
        """`confined`: the applications run in namespaces of their own, where no dmabuf handle can be asked for."""
        self._confined = confined
        self._launcher = tuple(launcher)
        self._logs = logs
        self._ways = tuple(ways)
        self._starts = self._refusals = 0
        self._broken = ""  # why handles are not opened any more
        self._stop: weakref.finalize[[_Running], IpcReader] | None = None
        self._running: _Running | None = None

    def read(self, shared: SharedBuffer, size: int) -> Opened:
        """See `protocols.Memory.open`. After a few handles that do not open no more are tried."""
        if self._broken:
            return Opened(None, self._broken)
        if self._confined and shared.style == "dmabuf":
            return Opened(None, "dmabuf handles do not leave the sandbox's namespaces")
        try:
            answer, descriptor = self._started(shared.style).ask(
                {
                    "handle": shared.handle.hex(),
                    "style": shared.style,
                    "bytes": shared.size,
                    "at": shared.at,
                    "size": size,
                },
                _OPEN_S + size / _SLOWEST_COPY,
            )
        except OSError as error:
            self.close()
            for_good = isinstance(error, TimeoutError) or self._starts >= _STARTS
            return self._refused(f"the process that opens handles failed: {error}", for_good)
        if descriptor is None:
            if answer.get("too_small") is True:
                raise ProtocolError(f"a buffer cannot be opened: {answer.get('why')}")
            self._refusals += 1
            return self._refused(str(answer.get("why")), self._refusals >= _REFUSALS)
        try:
            view = memoryview(mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ))
        finally:
            os.close(descriptor)
        return Opened(view, f"opened by {answer.get('way')} with a {shared.style} handle, then copied device to host")

    def _refused(self, why: str, for_good: bool) -> Opened:
        if for_good:
            self._broken = why
        return Opened(None, why)

    def _started(self, style: str) -> _Running:
        if self._running is None:
            self._starts += 1
            # Both runtimes must take handles for the same; the application may have been told by its own environment.
            mode = {_MODE: "1" if style == "legacy" else "0"}
            self._running = _Running(self._launcher, self._ways, mode, self._logs, f"reader{self._starts}")
            self._stop = weakref.finalize(self, _Running.close, self._running)
            self._running.greet()
        return self._running

    def close(self) -> None:
        if self._stop is not None:
            self._stop()
        self._running = self._stop = None


class _Running:
    """One such process and the connection to it."""

    def __init__(
        self, launcher: Sequence[str], ways: Sequence[str], environment: Mapping[str, str], logs: Path, label: str
    ) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="iperf-"))
        path = self._directory / "socket"
        self._connection: socket.socket | None = None
        self._asked = False
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(1)
        argv = [*launcher, sys.executable, "-I", str(_SCRIPT), str(path), *ways]
        try:
            self._child = Child(argv, self._directory, {**environment, "TMPDIR": str(self._directory)}, logs, label)
        except BaseException:
            self._listener.close()
            shutil.rmtree(self._directory, ignore_errors=True)
            raise

    def greet(self) -> None:
        """Raises `OSError` where it does not come up."""
        self._listener.settimeout(0.1)
        deadline = time.monotonic() + _START_S
        while self._connection is None:
            try:
                self._connection, _ = self._listener.accept()
            except TimeoutError:
                if not self._child.running() or time.monotonic() > deadline:
                    raise OSError(self._child.wait(self._child.age_s).describe()) from None
        ready, _ = self._receive(_START_S)
        if ready.get("ready") is not True:
            raise OSError(str(ready.get("why")))

    def ask(self, request: Mapping[str, object], seconds: float) -> tuple[Mapping[str, object], int | None]:
        """The answer and the file that came with it, which the caller then owns. Raises `OSError`.

        The first answer may take longer: with it the runtime sets itself up.
        """
        assert self._connection is not None
        seconds, self._asked = (seconds if self._asked else max(seconds, _START_S)), True
        try:
            self._connection.sendall(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            raise self._ended() from None
        return self._receive(seconds)

    def _ended(self) -> OSError:
        return OSError(self._child.wait(self._child.age_s + 10.0).describe())

    def _receive(self, seconds: float) -> tuple[Mapping[str, object], int | None]:
        assert self._connection is not None
        self._connection.settimeout(seconds)
        text, files = b"", []
        while not text.endswith(b"\n"):
            part, more, _, _ = socket.recv_fds(self._connection, _ANSWER_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
            files += more
            if not part:
                raise self._ended()
            text += part
        return json.loads(text), files[0] if files else None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._listener.close()
        self._child.kill()
        shutil.rmtree(self._directory, ignore_errors=True)


class RocmMemory:
    """Device memory of one paused application: handles where it gives them, else what it copied to its arena."""

    def __init__(self, arena: SharedArena, reader: IpcReader) -> None:
        self._arena = arena
        self._reader = reader

    def read(self, base: int, size: int) -> memoryview:
        return self._arena.read(base, size)

    def open(self, shared: SharedBuffer, size: int) -> Opened:
        return self._reader.read(shared, size)

    def differing(
        self, mine: SharedBuffer, theirs: SharedBuffer, size: int, chunk: int, numbers: Numbers
    ) -> tuple[Difference, ...] | None:
        """See `protocols.Memory.differing`: here buffers are compared on the host."""
        return None

    def spoil(self, base: int, size: int) -> None:
        raise ProtocolError("a copy of a buffer was to be written to, which the application would not see")

    def write(self, base: int, content: memoryview) -> None:
        raise ProtocolError("a copy of a buffer was to be written to, which the application would not see")

    def close(self) -> None:
        self._arena.close()


def open_memory(hello: Mapping[str, object], descriptors: Sequence[int], reader: IpcReader) -> RocmMemory:
    return RocmMemory(open_shared_arena(hello, descriptors), reader)
