"""Builds the HSA tools library on first use, and the environment that loads it into an application."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from intelliperf.errors import UsageError
from intelliperf.interception.building import FLAGS, is_built, library, objects, run_tool
from intelliperf.records import Feature, Interception, Kernel
from intelliperf.rocm.stack import Headers, hsa_headers, roots

FIRST_USE = "the library that watches HIP programs is compiled first, once for this version"
LIBRARY_NAME = "libintelliperf_hsa.so"
# What rocprofv3, rocprof-sys and their like set, and other tools libraries.
_OTHER_TOOLS = ("HSA_TOOLS_LIB", "ROCP_TOOL_LIBRARIES", "ROCP_TOOL_LIB", "ROCPROFILER_REGISTER_LIBRARY")
_PROFILER = re.compile(r"lib(rocprof|roctracer|omnitrace)[^/]*$")
_PROFILER_SDK = "librocprofiler-sdk.so.1"
_SOURCES = Path(__file__).resolve().parent / "native"
FLAGS_OF_LIBRARY = (*FLAGS, "-Werror", "-DAMD_INTERNAL_BUILD")  # the define: the headers lie in one directory


@lru_cache(maxsize=1)
def tools_library() -> Path:
    """The library, built if need be. Raises `ToolchainError` with the compiler's words or what is missing."""
    headers = hsa_headers()

    def compile_all(compiler: str, copy: Path, sources: Sequence[str], made: Path) -> None:
        include = (f"-I{copy}", "-isystem", str(headers.directory))
        made_of = objects(compiler, (*FLAGS_OF_LIBRARY, *include), sources)
        run_tool([compiler, *FLAGS_OF_LIBRARY, *made_of, "-o", str(made)])

    return library("rocm", LIBRARY_NAME, _SOURCES, _key(headers), compile_all)


def _key(headers: Headers) -> tuple[str, ...]:
    return (str(headers.directory), headers.interface, *FLAGS_OF_LIBRARY)


def is_ready() -> bool:
    """Whether `tools_library` returns at once. Raises `ToolchainError` where headers are missing."""
    return is_built("rocm", LIBRARY_NAME, _SOURCES, _key(hsa_headers()))


def refuse_other_tools(environment: Mapping[str, str]) -> None:
    """Where a profiler's tool registers with ROCr, ROCr skips the libraries of HSA_TOOLS_LIB, ours too, in silence.

    Raises `UsageError` that names the variable.
    """
    for name in _OTHER_TOOLS:
        if environment.get(name):
            raise UsageError(
                f"{name}={environment[name]} is set: with another tool in the application, ROCr does not load the "
                "library that shows its buffers; unset it for this run"
            )
    preloaded = [word for word in re.split(r"[\s:]+", environment.get("LD_PRELOAD", "")) if _PROFILER.search(word)]
    if preloaded:
        raise UsageError(
            f"LD_PRELOAD holds {' and '.join(preloaded)}: with a profiler in the application, ROCr does not load the "
            "library that shows its buffers; unset it for this run"
        )


_VARIABLES = {
    Feature.KERNELS: "INTELLIPERF_EXPORT_KERNEL",
    Feature.POISON: "INTELLIPERF_POISON",
    Feature.ROUNDING: "INTELLIPERF_ROUNDING",
}
HONOURED = frozenset(_VARIABLES)


def export_environment(socket: Path, kernel: Kernel, interception: Interception) -> dict[str, str]:
    """Makes a run connect to `socket` and speak `interception.wire`; see `Backend.intercept_environment`.

    INTELLIPERF_EXPORT_MEMORY=copy in our own environment keeps to copies by the application.
    """
    return {
        **_loading(),
        "INTELLIPERF_EXPORT_SOCKET": str(socket),
        "INTELLIPERF_EXPORT_KERNEL": kernel.symbol,
        "INTELLIPERF_EXPORT_MEMORY": os.environ.get("INTELLIPERF_EXPORT_MEMORY", "ipc"),
        **interception.variables(_VARIABLES),
    }


def _loading() -> dict[str, str]:
    """ROCr 6 and later: load it even if the application itself registers a tool, and say so where that fails.

    Where rocprofiler-sdk is installed, that loads it, too; the library takes the tables of whichever comes first.
    """
    library_path = str(tools_library())
    sdk = {"ROCP_TOOL_LIBRARIES": library_path} if profiler_sdk() is not None else {}
    return {
        "HSA_TOOLS_LIB": library_path,
        "HSA_TOOLS_ROCPROFILER_V1_TOOLS": "1",
        "HSA_TOOLS_REPORT_LOAD_FAILURE": "1",
        **sdk,
    }


def profiler_sdk() -> Path | None:
    """rocprofiler-sdk of an installation of ROCm; None where there is none."""
    return next((path for root in roots() if (path := root / "lib" / _PROFILER_SDK).exists()), None)


def record_environment(file: Path, kernels: str, buffer_bytes: int, words: int) -> dict[str, str]:
    """Makes instrumented `kernels` (comma list) of a run record into `file` with the process id appended.

    So many work-groups are recorded as there is room for with `words` of 8 bytes per wave; 0: as many words as usual.
    """
    return {
        **_loading(),
        "INTELLIPERF_RECORD_FILE": str(file),
        "INTELLIPERF_RECORD_KERNELS": kernels,
        "INTELLIPERF_RECORD_BYTES": str(buffer_bytes),
        "INTELLIPERF_RECORD_WORDS": str(words),
    }
