"""The edit gate on planted edits of one program: what a candidate may change and what it may not."""

from __future__ import annotations

import pytest
from readers import Gate, reading_of

from intelliperf.records import Candidate, Declaration, FileEdit, Origin, OriginKind, content_hash
from intelliperf.validation.edits.gate import StaticVerdict, examine
from intelliperf.validation.edits.hostcode import Needs

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


BODY = "if (i < n) out[i] = tools::twice(in[i]);"
OTHER = "__global__ void other"
GEOMETRY = Declaration(geometry=True, reason="fewer blocks")
KERNELS = Declaration(kernels=True, reason="two passes")


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    return Gate(tmp_path_factory.mktemp("gate"), {"app.hip": SOURCE}, "scale(float*, float const*, int)")


@pytest.mark.slow
def test_the_body_of_the_target_may_change(gate):
    assert gate.replaced((BODY, "for (; i < n; i += 1 << 20) out[i] = 2 * in[i];")) == StaticVerdict()


def test_comments_layout_and_names_are_free_everywhere(gate):
    found = gate.replaced(
        ("int main() {", "// starts here\nint main()\n{"),
        ("dim3 grid((n + block - 1) / block);", "const dim3 blocks_of_it{unsigned((n + (block - 1)) / block), 1u};"),
        ("scale<<<grid, block>>>(out, in, n);", "{ scale<<<blocks_of_it, block>>>(out, in, n); }"),
        (BODY, "if (i < n) { out[i] = 2 * in[i]; }"),
    )
    assert found == StaticVerdict()


def test_what_the_compiler_does_not_see_is_told_from_what_it_does(gate):
    def unchanged(*replaced: tuple[str, str]) -> bool:
        return gate.replaced(*replaced).unchanged

    assert unchanged((BODY, f"{BODY}  // each thread its element"))
    assert unchanged((BODY, BODY.replace("(i < n)", "( i<n )")))
    assert not unchanged((BODY, f"\n{BODY}"), ("int i = blockIdx", "\nint i = blockIdx"))  # assert() names its line
    assert not unchanged((f"{OTHER}(", "__global__ void __launch_bounds__(64) other("))
    assert not unchanged(("int i = blockIdx", "const int i = blockIdx"))


def test_new_device_functions_constants_and_includes_are_fine(gate):
    addition = (
        "#include <cooperative_groups.h>\n#define TILE 32\nconstexpr int kPad = 1;\n"
        "__device__ float thrice(float x) { return 3 * x; }\nextern __shared__ float pool[];\n"
        "constexpr int half(int x) { return x / 2; }\n__device__ void half2(float& x) { x /= 2; }\n"
        "__global__ void scale("
    )
    use = "half2(pool[half(i)]); if (i < n) out[i] = thrice(in[i]) - pool[kPad + TILE];"
    assert gate.replaced(("__global__ void scale(", addition), (BODY, use)).refusal == ""


def test_a_changed_device_function_is_allowed_and_told(gate):
    assert gate.replaced(("{ return x + x; }", "{ return 2 * x; }")) == StaticVerdict(beyond_target=True)


def test_a_barrier_or_an_atomic_that_comes_is_told(gate):
    assert gate.replaced((BODY, "__syncthreads(); " + BODY)).synchronisation
    assert not gate.replaced((BODY, "if (n > i) out[i] = tools::twice(in[i]);")).synchronisation


def test_restrict_and_launch_bounds_may_be_added_to_the_target(gate):
    header = (
        "void scale(float* out, const float* in",
        "void __launch_bounds__(256) scale(float* __restrict__ out, const float* in",
    )
    found = gate.replaced(header)
    assert found.refusal == ""
    assert found.restricted


