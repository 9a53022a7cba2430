"""A recording made ready: the plan of its launches, and the memory before each of them in a file that can be mapped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from intelliperf.processes.storage import storage_errors
from intelliperf.recordings.contents import CHUNK_BYTES, RecordedBuffer, RecordedDispatch
from intelliperf.recordings.file import RecordingFile

PLAN = "plan.json"
_IMAGE = "image"
_VERSION = 1  # of the plan, as the replaying processes read it


def make_ready(source: RecordingFile, directory: Path) -> Path:
    """The plan's path. Raises `StorageFull` where the disk cannot take the memory, and `ProtocolError`.

    Each distinct chunk is written once; zeros are not written at all.
    """
    plan, image = directory / PLAN, directory / _IMAGE
    with storage_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
        with image.open("wb") as out:
            writer = _Image(source, out)
            dispatches = [_dispatch(one, writer) for one in source.recording.dispatches]
        text = {
            "version": _VERSION,
            "image": str(image),
            "dispatches": dispatches,
            "launched": source.recording.launched,
        }
        plan.write_text(json.dumps(text, separators=(",", ":")))
    return plan


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


def _dispatch(dispatch: RecordedDispatch, image: _Image) -> dict[str, Any]:
    """Memory from the highest address down, as allocating it anew wants it."""
    buffers = sorted(dispatch.buffers, key=lambda buffer: -buffer.address)
    return {
        "kernel": dispatch.kernel,
        "grid": dispatch.grid,
        "block": dispatch.block,
        "dynamic_lds": dispatch.dynamic_lds,
        "cooperative": dispatch.cooperative,
        "arguments": dispatch.arguments,
        "memory": [_memory(buffer, image) for buffer in buffers if buffer.name is None]
        + [_memory(buffer, image) for buffer in dispatch.buffers if buffer.name is not None],
    }


def _memory(buffer: RecordedBuffer, image: _Image) -> dict[str, Any]:
    place: dict[str, Any] = {"symbol": buffer.name} if buffer.name is not None else {"address": buffer.address}
    return {
        **place,
        "id": buffer.id,
        "kind": buffer.kind,
        "bytes": buffer.size,
        "parts": image.parts(buffer),
        "changes": buffer.before != buffer.after,
    }
