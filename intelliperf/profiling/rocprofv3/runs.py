"""Runs of an application under rocprofv3."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.errors import ApplicationFailed, BackendUnavailable, ProtocolError
from intelliperf.processes.process import Completed, run
from intelliperf.profiling.rocprofv3 import tool
from intelliperf.profiling.rocprofv3.diagnosis import (
    NoThreadTrace,
    TooManyCounters,
    check_counted,
    check_decoded,
    check_run,
    unknown_counters,
)
from intelliperf.profiling.rocprofv3.files import below, read_agents, read_counters, read_samples, read_trace
from intelliperf.profiling.rocprofv3.matching import merge, named_accumulators
from intelliperf.profiling.rocprofv3.packing import halves, pack
from intelliperf.profiling.rocprofv3.recordings import (
    Agent,
    Counted,
    CountedDispatch,
    PcSample,
    Trace,
    TracedInstruction,
)
from intelliperf.profiling.rocprofv3.sampling import parse_thread_trace
from intelliperf.profiling.rocprofv3.tool import Rocprof
from intelliperf.records import Application


def trace(
    rocprof: Rocprof, application: Application, deadline_s: float, logs: Path, launcher: Sequence[str] = ()
) -> Trace:
    """One run with every kernel dispatch and copy timed.

    Raises `ApplicationFailed` where the application fails or dispatches nothing, `BackendUnavailable` where the tool
    does, `UsageError` where a tools library is set, `ProtocolError` for files that cannot be read.
    """
    output = _output(logs, "trace")
    done = _run(rocprof, tool.trace_request(), output, application, deadline_s, logs, launcher)
    check_run(done, application, rocprof)
    try:
        return replace(read_trace(output), exit_status=done.exit_status or 0)
    except ProtocolError:
        if below(output, "_kernel_trace.csv"):
            raise
        raise _silent(rocprof, application, output) from None


def collect(
    rocprof: Rocprof,
    application: Application,
    kernels: Sequence[str],
    counters: Sequence[str],
    architecture: str,
    deadline_s: float,
    logs: Path,
    launcher: Sequence[str] = (),
) -> Counted:
    """The counters of all dispatches of `kernels` (mangled names), from as many runs as they need.

    `deadline_s` is each run's. A pass that the tool says does not fit is halved. Raises as `trace`, and
    `CountersDenied`, `CountersAsleep`, and `ApplicationFailed` where runs do not do the same.
    """
    if not kernels or not counters:
        return Counted((), ())
    waiting = list(pack(counters, architecture))
    passes: list[list[CountedDispatch]] = []
    unknown: set[str] = set()
    agents: tuple[Agent, ...] = ()
    notes: list[str] = []
    for number in itertools.count(1):
        if not waiting:
            break
        chosen = waiting.pop(0)
        output = _output(logs, f"pass{number:02d}")
        request = tool.counter_request(rocprof, chosen, kernels, output)
        done = _run(rocprof, request, output, application, deadline_s, logs, launcher)
        try:
            check_run(done, application, rocprof, chosen)
        except TooManyCounters as error:
            parts = halves(chosen)
            if len(parts) < 2:
                raise
            waiting = [*parts, *waiting]
            notes.append(f"{error}; tried again in two parts")
            continue
        refused = unknown_counters(done.tail("stderr") + done.tail("stdout"), architecture)
        unknown |= refused & set(chosen)
        known = [name for name in chosen if name not in refused]
        if not known:
            continue
        dispatches = [one for one in _counters(rocprof, application, output, known) if one.symbol in set(kernels)]
        if not dispatches:
            raise ApplicationFailed(
                f"{application.command[0]} dispatched none of {', '.join(kernels)} while counters were read"
            )
        passes.append(named_accumulators(dispatches, chosen))
        agents = agents or read_agents(output)
    if unknown:
        notes.append(f"{rocprof.name} has no {', '.join(sorted(unknown))} on {architecture}")
    merged = merge(passes)
    check_counted(merged, architecture)
    return Counted(merged, agents, frozenset(unknown), tuple(notes))


def sample_pcs(
    rocprof: Rocprof,
    application: Application,
    method: str,
    interval: int,
    deadline_s: float,
    logs: Path,
    launcher: Sequence[str] = (),
) -> tuple[PcSample, ...]:
    """Instructions at which waves were found; see `tool.sampling_request`.

    Raises as `trace`, and `NoSampling` where the device does not do it.
    """
    output = _output(logs, "samples")
    request = tool.sampling_request(method, interval)
    done = _run(rocprof, request, output, application, deadline_s, logs, launcher)
    check_run(done, application, rocprof)
    try:
        return read_samples(output)
    except ProtocolError:
        if any("pc_sampling" in path.name for path in below(output, ".csv")):
            raise
        raise BackendUnavailable(
            f"{rocprof.name} took no samples of {application.command[0]}: {method} sampling needs "
            f"{'an MI300 or later with current firmware' if method == 'stochastic' else 'an MI200 or later'}, and a "
            "kernel that runs longer than the interval"
        ) from None


def trace_threads(
    rocprof: Rocprof,
    application: Application,
    kernel: str,
    architecture: str,
    deadline_s: float,
    logs: Path,
    launcher: Sequence[str] = (),
) -> tuple[TracedInstruction, ...]:
    """The instructions of a thread trace of `kernel` (a mangled name); see `tool.thread_trace_request`.

    Raises as `trace`, and `NoThreadTrace` where the tool's decoder is absent or fails. The trace itself, which can have
    gigabytes, is not kept.
    """
    tool.check_thread_trace(rocprof, architecture)
    output = _output(logs, "threads")
    request = tool.thread_trace_request(kernel, architecture)
    try:
        done = _run(rocprof, request, output, application, deadline_s, logs, launcher)
        check_run(done, application, rocprof)
        check_decoded(done, rocprof)
        found = [path for path in below(output, ".csv") if path.name.startswith("stats_")]
        if not found:
            raise NoThreadTrace(f"{rocprof.name} left no statistics of a thread trace: was {kernel} dispatched?")
        return tuple(one for path in found for one in parse_thread_trace(path.read_text("utf-8", "replace"), str(path)))
    finally:
        for path in output.rglob("*"):
            if path.is_file() and path.suffix != ".csv":
                path.unlink()


def _output(logs: Path, name: str) -> Path:
    """An empty directory, whose name holds in the application's too; nothing of an earlier run must be in it."""
    output = logs.resolve() / name
    output.mkdir(parents=True)
    return output


def _run(
    rocprof: Rocprof,
    request: Sequence[str],
    output: Path,
    application: Application,
    deadline_s: float,
    logs: Path,
    launcher: Sequence[str],
) -> Completed:
    environment = dict(application.environment)
    tool.refuse_tools_library(environment)
    argv = tool.command(rocprof, request, output, application.command, launcher)
    return run(argv, application.directory, deadline_s, logs, output.name, environment)


def _counters(
    rocprof: Rocprof, application: Application, output: Path, wanted: Sequence[str]
) -> tuple[CountedDispatch, ...]:
    try:
        return read_counters(output, wanted)
    except ProtocolError:
        if below(output, "_counter_collection.csv"):
            raise
        raise _silent(rocprof, application, output) from None


def _silent(rocprof: Rocprof, application: Application, output: Path) -> Exception:
    if below(output, ".csv"):
        return ApplicationFailed(
            f"{application.command[0]} ran to its end, but dispatched no such kernel under {rocprof.name}"
        )
    return BackendUnavailable(
        f"{rocprof.name} left no file below {output}: the application never loaded the HSA runtime, or is linked "
        "statically, or starts its work in a program that clears LD_PRELOAD"
    )
