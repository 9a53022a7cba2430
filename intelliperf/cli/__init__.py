"""The command line: options in, exit status out. The only place that catches our errors."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType

from intelliperf.errors import IntelliPerfError

EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and exit with its status; installed as the console script."""
    status = _run(list(sys.argv[1:] if arguments is None else arguments))
    if arguments is None:
        sys.exit(status)
    return status


def _run(arguments: list[str]) -> int:
    from intelliperf.cli.app import invoke

    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        return invoke(arguments)
    except IntelliPerfError as error:
        print(f"intelliperf: error: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("intelliperf: interrupted; `intelliperf resume` goes on where it stopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    finally:
        signal.signal(signal.SIGTERM, previous)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
