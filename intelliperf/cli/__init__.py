"""The command line: options in, exit status out. The only place that catches our errors."""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from types import FrameType

from intelliperf.errors import IntelliPerfError

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REPEAT_S = 3.0
_COLLECT_AFTER = 50_000  # new objects; modules and records stay, and looking for them as garbage slows the start


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and exit with its status; installed as the console script."""
    if arguments is not None:
        return _run(list(arguments))
    gc.set_threshold(_COLLECT_AFTER)
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    with _interruptible():
        return _run_until_interrupted(arguments)


def _run_until_interrupted(arguments: list[str]) -> int:
    try:
        from intelliperf.cli.app import invoke

        _write_anything()
        status = invoke(arguments)
        sys.stdout.flush()
        return status
    except IntelliPerfError as error:
        return _say(str(error), error.exit_status, arguments)
    except KeyboardInterrupt:
        return _say("interrupted", EXIT_INTERRUPTED, arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
        return EXIT_ERROR
    except ModuleNotFoundError as error:
        return _say(f"{error}: reinstall intelliperf, as in python -m pip install -U intelliperf", EXIT_ERROR, [])
    except OSError as error:
        where = f"{os.fspath(error.filename)}: " if error.filename else ""
        remedy = "; free some, or move --run-root, XDG_CACHE_HOME or TMPDIR" if error.errno == errno.ENOSPC else ""
        return _say(f"{where}{error.strerror or error}{remedy}", EXIT_ERROR, arguments)


def _say(text: str, status: int, arguments: list[str]) -> int:
    """One line for a person, and the last event for a program."""
    with contextlib.suppress(OSError):
        if _json_asked(arguments):
            event = {"time": round(time.time(), 3), "event": "error", "text": text, "exit_status": status}
            print(json.dumps(event), flush=True)
        print(f"intelliperf: {'' if status == EXIT_INTERRUPTED else 'error: '}{text}", file=sys.stderr)
    return status


def _json_asked(arguments: list[str]) -> bool:
    from intelliperf.cli.configuration import configured

    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    with contextlib.suppress(IntelliPerfError):  # the file may be what is wrong
        return "--json" in ours or bool(configured(ours).defaults.get("json_events"))
    return "--json" in ours


def _write_anything() -> None:
    """Names that are not text in the terminal's encoding are shown escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP end the work in order, which a second one soon after does not disturb."""
    first: list[float] = []

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        if not first or time.monotonic() - first[0] > _REPEAT_S:
            first[:] = [time.monotonic()]
            raise KeyboardInterrupt

    previous = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in previous.items():
        if handler is not signal.SIG_IGN:  # as nohup asks
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_IGN if first else handler)
