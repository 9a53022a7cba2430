"""A recording as one file: chunks by their digest, deflated where that helps, then the manifest and its seal.

    magic | payloads | manifest (deflated JSON) | offset and size of the manifest, its SHA-256, magic

Every byte that is read back is checked by a digest: a file that was cut or edited is refused in one line. Chunks of
zeros take no room, and equal chunks are kept once.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any

from intelliperf.errors import ProtocolError
from intelliperf.processes.storage import storage_errors
from intelliperf.project.codec import decode, encode
from intelliperf.recordings.contents import CHUNK_BYTES, FORMAT, ZEROS, Chunks, Recording

SUFFIX = ".recording"
_MAGIC = b"intelliperf recording\n"
_SEAL = struct.Struct("<QQ32s8s")
_END = b"complete"
_PROBE_BYTES = 4096
_WORTH_DEFLATING = 0.9
_DIGEST_BYTES = 16


class RecordingFull(Exception):
    """The next content would make the file larger than its limit."""


class RecordingWriter:
    """Makes one file; until `finish` has sealed it, it is not there."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        self._path = path
        self._made = path.with_name(f".{path.name}.{os.getpid()}")
        self._limit = limit_bytes
        self._known: dict[str, tuple[int, int, bool]] = {}
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._made.open("wb")
            self._at = self._file.write(_MAGIC)

    def keep(self, content: memoryview | bytes) -> Chunks:
        """Raises `RecordingFull`, and `StorageFull` where the disk is."""
        view = memoryview(content)
        return tuple(self._chunk(view[at : at + CHUNK_BYTES]) for at in range(0, len(view), CHUNK_BYTES))

    def _chunk(self, content: memoryview) -> str:
        if content.tobytes().count(0) == len(content):
            return ZEROS
        digest = hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
        if digest not in self._known:
            deflated = _deflated(content)
            payload = deflated if deflated is not None else content
            if self._at + len(payload) > self._limit:
                raise RecordingFull
            with storage_errors(self._path):
                self._file.write(payload)
            self._known[digest] = self._at, len(payload), deflated is not None
            self._at += len(payload)
        return digest

    def finish(self, recording: Recording) -> None:
        manifest = {"format": FORMAT, "recording": encode(recording), "chunks": self._known}
        text = zlib.compress(json.dumps(manifest, separators=(",", ":")).encode())
        with storage_errors(self._path):
            self._file.write(text)
            self._file.write(_SEAL.pack(self._at, len(text), hashlib.sha256(text).digest(), _END))
            self._file.close()
            self._made.replace(self._path)

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._made.unlink(missing_ok=True)


class RecordingFile:
    """A sealed file. Raises `ProtocolError` where it is none, was cut, was edited or is of another release's format."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with storage_errors(path):
            self._file = path.open("rb")
        try:
            manifest = self._manifest()
            if manifest.get("format") != FORMAT:
                found = manifest.get("format")
                raise ProtocolError(f"{path} has format {found} of recordings, not {FORMAT}: record again")
            self.recording = decode(Recording, manifest.get("recording"))
            self._chunks = {
                str(key): (int(at), int(size), bool(packed)) for key, (at, size, packed) in manifest["chunks"].items()
            }
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            self._file.close()
            raise ProtocolError(f"{path} is a damaged recording ({error}): record again") from error
        except BaseException:
            self._file.close()
            raise

    def _manifest(self) -> Any:
        size = os.fstat(self._file.fileno()).st_size
        if self._file.read(len(_MAGIC)) != _MAGIC:
            raise ProtocolError(f"{self.path} is not a recording of dispatches")
        if size < len(_MAGIC) + _SEAL.size:
            raise ProtocolError(f"{self.path} is cut off: record again")
        self._file.seek(size - _SEAL.size)
        at, length, digest, end = _SEAL.unpack(self._file.read(_SEAL.size))
        if end != _END or at + length + _SEAL.size != size:
            raise ProtocolError(f"{self.path} is cut off: record again")
        self._file.seek(at)
        text = self._file.read(length)
        if hashlib.sha256(text).digest() != digest:
            raise ProtocolError(f"{self.path} was edited: record again")
        return json.loads(zlib.decompress(text))

    def chunk(self, digest: str) -> bytes:
        if digest not in self._chunks:
            raise ProtocolError(f"{self.path} lacks a part of its content: record again")
        at, size, packed = self._chunks[digest]
        self._file.seek(at)
        payload = self._file.read(size)
        try:
            content = zlib.decompress(payload) if packed else payload
        except zlib.error:
            content = b""
        if hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest() != digest:
            raise ProtocolError(f"{self.path} was edited: record again")
        return content

    def content(self, chunks: Chunks, size: int) -> bytes:
        parts = [
            self.chunk(digest) if digest else bytes(min(CHUNK_BYTES, size - number * CHUNK_BYTES))
            for number, digest in enumerate(chunks)
        ]
        return b"".join(parts)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> RecordingFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def digests_of(content: memoryview) -> Chunks:
    """As `RecordingWriter.keep` would tell them."""
    found = []
    for at in range(0, len(content), CHUNK_BYTES):
        part = content[at : at + CHUNK_BYTES]
        zeros = part.tobytes().count(0) == len(part)
        found.append(ZEROS if zeros else hashlib.blake2b(part, digest_size=_DIGEST_BYTES).hexdigest())
    return tuple(found)


def _deflated(content: memoryview) -> bytes | None:
    """None where it would save little: numbers by chance."""
    if len(content) > _PROBE_BYTES:
        middle = len(content) // 2
        probe = bytes(content[middle : middle + _PROBE_BYTES])
        if len(zlib.compress(probe, 1)) > _WORTH_DEFLATING * len(probe):
            return None
    deflated = zlib.compress(content, 1)
    return deflated if len(deflated) < _WORTH_DEFLATING * len(content) else None
