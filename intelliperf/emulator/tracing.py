"""Runs an application with records and opens them; every way to fail has its own words."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from intelliperf.emulator.awaiting import Watch
from intelliperf.emulator.launchless import why_no_runtime
from intelliperf.emulator.safety import fault_notes, tolerance_note
from intelliperf.emulator.schedules import IN_ORDER, Schedule
from intelliperf.emulator.sourcelines import Project
from intelliperf.emulator.tracefiles import Trace
from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.interception.progress import VARIABLE as PROGRESS
from intelliperf.processes.endings import check_ended_well, last_output, shown_program
from intelliperf.processes.process import run
from intelliperf.processes.sandbox import UNCONFINED, Sandbox
from intelliperf.processes.storage import refuse_full_disk
from intelliperf.project.recipes import is_python, python_sources
from intelliperf.protocols import Ended
from intelliperf.records import Application
from intelliperf.sentences import counted

# Emptied where the user's shell sets them: they would change what a traced run means.
_OURS = (
    "INTELLIPERF_TRACE_KERNEL",
    "INTELLIPERF_EXPORT_SOCKET",
    "INTELLIPERF_EXPORT_KERNEL",
    "INTELLIPERF_EXPORT_BEFORE",
    "INTELLIPERF_LANE_ORDER",
    "INTELLIPERF_BLOCK_ORDER",
)


@dataclass(frozen=True)
class TracedRun:
    """Records of one run that ended in order. `trace` may hold no launch."""

    trace: Trace
    exit_status: int
    seconds: float
    ended: Ended | None = None  # None where another run's records were adopted
    said: str = ""  # its last output, to follow a sentence


class Tracer:
    """Makes traced runs, each once: the emulator is deterministic, so the records serve all questions.

    A run is known by its application and the program file's identity on disk, so that a rebuilt
    program is run again.
    """

    def __init__(
        self,
        directory: Path,
        environment: Callable[[], Mapping[str, str]] = dict,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`environment`: what every run gets besides, asked for when the first one begins. `tell`: of long ones."""
        self._directory = directory
        self._environment = environment
        self._tell = tell
        self._runs: dict[tuple[object, ...], TracedRun] = {}

    def trace(
        self,
        application: Application,
        deadline_s: float,
        sandbox: Sandbox = UNCONFINED,
        schedule: Schedule = IN_ORDER,
    ) -> TracedRun:
        """Raises `ApplicationFailed` where the program does not end in order or never used the emulator."""
        key = (application, *_identity(application), *([] if schedule == IN_ORDER else [schedule.name]))
        if key not in self._runs:
            self._runs[key] = self._run(application, deadline_s, sandbox, schedule)
        return self._runs[key]

    def seconds(self, application: Application) -> float | None:
        """Wall time of the application's run, if there was one."""
        known = self._runs.get((application, *_identity(application)))
        return known.seconds if known else None

    def adopt(self, application: Application, records: Path, exit_status: int, seconds: float) -> None:
        """The records that another run of the application has left."""
        key = (application, *_identity(application))
        self._runs[key] = TracedRun(open_trace(records, application), exit_status, seconds)

    def _run(self, application: Application, deadline_s: float, sandbox: Sandbox, schedule: Schedule) -> TracedRun:
        records = self._fresh()
        watch = Watch(records.parent / "progress", self._tell, deadline_s)
        environment = {
            **self._environment(),
            **dict(application.environment),
            **trace_environment(records),
            **schedule.environment,
            PROGRESS: str(watch.directory),
        }
        argv = sandbox.wrap(application.argv, writable=(application.project, records.parent), names=[*environment])
        completed = run(argv, application.directory, deadline_s, records.parent, "run", environment, look=watch.look)
        try:
            check_ended_well(completed, application, "on the emulator", watch.at_the_limit())
        except ApplicationFailed as error:
            seen = _faults(records, application)
            if not seen:
                raise
            raise ApplicationFailed(f"{error}; {'; '.join(seen)}") from error
        try:
            ended = Ended(completed.exit_status, completed.stdout, completed.stderr)
            trace, said = open_trace(records, application), last_output(completed, application.project)
            return TracedRun(trace, completed.exit_status or 0, completed.seconds, ended, said)
        except ProtocolError:
            refuse_full_disk(records)  # cut off for want of space
            raise

    def _fresh(self) -> Path:
        self._directory.mkdir(parents=True, exist_ok=True)
        taken = [int(path.name) for path in self._directory.iterdir() if path.name.isdigit()]
        records = self._directory / f"{max(taken, default=0) + 1:03d}" / "records"
        records.mkdir(parents=True)
        return records

    def forget(self) -> None:
        """Delete the records on disk and in memory."""
        self._runs.clear()
        shutil.rmtree(self._directory, ignore_errors=True)


def _faults(records: Path, application: Application) -> tuple[str, ...]:
    """What its kernels did wrong before a program failed, as far as it is on disk, and what lets it continue."""
    own: tuple[str, ...] = ()
    with suppress(ProtocolError):
        trace = Trace(records, cut_off=True)
        if trace.died_in_host_code:
            launches = len(trace.launches)
            when = f"after {counted(launches, 'launch', 'es')}" if launches else "before its first launch"
            own = (f"that was in its own host code, {when}",)
        return (*own, *fault_notes(trace, Project(application.project)), *tolerance_note(trace, application.tolerates))
    return ()


def trace_environment(records: Path) -> dict[str, str]:
    """Slack memory: what the program does wrong already is reported, not fatal."""
    return {
        **{name: "" for name in _OURS if name in os.environ},
        "INTELLIPERF_TRACE_DIR": str(records),
        "INTELLIPERF_MEMORY": "slack",
        **blas_environment(),
    }


def blas_environment() -> dict[str, str]:
    """Names the host's BLAS of the `[blas]` extra, where it is installed; the runtime finds the system's by itself."""
    if "INTELLIPERF_BLAS" in os.environ:
        return {}
    found = importlib.util.find_spec("scipy_openblas32")
    library = Path(found.origin).parent / "lib" / "libscipy_openblas.so" if found and found.origin else None
    return {"INTELLIPERF_BLAS": str(library)} if library and library.exists() else {}


def _identity(application: Application) -> tuple[tuple[str, int, int], ...]:
    """What the program is made of, on disk: its file; where an interpreter runs it, the project's Python files."""
    if is_python(application.command[0], application.directory):
        paths = python_sources(application.project)
        return tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths)
    name = application.command[0]
    path = application.directory / name if os.sep in name else Path(shutil.which(name) or name)
    if not path.exists():
        return ()
    status = path.stat()
    return ((str(status.st_ino), status.st_size, status.st_mtime_ns),)


def open_trace(records: Path, application: Application) -> Trace:
    """Raises `ApplicationFailed` where the runtime was never reached, `IncompleteTrace` where it was cut off."""
    found = sorted(path.parent for path in (*records.glob("end.json"), *records.glob("*/end.json")))
    program = application.command[0]
    if not found and not any(records.iterdir()):
        raise ApplicationFailed(f"{shown_program(application)} {why_no_runtime(application)}")
    if not found:
        found = [records]
    used = [trace for trace in map(Trace, found) if trace.launches]
    if len(used) > 1:
        raise ApplicationFailed(
            f"{program} starts {len(used)} processes that launch GPU kernels; run one of them by itself"
        )
    return used[0] if used else Trace(found[0])
