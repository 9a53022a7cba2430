"""Builds the CUPTI injection library on first use, and the environments that load it into an application."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.cuda.toolkit import Toolkit, find_toolkit
from intelliperf.interception.building import FLAGS, is_built, library, objects, run_tool
from intelliperf.records import Feature, Interception, Kernel

FIRST_USE = "the library that watches CUDA programs is compiled first, once for this version"
LIBRARY_NAME = "libintelliperf_cuda.so"
_SOURCES = Path(__file__).resolve().parent / "native"


@lru_cache(maxsize=1)
def injection_library() -> Path:
    """The library, built if need be. Raises `ToolchainError` with the compiler's words or what is missing."""
    toolkit = find_toolkit()

    def compile_all(compiler: str, copy: Path, sources: Sequence[str], made: Path) -> None:
        # Names the driver as needed without one at hand: its symbols are found when the application runs.
        (copy / "driver.c").write_text("")
        driver = copy / "libcuda.so.1"
        run_tool(
            [compiler, "-shared", "-Wl,-soname,libcuda.so.1", "-o", str(driver), "-x", "c", str(copy / "driver.c")]
        )
        cupti = toolkit.cupti_library
        includes = [flag for directory in toolkit.include_directories for flag in ("-isystem", str(directory))]
        run_tool(
            [
                *(compiler, *FLAGS, *objects(compiler, (*FLAGS, f"-I{copy}", *includes), sources), "-o", str(made)),
                *("-Wl,--no-as-needed", str(driver), "-Wl,--as-needed", str(cupti)),
                *(f"-Wl,-rpath,{cupti.parent}", "-Wl,--unresolved-symbols=ignore-in-object-files"),
            ]
        )

    return library("cuda", LIBRARY_NAME, _SOURCES, _key(toolkit), compile_all)


def _key(toolkit: Toolkit) -> tuple[str, ...]:
    return (str(toolkit.root), toolkit.version, *FLAGS)


def is_ready() -> bool:
    """Whether `injection_library` returns at once. Raises `ToolchainError` where there is no toolkit."""
    return is_built("cuda", LIBRARY_NAME, _SOURCES, _key(find_toolkit()))


@dataclass(frozen=True)
class Flush:
    """That the L2 is emptied before each launch of the kernel `before`, by our kernel `name`."""

    before: str
    name: str

    @classmethod
    def of(cls, symbol: str) -> Flush:
        """With a name that no application can have chosen: what is called so is not counted as the application's."""
        return cls(symbol, f"intelliperf_flush_{secrets.token_hex(8)}")


def trace_environment(records: Path, flush: Flush | None = None) -> dict[str, str]:
    """Makes every process of a run write its activity records to `records` with the process id appended."""
    return {"CUDA_INJECTION64_PATH": str(injection_library()), **trace_variables(records, flush)}


def trace_variables(records: Path, flush: Flush | None) -> dict[str, str]:
    """What the library is told, once it is in the process."""
    flushing = {"INTELLIPERF_FLUSH_BEFORE": flush.before, "INTELLIPERF_FLUSH_NAME": flush.name} if flush else {}
    return {"INTELLIPERF_CUDA_MODE": "trace", "INTELLIPERF_CUDA_TRACE": str(records), **flushing}


_VARIABLES = {
    Feature.KERNELS: "INTELLIPERF_EXPORT_KERNEL",
    Feature.POISON: "INTELLIPERF_POISON",
    Feature.OTHER_NUMBERS: "INTELLIPERF_OTHER_NUMBERS",
    Feature.BEFORE: "INTELLIPERF_EXPORT_BEFORE",
}
HONOURED = frozenset(_VARIABLES)


def export_environment(socket: Path, kernel: Kernel, interception: Interception) -> dict[str, str]:
    """Makes a run connect to `socket` and speak `interception.wire`; see `Backend.intercept_environment`."""
    injected = {"CUDA_INJECTION64_PATH": str(injection_library()), "INTELLIPERF_EXPORT_MEMORY": "ipc"}
    return {**injected, **export_variables(socket, kernel, interception)}


def export_variables(socket: Path, kernel: Kernel, interception: Interception) -> dict[str, str]:
    """What the library is told, once it is in the process."""
    return {
        "INTELLIPERF_CUDA_MODE": "export",
        "INTELLIPERF_EXPORT_SOCKET": str(socket),
        "INTELLIPERF_EXPORT_KERNEL": kernel.symbol,
        **interception.variables(_VARIABLES),
    }
