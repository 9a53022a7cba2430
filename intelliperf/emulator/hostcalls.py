"""The host's calls of a traced run as a timeline, with the lines that made them.

The runtime notes each call with the return addresses on the stack; the program's debug information names their lines.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from intelliperf.emulator.codeobjects import CodeObject
from intelliperf.emulator.tracefiles import KernelLaunch, Trace, Transfer
from intelliperf.errors import ProtocolError
from intelliperf.records.timeline import HostCall, HostLine, Timeline

_STUB = "__device_stub__"  # clang's function that a launch goes through; its line is the kernel's


def timeline_of(trace: Trace, project: Path) -> Timeline:
    """Raises `ProtocolError` for damaged records."""
    path = trace.directory / "calls.jsonl"
    rows: dict[int, KernelLaunch | Transfer] = {row.index: row for row in trace.launches}
    rows |= {row.index: row for row in trace.transfers}
    try:
        calls = tuple(_call(row, rows, trace) for row in _lines(path))
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"{path}: malformed record: {error!r}") from error
    return Timeline(calls, trace.host_ns_at_end, CallSites(trace.directory, project).line)


def _call(row: Mapping[str, Any], rows: Mapping[int, KernelLaunch | Transfer], trace: Trace) -> HostCall:
    made = None if row["index"] is None else rows[int(row["index"])]
    facts = trace.module_of(made).kernels.get(made.kernel) if isinstance(made, KernelLaunch) else None
    return HostCall(
        operation=str(row["operation"]),
        site=int(row["site"]),
        host_ns=float(row["host_ns"]),
        stream=int(row["stream"]),
        device_ns=made.time_ns if made is not None else 0.0,
        launch_ns=made.time_parts.get("launch", 0.0) if isinstance(made, KernelLaunch) else 0.0,
        size=made.bytes if isinstance(made, Transfer) else 0,
        waits=bool(row["waits"]),
        pageable=bool(row["pageable"]),
        held=bool(row["held"]),
        visible=bool(row["visible"]),
        to=int(row["to"]),
        from_=int(row["from"]),
        content=int(row["content"]),
        kernel=facts.name if facts is not None else "",
    )


@dataclass
class CallSites:
    """Where calls come from; a program's debug information is read when it is first asked for."""

    directory: Path
    project: Path
    _sites: dict[int, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    def line(self, site: int) -> HostLine | None:
        """The innermost line that lies in the project."""
        if not self._sites:
            self._sites.update(_sites_of(self.directory / "callsites.jsonl"))
        places = list(self._places(self._sites.get(site, ())))
        if not places:
            return None
        (file, line), caller = places[0], next((f"{f.name}:{n}" for f, n in places[1:]), "")
        return HostLine(file, line, _text(file, line), caller)

    def _places(self, frames: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Path, int]]:
        for frame in frames:
            for place in _chain(str(frame["file"]), int(frame["offset"])):
                file = Path(str(place["file"]))
                if self.project in file.parents and _STUB not in str(place["function"]):
                    yield file, int(place["line"])


def _chain(file: str, offset: int) -> Sequence[Mapping[str, str | int]]:
    """Innermost frame first; empty where nothing is known."""
    loaded = _loaded(file)
    return loaded[0].chain(loaded[1] + offset) if loaded is not None else ()


def _loaded(file: str) -> tuple[CodeObject, int] | None:
    """The lines of a program or a shared library, and the address that it was linked for."""
    with contextlib.suppress(OSError):
        known = Path(file).stat()
        return _read(file, known.st_mtime_ns, known.st_size)
    return None


@cache
def _read(file: str, _written_ns: int, _size: int) -> tuple[CodeObject, int] | None:
    """The same of one version of it."""
    with contextlib.suppress(OSError, ELFError, ProtocolError):
        content = Path(file).read_bytes()
        with Path(file).open("rb") as stream:
            first = next((s["p_vaddr"] for s in ELFFile(stream).iter_segments() if s["p_type"] == "PT_LOAD"), 0)
        return CodeObject(content), int(first)
    return None


def lines_of(frames: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """File name and line of code that called, calls that were inlined one by one; the innermost first."""
    chains = (_chain(*frame) for frame in frames)
    return tuple((Path(str(place["file"])).name, int(place["line"])) for chain in chains for place in chain)


def _text(file: Path, line: int) -> str:
    with contextlib.suppress(OSError, IndexError):
        return file.read_text("utf-8", "replace").splitlines()[line - 1].strip()
    return ""


def _sites_of(path: Path) -> Iterator[tuple[int, Sequence[Mapping[str, Any]]]]:
    try:
        for row in _lines(path):
            yield int(row["site"]), row["frames"]
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"{path}: malformed record: {error!r}") from error


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    if not path.exists():
        raise ProtocolError(f"{path} is missing")
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
