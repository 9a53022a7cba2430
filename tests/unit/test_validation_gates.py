"""The static gate on planted edits: what a candidate may change and what it may not."""

from __future__ import annotations

import pytest

from intelliperf.records import Candidate, Declaration, FileEdit, Origin, OriginKind, content_hash
from intelliperf.validation.edits.denylist import balanced, violation
from intelliperf.validation.edits.gates import StaticVerdict, examine
from intelliperf.validation.edits.source import base_name

SOURCE = """\
// A small program.
#include <cstdio>
#include <hip/hip_runtime.h>
#define WIDTH 16
#ifdef CHECKED
#define CHECK(x) do { if ((x) != hipSuccess) return 1; } while (0)
#else
#define CHECK(x) (void)(x)
#endif
namespace tools {
template <typename T> __device__ T twice(T x) { return x + x; }
__host__ __device__ inline int both(int x) { return x; }
}
__global__ void scale(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(n > 0);
  if (i < n) out[i] = tools::twice(in[i]);
}
__global__ void other(float* out) { out[0] = tools::twice(out[0]); }
int main() {
  const int n = 1000;
  float *in, *out;
  CHECK(hipMalloc(&in, n * 4));
  CHECK(hipMalloc(&out, n * 4));
  const int block = 256;
  dim3 grid((n + block - 1) / block);
  scale<<<grid, block>>>(out, in, n);
  other<<<1, 1>>>(out);
  CHECK(hipDeviceSynchronize());
  printf("done %d\\n", n);
  return 0;
}
"""


def verdict(*replacements: tuple[str, str], declares: Declaration | None = None) -> StaticVerdict:
    text = SOURCE
    for old, new in replacements:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    edit = FileEdit("app.hip", content_hash(SOURCE), text)
    candidate = Candidate((edit,), "", Origin(OriginKind.USER, "test"), declares or Declaration())
    return examine(candidate, {"app.hip": SOURCE}, {"app.hip"}, "scale(float*, float const*, int)")


BODY = "if (i < n) out[i] = tools::twice(in[i]);"


def test_the_body_of_the_target_may_change():
    assert verdict((BODY, "for (; i < n; i += 1 << 20) out[i] = 2 * in[i];")) == StaticVerdict()


def test_comments_and_layout_are_free_everywhere():
    assert (
        verdict(("int main() {", "// starts here\nint main()\n{"), (BODY, "if (i < n) { out[i] = 2 * in[i]; }")).refusal
        == ""
    )


def test_new_device_functions_constants_and_includes_are_fine():
    addition = (
        "#include <cooperative_groups.h>\n#define TILE 32\nconstexpr int kPad = 1;\n"
        "__device__ float thrice(float x) { return 3 * x; }\nextern __shared__ float pool[];\n"
        "constexpr int half(int x) { return x / 2; }\n__device__ void half2(float& x) { x /= 2; }\n"
        "__global__ void scale("
    )
    found = verdict(("__global__ void scale(", addition))
    assert found.refusal == ""
    assert found.beyond_target


def test_a_changed_device_function_is_allowed_and_told():
    assert verdict(("{ return x + x; }", "{ return 2 * x; }")) == StaticVerdict(beyond_target=True)


def test_a_barrier_or_an_atomic_that_goes_is_told():
    barrier = SOURCE.replace("if (i < n)", "__syncthreads(); if (i < n)", 1)
    assert barrier != SOURCE
    edit = FileEdit("app.hip", content_hash(barrier), barrier.replace("__syncthreads(); ", ""))
    candidate = Candidate((edit,), "", Origin(OriginKind.USER, "test"), Declaration())
    assert examine(candidate, {"app.hip": barrier}, {"app.hip"}, "scale(float*, float const*, int)").synchronisation
    moved = FileEdit(
        "app.hip", content_hash(barrier), barrier.replace("__syncthreads(); if (i < n)", "__syncthreads(); if (n > i)")
    )
    candidate = Candidate((moved,), "", Origin(OriginKind.USER, "test"), Declaration())
    assert not examine(candidate, {"app.hip": barrier}, {"app.hip"}, "scale(float*, float const*, int)").synchronisation


def test_restrict_and_launch_bounds_may_be_added_to_the_target():
    found = verdict(
        (
            "void scale(float* out, const float* in",
            "void __launch_bounds__(256) scale(float* __restrict__ out, const float* in",
        )
    )
    assert found.refusal == ""
    assert found.restricted


