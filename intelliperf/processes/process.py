"""The only door to child processes: argv lists, own session, log files, timeout, whole group killed.

Output goes to files, never to unbounded memory; a child that writes more than `output_limit` bytes is stopped. The
group is killed on every way out: Ctrl-C, and also SIGKILL of this process, for which a guard (one shell per child)
waits at the other end of a pipe. What leaves the group, as a daemon does, is adopted and ended with the child.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from intelliperf.errors import UsageError
from intelliperf.processes.orphans import adopt_orphans, end_orphans
from intelliperf.processes.secrets import own_environment
from intelliperf.processes.storage import refuse_full_disk, storage_errors
from intelliperf.processes.usage import starved_seconds

TAIL_BYTES = 64 * 1024
OUTPUT_LIMIT_BYTES = 256 * 1024 * 1024
_POLL_S = 0.02
_POLL_LATE_S = 1.0  # where each look reads what all processes waited for
_TERM_GRACE_S = 2.0
_NUMBERS = itertools.count(1)
# Ends at a line; ends the group $0 where the pipe closes without one, because we are gone.
_GUARD = 'read -r line || kill -KILL "-$0"'


@dataclass(frozen=True)
class Completed:
    """How a child ended. Exactly one of exit_status and signal is set unless it was stopped by us."""

    argv: tuple[str, ...]
    exit_status: int | None
    signal_name: str | None
    timed_out: bool
    output_exceeded: bool
    seconds: float
    stdout: Path
    stderr: Path

    @property
    def ok(self) -> bool:
        return self.exit_status == 0

    def tail(self, stream: str = "stderr", limit: int = TAIL_BYTES) -> str:
        """The last `limit` bytes of a stream, decoded leniently."""
        path = self.stdout if stream == "stdout" else self.stderr
        with path.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - limit))
            return log.read().decode("utf-8", "replace")

    def describe(self) -> str:
        """How it ended, in words: "exit status 3", "killed by SIGSEGV", "timed out after 10 s"."""
        if self.timed_out:
            return f"timed out after {self.seconds:.0f} s"
        if self.output_exceeded:
            return f"stopped: it wrote more than {OUTPUT_LIMIT_BYTES >> 20} MiB"
        if self.signal_name:
            return f"killed by {self.signal_name}"
        return f"exit status {self.exit_status}"


def clean_environment(additions: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without secrets, plus `additions`."""
    return {**own_environment(), **additions}


