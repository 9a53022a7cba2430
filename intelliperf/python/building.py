"""The library that puts PyTorch's device tensors into the emulator's memory: built once, kept in the cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from intelliperf.dropins.toolchain import find_toolchain
from intelliperf.interception.building import FLAGS, run_tool
from intelliperf.processes.storage import cache_directory
from intelliperf.records import content_hash

LIBRARY_NAME = "libintelliperf_torch_memory.so"
_SOURCE = Path(__file__).resolve().parent / "native" / "torch_memory.cpp"


@lru_cache(maxsize=1)
def torch_memory_library() -> Path:
    """Needs nothing of PyTorch to be built. Raises `ToolchainError` with the compiler's words."""
    toolchain = find_toolchain()
    known = content_hash("\0".join([toolchain.identity, *toolchain.host_linker, *FLAGS, _SOURCE.read_text()]))
    library = cache_directory() / "python" / known[:24] / LIBRARY_NAME
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        _build(toolchain.host_linker, library)
    return library


def _build(compiler: Sequence[str], library: Path) -> None:
    made = library.with_suffix(f".{os.getpid()}")  # several runs may build it at a time
    run_tool([*compiler, *FLAGS, str(_SOURCE), "-o", str(made)])
    made.replace(library)