FORBIDDEN = {
    "a variable that looks like a prototype": [
        ("__global__ void other", "__device__ float* kept[(2)];\n__global__ void other")
    ],
    "a changing pointer to constants": [
        ("__global__ void other", "__device__ const float* kept;\n__global__ void other")
    ],
    "a static pointer to constants": [("int i = blockIdx", "static const float* kept; int i = blockIdx")],
    "a static array sized by a constant": [
        ("int i = blockIdx", "static float kept[sizeof(const int)]; int i = blockIdx")
    ],
    "a variable of the thread": [("int i = blockIdx", "thread_local float kept; int i = blockIdx")],
    "a static member": [
        ("__global__ void other", "struct Kept { static inline __device__ float v[2]; };\n__global__ void other")
    ],
    "a constant with a member that changes": [
        (
            "__global__ void other",
            "struct Kept { mutable float v; };\n__device__ const Kept kept = {};\n__global__ void other",
        )
    ],
    "a host function with a constant inside": [
        ("__global__ void other", "int late() { constexpr int k = 1; return k; }\n__global__ void other")
    ],
    "a function by a library's name": [
        (
            "__global__ void other",
            'extern "C" __device__ void* memcpy(void* d, void*, long) { return d; }\n__global__ void other',
        )
    ],
    "a prototype of a library's function": [
        ("__global__ void other", 'extern "C" __device__ int usleep(unsigned);\n__global__ void other')
    ],
    "a prototype of what nothing defines": [
        ("__global__ void other", "__device__ int later(int);\n__global__ void other")
    ],
    "a builtin of the host": [("int i = blockIdx", '__builtin_puts("PASS"); int i = blockIdx')],
    "a way to the caller": [("int i = blockIdx", "void* who = __builtin_return_address(0); int i = blockIdx")],
    "a question for the host's system": [("int i = blockIdx", "const bool here = __linux__; int i = blockIdx")],
    "another kernel": [("out[0] = tools::twice(out[0]);", "out[0] = 0;")],
    "host code": [("const int n = 1000;", "const int n = 10;")],
    "the launch": [("scale<<<grid, block>>>(out, in, n);", ";")],
    "the launch geometry": [("scale<<<grid, block>>>", "scale<<<1, block>>>")],
    "a function that the host uses, too": [("{ return x; }", "{ return 0; }")],
    "the macro of checks": [("#define CHECK(x) (void)(x)", "#define CHECK(x) 0")],
    "a constant that others use": [("#define WIDTH 16", "#define WIDTH 8")],
    "a macro over an API name": [(BODY, BODY + "\n#define hipDeviceSynchronize() hipSuccess\n")],
    "a macro over main": [("#define WIDTH 16", "#define WIDTH 16\n#define main other_main")],
    "a macro over a variable of the host": [("#define WIDTH 16", "#define WIDTH 16\n#define block 1")],
    "a macro over a keyword": [("#define WIDTH 16", "#define WIDTH 16\n#define if while")],
    "a conditional": [(BODY, f"#if 1\n{BODY}\n#endif\n")],
    "a conditional taken away": [("#ifdef CHECKED", "#ifndef CHECKED")],
    "assembly": [(BODY, 'asm volatile("s_nop 0"); ' + BODY)],
    "assembly behind a line splice": [(BODY, 'as\\\nm volatile("s_nop 0"); ' + BODY)],
    "token pasting": [("#define WIDTH 16", "#define WIDTH 16\n#define GLUE(a, b) a##b")],
    "a pragma": [(BODY, "\n#pragma clang fp reassociate(on)\n" + BODY)],
    "an operator pragma": [(BODY, '_Pragma("omp parallel") ' + BODY)],
    "approximate functions": [(BODY, "if (i < n) out[i] = __fdividef(in[i], 0.5f);")],
    "half precision beside a variable of its name": [
        (BODY, "{ int half = 1; i += half - 1; } half x = in[i]; if (i < n) out[i] = 2 * (float)x;")
    ],
    "half precision": [(BODY, "if (i < n) out[i] = 2 * (float)(__half)in[i];")],
    "a timer": [(BODY, "if (clock64() > 0) " + BODY)],
    "the removal of an assertion": [("assert(n > 0);", "")],
    "printing": [(BODY, BODY + ' printf("PASS");')],
    "a global variable": [("__global__ void other", "__device__ float cache[1000] = {1};\n__global__ void other")],
    "a static variable": [(BODY, "static float cache; " + BODY)],
    "a constructor": [("__global__ void other", "struct Early { Early() {} };\n__global__ void other")],
    "a host function": [("__global__ void other", "int early() { return 1; }\n__global__ void other")],
    "an operator for the host": [
        (
            "__global__ void other",
            "constexpr bool operator!=(hipError_t, hipError_t) { return 0; }\n__global__ void other",
        )
    ],
    "a constructor attribute": [("__device__ T twice(T x)", "__attribute__((constructor)) __device__ T twice(T x)")],
    "a computed constant": [("__global__ void other", "const int early = rand();\n__global__ void other")],
    "a local header": [("#include <cstdio>", '#include <cstdio>\n#include "answers.h"')],
    "a table of answers": [(BODY, "const float t[] = {" + ",".join(map(str, range(100))) + "}; " + BODY)],
    "another signature": [("const float* in, int n) {\n  int i", "const float* in, int n, int m = 0) {\n  int i")],
    "the kernel's name": [("__global__ void scale(", "__global__ void scaled(")],
    "braces that end the kernel early": [(BODY, BODY + "}\nvoid evil() { ")],
    "a new kernel": [("__global__ void other", "__global__ void more() {}\n__global__ void other")],
    "a question about the compiler": [(BODY, "if (sizeof(__FILE__) > 3) " + BODY)],
    "a type whose size tells where it runs": [(BODY, "if (sizeof(long double) == 8) " + BODY)],
    "a literal of that type": [(BODY, "if (sizeof(1.0L) == 8) " + BODY)],
    "unbalanced code": [(BODY, BODY + " { ")],
    "the environment": [(BODY, 'if (getenv("X")) ' + BODY)],
    "an overload of a function in use": [
        ("__global__ void other", "__device__ int both(float x) { return 1; }\n__global__ void other")
    ],
    "using another namespace": [("__global__ void other", "using namespace tools;\n__global__ void other")],
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_candidate_may_not_change_or_add(name):
    assert verdict(*FORBIDDEN[name]).refusal != ""


GEOMETRY = Declaration(geometry=True, reason="fewer blocks")
KERNELS = Declaration(kernels=True, reason="two passes")


def test_a_declared_geometry_opens_the_launch_configuration_only():
    assert verdict(("scale<<<grid, block>>>", "scale<<<dim3(2), 128, 64>>>"), declares=GEOMETRY).refusal == ""
    assert verdict(("dim3 grid((n + block - 1) / block);", "dim3 grid(7);"), declares=GEOMETRY).refusal == ""
    assert verdict(("const int block = 256;", "const int block = 128;"), declares=GEOMETRY).refusal == ""
    assert verdict(("const int n = 1000;", "const int n = 10;"), declares=GEOMETRY).refusal != ""
    assert verdict(("(out, in, n);", "(out, in, n / 2);"), declares=GEOMETRY).refusal != ""
    assert verdict(("printf(", "std::printf("), declares=GEOMETRY).refusal != ""


def test_one_declaration_may_hold_all_of_a_launch():
    text = SOURCE.replace("dim3 grid((n + block - 1) / block);", "dim3 threads(256, 1), blocks(4);")
    text = text.replace("<<<grid, block>>>", "<<<blocks, threads>>>")
    changed = text.replace("threads(256, 1), blocks(4)", "threads(64), blocks(16)")
    edit = FileEdit("app.hip", content_hash(text), changed)
    candidate = Candidate((edit,), "", Origin(OriginKind.USER, "test"), GEOMETRY)
    assert examine(candidate, {"app.hip": text}, {"app.hip"}, "scale(float*, float const*, int)").refusal == ""
    counted = text.replace("blocks(4);", 'blocks(4); printf("%d", blocks.x);')
    changed = counted.replace("threads(256, 1), blocks(4)", "threads(64), blocks(16)")
    edit = FileEdit("app.hip", content_hash(counted), changed)
    candidate = Candidate((edit,), "", Origin(OriginKind.USER, "test"), GEOMETRY)
    assert examine(candidate, {"app.hip": counted}, {"app.hip"}, "scale(float*, float const*, int)").refusal != ""


def test_declared_kernels_open_launches_and_scratch_memory_only():
    kernel = ("__global__ void other", "__global__ void finish(float* a, float* b) { *a = *b; }\n__global__ void other")
    launch = (
        "scale<<<grid, block>>>(out, in, n);",
        "float* partial = nullptr;\nCHECK(hipMalloc(&partial, 4));\nscale<<<grid, block>>>(out, in, n);\n"
        "finish<<<1, 1>>>(out, partial);\nCHECK(hipFree(partial));",
    )
    assert verdict(kernel, launch, declares=KERNELS).refusal == ""
    assert verdict(kernel, launch, declares=GEOMETRY).refusal != ""
    copy = ("printf(", "hipMemcpy(out, in, 4, hipMemcpyDeviceToDevice);\n  printf(")
    assert verdict(copy, declares=KERNELS).refusal != ""
    assert verdict(("CHECK(hipMalloc(&out, n * 4));", "CHECK(hipMalloc(&out, n * 8));"), declares=KERNELS).refusal != ""
    assert verdict(("printf(", "CHECK(hipFree(out)); printf("), declares=KERNELS).refusal != ""


def test_only_named_files_may_change():
    edit = FileEdit("Makefile", content_hash(SOURCE), "all:")
    candidate = Candidate((edit,), "", Origin(OriginKind.USER, "test"))
    found = examine(candidate, {"Makefile": SOURCE, "app.hip": SOURCE}, {"app.hip"}, "scale(float*)")
    assert "Makefile" in found.refusal


def test_the_name_of_a_kernel_is_read_from_its_demangled_form():
    assert base_name("void ns::scale<float, (anonymous namespace)::Op<4>>(float*, int)") == "scale"
    assert base_name("scale(float*)") == "scale"
    assert base_name("(anonymous namespace)::sum(int)") == "sum"


def test_what_the_user_already_uses_may_be_used_again():
    before = "__global__ void k(__half* a) { clock64(); }"
    assert violation(before, before.replace("clock64();", "__half b = a[0]; a[1] = b; clock64();")) is None
    assert violation(before, before.replace("clock64();", "clock64(); clock64();")) is not None


def test_common_words_are_good_names_for_variables():
    before = "__global__ void k(int* a) { }"
    assert (
        violation(
            before, "__global__ void k(int* a) { int read = 0, used = 1, section = 2; a[read] = used + section; }"
        )
        is None
    )


def test_braces_are_counted_without_those_in_strings_and_comments():
    assert balanced("{ char c = '{'; const char* s = \"}\"; /* } */ // }\n }")
    assert not balanced("{ } void f() { }")
    assert not balanced("{ { }")


MACROS = """\
#include <hip/hip_runtime.h>
#define KERNEL(name) extern "C" __global__ void name
#ifdef FAST
#define DEV __device__ __forceinline__
#else
#define DEV
#endif
"""
MACRO_SOURCE = """\
#include "macros.h"
DEV float twice(float x) { return x + x; }
KERNEL(scale)(float* out, int n) {
  int i = blockIdx.x;
  if (i < n) out[i] = twice(out[i]);
}
KERNEL(other)(float* out) { out[0] = 1.0f; }
"""


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ("if (i < n) out[i] = twice(out[i]);", "if (i < n) out[i] += out[i];", False),
        ("return x + x;", "return 2 * x;", False),
        ("out[0] = 1.0f;", "out[0] = 2.0f;", True),
    ],
)
def test_kernels_that_macros_of_a_header_define_are_known(old, new, refused):
    text = MACRO_SOURCE.replace(old, new)
    edit = FileEdit("app.hip", content_hash(MACRO_SOURCE), text)
    candidate = Candidate((edit,), "", Origin(OriginKind.USER, "test"), Declaration())
    sources = {"app.hip": MACRO_SOURCE, "macros.h": MACROS}
    assert bool(examine(candidate, sources, set(sources), "scale").refusal) is refused