class Child:
    """A running child; a context manager that leaves nothing of its process group alive."""

    def __init__(
        self,
        argv: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        logs: Path,
        label: str,
        pass_descriptors: Sequence[int] = (),
    ) -> None:
        self.argv = tuple(argv)
        self.stdout = logs / f"{label}.stdout"
        self.stderr = logs / f"{label}.stderr"
        self._started = time.monotonic()
        self._mark = f"INTELLIPERF_CHILD_{os.getpid()}_{next(_NUMBERS)}"
        adopt_orphans()
        with storage_errors(logs):
            logs.mkdir(parents=True, exist_ok=True)
            self.stdout.touch()
            self.stderr.touch()
        with self.stdout.open("wb") as out, self.stderr.open("wb") as err:
            marked = {self._mark: "1", "CLANG_CRASH_DIAGNOSTICS_DIR": str(logs), **environment}
            self._popen = _start(self.argv, directory, marked, (out, err), pass_descriptors)
        self._end_seen = _descriptor_of(self.pid)
        try:
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, str(self.pid)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except BaseException:
            self._end()
            raise

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def age_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def running(self) -> bool:
        return self._popen.poll() is None

    def _written(self) -> int:
        return self.stdout.stat().st_size + self.stderr.stat().st_size

    def wait(
        self,
        deadline_s: float,
        output_limit: int = OUTPUT_LIMIT_BYTES,
        look: Callable[[], None] = lambda: None,
        patience: float = 1.0,
    ) -> Completed:
        """Wait until the end, `deadline_s` seconds after the start, or too much output; `look` is called meanwhile.

        With `patience` the time that its processes waited for a processor does not count: a busy machine has up to so
        many times the deadline, a child that hangs has the deadline.
        """
        timed_out = exceeded = False
        while self.running():
            left = deadline_s - self.age_s
            if left <= 0 and patience > 1.0:
                left += min(starved_seconds(self.pid), (patience - 1.0) * deadline_s)
            if left <= 0:
                timed_out = True
                break
            if self._written() > output_limit:
                exceeded = True
                break
            look()
            self._sleep(min(_POLL_S if self.age_s < deadline_s else _POLL_LATE_S, left))
        seconds = time.monotonic() - self._started
        if timed_out or exceeded:
            self.kill()
        elif self._popen.returncode != 0:
            refuse_full_disk(self.stdout)
        code = self._popen.returncode
        died = code is not None and code < 0 and not (timed_out or exceeded)
        return Completed(
            argv=self.argv,
            exit_status=code if code is not None and code >= 0 and not (timed_out or exceeded) else None,
            signal_name=_signal_name(-code) if died else None,
            timed_out=timed_out,
            output_exceeded=exceeded,
            seconds=seconds,
            stdout=self.stdout,
            stderr=self.stderr,
        )

    def _sleep(self, seconds: float) -> None:
        """Until the child has ended, but not longer."""
        if self._end_seen is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(seconds)
            return
        poll = select.poll()
        poll.register(self._end_seen, select.POLLIN)
        poll.poll(seconds * 1000)

    def kill(self) -> None:
        """End the whole group: SIGTERM, then SIGKILL. A second Ctrl-C in between only hurries it."""
        try:
            self._end()
        finally:
            self._dismiss_guard()

    def _end(self) -> None:
        try:
            if self.running():
                self._signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._popen.wait(_TERM_GRACE_S)
        finally:
            self._signal(signal.SIGKILL)  # stragglers of the group, and the child if it ignored SIGTERM
            self._popen.wait()
            self._forget_descriptor()
            end_orphans(self._mark, self.pid)

    def _forget_descriptor(self) -> None:
        descriptor, self._end_seen = self._end_seen, None
        if descriptor is not None:
            os.close(descriptor)

    def _dismiss_guard(self) -> None:
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._guard.communicate(b"\n")

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, number)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def _start(
    argv: tuple[str, ...],
    directory: Path,
    environment: Mapping[str, str],
    outputs: tuple[IO[bytes], IO[bytes]],
    pass_descriptors: Sequence[int],
) -> subprocess.Popen[bytes]:
    program = argv[0] or "''"
    try:
        return subprocess.Popen(
            argv,
            cwd=directory,
            env=clean_environment(environment),
            stdin=subprocess.DEVNULL,
            stdout=outputs[0],
            stderr=outputs[1],
            start_new_session=True,
            pass_fds=tuple(pass_descriptors),
        )
    except FileNotFoundError as error:
        missing = "no such program" if directory.is_dir() else "no such directory"
        raise UsageError(f"cannot run {program}: {missing} (in {directory})") from error
    except PermissionError as error:
        if not os.access(directory, os.X_OK):
            raise UsageError(f"cannot run {program} in {directory}: the directory may not be entered") from error
        raise UsageError(f"cannot run {program}: not executable; try chmod +x") from error
    except OSError as error:
        raise UsageError(f"cannot run {program}: {error.strerror}") from error
    except ValueError as error:  # a NUL in the argv
        raise UsageError(f"cannot run {program}: {error}") from error


def _descriptor_of(pid: int) -> int | None:
    """One that can be read when the process has ended (`pidfd_open(2)`); `Popen.wait` asks again and again instead."""
    try:
        return os.pidfd_open(pid)
    except OSError:  # a kernel, or a sandbox, without it
        return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def run(
    argv: Sequence[str],
    directory: Path,
    deadline_s: float,
    logs: Path,
    label: str,
    environment: Mapping[str, str] | None = None,
    output_limit: int = OUTPUT_LIMIT_BYTES,
    look: Callable[[], None] = lambda: None,
) -> Completed:
    """Run to the end; `look` is called now and then. Raises `UsageError` if the program cannot be started at all."""
    with Child(argv, directory, environment or {}, logs, label) as child:
        return child.wait(deadline_s, output_limit, look)


def nothing_run(logs: Path) -> Completed:
    """How a child ended that was not needed: well, at once, without a word."""
    logs.mkdir(parents=True, exist_ok=True)
    silence = logs / "nothing.log"
    silence.touch()
    return Completed((), 0, None, False, False, 0.0, silence, silence)


@contextlib.contextmanager
def scratch_logs() -> Iterator[Path]:
    """A log directory for tool invocations whose output nobody keeps."""
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        yield Path(name)


def output_of(
    argv: Sequence[str], deadline_s: float, environment: Mapping[str, str] | None = None, directory: Path | None = None
) -> tuple[Completed, str, str]:
    """Run a tool and return how it ended with its decoded stdout and stderr."""
    with scratch_logs() as logs:
        done = run(argv, directory or Path.cwd(), deadline_s, logs, "tool", environment)
        out = done.stdout.read_bytes().decode("utf-8", "replace")
        err = done.stderr.read_bytes().decode("utf-8", "replace")
    return done, out, err
