"""A recording made ready: the plan of its launches, and the memory before each of them in a file that can be mapped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intelliperf.processes.storage import storage_errors
from intelliperf.recordings.contents import CHUNK_BYTES, Chunks, RecordedBuffer, RecordedDispatch, Recording
from intelliperf.recordings.file import RecordingFile

PLAN = "plan.json"
_IMAGE = "image"
_MOST_PARTS = 64  # of a buffer that are restored one by one
_VERSION = 1  # of the plan, as the replaying processes read it

MemoryKey = int | str


@dataclass(frozen=True)
class Shape:
    """Of a launch."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_lds: int
    code: str = ""  # as in `RecordedDispatch`


def shapes_of(recording: Recording) -> tuple[Shape, ...]:
    return tuple(Shape(one.grid, one.block, one.dynamic_lds, one.code) for one in recording.dispatches)


def make_ready(source: RecordingFile, directory: Path, recording: Recording | None = None) -> Path:
    """The plan's path. Raises `StorageFull` where the disk cannot take the memory, and `ProtocolError`.

    Each distinct chunk is written once; zeros are not written at all. `recording`: in place of the source's own, with
    its contents.
    """
    recording = recording or source.recording
    plan, image = directory / PLAN, directory / _IMAGE
    with storage_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
        with image.open("wb") as out:
            writer = _Image(source, out)
            changes = changes_of(recording)
            dispatches = [_dispatch(one, writer, changes) for one in recording.dispatches]
        text = {
            "version": _VERSION,
            "image": str(image),
            "dispatches": dispatches,
            "launched": recording.launched,
        }
        plan.write_text(json.dumps(text, separators=(",", ":")))
    return plan


def reshaped(plan: Path, shapes: Sequence[Shape]) -> Path:
    """The plan with other shapes for its dispatches, in order, beside it; the memory is the plan's own."""
    told = json.dumps([[shape.grid, shape.block, shape.dynamic_lds, shape.code] for shape in shapes])
    to = plan.with_name(f"plan-{hashlib.sha256(told.encode()).hexdigest()[:16]}.json")
    text = json.loads(plan.read_text())
    for dispatch, shape in zip(text["dispatches"], shapes, strict=True):
        dispatch |= {"grid": shape.grid, "block": shape.block, "dynamic_lds": shape.dynamic_lds, "code": shape.code}
    to.write_text(json.dumps(text, separators=(",", ":")))
    return to


class _Image:
    def __init__(self, source: RecordingFile, out: Any) -> None:
        self._source, self._out = source, out
        self._places: dict[str, int] = {}
        self._end = 0

    def place(self, digest: str) -> int:
        if digest not in self._places:
            self._places[digest] = self._end
            self._end += self._out.write(self._source.chunk(digest))
        return self._places[digest]

    def parts(self, buffer: RecordedBuffer) -> list[list[int]]:
        """Start, length and place in the file of what is not zero; neighbours joined."""
        parts: list[list[int]] = []
        for number, digest in enumerate(buffer.before):
            if not digest:
                continue
            start, place = number * CHUNK_BYTES, self.place(digest)
            length = min(CHUNK_BYTES, buffer.size - start)
            last = parts[-1] if parts else None
            if last and last[0] + last[1] == start and last[2] + last[1] == place:
                last[1] += length
            else:
                parts.append([start, length, place])
        return parts


def _place(buffer: RecordedBuffer) -> MemoryKey:
    return buffer.address if buffer.name is None else buffer.name


def changes_of(recording: Recording) -> dict[MemoryKey, list[list[int]]]:
    """Start and length of what is not the same before and after all dispatches: what to restore before each of them.

    By the address of a buffer or the name of a variable; few parts, as each takes a copy.
    """
    states: dict[MemoryKey, list[tuple[int, Chunks]]] = {}
    for dispatch in recording.dispatches:
        for buffer in dispatch.buffers:
            states.setdefault(_place(buffer), []).extend([(buffer.size, buffer.before), (buffer.size, buffer.after)])
    found: dict[MemoryKey, list[list[int]]] = {}
    for place, seen in states.items():
        sizes = {size for size, _ in seen}
        everywhere = len(seen) < 2 * len(recording.dispatches)  # something else may lie there at other times
        parts = [] if len(sizes) > 1 else _differing(max(sizes), [chunks for _, chunks in seen])
        everywhere |= len(sizes) > 1 or len(parts) > _MOST_PARTS
        found[place] = [[0, max(sizes)]] if everywhere else parts
    return found


def _differing(size: int, contents: list[Chunks]) -> list[list[int]]:
    parts: list[list[int]] = []
    for number, same in enumerate(zip(*contents, strict=True)):
        if len(set(same)) == 1:
            continue
        start = number * CHUNK_BYTES
        length = min(CHUNK_BYTES, size - start)
        if parts and sum(parts[-1]) == start:
            parts[-1][1] += length
        else:
            parts.append([start, length])
    return parts


def _dispatch(
    dispatch: RecordedDispatch, image: _Image, changes: Mapping[MemoryKey, list[list[int]]]
) -> dict[str, Any]:
    """Memory from the highest address down, as allocating it anew wants it."""
    buffers = sorted(dispatch.buffers, key=lambda buffer: -buffer.address)
    return {
        "kernel": dispatch.kernel,
        "grid": dispatch.grid,
        "block": dispatch.block,
        "dynamic_lds": dispatch.dynamic_lds,
        "cooperative": dispatch.cooperative,
        "code": dispatch.code,
        "arguments": dispatch.arguments,
        "memory": [_memory(buffer, image, changes) for buffer in buffers if buffer.name is None]
        + [_memory(buffer, image, changes) for buffer in dispatch.buffers if buffer.name is not None],
    }


def _memory(buffer: RecordedBuffer, image: _Image, changes: Mapping[MemoryKey, list[list[int]]]) -> dict[str, Any]:
    place: dict[str, Any] = {"symbol": buffer.name} if buffer.name is not None else {"address": buffer.address}
    return {
        **place,
        "id": buffer.id,
        "kind": buffer.kind,
        "bytes": buffer.size,
        "parts": image.parts(buffer),
        "changes": [
            [start, min(length, buffer.size - start)]
            for start, length in changes[_place(buffer)]
            if start < buffer.size
        ],
    }
