"""What a build command of the user finds in its environment, so that the drop-ins compile for the emulator."""

from __future__ import annotations

import os
from pathlib import Path

from intelliperf.dropins.headers import TOOLKITS_VARIABLE
from intelliperf.dropins.toolchain import shim_root
from intelliperf.emulator.shims import materialise
from intelliperf.emulator.shims.redirect import DROP_INS_VARIABLE, redirecting_library

_ROOTS = (
    "CUDA_PATH", "CUDA_HOME", "CUDA_ROOT", "CUDAToolkit_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "HIP_PATH", "ROCM_PATH",
)  # fmt: skip


def shim_directory() -> Path:
    """A directory to prepend to PATH: `hipcc`, `nvcc`, `clang++` … that run this very installation."""
    return materialise(shim_root())


def _named_toolkits(programs: Path) -> list[str]:
    """Roots of real toolkits that the user's environment names: of the libraries in them the headers serve."""
    named = [os.environ.get(name, "") for name in (*_ROOTS, TOOLKITS_VARIABLE)]
    roots = [root for value in named for root in value.split(os.pathsep) if root]
    return [root for root in dict.fromkeys(roots) if Path(root) != programs.parent]


def build_environment() -> dict[str, str]:
    """Variables for a build command: the drop-ins first on PATH, and the roots that makefiles read.

    `CPATH` and `LIBRARY_PATH` serve plain `g++` lines that name `-lcudart` or `-lamdhip64`
    themselves; `LD_RUN_PATH` lets what they link find the runtime library. A library loaded into the
    build leads `/opt/rocm/bin/hipcc` and its like to the drop-ins.
    """
    programs = shim_directory()
    root = str(programs.parent)
    variables = {
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        DROP_INS_VARIABLE: str(programs),
        TOOLKITS_VARIABLE: os.pathsep.join(_named_toolkits(programs)),
    }
    variables.update(dict.fromkeys(_ROOTS, root))
    variables["CUDACXX"] = str(programs / "nvcc")
    # CMake 4 refuses projects that ask for less than 3.5, as many for GPUs do; older versions do not read this.
    variables["CMAKE_POLICY_VERSION_MINIMUM"] = os.environ.get("CMAKE_POLICY_VERSION_MINIMUM", "3.5")
    libraries = f"{root}/lib{os.pathsep}{root}/lib64"
    for name, value in (
        ("CPATH", f"{root}/include"),
        ("LIBRARY_PATH", libraries),
        ("LD_RUN_PATH", libraries),
        ("CMAKE_PREFIX_PATH", root),
        ("LD_PRELOAD", str(redirecting_library())),
    ):
        old = os.environ.get(name)
        variables[name] = f"{value}{os.pathsep}{old}" if old else value
    return variables
