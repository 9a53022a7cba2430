"""Libraries on link lines: those that our runtime stands in for, and those that nobody emulates."""

from __future__ import annotations

import re
from pathlib import Path

# The runtime library answers for these: their names vanish from link lines.
PROVIDED = frozenset(
    {"cudart", "cudart_static", "cudadevrt", "cuda", "culibos", "amdhip64", "hip_hcc", "hiprtc-builtins", "hip-lang",
     "nvToolsExt", "nvtx3", "roctx64", "roctracer64", "hsa-runtime64", "hsakmt", "amd_comgr", "curand", "curand_static",
     "hiprand", "rocrand", "clang_rt.builtins-x86_64", "simt", "intelliperf_simt", "cublas", "cublas_static",
     "cublasLt", "cublasLt_static", "cufft", "cufft_static", "hipfft", "cusparse", "cusparse_static", "hipblas",
     "rocblas", "nvidia-ml", "nvrtc", "nvrtc_static", "nvrtc-builtins",
     "nvrtc-builtins_static", "nvptxcompiler_static", "hiprtc"}
)  # fmt: skip
# Nobody answers for these; by the start of the names of what they would have. They may be linked, not called.
_ABSENT = {
    "cufftw": "fftwf?_", "cusolver": "cusolver",
    "cusolver_static": "cusolver", "cudnn": "cudnn", "nccl": "nccl",
    "nccl_static": "nccl", "nvjpeg": "nvjpeg", "cupti": "cupti",
    "cutensor": "cutensor", "nvshmem": "nvshmem", "cufile": "cuFile", "nvJitLink": "nvJitLink", "nvinfer": "nvinfer",
    "hipblaslt": "hipblasLt", "rocfft": "rocfft", "hipsparse": "hipsparse", "rocsparse": "rocsparse",
    "hipsolver": "hipsolver", "rocsolver": "rocsolver", "rccl": "nccl", "MIOpen": "miopen",
    "rocm_smi64": "rsmi_", "amd_smi": "amdsmi_", "hiptensor": "hiptensor", "rocalution": "rocalution",
    "migraphx": "migraphx", "OpenCL": "cl[A-Z]", "nppc": "npp", "nppial": "nppi", "nppicc": "nppi", "nppidei": "nppi",
    "nppif": "nppi", "nppig": "nppi", "nppim": "nppi", "nppist": "nppi", "nppisu": "nppi", "nppitc": "nppi",
    "npps": "npps",
}  # fmt: skip
_UNDEFINED = re.compile(r": in function `([^']*)'|(?:(\S+:\d+): )?undefined reference to [`']([^'(]+)")
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


def is_absent(word: str) -> bool:
    """A GPU library that nothing stands in for: left out of the link, which fails where something calls it."""
    return library_name(word) in _ABSENT


def absent_calls(message: str) -> list[str]:
    """Of a linker's message, the calls of libraries that nothing stands in for: library, function and caller.

    A call that was inlined is named by the function that it stands in.
    """
    found: dict[str, None] = {}
    told = set[tuple[str, str]]()
    caller = ""
    for function, line, missing in _UNDEFINED.findall(message):
        caller = function or caller
        library = next((name for name, start in _ABSENT.items() if re.match(start, missing or "")), None)
        if not missing or not library or (line, missing) in told:
            continue
        if line:
            told.add((line, missing))
        found[f"{caller or 'the program'} calls {missing}: lib{library} has no stand-in on the emulator"] = None
    return list(found)


def is_provided(word: str) -> bool:
    return library_name(word) in PROVIDED
