"""Builds the HSA tools library on first use, and the environment that loads it into an application."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from intelliperf.interception.library import FLAGS, library, run_tool
from intelliperf.rocm.stack import hsa_headers

LIBRARY_NAME = "libintelliperf_hsa.so"
_SOURCES = Path(__file__).resolve().parent / "native"
_FLAGS = (*FLAGS, "-Werror", "-DAMD_INTERNAL_BUILD")  # the define: the headers lie in one directory


@lru_cache(maxsize=1)
def tools_library() -> Path:
    """The library, built if need be. Raises `ToolchainError` with the compiler's words or what is missing."""
    headers = hsa_headers()

    def compile_all(compiler: str, copy: Path, sources: Sequence[str], made: Path) -> None:
        include = (f"-I{copy}", "-isystem", str(headers.directory))
        run_tool([compiler, *_FLAGS, *include, *sources, "-o", str(made)])

    key = (str(headers.directory), headers.interface, *_FLAGS)
    return library("rocm", LIBRARY_NAME, _SOURCES, key, compile_all)


def export_environment(socket: Path, kernels: str, poison: str | None) -> dict[str, str]:
    """Makes a run connect to `socket` and speak `validation.wire`; waits after `kernels` (comma list or "*")."""
    return {
        "HSA_TOOLS_LIB": str(tools_library()),
        "INTELLIPERF_EXPORT_SOCKET": str(socket),
        "INTELLIPERF_EXPORT_KERNEL": kernels,
        **({"INTELLIPERF_POISON": poison} if poison is not None else {}),
    }


def record_environment(file: Path, kernels: str, buffer_bytes: int, words: int) -> dict[str, str]:
    """Makes instrumented `kernels` (comma list) of a run record into `file` with the process id appended.

    `words` of 8 bytes have room for each wave; 0: an equal share of the buffer.
    """
    return {
        "HSA_TOOLS_LIB": str(tools_library()),
        "INTELLIPERF_RECORD_FILE": str(file),
        "INTELLIPERF_RECORD_KERNELS": kernels,
        "INTELLIPERF_RECORD_BYTES": str(buffer_bytes),
        "INTELLIPERF_RECORD_WORDS": str(words),
    }