# Without effect on what the compiler makes of the program: no reader has to know their text.
FREE = {
    "braces that end the kernel early": [(BODY, BODY + "}\nvoid evil() { ")],
    "a static member": [(OTHER, "struct Kept { static inline __device__ float v[2]; };\n" + OTHER)],
    "a constant with a member that changes": [
        (OTHER, "struct K { mutable float v; };\n__device__ const K kept = {};\n" + OTHER)
    ],
    "a host function with a constant inside": [(OTHER, "int late() { constexpr int k = 1; return k; }\n" + OTHER)],
    "a prototype of a library's function": [(OTHER, 'extern "C" __device__ int usleep(unsigned);\n' + OTHER)],
    "a prototype of what nothing defines": [(OTHER, "__device__ int later(int);\n" + OTHER)],
    "a constant that others use": [("#define WIDTH 16", "#define WIDTH 8")],
    "a conditional": [(BODY, "#if 1\n" + BODY + "\n#endif\n")],
    "token pasting": [("#define WIDTH 16", "#define WIDTH 16\n#define GLUE(a, b) a##b")],
    "a constructor": [(OTHER, "struct Early { Early() {} };\n" + OTHER)],
    "a host function": [(OTHER, "int early() { return 1; }\n" + OTHER)],
    "an overload of a function in use": [(OTHER, "__device__ int both(float x) { return 1; }\n" + OTHER)],
    "using another namespace": [(OTHER, "using namespace tools;\n" + OTHER)],
    "a function that the host uses, too": [("{ return x; }", "{ return 0; }")],
    "an operator for the host": [(OTHER, "constexpr bool operator!=(hipError_t, hipError_t) { return 0; }\n" + OTHER)],
}


@pytest.mark.parametrize("name", FREE)
def test_what_is_compiled_to_the_same_program_is_free(gate, name):
    assert gate.replaced(*FREE[name]).refusal == ""


