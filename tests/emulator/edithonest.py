"""Honest patches that the edit gate has to let through, by what they do."""

from __future__ import annotations

from editpatches import KERNEL, LAUNCH, LOAD, PRODUCT, RUN, SYNC, H, M, N, P, Patch, R, S

SHUFFLED = """float mine = i < n ? in[i] : 0.0f;
  for (int d = warpSize / 2; d > 0; d /= 2) mine += __shfl_down(mine, d);
  part[threadIdx.x] = mine;"""
FINISH = (
    "__global__ void finish(const float* parts, float* out, int n) { for (int i = 0; i < n; ++i) *out += parts[i]; }\n"
)
SPLIT = [
    (KERNEL, FINISH + KERNEL),
    ("if (threadIdx.x == 0) atomicAdd(out, part[0]);", "if (threadIdx.x == 0) out[blockIdx.x] = part[0];"),
    (
        LAUNCH,
        "float* parts = nullptr;\n  CHECK(hipMalloc(&parts, blocks * sizeof(float)));\n"
        "  sum<<<blocks, threads>>>(in, parts, n);\n"
        "  CHECK(hipGetLastError());\n  finish<<<1, 1>>>(parts, out, blocks);",
    ),
    ("  CHECK(hipFree(in));", "  CHECK(hipFree(parts));\n  CHECK(hipFree(in));"),
]
ONLINE = """  float best = mine[0], total = 0;
  for (int i = 0; i < shape.columns; ++i) {
    float next = fmaxf(best, mine[i]);
    total = total * expf((best - next) * temperature) + expf((mine[i] - next) * temperature);
    best = next;
  }
"""
TILED = """__shared__ double x[16][16 + 1], y[16][16 + 1];
  double sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    int k = k0 + threadIdx.x, l = k0 + threadIdx.y;
    x[threadIdx.y][threadIdx.x] = row < n && k < n ? a[row * n + k] : 0;
    y[threadIdx.y][threadIdx.x] = column < n && l < n ? b[l * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += x[threadIdx.y][i] * y[i][threadIdx.x];
    __syncthreads();
  }"""
PRIVATE = """  __shared__ unsigned mine[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&mine[bin_of(in[i])], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    if (mine[b] != 0) atomicAdd(&bins[b], mine[b]);
  }
"""

