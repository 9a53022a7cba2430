"""Command lines that only ask: versions, paths, what would be run."""

from __future__ import annotations

from collections.abc import Sequence

HIP_VERSION = "6.2.41133"
ROCM_CLANG_VERSION = "18.0.0"
CUDA_VERSION = "12.8"
CUDA_BUILD = "V12.8.93"

_NVCC_BANNER = f"""nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2025 NVIDIA Corporation
Built by intelliperf (drop-in for the embedded emulator)
Cuda compilation tools, release {CUDA_VERSION}, {CUDA_BUILD}
"""


def answer(flavour: str, words: Sequence[str]) -> str | None:
    """The reply to a question about the compiler; None if the command line is none."""
    if flavour == "nvcc" and any(word in ("--version", "-V") for word in words):
        return _NVCC_BANNER
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
