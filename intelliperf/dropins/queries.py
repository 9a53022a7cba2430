"""Command lines that only ask: versions, paths, what would be run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

HIP_VERSION = "6.2.41133"
ROCM_CLANG_VERSION = "18.0.0"
CUDA_VERSION = "12.4"  # as the headers say
CUDA_BUILD = "V12.4.131"

_NVCC_BANNER = f"""nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2025 NVIDIA Corporation
Built by intelliperf (drop-in for the embedded emulator)
Cuda compilation tools, release {CUDA_VERSION}, {CUDA_BUILD}
"""
_ARCHITECTURES = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90)  # nvcc 12.4's
_REALS = "".join(f"sm_{number}\n" for number in _ARCHITECTURES)
_VIRTUALS = "".join(f"compute_{number}\n" for number in _ARCHITECTURES)
_NVCC_HELP = (
    "Usage  : nvcc [options] <inputfile>\n\n"
    "The drop-in of intelliperf takes nvcc's options; see NVIDIA's own help for what they mean.\n"
    "Values for --gpu-architecture (-arch) and --gpu-code (-code):\n"
    f"{_VIRTUALS}{_REALS}"
)
# Build files take the architectures that a compiler knows from these.
_NVCC_ANSWERS = {
    "--version": _NVCC_BANNER,
    "-V": _NVCC_BANNER,
    "--help": _NVCC_HELP,
    "-h": _NVCC_HELP,
    "--list-gpu-arch": _VIRTUALS,
    "-arch-ls": _VIRTUALS,
    "--list-gpu-code": _REALS,
    "-code-ls": _REALS,
}


def nvcc_plan(output: str = "a.out") -> str:
    """The lines of `nvcc -v` that build systems read: where the toolkit is, and how it links."""
    programs = Path(os.environ.get("INTELLIPERF_SHIM_BIN") or ".")
    root = programs.parent
    libraries = f'"-L{root}/lib64/stubs" "-L{root}/lib64"'
    return (
        f"#$ _HERE_={programs}\n#$ _THERE_={programs}\n#$ TOP={root}\n"
        "#$ cicc -arch compute_90 -m64\n"
        f"#$ NVVMIR_LIBRARY_DIR={root}/nvvm/libdevice\n"
        f"#$ PATH={programs}:{os.environ.get('PATH', '')}\n"
        f'#$ INCLUDES="-I{root}/include"\n'
        f"#$ LIBRARIES=  {libraries}\n"
        f'#$ "{programs}/intelliperf-link" -m64 -o "{output}" -Wl,--start-group  {libraries}  -lcudart -lrt -lpthread '
        "-ldl -Wl,--end-group\n"
    )


def answer(flavour: str, words: Sequence[str]) -> str | None:
    """The reply to a question about the compiler; None if the command line is none."""
    if flavour == "nvcc" and (asked := [word for word in words if word in _NVCC_ANSWERS]):
        return _NVCC_ANSWERS[asked[0]]
    if flavour == "nvcc" and "__cmake_determine_cuda" in words:
        return nvcc_plan()
    if flavour == "hipcc":
        if "--version" in words:
            return (
                f"HIP version: {HIP_VERSION}-intelliperf\n"
                f"clang version {ROCM_CLANG_VERSION} (intelliperf drop-in for the embedded emulator)\n"
                "Target: x86_64-unknown-linux-gnu\nThread model: posix\n"
            )
        if list(words) == ["--short-version"]:
            return HIP_VERSION + "\n"
        if list(words) in (["-dumpversion"], ["--dumpversion"]):
            return f"{ROCM_CLANG_VERSION}\n"
    return None
