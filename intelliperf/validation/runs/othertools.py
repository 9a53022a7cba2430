"""Why a process that used the GPU did not speak to us: what it had loaded, in place of the library that we inject.

ROCr leaves out the libraries of HSA_TOOLS_LIB where another tool registers itself, and CUDA has room for one
subscriber: neither says so. librocprofiler-register is not a sign of a tool, since HIP itself loads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from intelliperf.processes.usage import PROC, below

_RUNTIMES = re.compile(r"^(libhsa-runtime64|libcuda)\.so")
_OURS = re.compile(r"^libintelliperf_")
_TOOLS = re.compile(r"^lib(rocprofiler(?!-register)|roctracer|rocprof-|omnitrace|cupti|nvperf_target)[^/]*\.so")
_INJECTS = {"libhsa-runtime64": "HSA_TOOLS_LIB", "libcuda": "CUDA_INJECTION64_PATH"}
_SETS = {
    "libhsa-runtime64": "ROCP_TOOL_LIBRARIES, HSA_TOOLS_LIB and LD_PRELOAD",
    "libcuda": "CUDA_INJECTION64_PATH and LD_PRELOAD",
}


def libraries_below(process: int, proc: Path = PROC) -> set[str]:
    """Of a process and its descendants: the names of the libraries that matter here, mapped now."""
    found: set[str] = set()
    for number, _ in below(process, proc):
        found |= _libraries(proc / str(number) / "maps")
    return found


def _libraries(maps: Path) -> set[str]:
    try:
        lines = maps.read_text("utf-8", "replace").splitlines()
    except OSError:
        return set()  # ended, or another user's
    names = {line.rpartition("/")[2] for line in lines if ".so" in line}
    return {name for name in names if any(kind.match(name) for kind in (_RUNTIMES, _OURS, _TOOLS))}


def explained(libraries: Iterable[str]) -> str:
    """One sentence with the remedy; "" where the libraries do not tell."""
    loaded = sorted(libraries)
    runtime = next((name.partition(".so")[0] for name in loaded if _RUNTIMES.match(name)), None)
    if runtime is None or any(_OURS.match(name) for name in loaded):
        return ""
    tools = [name for name in loaded if _TOOLS.match(name)]
    variable = _INJECTS[runtime]
    if tools:
        return (
            f"it loaded {runtime} and {' and '.join(tools)}, but not our library of {variable}: another tool is "
            f"registered in it, with which the runtime leaves ours out; look where it or its scripts set "
            f"{_SETS[runtime]}, or load such a tool themselves, and leave that out for this run"
        )
    return (
        f"it loaded {runtime}, but not our library of {variable}: does a script or a launcher on the way clear its "
        "environment, or set that variable itself?"
    )
