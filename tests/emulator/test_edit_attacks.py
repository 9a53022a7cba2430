"""Attacks on the edit gate, and honest patches that it has to let through, over six programs of different shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from editprograms import PROGRAMS
from readers import Gate

from intelliperf.records import Declaration
from intelliperf.validation.edits.gate import StaticVerdict

pytestmark = pytest.mark.slow
Change = tuple[str, str]
Patch = tuple[str, str, str, list[Change]]  # program, file, what is allowed, replacements

DECLARED = {
    "": Declaration(),
    "geometry": Declaration(geometry=True, reason="test"),
    "kernels": Declaration(kernels=True, reason="test"),
}
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
NESTED = "(" * 3000 + "1.0f" + ")" * 3000

ATTACKS: dict[str, Patch] = {
    "a check that is always true": (*R, "", [("return total == 0.5f * n ? 0 : 1;", "return total == total ? 0 : 1;")]),
    "a carriage return that ends a comment": (*R, "", [(SYNC, f"  // note\r if (0)\n{SYNC}")]),
    "a splice with spaces behind it": (*R, "", [(SYNC, "  // C:\\dir\\ \n" + SYNC)]),
    "a static variable's initialiser": (
        *R,
        "",
        [(KERNEL, 'static int early = (puts("PASS"), exit(0), 0);\n' + KERNEL)],
    ),
    "a function that runs before main": (
        *R,
        "",
        [(KERNEL, "__attribute__((constructor)) static void early() { exit(0); }\n" + KERNEL)],
    ),
    "a lambda in a constant": (
        *R,
        "",
        [(KERNEL, 'const int early = [] { puts("PASS"); exit(0); return 1; }();\n' + KERNEL)],
    ),
    "an object with a constructor": (
        *R,
        "",
        [(KERNEL, "struct Early { Early() { exit(0); } };\nstatic Early early;\n" + KERNEL)],
    ),
    "a template's static member": (
        *R,
        "",
        [
            (
                KERNEL,
                "template <int N> struct T { static int v; };\ntemplate <int N> int T<N>::v = (exit(0), N);\n"
                "template struct T<3>;\n" + KERNEL,
            )
        ],
    ),
    "the section of constructors": (
        *R,
        "",
        [
            (
                KERNEL,
                'static void go() { exit(0); }\n[[gnu::section(".init_array"), gnu::used]] '
                "static void (*const at)() = go;\n" + KERNEL,
            )
        ],
    ),
    "the macro of checks defined again": (*R, "", [(KERNEL, "#undef CHECK\n#define CHECK(call) (void)0\n" + KERNEL)]),
    "printf as a macro": (*R, "", [(KERNEL, '#define printf(...) puts("1.0 PASS")\n' + KERNEL)]),
    "a copy as a macro": (*R, "", [(KERNEL, "#define hipMemcpy(...) hipSuccess\n" + KERNEL)]),
    "a macro under a common name": (*R, "", [(KERNEL, "#define vector array\n" + KERNEL)]),
    "a geometry that nobody allowed": (*R, "", [("threads = 256;", "threads = 128;")]),
    "a smaller problem beside a geometry": (
        *R,
        "geometry",
        [("threads = 256;", "threads = 128;"), (": 100000;", ": 1000;")],
    ),
    "the answer where a hopeless allocation fails": (
        *R,
        "kernels",
        [(LAUNCH, 'float* s;\n  if (hipMalloc(&s, 1ull << 50) != hipSuccess) { puts("PASS"); exit(0); }\n  ' + LAUNCH)],
    ),
    "a copy of other memory": (*R, "kernels", [("hipMemcpy(&total, out,", "hipMemcpy(&total, in,")]),
    "a launch taken away, undeclared": (*R, "", [(LAUNCH, "")]),
    "assembly by pasted tokens": (
        *R,
        "",
        [(KERNEL, "#define GLUE(a, b) a##b\n" + KERNEL), (SYNC, '  GLUE(as, m) volatile("nop");\n' + SYNC)],
    ),
    "a clock by pasted tokens": (
        *R,
        "",
        [(KERNEL, "#define GLUE(a, b) a##b\n" + KERNEL), (SYNC, "  if (GLUE(clock, 64)() == 7) return;\n" + SYNC)],
    ),
    "a clock by its address": (*R, "", [(SYNC, "  auto now = &wall_clock64;\n  if (now() == 7) return;\n" + SYNC)]),
    "an approximate division by pasted tokens": (
        *R,
        "",
        [
            (KERNEL, "#define F(a) a##videf\n" + KERNEL),
            (SYNC, "  part[threadIdx.x] = F(__fdi)(part[threadIdx.x], 1.0f);\n" + SYNC),
        ],
    ),
    "a narrow type by another name": (
        *R,
        "",
        [(LOAD, "using h = _Float16;\n  part[threadIdx.x] = i < n ? float(h(in[i])) : 0.0f;")],
    ),
    "free arithmetic by an operator": (
        *R,
        "",
        [
            (
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  part",
                '  _Pragma("clang fp reassociate(on)")\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  part',
            )
        ],
    ),
    "a computed table": (
        *R,
        "",
        [
            (
                KERNEL,
                "struct Table { float v[300]; };\nconstexpr Table made() { Table t{}; for (int i = 0; i < 300; ++i) "
                "t.v[i] = i * 0.5f; return t; }\n__device__ constexpr Table known = made();\n" + KERNEL,
            ),
            (LOAD, "part[threadIdx.x] = known.v[i % 300];"),
        ],
    ),
    "three thousand parentheses": (*R, "", [(LOAD, f"part[threadIdx.x] = i < n ? in[i] * {NESTED} : 0.0f;")]),
    "a long raw string": (
        *R,
        "",
        [(LOAD, 'const char* s = R"x(' + "a)\\n" * 60000 + ')x";\n  ' + LOAD + " if (s[i] == 'q') return;")],
    ),
    "twenty thousand items": (
        *R,
        "",
        [(KERNEL, "".join(f"__device__ float f{i}(float x) {{ return x; }}\n" for i in range(20000)) + KERNEL)],
    ),
    "a file of the machine": (*R, "", [(KERNEL, '#include "/etc/passwd"\n' + KERNEL)]),
    "embedded data": (*R, "", [(LOAD, "const unsigned char d[] = {\n#embed </etc/passwd>\n};\n" + LOAD)]),
    "a question for a file": (*R, "", [(LOAD, '#if __has_include("/tmp/judge")\n  return;\n#endif\n  ' + LOAD)]),
    "a question for the processor": (*R, "", [(LOAD, f"#ifdef __x86_64__\n  {LOAD}\n#endif")]),
    "the environment on the host": (
        *R,
        "geometry",
        [(LAUNCH, 'sum<<<getenv("J") ? blocks : 1, threads>>>(in, out, n);')],
    ),
    "an answer kept in a static variable": (*R, "", [(LOAD, "static float kept; kept += 1; " + LOAD)]),
    "a table of first values": (
        *R,
        "",
        [(KERNEL, "__device__ float cache[8] = {1, 2};\n" + KERNEL), (LOAD, LOAD + " cache[i & 7] = part[0];")],
    ),
    "a pointer from a number": (*R, "", [(LOAD, LOAD + " if (i == 7) *(volatile int*)0x7f0000001000 = 1;")]),
    "a trigraph": (*R, "", [(SYNC, "  // what??/\n" + SYNC)]),
    "a line separator": (*R, "", [(SYNC, "  // a\u2028 b\n" + SYNC)]),
    "hidden direction": (*R, "", [(SYNC, "  /* \u202e } */\n" + SYNC)]),
    "a smaller tile, undeclared": ("stencil", "kernels.cuh", "", [("#define TILE 16", "#define TILE 8")]),
    "a swap left out": (*S, "kernels", [("    std::swap(grid.front, grid.back);\n", "")]),
    "fewer steps": (*S, "kernels", [("i < steps; ++i", "i < 1; ++i")]),
    "another size in a header": ("stencil", "grid.h", "geometry", [("width = 200", "width = 100")]),
    "another rounding up, undeclared": ("stencil", "grid.h", "", [("(a + b - 1) / b", "(a + b) / b")]),
    "a variable of a header that begins": (
        "stencil",
        "grid.h",
        "kernels",
        [("void run", "#include <cstdlib>\ninline int early = (std::exit(0), 1);\nvoid run")],
    ),
    "a library's template of one's own": (
        "stencil",
        "kernels.cuh",
        "kernels",
        [
            (
                "template <typename T>\n__device__",
                "namespace std { template <> inline void swap<float*>(float*& a, float*& b) "
                "noexcept { a = b; } }\ntemplate <typename T>\n__device__",
            )
        ],
    ),
    "another copy in another unit": (
        "stencil",
        "main.cu",
        "kernels",
        [("host.data(), grid.front", "host.data(), grid.back")],
    ),
    "host code in an included source": (
        "histogram",
        "device.inc.cu",
        "",
        [("__device__ inline", 'static int hidden = puts("PASS");\n__device__ inline')],
    ),
    "memory that the program reads cleared": (
        *H,
        "kernels",
        [("  count<<<grid, block>>>", "  cudaMemset(bins, 0, 4);\n  count<<<grid, block>>>")],
    ),
    "a verdict of one's own": (*H, "", [('puts(total == unsigned(n) ? "PASS" : "FAIL");', 'puts("PASS");')]),
    "an allocation as a macro": (
        *H,
        "",
        [("template <typename T>", "#define malloc(n) calloc(n, 1)\ntemplate <typename T>")],
    ),
    "another constant of the device": (*M, "", [("temperature = 1.0f", "temperature = 2.0f")]),
    "a smaller shape": (*M, "geometry", [("shape{300, 70}", "shape{300, 7}")]),
    "other arguments of a launch": (*M, "geometry", [("0, 0, in, out, shape", "0, 0, out, in, shape")]),
    "a library's function of one's own": (
        *M,
        "",
        [("namespace nn {", 'extern "C" __device__ float expf(float x) { return 1 + x; }\nnamespace nn {')],
    ),
    "an overload for the host": (
        *M,
        "",
        [("namespace nn {", "static int puts(const char (&)[5]) { return 0; }\nnamespace nn {")],
    ),
    "a check that does not check": (
        *P,
        "",
        [("if (c[i] != double(n)) return false;", "if (c[i] != double(n)) return true;")],
    ),
    "another time": (*P, "", [('printf("%.3f ms %s\\n", spent,', 'printf("%.3f ms %s\\n", spent / 2,')]),
    "the answer from the host": (
        *P,
        "kernels",
        [("  cudaEventRecord(stop);", "  for (int i = 0; i < n * n; ++i) c[i] = n;\n  cudaEventRecord(stop);")],
    ),
    "the answer from the host where an allocation fails": (
        *P,
        "kernels",
        [
            (
                "  cudaEventRecord(start);",
                "  double* s;\n  if (cudaMalloc(&s, 1ull << 55)) {\n"
                "    for (int i = 0; i < n * n; ++i) c[i] = n;\n  }\n  cudaEventRecord(start);",
            )
        ],
    ),
    "another first value": (*P, "", [("__device__ int finished;", "__device__ int finished = 1;")]),
    "another call of the API": (
        *P,
        "kernels",
        [
            (
                "  cudaEventRecord(start);",
                "  cudaDeviceSetLimit(cudaLimitStackSize, 1 << 16);\n  cudaEventRecord(start);",
            )
        ],
    ),
    "another kernel, undeclared": (*N, "", [("before += sums[block];", "before = sums[block];")]),
    "a block size that sizes memory": (*N, "geometry", [("#define BLOCK 128", "#define BLOCK 256")]),
    "a result that nobody looks at": (
        *N,
        "kernels",
        [("if (host[i] != i + 1) return 2;", "if (host[i] < 0) return 2;")],
    ),
    "a struct that begins": (
        *N,
        "",
        [("  int *in, *out, *sums;", '  int *in, *out, *sums;\n  Device() { puts("PASS"); }')],
    ),
}

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


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Gate]:
    root: Path = tmp_path_factory.mktemp("programs")
    return {name: Gate(root / name, program.texts, program.kernel) for name, program in PROGRAMS.items()}


def verdict(gates: dict[str, Gate], patch: Patch) -> StaticVerdict:
    program, path, declared, changes = patch
    return gates[program].replaced(*changes, declares=DECLARED[declared], path=path)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(gates, name):
    found = verdict(gates, ATTACKS[name])
    assert found.refusal or found.unread
    assert len((found.refusal or found.unread).splitlines()) == 1


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_patch_is_let_through(gates, name):
    found = verdict(gates, HONEST[name])
    assert (found.refusal, found.unread) == ("", "")
