"""HIP's headers for the NVIDIA platform, and a CUDA that they go with, where INTELLIPERF_TEST_HIP names them.

The directory has `include/hip` and, unless nvcc's own CUDA is old enough for these headers, `cuda/include` and
`cuda/lib64` of an older one: its wheels nvidia-cuda-runtime and nvidia-cuda-nvcc, unpacked into one place.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_VARIABLE = "INTELLIPERF_TEST_HIP"
_LAUNCH = "crt/host_runtime.h"


def missing() -> str | None:
    named = os.environ.get(_VARIABLE)
    if named and (Path(named) / "include" / "hip" / "nvidia_detail").is_dir():
        return None
    return f"{_VARIABLE} names no directory with HIP's headers for the NVIDIA platform"


def environment(scratch: Path) -> dict[str, str]:
    """For builds with those headers, by whatever nvcc is on PATH."""
    place = Path(os.environ[_VARIABLE]).resolve()
    cuda = place / "cuda"
    if not cuda.is_dir():
        return {"HIP_PATH": str(place)}
    include, libraries = scratch / "include", scratch / "lib64"
    shutil.copytree(cuda / "include", include)
    shutil.copytree(cuda / "lib64", libraries)
    header = include / _LAUNCH
    # nvcc 13 gives this macro of its own runtime a second argument.
    header.write_text(header.read_text().replace("#define __cudaLaunch(fun)", "#define __cudaLaunch(fun, ...)"))
    (runtime,) = libraries.glob("libcudart.so.*")
    (libraries / "libcudart.so").symlink_to(runtime.name)
    flags = f"-I{include} -allow-unsupported-compiler -cudart shared -L{libraries} -Xlinker -rpath -Xlinker {libraries}"
    return {"HIP_PATH": str(place), "NVCC_PREPEND_FLAGS": flags}
