"""One intercepted run of an application: its processes, their connections, their memory.

An application may be a script that starts several GPU programs: they are followed one after another
as one run.

Everything that can go wrong with the run is a `SideFailed`; whether that means a bad candidate or a
broken reference is for the caller to say.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from intelliperf.errors import ProtocolError
from intelliperf.interception.messages import Allocation, Dispatch, End, Hello, Message
from intelliperf.interception.wire import Channel, Deadline, Listener, PeerClosed, PeerTimeout
from intelliperf.processes.endings import ended_well
from intelliperf.processes.process import Child, Completed
from intelliperf.processes.sandbox import Sandbox
from intelliperf.protocols import Difference, Interceptor, Memory, Numbers, SharedBuffer
from intelliperf.records import Application, Interception, Kernel
from intelliperf.validation.runs import othertools
from intelliperf.validation.runs.reached import Reached

_POLL_S = 0.05
_LOOK_S = 0.2  # between looks at what a process that says nothing has loaded
_COPY_S = 120.0  # for one buffer
_STDERR_LINES = 6
_RUNTIME = "intelliperf: "


class Failure(str, Enum):
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    NO_KERNEL = "ran no GPU kernel"
    MALFORMED = "broke the protocol"


class SideFailed(Exception):
    """A run that cannot be followed to its end."""

    def __init__(self, label: str, failure: Failure, detail: str) -> None:
        super().__init__(f"the {label} {failure.value}: {detail}")
        self.label = label
        self.failure = failure
        self.detail = detail


@dataclass(frozen=True)
class SideRun:
    """What to run and how: one row of a lock-step."""

    label: str
    application: Application
    interception: Interception = Interception()


class Side:
    """A context manager round one run; leaves no process, socket or mapping behind."""

    def __init__(
        self,
        run: SideRun,
        backend: Interceptor,
        kernel: Kernel,
        logs: Path,
        sandbox: Sandbox,
        reached: Reached | None = None,
    ) -> None:
        """`reached` gathers what the run executes of its kernels, where the backend tells that."""
        self.label = run.label
        self._run = run
        self._reached = reached
        self._backend = backend
        self._directory = Path(tempfile.mkdtemp(prefix="iperf-"))
        self._listener = Listener(self._directory / "socket")
        self._channel: Channel | None = None
        self.memory: Memory | None = None
        self.hello: Hello | None = None
        self.ways: dict[str, set[tuple[int, int]]] = {}  # how buffers were read, where that is not always the same
        self._dispatches = 0  # of all processes so far
        self._earlier = 0  # of those that ended
        application = run.application
        environment = dict(application.environment)
        environment.update(backend.intercept_environment(self._listener.path, kernel, run.interception))
        argv = sandbox.wrap(
            application.argv, writable=(application.project, self._directory, logs), names=[*environment]
        )
        try:
            self._child = Child(argv, application.directory, environment, logs, f"lockstep-{run.label}")
        except BaseException:
            self._clean()
            raise

    def connect(self, deadline: Deadline) -> None:
        """Wait for the child's hello and open its memory."""
        loaded: set[str] = set()
        looked_at_s = 0.0
        while self._channel is None:
            running = self._child.running()  # before the look: one that has ended may have called in between
            self._channel = self._listener.accept(min(_POLL_S, deadline.left_s))
            if self._channel is not None:
                break
            if self._child.age_s - looked_at_s >= _LOOK_S:
                looked_at_s = self._child.age_s
                loaded |= othertools.libraries_below(self._child.pid)
            if not running:
                ended = self._child.wait(0.0)
                failure = Failure.NO_KERNEL if ended_well(ended, self._run.application) else Failure.CRASHED
                raise self._failed(failure, _why(f"{ended.describe()} before its first kernel", loaded))
            if deadline.passed:
                raise self._failed(Failure.TIMED_OUT, _why("it launched no kernel before the timeout", loaded))
        self._greet(self._channel, deadline)

    def _greet(self, channel: Channel, deadline: Deadline) -> None:
        try:
            self.hello, descriptors = channel.hello(deadline)
            if self.memory is not None:
                self.memory.close()
            self.memory = self._backend.open_memory(self.hello.raw, descriptors)
        except PeerTimeout as error:
            raise self._failed(Failure.TIMED_OUT, str(error)) from error
        except PeerClosed as error:  # it was watched, but did not come to a kernel
            ended = self._end()
            failure = Failure.NO_KERNEL if ended_well(ended, self._run.application) else Failure.CRASHED
            raise self._failed(failure, f"{ended.describe()} before its first kernel") from error
        except ProtocolError as error:
            raise self._failed(Failure.MALFORMED, str(error)) from error

    def next(self, deadline: Deadline) -> Message:
        """The next message; `End` once the application has exited. Dispatches are counted over all processes."""
        while True:
            message = self._message(deadline)
            if isinstance(message, Dispatch):
                self._dispatches += not message.before
                return dataclasses.replace(message, index=message.index + self._earlier) if self._earlier else message
            if not isinstance(message, End) or not self._followed_by_another(deadline):
                return message

    def _message(self, deadline: Deadline) -> Message:
        try:
            while isinstance(message := self._connected().next(deadline), Hello):
                self.hello = message
            if self._reached is not None and self.hello is not None and isinstance(message, Dispatch):
                self._reached.listen(self.hello, message)
            return message
        except PeerTimeout as error:
            reached = f"after {self._dispatches} dispatches nothing" if self._dispatches else "no dispatch"
            raise self._failed(Failure.TIMED_OUT, f"{reached} came within {deadline.seconds:.0f} s") from error
        except PeerClosed:
            return End(-1)  # without a farewell: the exit status tells whether that was a crash
        except ProtocolError as error:
            raise self._failed(Failure.MALFORMED, str(error)) from error

    def _followed_by_another(self, deadline: Deadline) -> bool:
        """Wait for the application's exit or for its next GPU process."""
        while True:
            running = self._child.running()
            channel = self._listener.accept(_POLL_S if running else 0.0)
            if channel is not None:
                self._connected().close()
                self._channel = channel
                self._earlier = self._dispatches
                self._greet(channel, deadline)
                return True
            if not running:
                break
            if deadline.passed:
                raise self._failed(Failure.TIMED_OUT, "it did not exit before the timeout")
        ended = self._end()
        if ended.exit_status in (None, 125) and not ended_well(ended, self._run.application):
            raise self._failed(Failure.CRASHED, ended.describe())
        return False

    def proceed(self) -> None:
        try:
            self._connected().proceed()
        except PeerClosed as error:
            raise self._failed(Failure.CRASHED, self._end().describe()) from error

    def finish(self, deadline: Deadline) -> Completed:
        """Wait for the process to exit after its `end`."""
        ended = self._child.wait(self._child_deadline(deadline.left_s))
        if ended.timed_out or ended.output_exceeded:
            raise self._failed(Failure.TIMED_OUT, ended.describe())
        if ended.signal_name:
            raise self._failed(Failure.CRASHED, ended.describe())
        return ended

    def read(self, buffer: Allocation, start: int = 0, size: int | None = None) -> memoryview:
        """`size` bytes from `start`, all by default. Raises `SideFailed` if the buffer lies outside."""
        size = buffer.size - start if size is None else size
        if self.memory is None:
            raise ProtocolError("no memory before the hello")
        try:
            if buffer.shared is not None and size:
                return self._open(self.memory, buffer, buffer.shared, start, size)
            if buffer.unshared:
                self._tell(f"copied by the application ({buffer.unshared})", buffer)
            return self.memory.read(buffer.base + start, size)
        except PeerTimeout as error:
            raise self._failed(Failure.TIMED_OUT, str(error)) from error
        except PeerClosed as error:
            raise self._failed(Failure.CRASHED, self._end().describe()) from error
        except ProtocolError as error:
            raise self._failed(Failure.MALFORMED, str(error)) from error

    def spoil(self, buffer: Allocation) -> None:
        """Make garbage of what a buffer holds. Zeros stay: counters that are back at zero are not an answer."""
        if self.memory is None:
            raise ProtocolError("no memory before the hello")
        try:
            self.memory.spoil(buffer.base, buffer.size)
        except ProtocolError as error:
            raise self._failed(Failure.MALFORMED, str(error)) from error

    def write(self, buffer: Allocation, content: memoryview) -> None:
        """As many bytes as the buffer has."""
        if self.memory is None:
            raise ProtocolError("no memory before the hello")
        try:
            self.memory.write(buffer.base, content)
        except ProtocolError as error:
            raise self._failed(Failure.MALFORMED, str(error)) from error

    def differences(
        self, mine: Allocation, other: Side, theirs: Allocation, chunk: int, numbers: Numbers
    ) -> tuple[Difference, ...] | None:
        """See `protocols.Memory.differing`. Raises `SideFailed` of the other side if a buffer lies outside."""
        if self.memory is None or mine.shared is None or theirs.shared is None or mine.size == 0:
            return None
        try:
            found = self.memory.differing(mine.shared, theirs.shared, mine.size, chunk, numbers)
            if found is not None:
                other._tell(f"opened by {theirs.shared.style} IPC handles and compared on the device", theirs)
            return found
        except ProtocolError as error:
            raise other._failed(Failure.MALFORMED, str(error)) from error

    def _open(self, memory: Memory, buffer: Allocation, shared: SharedBuffer, start: int, size: int) -> memoryview:
        """By the handle; where that leads nowhere, the child copies the buffer."""
        opened = memory.open(dataclasses.replace(shared, at=shared.at + start), size)
        if opened.view is not None:
            self._tell(opened.how, buffer)
            return opened.view
        copied = self.copied(buffer, Deadline.after(_COPY_S))
        self._tell(f"copied by the application ({opened.how})", buffer)
        return copied[start : start + size]

    def copied(self, buffer: Allocation, deadline: Deadline) -> memoryview:
        """The paused child's own copy of a buffer."""
        if self.memory is None:
            raise ProtocolError("no memory before the hello")
        base = self._connected().copy(buffer.id, deadline) if buffer.shared and buffer.size else buffer.base
        return self.memory.read(base, buffer.size)

    def _tell(self, how: str, buffer: Allocation) -> None:
        self.ways.setdefault(how, set()).add((self._earlier, buffer.id))

    def _connected(self) -> Channel:
        if self._channel is None:
            raise ProtocolError("no message before the hello")
        return self._channel

    def _end(self) -> Completed:
        return self._child.wait(self._child_deadline(10.0))

    def _child_deadline(self, seconds: float) -> float:
        return self._child.age_s + seconds

    def complaint(self) -> str:
        """What the device runtime last said about a kernel: access, kernel, block, thread, line; may be empty."""
        return complaint(self._said())

    def last_output(self) -> str:
        """Of a run that ended: the last lines of stderr, where a compiler or an exception says why; may be empty."""
        return " | ".join(line.strip() for line in self._said()[-_STDERR_LINES:])

    def _said(self) -> list[str]:
        """The last lines of stderr, with project-relative paths."""
        text = self._child.stderr.read_bytes()[-4096:].decode("utf-8", "replace").strip()
        return text.replace(f"{self._run.application.project}/", "").splitlines()

    def _failed(self, failure: Failure, detail: str) -> SideFailed:
        said = self.last_output()
        return SideFailed(self.label, failure, f"{detail}; it wrote: {said}" if said else detail)

    def _clean(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._listener.close()
        if self.memory is not None:
            self.memory.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._clean()


def complaint(lines: Sequence[str]) -> str:
    """What the device's runtime said last about a kernel, among what a program wrote to stderr."""
    found = [line for line in lines if line.startswith(_RUNTIME) and " in kernel " in line]
    return found[-1].removeprefix(_RUNTIME) if found else ""


def _why(what: str, loaded: set[str]) -> str:
    explanation = othertools.explained(loaded)
    return f"{what}; {explanation}" if explanation else what
