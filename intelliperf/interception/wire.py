"""Parent side of the interception protocol, version 1: bytes of a hostile child into frozen records.

A message is a little-endian 32-bit length and that many bytes of one JSON object; descriptors ride
on the first byte of `hello`. A child that shows a buffer by a handle instead of a copy answers, while it waits, a
request for that copy. The parent bounds what it reads before it reads it: whatever a child
sends ends in a record, a `PeerTimeout`, a `PeerClosed` or a `ProtocolError`.
"""

from __future__ import annotations

import array
import json
import os
import re
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, TypeVar

from intelliperf.errors import ProtocolError
from intelliperf.interception.messages import Allocation, Copied, Dispatch, Hello, Message, parse_hello, parse_message

T = TypeVar("T")
MESSAGE_LIMIT_BYTES = 32 * 1024 * 1024
DESCRIPTOR_LIMIT = 64
_HEADER = struct.Struct("<I")
_RECEIVE_BYTES = 1 << 16
_SLICE_S = 1.0  # one wait for the child; a timeout is set for each other length of it, which costs a system call
_DESCRIPTORS = socket.CMSG_SPACE(DESCRIPTOR_LIMIT * array.array("i").itemsize)
_CLOSE_ON_EXEC, _CUT_OFF = int(socket.MSG_CMSG_CLOEXEC), int(socket.MSG_CTRUNC)


class PeerTimeout(ProtocolError):
    """The child said nothing complete before the deadline."""


class PeerClosed(ProtocolError):
    """The connection ended; mid-message or not, the child's exit status says why."""


