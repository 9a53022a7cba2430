"""Libraries on link lines: those that our runtime stands in for, and those that nobody emulates."""

from __future__ import annotations

import re
from pathlib import Path

# The runtime library answers for these: their names vanish from link lines.
PROVIDED = frozenset(
    {"cudart", "cudart_static", "cudadevrt", "cuda", "culibos", "amdhip64", "hip_hcc", "hiprtc-builtins", "hip-lang",
     "nvToolsExt", "nvtx3", "roctx64", "roctracer64", "hsa-runtime64", "hsakmt", "amd_comgr", "curand", "curand_static",
     "hiprand", "rocrand", "clang_rt.builtins-x86_64", "simt", "intelliperf_simt"}
)  # fmt: skip
UNSUPPORTED = frozenset(
    {"cublas", "cublas_static", "cublasLt", "cublasLt_static", "cufft", "cufft_static", "cufftw", "cusparse",
     "cusparse_static", "cusolver", "cusolver_static", "cudnn", "nccl", "nccl_static", "nvrtc", "nvrtc_static",
     "nvjpeg",
     "nvidia-ml", "cupti", "cutensor", "nvshmem", "cufile", "nvinfer", "hipblas", "hipblaslt", "rocblas", "hipfft",
     "rocfft",
     "hipsparse", "rocsparse", "hipsolver", "rocsolver", "rccl", "MIOpen", "hiprtc", "rocm_smi64", "amd_smi", "rocprim",
     "hiptensor", "rocalution", "nppc", "nppi", "nppial", "nppicc", "nppidei", "nppif", "nppig", "nppim", "nppist",
     "nppisu", "nppitc", "npps", "rocwmma", "migraphx", "OpenCL"}
)  # fmt: skip
_LIBRARY_FILE = re.compile(r"lib([-\w+]+?)\.(?:so(?:\.[\d.]+)?|a)$")


def library_name(word: str) -> str | None:
    """`cudart` for `-lcudart`, `-l:libcudart.so.12` and `/any/where/libcudart.so`; None for other words."""
    if word.startswith("-l"):
        name = word[2:]
        found = _LIBRARY_FILE.match(name[1:]) if name.startswith(":") else None
        return found[1] if found else name
    if word.startswith("-"):
        return None
    found = _LIBRARY_FILE.match(Path(word).name)
    return found[1] if found else None


def unsupported_library(words: list[str]) -> str | None:
    """The first GPU library in a link line that cannot be emulated."""
    for word in words:
        name = library_name(word)
        if name in UNSUPPORTED:
            return name
    return None


def is_provided(word: str) -> bool:
    return library_name(word) in PROVIDED
