"""Runs a program on the emulator with everything watched, however it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from intelliperf.emulator.awaiting import Watch
from intelliperf.emulator.launchless import why_no_runtime
from intelliperf.emulator.schedules import Schedule
from intelliperf.emulator.tracefiles import Fault, Trace
from intelliperf.emulator.tracing import trace_environment
from intelliperf.errors import ApplicationFailed
from intelliperf.interception.progress import VARIABLE
from intelliperf.processes.endings import check_ended_well, shown_program
from intelliperf.processes.process import Completed, run
from intelliperf.records import Application

EVENTS_PER_LAUNCH = 20_000_000  # lane accesses: a launch beyond them is looked at in a sample of its blocks
LAUNCHES_PER_KERNEL = 200  # of one shape


@dataclass(frozen=True)
class Watched:
    """What a run showed. `traces` are of its processes that launched kernels; none of them if it never did."""

    schedule: Schedule
    traces: tuple[Trace, ...]
    completed: Completed
    reached: str = ""  # how far it came when its time limit ended it, and what to do

    @property
    def faults(self) -> tuple[tuple[Trace, Fault], ...]:
        return tuple((trace, fault) for trace in self.traces for fault in trace.faults)

    @property
    def text(self) -> str:
        return self.completed.stdout.read_bytes().decode("utf-8", "replace")


def watch(
    application: Application,
    schedule: Schedule,
    directory: Path,
    deadline_s: float,
    tell: Callable[[str], None] = lambda text: None,
) -> Watched:
    """`tell` gets lines about a run that takes long. Raises `ApplicationFailed` where it never used the emulator."""
    records = directory / "records"
    records.mkdir(parents=True)
    progress = Watch(directory / "progress", tell, deadline_s)
    environment = {
        **dict(application.environment),
        VARIABLE: str(progress.directory),
        **trace_environment(records),
        "INTELLIPERF_TRACE_EVENTS": str(EVENTS_PER_LAUNCH),
        "INTELLIPERF_TRACE_LAUNCHES": str(LAUNCHES_PER_KERNEL),
        "INTELLIPERF_LOCKSTEP": "always",
        **schedule.environment,
    }
    completed = run(
        application.argv, application.directory, deadline_s, directory, "run", environment, look=progress.look
    )
    found = {path.parent for path in (*records.glob("launches.jsonl"), *records.glob("*/launches.jsonl"))}
    if not found:
        check_ended_well(completed, application, "on the emulator", progress.at_the_limit())
        raise ApplicationFailed(f"{shown_program(application)} {why_no_runtime(application)}")
    traces = [Trace(path, cut_off=True) for path in sorted(found)]
    used = tuple(trace for trace in traces if trace.launches or trace.faults)
    return Watched(schedule, used, completed, progress.at_the_limit() if completed.timed_out else "")
