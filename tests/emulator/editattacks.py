"""Attacks on the edit gate, by what they try."""

from __future__ import annotations

from editpatches import KERNEL, LAUNCH, LOAD, SYNC, H, M, N, P, Patch, R, S

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
