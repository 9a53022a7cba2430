"""Code objects for real GPUs, made by the emulator's own compiler, and a process that launches their kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intelliperf.devices.models import write_device_file
from intelliperf.dropins.toolchain import find_toolchain, tool_environment
from intelliperf.emulator.native import runtime_library

# Declarations that a kernel without HIP's headers needs.
PRELUDE = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define KERNEL extern "C" __global__
__device__ inline int lane() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline int group() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline int thread() { return group() * __builtin_amdgcn_workgroup_size_x() + lane(); }
__device__ inline void meet() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
"""

_LAUNCHER = """
import ctypes, sys
import numpy as np
library, image = ctypes.CDLL(sys.argv[1]), open(sys.argv[2], "rb").read()

def checked(status):
    if status:
        raise SystemExit(f"status {status}")

module = ctypes.c_void_p()
checked(library.hipModuleLoadData(ctypes.byref(module), image))

def device(array):
    pointer, size = ctypes.c_void_p(), ctypes.c_size_t(array.nbytes)
    checked(library.hipMalloc(ctypes.byref(pointer), size))
    checked(library.hipMemcpy(pointer, array.ctypes.data_as(ctypes.c_void_p), size, 1))
    return pointer

def host(pointer, like):
    out = np.empty_like(like)
    checked(library.hipMemcpy(out.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(out.nbytes), 2))
    return out

def launch(name, grid, block, *arguments, shared=0):
    kernel = ctypes.c_void_p()
    checked(library.hipModuleGetFunction(ctypes.byref(kernel), module, name.encode()))
    pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(one) for one in arguments])
    checked(library.hipModuleLaunchKernel(kernel, grid, 1, 1, block, 1, 1, shared, None, pointers, None))
    checked(library.hipDeviceSynchronize())
"""


@dataclass(frozen=True)
class Launched:
    returncode: int
    out: str
    err: str
    records: Path


def code_object(source: str, architecture: str, directory: Path) -> Path:
    """The source compiled for the GPU, with its lines; `directory` has the source as kernel.hip."""
    text, listing, built = directory / "kernel.hip", directory / "kernel.s", directory / f"kernel.{architecture}.o"
    text.write_text(source)
    (directory / "prelude.h").write_text(PRELUDE)
    driver = find_toolchain().driver()
    flags = ["-nogpulib", "-nogpuinc", "-O2", "-g", "-munsafe-fp-atomics", "-include", str(directory / "prelude.h")]
    device = ["-x", "hip", "--cuda-device-only", f"--offload-arch={architecture}"]
    _run([*driver, *device, *flags, "-S", str(text), "-o", str(listing)])
    _run([*driver, "-target", "amdgcn-amd-amdhsa", f"-mcpu={architecture}", "-c", str(listing), "-o", str(built)])
    linked = built.with_suffix(".co")
    _run([*find_toolchain().elf_linker, "-shared", str(built), "-o", str(linked)])
    return linked


def launch(program: str, image: Path, directory: Path, environment: Mapping[str, str] | None = None) -> Launched:
    """Runs Python statements with `launch`, `device` and `host` in a process of its own, recorded."""
    records = directory / "records"
    records.mkdir()
    model = directory / "device"
    write_device_file("mi300x" if "gfx942" in image.name else "mi250x", model)
    done = subprocess.run(
        [sys.executable, "-c", _LAUNCHER + program, str(runtime_library()), str(image)],
        env={
            **os.environ,
            **tool_environment(),
            "INTELLIPERF_TRACE_DIR": str(records),
            "INTELLIPERF_DEVICE": str(model),
            **(environment or {}),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Launched(done.returncode, done.stdout, done.stderr, records)


def _run(argv: Sequence[Any]) -> None:
    done = subprocess.run(argv, env={**os.environ, **tool_environment()}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
