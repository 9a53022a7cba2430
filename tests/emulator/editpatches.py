"""What patches of the programs in `editprograms` are made of."""

from __future__ import annotations

Change = tuple[str, str]
Patch = tuple[str, str, str, list[Change]]  # program, file, what is allowed, replacements

KERNEL = "__global__ void sum"
SYNC = "  __syncthreads();\n  for (int s"
LAUNCH = "sum<<<blocks, threads>>>(in, out, n);"
LOAD = "part[threadIdx.x] = i < n ? in[i] : 0.0f;"
PRODUCT = 'extern "C" __global__'
RUN = "smooth<float><<<grids, block>>>(grid.front, grid.back, grid.width, grid.height);"
R, S, H, M, P, N = (
    ("reduction", "sum.hip"),
    ("stencil", "run.cu"),
    ("histogram", "histogram.cu"),
    ("softmax", "softmax.hip"),
    ("product", "product.cu"),
    ("scan", "scan.hip"),
)
