"""How an application ended, in words for people."""

from __future__ import annotations

from intelliperf.errors import ApplicationFailed
from intelliperf.processes.process import Completed
from intelliperf.processes.secrets import without_secrets
from intelliperf.records import Application

_SAID_LINES = 6
_SAID_CHARACTERS = 160


def ended_well(completed: Completed, application: Application) -> bool:
    """Did it end by itself, and with the exit status that it should have?"""
    return completed.exit_status == application.exit_status


def check_ended_well(completed: Completed, application: Application, place: str) -> None:
    """Raises `ApplicationFailed` with how it ended and the last that it said; `place` as in "on the emulator"."""
    if ended_well(completed, application):
        return
    program = application.command[0]
    said = last_output(completed)
    if completed.timed_out:
        how = f"{completed.describe()} {place}; try a smaller problem, or raise --run-timeout"
    elif completed.output_exceeded:
        how = completed.describe()
    elif completed.signal_name:
        how = f"crashes {place}: {completed.describe()}"
    elif application.exit_status:
        how = f"ends {place} with {completed.describe()}, not {application.exit_status} as --expect-exit says"
    else:
        how = f"fails {place} with {completed.describe()}{_remedy(completed)}"
    raise ApplicationFailed(f"{program} {how}{said}")


def _remedy(completed: Completed) -> str:
    status = completed.exit_status
    return f" (if that is how it always ends: --expect-exit {status})" if status else ""


def last_output(completed: Completed) -> str:
    """The last lines of stderr, else of stdout, as a continuation of a sentence; may be empty."""
    for stream in ("stderr", "stdout"):
        lines = without_secrets(completed.tail(stream, 8192)).strip().splitlines()
        if lines:
            shown = " | ".join(line[:_SAID_CHARACTERS] for line in lines[-_SAID_LINES:])
            return f"; last output: {shown}"
    return ""
