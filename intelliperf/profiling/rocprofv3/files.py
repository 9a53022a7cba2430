"""rocprofv3's recordings as records: CSV, JSON and rocpd files by the same functions.

Each takes an output directory, in any of the tool's layouts, or one file; the format is known by the file's name. What
a recording lacks raises, naming file and column. Nothing is needed but the standard library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.errors import MissingMetric, ProtocolError
from intelliperf.profiling.rocprofv3 import csvfiles, database
from intelliperf.profiling.rocprofv3.jsonfile import JsonRecording
from intelliperf.profiling.rocprofv3.recordings import Agent, CountedDispatch, PcSample, Trace
from intelliperf.profiling.rocprofv3.sampling import parse_pc_samples

_TRACE = "kernel_trace.csv"
_COUNTERS = "counter_collection.csv"
_COPIES = "memory_copy_trace.csv"
_AGENTS = "agent_info.csv"


_SAMPLES = ("pc_sampling_stochastic.csv", "pc_sampling_host_trap.csv")


def below(directory: Path, ending: str) -> list[Path]:
    """Flat, in a directory per process, per host and process, or per pass; with or without a prefix. Or one file."""
    if directory.is_file():
        return [directory] if directory.name.endswith(ending) else []
    return sorted(path for path in directory.rglob(f"*{ending}") if path.is_file())


def read_trace(directory: Path) -> Trace:
    """All processes' dispatches and copies by their start, in nanoseconds, and the GPUs.

    Raises `ProtocolError` where there is no trace at all.
    """
    texts = below(directory, _TRACE)
    if texts:
        dispatches = [
            replace(one, process=_process(path, _TRACE))
            for path in texts
            for one in csvfiles.parse_kernel_trace(_text(path), str(path))
        ]
        copies = [one for path in below(directory, _COPIES) for one in csvfiles.parse_copies(_text(path), str(path))]
    elif recordings := _recordings(directory):
        dispatches = [one for recording in recordings for one in recording.dispatches()]
        copies = [one for recording in recordings for one in recording.copies()]
    elif databases := below(directory, ".db"):
        dispatches = [one for path in databases for one in database.read_dispatches(path)]
        copies = [one for path in databases for one in database.read_copies(path)]
    else:
        raise ProtocolError(_nothing(directory, f"no *{_TRACE}"))
    dispatches.sort(key=lambda one: one.start_ns)
    copies.sort(key=lambda one: one.start_ns)
    return Trace(tuple(dispatches), tuple(copies), read_agents(directory))


def read_counters(directory: Path, wanted: Sequence[str] = ()) -> tuple[CountedDispatch, ...]:
    """The dispatches of one pass in order, with the counters' values added up over the hardware's instances.

    Raises `ProtocolError` for no file, `MissingMetric` where a counter of `wanted` has no value.
    """
    texts = below(directory, _COUNTERS)
    if texts:
        found = [(str(path), csvfiles.parse_counters(_text(path), str(path))) for path in texts]
    elif recordings := below(directory, "_results.json"):
        found = [(str(path), JsonRecording(_text(path), str(path)).counters()) for path in recordings]
    elif databases := below(directory, ".db"):
        found = [(str(path), database.read_counters(path)) for path in databases]
    else:
        raise ProtocolError(_nothing(directory, f"no *{_COUNTERS}"))
    for source, dispatches in found:
        for one in dispatches:
            absent = [name for name in wanted if name not in one.values]
            if absent:
                raise MissingMetric(
                    f"{source}: {', '.join(absent)} has no value for dispatch {one.number} of {one.symbol}"
                )
    # Processes by their first dispatch where it has a time, else by name: the same on every run of a simple program.
    found.sort(key=lambda entry: (min((one.start_ns or 0 for one in entry[1]), default=0), entry[0]))
    return tuple(replace(one, process=source) for source, dispatches in found for one in dispatches)


def read_agents(directory: Path) -> tuple[Agent, ...]:
    """The GPUs; empty where no file tells."""
    texts = below(directory, _AGENTS)
    if texts:
        agents = [one for path in texts for one in csvfiles.parse_agents(_text(path), str(path))]
    elif recordings := _recordings(directory):
        agents = [one for recording in recordings for one in recording.agents()]
    else:
        agents = [one for path in below(directory, ".db") for one in database.read_agents(path)]
    return tuple(dict.fromkeys(agents))


def read_samples(directory: Path) -> tuple[PcSample, ...]:
    """PC samples of either method, with their kernels where dispatches were traced in the same run.

    The tool writes them as CSV in all releases. Raises `ProtocolError` where there are none.
    """
    texts = [path for ending in _SAMPLES for path in below(directory, ending)]
    if not texts:
        raise ProtocolError(_nothing(directory, f"no *{' and no *'.join(_SAMPLES)}"))
    return tuple(one for path in texts for one in _named(path))


def _named(path: Path) -> tuple[PcSample, ...]:
    """Samples tell the number of their dispatch; its trace lies beside them."""
    ending = next(ending for ending in _SAMPLES if path.name.endswith(ending))
    trace = path.with_name(f"{path.name.removesuffix(ending)}{_TRACE}")
    known = csvfiles.parse_kernel_trace(_text(trace), str(trace)) if trace.exists() else ()
    return parse_pc_samples(_text(path), str(path), {one.number: one.symbol for one in known})


def _recordings(directory: Path) -> list[JsonRecording]:
    return [JsonRecording(_text(path), str(path)) for path in below(directory, "_results.json")]


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def _process(path: Path, ending: str) -> str:
    return path.name.removesuffix(ending).rstrip("_") or path.parent.name


def _nothing(directory: Path, what: str) -> str:
    there = [path.name for path in sorted(directory.rglob("*")) if path.is_file()]
    have = f"; it holds {', '.join(there[:8])}" if there else ", and nothing else either"
    return f"{what} below {directory}{have}"