HONEST: dict[str, Patch] = {
    "shuffles within a wave": (*R, "", [(LOAD, SHUFFLED)]),
    "braces, comments and names on the host": (
        *R,
        "",
        [
            (
                LAUNCH,
                "{\n    /* one block for each 256 numbers */\n"
                "    sum<<<dim3(blocks), threads, 0, nullptr>>>(in, out, n);\n  }",
            ),
            ("float *in, *out, total = 0;", "float* in;\n  float* out;\n  float total{};"),
        ],
    ),
    "larger blocks": (*R, "geometry", [("threads = 256;", "threads = 512;"), ("float part[256]", "float part[512]")]),
    "dynamic LDS": (
        *R,
        "geometry",
        [
            ("__shared__ __align__(16) float part[256];", "extern __shared__ float part[];"),
            ("<<<blocks, threads>>>", "<<<blocks, threads, threads * sizeof(float)>>>"),
        ],
    ),
    "aligned LDS with padding": (
        *R,
        "",
        [("__shared__ __align__(16) float part[256];", "__shared__ __align__(16) float part[256 + 8];")],
    ),
    "helpers, constants and macros": (
        *R,
        "",
        [
            (
                KERNEL,
                "#define HALF(x) ((x) >> 1)\nconstexpr int kHalf = HALF(256);\ntemplate <int N>\n"
                "__device__ __forceinline__ float pick(const float* a, int i) { return a[i + N]; }\n" + KERNEL,
            ),
            (SYNC, "  if (threadIdx.x < kHalf) part[threadIdx.x] += pick<kHalf>(part, threadIdx.x);\n" + SYNC),
        ],
    ),
    "two kernels and scratch memory": (*R, "kernels", SPLIT),
    "a grid with an upper bound": (
        *R,
        "geometry",
        [
            ("#include <vector>", "#include <algorithm>\n#include <vector>"),
            ("(n + threads - 1) / threads;", "std::min((n + threads - 1) / threads, 1024);"),
            (
                LOAD,
                "float own = 0;\n  for (; i < n; i += gridDim.x * blockDim.x) own += in[i];\n"
                "  part[threadIdx.x] = own;",
            ),
        ],
    ),
    "wide loads": (
        *R,
        "",
        [
            (
                LOAD,
                "float4 four = make_float4(0, 0, 0, 0);\n"
                "  if (4 * i + 3 < n) four = reinterpret_cast<const float4*>(in)[i];\n"
                "  part[threadIdx.x] = four.x + four.y + four.z + four.w;",
            )
        ],
    ),
    "unrolling": (*R, "", [("  for (int s = ", "#pragma unroll 4\n  for (int s = ")]),
    "a conditional on an own name": (
        *R,
        "",
        [
            (KERNEL, "#ifndef SUM_STEPS\n#define SUM_STEPS 2\n#endif\n" + KERNEL),
            (LOAD, f"for (int k = 0; k < SUM_STEPS; ++k) {LOAD}"),
        ],
    ),
    "assertions at compile time": (*R, "", [(KERNEL, 'static_assert(sizeof(float) == 4, "float");\n' + KERNEL)]),
    "line ends of another system": (*R, "", [("  int i = blockIdx", "  // faster\r\n  int i = blockIdx")]),
    "a tile in LDS": (
        "stencil",
        "kernels.cuh",
        "",
        [
            (
                "  int left = max",
                "  __shared__ T tile[TILE][TILE + 1];\n  tile[threadIdx.y][threadIdx.x] = in[y * width + x];\n"
                "  __syncthreads();\n  int left = max",
            )
        ],
    ),
    "a larger tile": ("stencil", "kernels.cuh", "geometry", [("#define TILE 16", "#define TILE 32")]),
    "another block of one of two launches": (
        *S,
        "geometry",
        [
            ("dim3 block(TILE, TILE);", "const dim3 threads{64, 4};"),
            (RUN, RUN.replace("block", "threads")),
            ("block.x), div_up(grid.height, block.y)", "threads.x), div_up(grid.height, threads.y)"),
        ],
    ),
    "braces round what was one": (
        *S,
        "",
        [("  for (int i = 0; i < steps; ++i) {", "  for (int i = 0; i != steps && i < steps; ++i) {")],
    ),
    "another way to round up": ("stencil", "grid.h", "geometry", [("(a + b - 1) / b", "a / b + (a % b != 0 ? 1 : 0)")]),
    "reads through the read-only cache": (
        "stencil",
        "kernels.cuh",
        "",
        [("blend(in[y * width + left],", "blend(__ldg(&in[y * width + left]),")],
    ),
    "a private histogram in an included source": (
        "histogram",
        "device.inc.cu",
        "",
        [("  if (i < n) atomicAdd(&bins[bin_of(in[i])], 1u);\n", PRIVATE)],
    ),
    "another block through a function's argument": (
        *H,
        "geometry",
        [("bins.data(), n, 128);", "bins.data(), n, 256);")],
    ),
    "a bounded grid within a function": (
        *H,
        "geometry",
        [("block;\n  count", "block;\n  if (grid > 512) grid = 512;\n  count")],
    ),
    "an online softmax": (
        *M,
        "",
        [
            ("  float best = row_max(mine, shape.columns), total = 0;\n", ""),
            ("  for (int i = 0; i < shape.columns; ++i) total += expf((mine[i] - best) * temperature);\n", ONLINE),
        ],
    ),
    "a factor out of the loop": (
        *M,
        "",
        [
            ("expf((mine[i] - best) * temperature) / total;", "expf((mine[i] - best) * temperature) * scale;"),
            (
                "  for (int i = 0; i < shape.columns; ++i) {\n    out",
                "  const float scale = 1.0f / total;\n  for (int i = 0; i < shape.columns; ++i) {\n    out",
            ),
        ],
    ),
    "a block for each row": (
        *M,
        "geometry",
        [
            ("dim3((shape.rows + 63) / 64), dim3(64), 0", "dim3(shape.rows), dim3(64), 0"),
            ("int row = blockIdx.x * blockDim.x + threadIdx.x;", "int row = blockIdx.x; if (threadIdx.x) return;"),
        ],
    ),
    "promises about pointers": (
        *M,
        "",
        [("softmax(const float* in, float* out,", "softmax(const float* __restrict__ in, float* __restrict__ out,")],
    ),
    "a tiled product": (
        *P,
        "",
        [
            ("  if (row >= n || column >= n) return;\n  double sum = 0;\n", "  "),
            ("for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];", TILED),
            ("  c[row * n + column] = sum;", "  if (row < n && column < n) c[row * n + column] = sum;"),
        ],
    ),
    "flat blocks": (
        *P,
        "geometry",
        [
            (
                "dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);",
                "dim3 block(32, 8);\n  dim3 grid((n + 31) / 32, (n + 7) / 8);",
            )
        ],
    ),
    "a kernel's preference": (
        *P,
        "kernels",
        [
            (
                "  cudaEventRecord(start);",
                "  cudaFuncSetCacheConfig(product, cudaFuncCachePreferL1);\n  cudaEventRecord(start);",
            )
        ],
    ),
    "a counter of blocks": (
        *P,
        "",
        [
            (PRODUCT, "__device__ unsigned int blocks_done;\n" + PRODUCT),
            ("c[row * n + column] = sum;", "c[row * n + column] = sum;\n  atomicInc(&blocks_done, 1u << 30);"),
        ],
    ),
    "a scan by shuffles": (
        *N,
        "",
        [
            (
                "    int add = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;",
                "    int add = threadIdx.x < step ? 0 : tile[threadIdx.x - step];",
            )
        ],
    ),
    "a block size that sizes scratch memory": (*N, "kernels", [("#define BLOCK 128", "#define BLOCK 256")]),
    "both kernels": (
        *N,
        "kernels",
        [
            ("  int before = 0;\n", ""),
            (
                "  for (int block = 0; block < blockIdx.x; ++block) before += sums[block];",
                "  __shared__ int before;\n  if (threadIdx.x == 0) {\n"
                "    before = 0;\n    for (int b = 0; b < blockIdx.x; ++b) before += sums[b];\n  }\n"
                "  __syncthreads();",
            ),
            ("threadIdx.x >= step ?", "int(threadIdx.x) >= step ?"),
        ],
    ),
}