@dataclass(frozen=True)
class Deadline:
    """A point in monotonic time, `seconds` after it was set; `left_s` is never negative."""

    at_s: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds, seconds)

    @property
    def left_s(self) -> float:
        return max(0.0, self.at_s - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.left_s == 0.0


def decode(body: bytes) -> Mapping[str, object]:
    """One JSON object. Raises `ProtocolError` for anything else, NaN and deep nesting included."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a message is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ProtocolError("a message is not a JSON object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class _Parser:
    """Messages of one child. What it said before, but for the numbers of the dispatch, is not parsed again.

    Equal texts become the same objects, so that what follows from them can be remembered, see `remembered`.
    """

    _NUMBERED = re.compile(rb'\{"type":"dispatch","index":(0|[1-9][0-9]{0,17}),"nth":(0|[1-9][0-9]{0,17}),')
    _ALLOCATIONS = b',"allocations":'
    _LIMIT, _LONGEST_BYTES = 256, 1 << 16  # of what is kept

    def __init__(self) -> None:
        self._messages: dict[bytes, Message | Copied | Hello] = {}
        self._allocations: dict[bytes, tuple[Allocation, ...]] = {}

    def parse(self, body: bytes) -> Message | Copied | Hello:
        numbers = self._NUMBERED.match(body)
        rest = body if numbers is None else body[numbers.end() :]
        known = self._messages.get(rest)
        if known is None:
            known = self._new(body)
            self._keep(self._messages, rest, known)
        if numbers is not None and isinstance(known, Dispatch):
            return replace(known, index=int(numbers[1]), nth=int(numbers[2]))
        return known

    def _new(self, body: bytes) -> Message | Copied | Hello:
        """Arguments often change from launch to launch, and allocations seldom."""
        split = body.rfind(self._ALLOCATIONS)
        if split < 0:
            return parse_message(decode(body))
        allocations = self._allocations.get(body[split:])
        if allocations is not None:
            return parse_message(decode(body[:split] + b"}"), allocations)
        message = parse_message(decode(body))
        if isinstance(message, Dispatch) and message.target:
            self._keep(self._allocations, body[split:], message.allocations)
        return message

    def _keep(self, known: dict[bytes, T], text: bytes, value: T) -> None:
        if len(text) > self._LONGEST_BYTES:
            return
        if len(known) >= self._LIMIT:
            known.clear()
        known[text] = value


class Channel:
    """One connection from a child. Owns the socket and, until they are taken, its descriptors."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._descriptors: list[int] = []
        self._received = bytearray()
        self._timeout_s: float | None = None
        self._parser = _Parser()

    def hello(self, deadline: Deadline) -> tuple[Hello, tuple[int, ...]]:
        """The first message, and its descriptors, which the caller then owns."""
        hello = parse_hello(decode(self._receive(deadline)))
        taken, self._descriptors = tuple(self._descriptors), []
        return hello, taken

    def next(self, deadline: Deadline) -> Message | Hello:
        """A hello that is said again: the program has loaded more code since."""
        message = self._next(deadline)
        if isinstance(message, Copied):
            raise ProtocolError("a copy of a buffer that nobody asked for")
        return message

    def _next(self, deadline: Deadline) -> Message | Copied | Hello:
        message = self._parser.parse(self._receive(deadline))
        if self._descriptors:
            raise ProtocolError("descriptors outside the hello message")
        return message

    def proceed(self) -> None:
        """Let the paused child continue."""
        self._send({"type": "continue"})

    def copy(self, allocation: int, deadline: Deadline) -> int:
        """Have the paused child copy a buffer into the memory that it shares; where it lies there."""
        self._send({"type": "copy", "allocation": allocation})
        answer = self._next(deadline)
        if not isinstance(answer, Copied) or answer.allocation != allocation:
            raise ProtocolError(f"the child did not answer the request for a copy of buffer {allocation}")
        return answer.base

    def stop(self) -> None:
        """Ask the paused child to end; it exits with status 125."""
        self._send({"type": "stop"})

    def _send(self, message: Mapping[str, object]) -> None:
        body = json.dumps(message, separators=(",", ":")).encode()
        self._patience(5.0)
        try:
            self._socket.sendall(_HEADER.pack(len(body)) + body)
        except OSError as error:
            raise PeerClosed("the child closed the connection") from error

    def _receive(self, deadline: Deadline) -> bytes:
        (length,) = _HEADER.unpack(self._exactly(_HEADER.size, deadline))
        if not 2 <= length <= MESSAGE_LIMIT_BYTES:
            raise ProtocolError(f"a message of {length} bytes; at most {MESSAGE_LIMIT_BYTES} are read")
        return self._exactly(length, deadline)

    def _exactly(self, size: int, deadline: Deadline) -> bytes:
        while len(self._received) < size:
            part = self._some(deadline)
            if not part:
                raise PeerClosed("the child closed the connection")
            self._received += part
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def _some(self, deadline: Deadline) -> bytes:
        """What has come, after waiting for it. One call never spans the bytes that bring descriptors and later ones."""
        while True:
            left = deadline.left_s
            if left <= 0:
                raise PeerTimeout("the child sent no message before the timeout")
            self._patience(min(left, _SLICE_S))
            try:
                part, ancillary, flags, _ = self._socket.recvmsg(_RECEIVE_BYTES, _DESCRIPTORS, _CLOSE_ON_EXEC)
                break
            except TimeoutError:
                continue
            except OSError as error:
                raise PeerClosed(f"the connection to the child broke: {error.strerror}") from error
        for level, kind, content in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors = array.array("i")
                descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
                self._descriptors += descriptors
        if flags & _CUT_OFF or len(self._descriptors) > DESCRIPTOR_LIMIT:
            raise ProtocolError("more descriptors than the protocol has use for")
        return part

    def _patience(self, timeout_s: float) -> None:
        if timeout_s != self._timeout_s:
            self._socket.settimeout(timeout_s)
            self._timeout_s = timeout_s

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []
        self._socket.close()


class Listener:
    """Where children connect, one after another. The path must be short: Linux allows 107 bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.bind(str(path))
            path.chmod(0o600)
            self._socket.listen(16)
        except OSError as error:
            self._socket.close()
            raise ProtocolError(f"cannot listen at {path}: {error.strerror or error}") from error

    def accept(self, wait_s: float) -> Channel | None:
        """The next connection, or None if none came within `wait_s` seconds."""
        self._socket.settimeout(max(wait_s, 0.001))
        try:
            connection, _ = self._socket.accept()
        except TimeoutError:
            return None
        return Channel(connection)

    def close(self) -> None:
        self._socket.close()
        self.path.unlink(missing_ok=True)
