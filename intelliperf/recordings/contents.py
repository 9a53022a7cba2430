"""What a recording holds, as frozen records. Addresses and sizes in bytes; contents by the digests of their chunks."""

from __future__ import annotations

from dataclasses import dataclass

FORMAT = 1
CHUNK_BYTES = 1 << 16
ZEROS = ""  # stands for a chunk of zeros
HOST_KINDS = ("pinned", "managed")  # memory that the host reaches, too
Chunks = tuple[str, ...]  # digests, one for each `CHUNK_BYTES` of a content, the last one shorter


@dataclass(frozen=True)
class RecordedBuffer:
    """One allocation or device variable, before the launch and after it."""

    address: int  # where the kernel saw it; of a variable, where it happened to lie
    size: int
    kind: str
    id: int
    sequence: int
    name: str | None  # of a variable, mangled
    before: Chunks
    after: Chunks


@dataclass(frozen=True)
class RecordedDispatch:
    nth: int  # of the kernel's, from 0
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_lds: int
    cooperative: bool
    arguments: tuple[str, ...]  # hexadecimal, in order
    buffers: tuple[RecordedBuffer, ...]
    code: str = ""  # the digest of what a just-in-time compiler made; empty: the kernel is known by its name


@dataclass(frozen=True)
class StoredFile:
    """A file of the program: `name` is relative to the directory that it is unpacked into."""

    name: str
    size: int
    mode: int
    chunks: Chunks


@dataclass(frozen=True)
class Recording:
    """`launched`: how many dispatches of the kernel the application made; `dispatches` are those that were kept."""

    tool: str  # intelliperf's version
    backend: str
    device: str
    driver: str  # empty where none takes part
    machine: str  # the processor's architecture
    symbol: str
    kernel: str  # for people
    launched: int
    dispatches: tuple[RecordedDispatch, ...]
    command: tuple[str, ...]
    code: tuple[StoredFile, ...]
    notes: tuple[str, ...] = ()
    candidate: tuple[StoredFile, ...] = ()  # another version of the program, where one was exported with it

    @property
    def compiled_late(self) -> bool:
        """Was device code made as the program ran? Then `code` holds it, and no program."""
        return any(dispatch.code for dispatch in self.dispatches)

    def describe(self) -> str:
        kept = len(self.dispatches)
        if kept < self.launched:
            return f"{kept} of {self.launched} dispatches"
        return "its one dispatch" if kept == 1 else f"all {kept} dispatches"
