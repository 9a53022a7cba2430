"""The drop-ins of real hardware: the real nvcc with line information added and a log of what was compiled.

Where HIP's headers for the NVIDIA platform are installed, there is a hipcc as well, which calls that nvcc.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.cuda.hipcc import HIP_INCLUDE, compile_hip, nvidia_headers
from intelliperf.cuda.toolkit import find_toolkit
from intelliperf.dropins.compilelog import log_or_say_why_not
from intelliperf.dropins.programs import kept_programs, python_script
from intelliperf.dropins.redirect import named_as, redirecting
from intelliperf.errors import IntelliPerfError
from intelliperf.processes.storage import cache_directory

REAL_NVCC = "INTELLIPERF_NVCC"
ARCHITECTURE = "INTELLIPERF_CUDA_ARCHITECTURE"
_HAS_LINES = {"-lineinfo", "--generate-line-info", "-G", "--device-debug"}
_HAS_ARCHITECTURE = ("-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code", "--cubin")
_MORE_WORDS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")  # variables that nvcc reads
# Stages that a driver-API program compiles its modules with; to the source reader they are compilations as any.
_MODULE_STAGES = {"-ptx", "--ptx", "-cubin", "--cubin", "-fatbin", "--fatbin", "-optix-ir", "--optix-ir"}


def build_environment(architecture: str) -> Mapping[str, str]:
    """Our nvcc first on PATH, in CUDACXX, and in place of an nvcc that a build names by its path.

    Builds that name no architecture are made for `architecture` ("sm_90"): otherwise the driver would compile
    the kernels anew, and what runs would not be what can be taken apart.
    Raises `BackendUnavailable` where there is no real one.
    """
    toolkit = find_toolkit()
    hip = nvidia_headers()
    programs = _drop_ins(("nvcc", "hipcc") if hip else ("nvcc",))
    path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath), str(toolkit.root / "bin")])
    variables = {
        "PATH": path,
        "CUDACXX": str(programs / "nvcc"),
        REAL_NVCC: str(toolkit.nvcc),
        ARCHITECTURE: architecture,
        **redirecting(programs),
    }
    if hip:
        variables |= {"HIP_PLATFORM": "nvidia", "HIP_COMPILER": "nvcc", "HIP_RUNTIME": "cuda", HIP_INCLUDE: str(hip)}
    return variables


def _drop_ins(names: Sequence[str]) -> Path:
    """A directory with those programs and no others."""
    return kept_programs("cuda", {name: python_script(__name__, name) for name in names})


def completed(words: Sequence[str], architecture: str, elsewhere: Sequence[str] = ()) -> list[str]:
    """The arguments with line information and an architecture, unless these are asked for already, here or elsewhere.

    Whole debugging (-G) has its own line information.
    """
    asked = [*words, *elsewhere]
    added = [] if _HAS_LINES.intersection(asked) else ["-lineinfo"]
    if architecture and not any(word.startswith(_HAS_ARCHITECTURE) for word in asked):
        added.append(f"-arch={architecture}")
    return [*added, *words]


def hipcc(words: Sequence[str]) -> None:
    """Every call of nvcc goes through our drop-in, which logs it."""
    try:
        sys.exit(compile_hip(words, [str(_drop_ins(("nvcc",)) / "nvcc")]))
    except IntelliPerfError as error:
        sys.exit(f"hipcc: error: {error}")


def nvcc(words: Sequence[str]) -> None:
    """Log the GPU sources, then become the real nvcc."""
    log_or_say_why_not("nvcc", ["-c" if word in _MODULE_STAGES else word for word in words])
    real = os.environ.get(REAL_NVCC) or _nvcc_behind_us()
    named_as(os.environ)
    elsewhere = [word for name in _MORE_WORDS for word in os.environ.get(name, "").split()]
    os.execv(real, [real, *completed(words, os.environ.get(ARCHITECTURE, ""), elsewhere)])


def _nvcc_behind_us() -> str:
    """For a build that clears its environment."""
    own = cache_directory() / "cuda"
    places = [Path(entry) / "nvcc" for entry in os.get_exec_path()]
    places += [Path(os.environ[name]) / "bin" / "nvcc" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    places.append(Path("/usr/local/cuda/bin/nvcc"))
    for place in places:
        if own not in place.parents and os.access(place, os.X_OK):
            return str(place)
    sys.exit("intelliperf: the real nvcc is not to be found: put it on PATH or set CUDA_HOME")
