"""Says in one line what a program uses that the emulator does not have, where the compiler only stumbles over it."""

from __future__ import annotations

import re

_MISSING_HEADER = re.compile(r"'([\w./+-]+)' file not found")
# Names of the vendors' interfaces: functions of runtimes and compilers, members of the libraries' namespaces.
_UNKNOWN_FUNCTION = re.compile(
    r"use of undeclared identifier '((?:(?:hip|cuda|roctx|nvtx)[A-Z_]|__builtin_amdgcn_)\w+)'"
)
_UNKNOWN_MEMBER = re.compile(
    r"no (?:type |template )?(?:member )?named '(\w+)' in (?:namespace )?"
    r"'((?:rocprim|hipcub|cub|thrust|cooperative_groups)\b[\w:]*)"
)
# Headers by the start of their path: what the program would need.
_HEADERS = (
    (r"cufftXt|cufftw", "cuFFT's other interfaces"),
    (r"cusparse", "cuSPARSE"),
    (r"cusolver|cusolverDn", "cuSOLVER"),
    (r"cudnn", "cuDNN"),
    (r"cutensor", "cuTENSOR"),
    (r"cutlass/|cute/", "CUTLASS"),
    (r"nccl|rccl", "multi-GPU communication (NCCL, RCCL)"),
    (r"npp", "NPP"),
    (r"rocm_smi|amd_smi", "management libraries (ROCm SMI)"),
    (r"cupti|rocprofiler|roctracer", "profiling libraries (CUPTI, ROCprofiler)"),
    (r"cuda_gl_interop|cudaGL|GL/|GLFW|cuda_egl|cuda_vdpau|vulkan/|hip/hip_gl_interop", "graphics interoperation"),
    (r"optix", "OptiX"),
    (r"nvjpeg|nvgraph|nvblas|cufile|nvshmem", "this NVIDIA library"),
    (r"hipblaslt", "hipBLASLt"),
    (r"hipfftXt|rocfft", "rocFFT and hipFFT's other interfaces"),
    (r"hipsparse|rocsparse", "hipSPARSE and rocSPARSE"),
    (r"hipsolver|rocsolver", "hipSOLVER and rocSOLVER"),
    (r"miopen", "MIOpen"),
    (r"torch/|ATen/|c10/|pybind11", "PyTorch extensions"),
    (r"cuda_fp[46]|hip/hip_fp[46]", "4- and 6-bit floating point"),
    (r"cutil|shrUtils|cuPrintf", "the utility library of CUDA 4 and older"),
    (r"thrust/", "this part of Thrust"),
    (r"(?:hip)?cub/", "this part of CUB and hipCUB"),
    (r"rocprim/", "this part of rocPRIM"),
    (r"cuda/(?:std/)?\w+$", "this part of libcu++"),
    (r"hip/hip_", "this part of HIP"),
)
# What an error message mentions: what the program would need.
_MENTIONS = (
    (
        r"\bsurfaceReference\b|in 'surface<|\b(?:cuda|hip)(?:BindSurface\w*|GetSurfaceReference)\b",
        "surface references",
    ),
    (r"\b(?:cuda|hip)(?:Malloc)?Mipmapped\w*|\btexCubemap(?:Layered|Lod|Grad)\w*|\bhipTex\w+", "mipmapped textures"),
    (
        r"\b(?:cuda|hip)LaunchDevice\b|kernel launch from __device__|"
        r"reference to __global__ function '\w+' in __(?:global|device)__ function",
        "dynamic parallelism (kernels launched by kernels)",
    ),
    (
        r"\b(?:cuda|hip)(?:GraphConditional|GraphExternal|GraphExec\w+Node|GraphMem|Graph\w+Node)\w*",
        "this graph function",
    ),
    (r"\bcuda(?:Graphics|GL)\w+|\bhipGraphics\w+", "graphics interoperation"),
    (r"\b(?:cuda|hip)Ipc\w+", "memory shared between processes"),
    (r"\bnvcuda\b|\bwmma\b|\brocwmma\b", "matrix cores"),
    (
        r"\bcuMem(?:Address|Map|Unmap|Create|Release|SetAccess|Export|GetAlloc)\w*|\bCUmem\w+",
        "memory mapped by hand (cuMemMap)",
    ),
    (r"\bclusterDim\b|\bcluster_group\b|\bthis_cluster\b", "thread block clusters"),
    (r"\b(?:cu|hip)rand(?:State\w*Sobol|DirectionVectors|GetDirectionVectors)", "quasi-random numbers made in kernels"),
    (r"\b(?:cu|hip)randState(?:Mtgp|_?MT)", "the Mersenne twister in kernels"),
    (r"'(?:device|host)_execution_policy' in namespace 'thrust'", "Thrust systems defined by programs"),
)


_REMEDIES = (
    (
        r"'mpi\.h' file not found",
        "mpi.h is in none of the folders that this command searches: compile by mpicc or mpicxx, or name the folder of "
        "`mpicxx -show` in -I or in CPATH; where no MPI is installed, on Debian: apt-get install libopenmpi-dev",
    ),
    (
        r"Can't find declaration for hipLaunchKernel\b",
        "this source is compiled as HIP and does not include hip/hip_runtime.h; if it is a CUDA program, build it with "
        "nvcc, or translate it first (hipify-perl)",
    ),
)


def explanation(message: str) -> str:
    """Lines to add to a compiler's message: one for each thing that is known to be missing."""
    needs = [_header_need(name) for name in _MISSING_HEADER.findall(message)]
    errors = "\n".join(line for line in message.splitlines() if re.search(r"\berror: ", line))
    if "intelliperf:" not in errors:
        needs += [need for pattern, need in _MENTIONS if re.search(pattern, errors)]
    missing = [f"{need}: not supported by the emulator" for need in dict.fromkeys(needs) if need]
    if not missing and "intelliperf:" not in errors:
        missing = [f"{name}: not known to the emulator" for name in dict.fromkeys(_unknown(errors))]
    missing += [remedy for pattern, remedy in _REMEDIES if re.search(pattern, errors)]
    return "".join(f"intelliperf: {line}\n" for line in missing)


def _unknown(errors: str) -> list[str]:
    """What the emulator's headers do not declare of the vendors' interfaces."""
    members = [f"{scope}::{name}" for name, scope in _UNKNOWN_MEMBER.findall(errors)]
    return [*_UNKNOWN_FUNCTION.findall(errors), *members]


def _header_need(name: str) -> str | None:
    return next((f"{need} ({name})" for pattern, need in _HEADERS if re.match(pattern, name)), None)