FORBIDDEN = {
    "a variable that looks like a prototype": [(OTHER, "__device__ float* kept[(2)];\n" + OTHER)],
    "a static pointer to constants": [("int i = blockIdx", "static const float* kept; int i = blockIdx")],
    "a variable of the thread": [("int i = blockIdx", "thread_local float kept; int i = blockIdx")],
    "a function by a library's name": [(OTHER, 'extern "C" __device__ int usleep(unsigned) { return 0; }\n' + OTHER)],
    "a builtin of the host": [("int i = blockIdx", '__builtin_puts("PASS"); int i = blockIdx')],
    "a way to the caller": [("int i = blockIdx", "void* who = __builtin_return_address(0); int i = blockIdx")],
    "a question for the host's system": [("int i = blockIdx", "const bool here = __linux__; int i = blockIdx")],
    "the launch": [("scale<<<grid, block>>>(out, in, n);", ";")],
    "a macro over a variable of the host": [("#define WIDTH 16", "#define WIDTH 16\n#define block 1")],
    "a conditional taken away": [("#ifdef CHECKED", "#ifndef CHECKED")],
    "assembly behind a line splice": [(BODY, 'as\\\nm volatile("s_nop 0"); ' + BODY)],
    "half precision beside a variable of its name": [
        (BODY, "int half = 1; _Float16 x = in[i]; out[i] = half * (float)x;")
    ],
    "a timer": [(BODY, "if (clock64() > 0) " + BODY)],
    "the removal of an assertion": [("assert(n > 0);", "")],
    "printing": [(BODY, BODY + ' printf("PASS");')],
    "a table of answers": [(BODY, "const float t[] = {" + ",".join(map(str, range(100))) + "}; " + BODY)],
    "another signature": [("const float* in, int n) {\n  int i", "const float* in, int n, int m = 0) {\n  int i")],
    "the kernel's name": [("__global__ void scale(", "__global__ void scaled(")],
    "a new kernel": [(OTHER, "__global__ void more() {}\n" + OTHER)],
    "a question about the compiler": [(BODY, "if (sizeof(__FILE__) > 3) " + BODY)],
    "a type whose size tells where it runs": [(BODY, "if (sizeof(long double) == 8) " + BODY)],
    "a literal of that type": [(BODY, "if (sizeof(1.0L) == 8) " + BODY)],
    "unbalanced code": [(BODY, BODY + " { ")],
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_candidate_may_not_change_or_add(gate, name):
    found = gate.replaced(*FORBIDDEN[name])
    assert found.refusal or found.unread


def test_a_declared_geometry_opens_the_launch_configuration_only(gate):
    for change in (
        ("scale<<<grid, block>>>", "scale<<<dim3(2), 128, 64>>>"),
        ("dim3 grid((n + block - 1) / block);", "dim3 grid(7);"),
        ("const int block = 256;", "const int block = 128;"),
    ):
        assert gate.replaced(change, declares=GEOMETRY).refusal == ""
        assert "--allow-geometry" in gate.replaced(change).refusal
    assert gate.replaced(("const int n = 1000;", "const int n = 10;"), declares=GEOMETRY).refusal != ""
    assert gate.replaced(("(out, in, n);", "(out, in, n / 2);"), declares=GEOMETRY).refusal != ""


def test_how_each_version_computes_its_grid_is_known_where_the_kernel_gets_the_size(tmp_path):
    text = SOURCE.replace("int main() {", "int main(int n, char**) {").replace("  const int n = 1000;\n", "")
    gate = Gate(tmp_path, {"app.hip": text}, "scale(float*, float const*, int)")
    found = gate.replaced(("(n + block - 1) / block", "n / block"), declares=GEOMETRY)
    (original,), (candidate,) = found.grids
    assert "add.32" in original and "add" not in candidate and "@2" in candidate
    assert gate.replaced((BODY, "if (i < n) out[i] = 2 * in[i];")).grids == ((original,), (original,))


def test_whether_other_kernels_are_launched_otherwise_is_seen_where_the_command_does_not_show_it(tmp_path):
    text = SOURCE.replace("int main() {", "int main(int argc, char**) {").replace("n = 1000;", "n = 1000 * argc;")
    gate = Gate(tmp_path, {"app.hip": text}, "scale(float*, float const*, int)")
    own = ("(n + block - 1) / block", "n / block + 1")
    assert not gate.replaced(own, declares=GEOMETRY).others_launched
    found = gate.replaced(own, ("other<<<1, 1>>>", "other<<<n / 1000, 1>>>"), declares=GEOMETRY)
    assert found.others_launched and not found.refusal
    assert gate.replaced(("other<<<1, 1>>>", "other<<<argc, 1>>>"), declares=GEOMETRY).others_launched


def test_a_value_that_is_also_printed_is_no_geometry(tmp_path):
    text = SOURCE.replace("dim3 grid((n + block - 1) / block);", "dim3 threads(256, 1), blocks(4);")
    text = text.replace("<<<grid, block>>>", "<<<blocks, threads>>>")
    other = ("threads(256, 1), blocks(4)", "threads(64), blocks(16)")
    assert Gate(tmp_path / "a", {"app.hip": text}, "scale").replaced(other, declares=GEOMETRY).refusal == ""
    counted = text.replace("blocks(4);", 'blocks(4); printf("%d", blocks.x);')
    assert Gate(tmp_path / "b", {"app.hip": counted}, "scale").replaced(other, declares=GEOMETRY).refusal != ""


def test_declared_kernels_open_launches_and_scratch_memory_only(gate):
    kernel = ("__global__ void other", "__global__ void finish(float* a, float* b) { *a = *b; }\n__global__ void other")
    launch = (
        "scale<<<grid, block>>>(out, in, n);",
        "float* partial = nullptr;\nCHECK(hipMalloc(&partial, 4));\nscale<<<grid, block>>>(out, in, n);\n"
        "finish<<<1, 1>>>(out, partial);\nCHECK(hipFree(partial));",
    )
    assert gate.replaced(kernel, launch, declares=KERNELS).refusal == ""
    assert gate.replaced(kernel, launch, declares=KERNELS).needs is Needs.KERNELS
    fewer = (launch[0], "const int most = n < 256 ? n : 256;\n" + launch[1].replace("<<<1, 1>>>", "<<<most, 1>>>"))
    assert gate.replaced(kernel, fewer, declares=KERNELS).refusal == ""
    assert "--allow-kernels" in gate.replaced(kernel, launch, declares=GEOMETRY).refusal
    copy = ("printf(", "hipMemcpy(out, in, 4, hipMemcpyDeviceToDevice);\n  printf(")
    assert gate.replaced(copy, declares=KERNELS).refusal != ""
    assert gate.replaced(("CHECK(hipMalloc(&out, n * 4));", ""), declares=KERNELS).refusal == ""  # only kernels saw it
    seen = (kernel, (launch[0], launch[1] + 'printf("%p", partial);'))
    assert gate.replaced(*seen, declares=KERNELS).refusal != ""


def test_a_grid_may_go_by_what_the_device_has(gate):
    launch = "scale<<<grid, block>>>(out, in, n);"
    asked = "hipDeviceProp_t chip;\n  CHECK(hipGetDeviceProperties(&chip, 0));\n"
    chosen = f"{asked}  scale<<<2 * chip.multiProcessorCount, block>>>(out, in, n);"
    body = (BODY, "for (; i < n; i += gridDim.x * blockDim.x) out[i] = tools::twice(in[i]);")
    assert gate.replaced(body, (launch, chosen), declares=GEOMETRY).refusal == ""
    assert "--allow-geometry" in gate.replaced(body, (launch, chosen)).refusal
    attribute = "int most = 0;\n  hipDeviceGetAttribute(&most, hipDeviceAttributeMultiprocessorCount, 0);\n"
    assert gate.replaced((launch, attribute + launch.replace("grid,", "most,")), declares=GEOMETRY).refusal == ""
    told = asked + launch + '\n  printf("%d", chip.multiProcessorCount);'
    assert gate.replaced((launch, told), declares=GEOMETRY).refusal != ""
    evil = asked.replace(
        "CHECK(hipGetDeviceProperties(&chip, 0));", 'if (hipGetDeviceProperties(&chip, 0)) remove("a");'
    )
    assert gate.replaced((launch, evil + launch), declares=GEOMETRY).refusal != ""
    stored = (launch, f'int* at = reinterpret_cast<int*>(getenv("X"));\n  hipGetDevice(at);\n  {launch}')
    assert (
        gate.replaced(("#include <cstdio>", "#include <cstdio>\n#include <cstdlib>"), stored, declares=GEOMETRY).refusal
        != ""
    )


def test_only_named_files_may_change(gate):
    edit = FileEdit("Makefile", content_hash(SOURCE), "all:")
    candidate = Candidate((edit,), "", Origin(OriginKind.USER, "test"))
    sources = {"Makefile": SOURCE, "app.hip": SOURCE}
    assert "Makefile" in examine(candidate, sources, {"app.hip"}, "scale(float*)", gate.reading).refusal


def test_what_the_original_uses_may_be_used_again(tmp_path):
    text = "__global__ void k(_Float16* a, float* b) { b[0] = clock64() + __expf(b[1]); a[1] = a[0]; }\nint main() {}\n"
    text = "#include <hip/hip_runtime.h>\n" + text
    gate = Gate(tmp_path, {"app.hip": text}, "k")
    again = ("a[1] = a[0];", "_Float16 c = a[0]; a[1] = c; b[2] = __expf(b[2]) + clock64();")
    assert gate.replaced(again).refusal == ""
    assert gate.replaced(("a[1] = a[0];", "b[2] = __sinf(b[2]);")).refusal != ""


def test_the_text_of_an_assertion_is_no_table_unless_the_kernel_reads_it(gate):
    """A template's name alone, which is one of the texts, may be longer than a table may be."""
    named = "template <int ROWS, int COLUMNS, typename Element> __device__ Element padded(Element value, int columns)"
    long = f"{named} {{ assert(ROWS * COLUMNS <= int(blockDim.x) && ROWS % COLUMNS == 0); return value; }}\n"
    before = "__global__ void scale("
    use = (BODY, "if (i < n) out[i] = tools::twice(padded<64, 32>(in[i], n));")
    assert gate.replaced((before, long + before), use).refusal == ""
    table = f'static __device__ const char told[] = "{"ab" * 40}";\n'
    both = (BODY, "if (i < n) { out[i] = tools::twice(in[i]) + told[i % 80]; assert(told); }")
    assert "a table" in gate.replaced((before, table + before), both).refusal


def test_common_words_are_good_names_for_variables(gate):
    text = "int read = 0, used = 1, section = 2, half = 3, clock = 4; out[i + read] = used + section + half + clock;"
    assert gate.replaced((BODY, text)).refusal == ""


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


@pytest.mark.slow
def test_kernels_that_macros_of_a_header_define_are_known(tmp_path):
    gate = Gate(tmp_path, {"app.hip": MACRO_SOURCE, "macros.h": MACROS}, "scale", "-DFAST")
    assert gate.replaced(("if (i < n) out[i] = twice(out[i]);", "if (i < n) out[i] += out[i];")).refusal == ""
    assert gate.replaced(("return x + x;", "return 2 * x;")).refusal == ""
    assert "kernel other" in gate.replaced(("out[0] = 1.0f;", "out[0] = 2.0f;")).refusal


PRESENT = """\
#ifndef OWN_TOOLS_H
#define OWN_TOOLS_H
#include "deeper.h"
template <typename T> __device__ T thrice(T x) { return deeper(x) + x + x; }
#endif
"""
DEEPER = "#pragma once\ntemplate <typename T> __device__ T deeper(T x) { return x; }\n"


@pytest.fixture(scope="module")
def with_headers(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    texts = {
        "app.hip": SOURCE,
        "inc/own/tools.h": PRESENT,
        "inc/own/deeper.h": DEEPER,
        "inc/asks.h": "#ifdef __HIP_PLATFORM_AMD__\n#define FACTOR 3\n#endif\n",
        "inc/leads.h": '#pragma once\n#include "asks.h"\n',
        "inc/guarded.h": "#ifndef _GUARDED_H\n#define _GUARDED_H\n#endif\n#ifdef _GUARDED_H\n#endif\n",
        "inc/answers.inc": "1, 2, 3\n",
        "own.h": "#pragma once\n",
    }
    return Gate(tmp_path_factory.mktemp("headers"), texts, "scale(float*, float const*, int)", "-Iinc")


@pytest.mark.parametrize("spelled", ["<own/tools.h>", '"own/tools.h"'])
def test_a_header_that_the_project_has_already_may_be_included(with_headers, spelled):
    found = with_headers.replaced(
        ("#include <cstdio>", f"#include <cstdio>\n#include {spelled}"), (BODY, "if (i < n) out[i] = thrice(in[i]);")
    )
    assert found.refusal == ""


@pytest.mark.parametrize(
    ("spelled", "why"),
    [
        ('"asks.h"', "includes inc/asks.h, line 1: the candidate asks the preprocessor about __HIP_PLATFORM_AMD__"),
        ('"leads.h"', "includes inc/asks.h, line 1: the candidate asks the preprocessor about __HIP_PLATFORM_AMD__"),
        ("<guarded.h>", "about _GUARDED_H"),
        ('"answers.inc"', "is not among the headers that may be added"),
        ("<own.h>", "is not among the headers that may be added"),
        ('"/etc/hosts"', "is not among the headers that may be added"),
    ],
)
def test_other_headers_may_not(with_headers, spelled, why):
    assert why in with_headers.replaced(("#include <cstdio>", f"#include <cstdio>\n#include {spelled}")).refusal


ACTING = {
    "a call": "scale<<<grid.x + hipDeviceSynchronize() * 0, block>>>(out, in, n);",
    "an assignment": "scale<<<grid, (in = out, block)>>>(out, in, n);",
}


@pytest.mark.parametrize("name", ACTING)
def test_a_declared_launch_computes_and_does_not_act(gate, name):
    found = gate.replaced(("scale<<<grid, block>>>(out, in, n);", ACTING[name]), declares=KERNELS)
    assert found.refusal or found.unread


def test_a_counter_of_blocks_may_be_added_for_the_comparison_to_watch(gate):
    counter = ("__global__ void scale", "__device__ unsigned int done;\n__global__ void scale")
    assert gate.replaced(counter, (BODY, "atomicAdd(&done, 1u); " + BODY)).refusal == ""


def test_a_helper_may_stand_in_the_block_of_plain_names_in_which_the_kernel_stands(tmp_path):
    source = SOURCE.replace("__global__ void scale", 'extern "C" {\n__global__ void scale')
    source = source.replace("int main", "}\nint main")
    helper = ("__global__ void scale", "__device__ float thrice(float x) { return 3 * x; }\n__global__ void scale")
    found = Gate(tmp_path, {"app.hip": source}, "scale").replaced(helper, (BODY, "out[i] = thrice(in[i]);"))
    assert found.refusal == ""


def test_a_header_of_another_project_below_the_same_relative_directory_is_not_read(tmp_path):
    source = (
        "#include <own.h>\n#include <hip/hip_runtime.h>\n__global__ void twice(float* a) { a[threadIdx.x] *= 2; }\n"
    )
    source += "int main() { twice<<<1, own()>>>(nullptr); }\n"
    found = []
    for number in (32, 96):
        texts = {"app.hip": source, "inc/own.h": f"#pragma once\ninline int own() {{ return {number}; }}\n"}
        reading = reading_of(tmp_path / str(number), texts, "-Iinc")
        found += [reading.compiler.host_ir(unit, {}) for unit in reading.units]
    assert "ret i32 32" in found[0]
    assert "ret i32 96" in found[1]


CELLS = """#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Cell { float v[9]; };
__global__ void sums(const Cell* cells, int n, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = cells[i].v[0] + cells[i].v[8];
}
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 64;
  std::vector<Cell> cells(n);
  std::vector<float> host(n);
  Cell* in;
  float* out;
  hipMalloc(&in, n * sizeof(Cell));
  hipMalloc(&out, n * sizeof(float));
  hipMemcpy(in, cells.data(), n * sizeof(Cell), hipMemcpyHostToDevice);
  sums<<<(n + 63) / 64, 64>>>(in, n, out);
  hipMemcpy(host.data(), out, n * sizeof(float), hipMemcpyDeviceToHost);
  printf("%f", host[0]);
}
"""


def test_scratch_memory_may_be_sized_by_a_number_that_the_host_uses_elsewhere(tmp_path):
    """The optimiser would give the number another form if it came across that size before it is gone."""
    gate = Gate(tmp_path, {"app.hip": CELLS}, "sums")
    kernel = (
        "__global__ void sums",
        "__global__ void pick(const Cell* c, float4* r) { r->x = c->v[0]; }\n__global__ void sums",
    )
    scratch = "float4* rows;\n  hipMalloc(&rows, n * 3 * sizeof(float4));\n"
    launch = f"{scratch}  pick<<<(n + 63) / 64, 64>>>(in, rows);\n  sums<<<"
    assert gate.replaced(kernel, ("sums<<<", launch), declares=KERNELS).refusal == ""
    seen = ("sums<<<", launch.replace("hipMalloc(&rows", 'printf("%d", n);\n  hipMalloc(&rows'))
    assert gate.replaced(kernel, seen, declares=KERNELS).refusal != ""
    fewer = ("host.data(), out, n *", "host.data(), out, (n - 1) *")
    assert gate.replaced(kernel, ("sums<<<", launch), fewer, declares=KERNELS).refusal != ""
