"""How an application ended, in words for people."""

from __future__ import annotations

import re
from pathlib import Path

from intelliperf.errors import ApplicationFailed
from intelliperf.processes.process import Completed
from intelliperf.processes.secrets import without_secrets
from intelliperf.records import Application

_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^  File "([^"]+)", line (\d+)', re.MULTILINE)
_FAILED_AT = re.compile(r"^(\S+\.py:\d+): \w+")  # as pytest shows the place of a failure
_OF_KERNELS = "intelliperf: kernel "
_FAULTS = 2
_BOXES = re.compile(r"(?:^-{40,}\n(?:(?!-{40}).*\n)+-{40,}\s*)+\Z", re.MULTILINE)  # Open MPI's
_SAID_LINES = 6
_PYTEST = {  # its exit statuses that no patch changes; 1, failed tests, may be how a run always ends
    2: "pytest was interrupted, or could not import a test file: the same command has to succeed by itself",
    3: "an internal error of pytest",
    4: "pytest does not know an option, or a file that it is given",
    5: "pytest found no tests: name a file or directory that has them, or another -k",
}
_NOTHING_KNOWN = "choose a smaller problem or a longer --run-timeout"
_SAID_CHARACTERS = 160


def ended_well(completed: Completed, application: Application) -> bool:
    """Did it end by itself, and with the exit status that it should have?"""
    return completed.exit_status == application.exit_status


def check_ended_well(completed: Completed, application: Application, place: str, reached: str = "") -> None:
    """Raises `ApplicationFailed` with how it ended and the last that it said; `place` as in "on the emulator".

    `reached`: how far a run came that was ended by its time limit, and what to do.
    """
    if ended_well(completed, application):
        return
    program = shown_program(application)
    said = last_output(completed, application.project)
    if completed.timed_out:
        how = f"{completed.describe()} {place}: {reached or _NOTHING_KNOWN}"
    elif completed.output_exceeded:
        how = completed.describe()
    elif completed.signal_name:
        how = f"crashes {place}: {completed.describe()}"
    elif application.exit_status:
        how = f"ends {place} with {completed.describe()}, not {application.exit_status} as --expect-exit says"
    else:
        how = f"fails {place} with {completed.describe()}{_remedy(completed, application)}"
    raise ApplicationFailed(f"{program} {how}{said}")


def _remedy(completed: Completed, application: Application) -> str:
    status = completed.exit_status
    if status in _PYTEST and any(Path(word).name in ("pytest", "py.test") for word in application.command):
        return f" ({_PYTEST[status]})"
    return f" (if that is how it always ends: --expect-exit {status})" if status else ""


def shown_program(application: Application) -> str:
    """What the user calls the program: behind an interpreter, the script."""
    command = application.command
    return next((word for word in command if word.endswith(".py")), command[0])


def last_output(completed: Completed, project: Path | None = None) -> str:
    """The last lines of stderr, else of stdout, as a continuation of a sentence; may be empty.

    Of a Python program that an exception ended: the exception, the line of `project` that led to it, and before them
    what the emulator said of kernels; of a test that pytest ran: what failed, and where. What a launcher as mpirun says
    in boxes at the end comes behind the program's own words, and in one line.
    """
    texts = [without_secrets(completed.tail(stream, 8192)).strip() for stream in ("stderr", "stdout")]
    found = [_exception(text, project) or _failed_test(text) for text in texts] if project is not None else []
    own = [_BOXES.sub("", text).strip() for text in texts]
    boxed = [match[0].strip().splitlines()[1] for text in texts if (match := _BOXES.search(text))][:1]
    said = next((text.splitlines()[-_SAID_LINES:] for text in own if text), [])
    lines = next(filter(None, (*found, [*said, *boxed])), [])
    shown = " | ".join(line[:_SAID_CHARACTERS] for line in lines)
    return f"; last output: {shown}" if lines else ""


def _exception(text: str, project: Path) -> list[str]:
    """What follows the frames of the last traceback, behind the innermost place in the project; empty without one."""
    before, begins, traceback = text.rpartition(_TRACEBACK)
    if not begins:
        return []
    faults = [line for line in before.splitlines() if line.startswith(_OF_KERNELS)][-_FAULTS:]
    lines = traceback.splitlines()
    first = next((n for n, line in enumerate(lines) if line and not line.startswith(" ")), len(lines))
    places = [(Path(file), number) for file, number in _FRAME.findall(traceback)]
    own = [f"{file.relative_to(project)}:{number}: " for file, number in places if file.is_relative_to(project)]
    said = [line.rstrip() for line in lines[first:] if line.strip()]
    return [*faults, f"{own[-1] if own else ''}{said[0]}", *said[1:][1 - _SAID_LINES :]] if said else []


def _failed_test(text: str) -> list[str]:
    """What pytest marks as the error of the last failed test, behind its place; empty without one."""
    errors: list[str] = []
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith("E   "):
            errors.append(line[1:].strip())
        elif errors and (place := _FAILED_AT.match(line)):
            found, errors = [f"{place[1]}: {errors[0]}", *filter(None, errors[1:_SAID_LINES])], []
    return found
