"""A recording as a file to take elsewhere, and the programs in it made into files again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from intelliperf.processes.storage import storage_errors
from intelliperf.recordings.contents import Recording, StoredFile
from intelliperf.recordings.file import RecordingFile, RecordingWriter

_NO_LIMIT = 1 << 62


def export(source: RecordingFile, to: Path, candidate: Path | None) -> Recording:
    """All of the recording, and the candidate's program beside the original's. Raises `StorageFull`."""
    recording = source.recording
    with RecordingWriter(to, _NO_LIMIT) as writer:
        for dispatch in recording.dispatches:
            for buffer in dispatch.buffers:
                for digest in {*buffer.before, *buffer.after}:
                    adopt(writer, source, digest)
        for stored in recording.code:
            for digest in stored.chunks:
                adopt(writer, source, digest)
        made = replace(recording, candidate=(store(candidate, writer),) if candidate is not None else ())
        writer.finish(made)
    return made


def adopt(writer: RecordingWriter, source: RecordingFile, digest: str) -> None:
    if digest:
        writer.keep(source.chunk(digest))


def store(program: Path, writer: RecordingWriter) -> StoredFile:
    """Raises `RecordingFull`."""
    content = program.read_bytes()
    return StoredFile(program.name, len(content), program.stat().st_mode & 0o777, writer.keep(content))


def unpack(source: RecordingFile, stored: StoredFile, directory: Path) -> Path:
    """The program as a file below `directory`. Raises `StorageFull`, and `ProtocolError` for a damaged recording."""
    path = directory / Path(stored.name).name
    with storage_errors(path):
        directory.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.content(stored.chunks, stored.size))
        path.chmod(stored.mode | 0o500)
    return path
