"""Finds rocprofv3's files below its output directory, whichever of its layouts and formats it chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.errors import MissingMetric, ProtocolError
from intelliperf.profiling.rocprofv3 import csvfiles, database
from intelliperf.profiling.rocprofv3.jsonfile import JsonRecording
from intelliperf.profiling.rocprofv3.recordings import Agent, CountedDispatch, Trace

_TRACE = "kernel_trace.csv"
_COUNTERS = "counter_collection.csv"
_COPIES = "memory_copy_trace.csv"
_AGENTS = "agent_info.csv"


def below(directory: Path, ending: str) -> list[Path]:
    """Flat, in a directory per process, per host and process, or per pass; with or without a prefix."""
    return sorted(path for path in directory.rglob(f"*{ending}") if path.is_file())


def read_trace(directory: Path) -> Trace:
    """All processes' dispatches and copies. Raises `ProtocolError` where there is no trace at all."""
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
    """The dispatches of one pass, in order. Raises `ProtocolError` for no file, `MissingMetric` for no such counter."""
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