ACTING = {
    "a call": "scale<<<grid.x + hipFree(in) * 0, block>>>(out, in, n);",
    "an assignment": "scale<<<grid, (in = out, block)>>>(out, in, n);",
    "a lambda": "scale<<<[&] { return grid; }(), block>>>(out, in, n);",
}


@pytest.mark.parametrize("name", ACTING)
@pytest.mark.parametrize("declares", (Declaration(geometry=True), Declaration(kernels=True)))
def test_a_declared_launch_computes_and_does_not_act(name, declares):
    assert verdict(("scale<<<grid, block>>>(out, in, n);", ACTING[name]), declares=declares).refusal != ""


def test_scratch_memory_may_stand_before_and_after_lines_that_look_like_it():
    """The difference of two rows of words may begin in the middle of a statement that did not change."""
    found = verdict(
        ("float *in, *out;", "float* parts;\n  hipMalloc(&parts, 4);\n  float *in, *out;"),
        ("CHECK(hipDeviceSynchronize());", "CHECK(hipFree(parts));\n  CHECK(hipDeviceSynchronize());"),
        declares=Declaration(kernels=True),
    )
    assert found.refusal == ""


def test_a_counter_of_blocks_may_be_added_for_the_comparison_to_watch():
    assert verdict(("__global__ void other", "__device__ unsigned int done;\n__global__ void other")).refusal == ""


def test_a_helper_may_stand_in_the_block_of_plain_names_in_which_the_kernel_stands():
    source = SOURCE.replace("__global__ void scale", 'extern "C" {\n__global__ void scale').replace(
        "int main", "}\nint main"
    )
    text = source.replace(
        "__global__ void scale", "__device__ float thrice(float x) { return 3 * x; }\n__global__ void scale"
    )
    edit = FileEdit("app.hip", content_hash(source), text)
    found = examine(Candidate((edit,), "", Origin(OriginKind.USER, "test")), {"app.hip": source}, {"app.hip"}, "scale")
    assert found.refusal == ""
