"""The block sizes of a kernel's launches, read from sources or declined."""

from __future__ import annotations

import pytest

from intelliperf.codegen.rules.blocks import Program, launched_threads
from intelliperf.codegen.rules.grid_edits import scaled_grid
from intelliperf.codegen.rules.groups import of_columns
from intelliperf.codegen.rules.problem import NotApplicable
from intelliperf.codegen.syntax.source import Source

START = "void start(int* p, int n, int wide) { dim3 block(wide); k<<<n, block>>>(p, n); }"
KERNEL = "__global__ void k(int* p, int n);\n__global__ void k(int* p, int n) { p[0] = n; }\n"


def sizes(host: str, before: str = "", other: str = "") -> tuple[int, ...]:
    sources = {"a.hip": f"{KERNEL}{before}\nvoid run(int* p, int n, int width) {{\n{host}\n}}\n", "b.hip": other}
    return launched_threads(sources, "k")


@pytest.mark.parametrize(
    ("host", "before", "threads"),
    [
        ("k<<<4, 256>>>(p, n);", "", (256,)),
        ("k<<<dim3(4, 2), dim3(32, 4, 2), 0, 0>>>(p, n);", "", (256,)),
        ("const int threads = 48; k<<<(n + threads - 1) / threads, threads>>>(p, n);", "", (48,)),
        ("dim3 block(16, 16); k<<<1, block>>>(p, n);", "", (256,)),
        ("dim3 block{64}; k<<<1, block>>>(p, n);", "", (64,)),
        ("const dim3 block = dim3(kSide, kSide); k<<<1, block>>>(p, n);", "constexpr int kSide = 8;", (64,)),
        ("k<<<1, SIDE * SIDE>>>(p, n);", "#define SIDE (8 + 8)", (256,)),
        ("hipLaunchKernelGGL(k, dim3(4), dim3(128), 0, 0, p, n);", "", (128,)),
        ("k<<<1, 64>>>(p, n); k<<<1, 4 * 32u>>>(p, n);", "", (64, 128)),
        ("dim3 block(WIDE, HIGH); k<<<1, block>>>(p, n);", "#define WIDE 32\n#define HIGH 8", (256,)),
        ("int wide, high; wide = 32; high = 4; dim3 block(wide, high); k<<<1, block>>>(p, n);", "", (128,)),
        ("k<<<1, 1 << 7>>>(p, n);", "", (128,)),
        ("k<<<1, (unsigned int)kWide>>>(p, n);", "enum { kWide = 64 };", (64,)),
        ("k<<<1, Shape::kWide>>>(p, n);", "struct Shape { static constexpr int kWide = 96; };", (96,)),
        ("start(p, n, 64); start(p, 3, kWide);", f"constexpr int kWide = 64;\n{START}", (64,)),
        (f"k<<<1, {'(' * 20}64{')' * 20}>>>(p, n);", "", (64,)),
        ("start(p, n, 64);", START.replace(" }", " if (n) start(p, n - 1, wide); }"), (64,)),
        ("const dim3 block(32, 4); later([&] { k<<<1, block>>>(p, n); });", "", (128,)),
        ("k<<<1, 64>>>(p, n);", "void take(int* k) { *k = 0; }", (64,)),
        ("std::vector<int> a(SIDE * SIDE), b(n * SIDE); k<<<n, SIDE>>>(p, n);", "#define SIDE 32", (32,)),
        ('int w = 64; say(w); k<<<1, w>>>(p, n); printf("%d", w);', "void say(const int& w) {}", (64,)),
        ("hipLaunchKernelGGL(HIP_KERNEL_NAME(k<int, 2>), dim3(4), dim3(64), 0, 0, p, n);", "", (64,)),
        ("hipLaunchKernelGGL((k<int, 2>), dim3(4), dim3(64), 0, 0, p, n);", "", (64,)),
        ("cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1); k<<<1, 64>>>(p, n);", "", (64,)),
        ("hipFuncSetCacheConfig(reinterpret_cast<const void*>(k<int>), way); k<int><<<1, 64>>>(p, n);", "", (64,)),
        ("cudaFuncSetAttribute((const void*)&k, what, 65536); k<<<1, 64>>>(p, n);", "", (64,)),
        (
            "start(p, n); start(p, n, 128);",
            START.replace("int wide)", "int wide = WIDE)") + "\n#define WIDE 128",
            (128,),
        ),
        ("ns::k<<<1, ns::kWide>>>(p, n);", "namespace ns { const unsigned kWide = 96; }", (96,)),
    ],
)
def test_constant_block_sizes(host: str, before: str, threads: tuple[int, ...]) -> None:
    assert sizes(host, before) == threads


def test_a_call_without_a_launch_is_of_another_function_of_that_name() -> None:
    assert sizes("k<<<1, 64>>>(p, n); k(n); other(k(1));") == (64,)


@pytest.mark.parametrize(
    "other",
    [
        "double k = 0; k += 1;",
        "for (int k = 0; k < 3; k++) use(k);",
        "for (auto k : list) use(k);",
        "std::vector<int> k(4); k[1] = 2;",
        "int a, *b, k = a; use(&k);",
        "auto [a, k] = both(); use(k);",
        "if (int k = left()) use(k);",
        "use([&](int k) { return k; });",
        "Total k{3}; k.add(1);",
    ],
)
def test_a_variable_of_the_kernel_s_name_is_none(other: str) -> None:
    assert sizes("k<<<1, 64>>>(p, n);", other=f"void more() {{ {other} }}") == (64,)
    assert sizes(f"{{ {other} }} k<<<1, 64>>>(p, n);") == (64,)
    with pytest.raises(NotApplicable, match="used otherwise than in a launch"):
        sizes("k<<<1, 64>>>(p, n);", other=f"void more() {{ use(k); {other} }}")


def test_launches_in_every_source_count() -> None:
    assert sizes("k<<<1, 64>>>(p, n);", other="void more(int* p) { k<<<1, 512>>>(p, 3); }") == (64, 512)


@pytest.mark.parametrize(
    ("host", "before", "reason"),
    [
        ("k<<<1, width>>>(p, n);", "", "is a parameter whose callers"),
        ("start(p, n, 64);", f'extern "C" {{ {START} }}', "is a parameter whose callers"),
        ("int b = 64; later([&] { b = n; k<<<1, b>>>(p, n); });", "", "is not one constant"),
        ("int threads = 64; if (n) threads *= 2; k<<<1, threads>>>(p, n);", "", "is not a constant"),
        ("int wide; wide = 64; if (n) wide = 32; k<<<1, wide>>>(p, n);", "", "is not one constant"),
        ("int wide; wide = 64; read(&wide); k<<<1, wide>>>(p, n);", "", "is not one constant"),
        ("dim3 block(64); block.y = n; k<<<1, block>>>(p, n);", "", "is not a constant"),
        ("dim3 block(64); change(&block); k<<<1, block>>>(p, n);", "", "is not a constant"),
        ("k<<<1, threads>>>(p, n);", "int threads = 64;", "is not one constant"),
        ("k<<<1, threads>>>(p, n);", "", "is not one constant"),
        ("start(p, n, 64); start(p, n, 32);", START, "not the same for all callers"),
        ("start(p, n, 64);", START.replace(" }", " if (n) start(p, n, wide / 2); }"), "not the same for all callers"),
        ("start(p, n, 64); table[0] = start;", START, "whose callers are not all known"),
        ("start(p, n, n);", START, "is a parameter whose callers"),
        ("int m = n; start(p, n, ++m);", START, "is not a constant"),
        ("k<<<1, std::min(n, 64)>>>(p, n);", "", "is not a constant"),
        ("k<<<1, 64>>>(p, n); launch((void*)k);", "", "otherwise than in a launch"),
        ("int w = 64; std::cin >> w; k<<<1, w>>>(p, n);", "", "is not a constant"),
        ("int w; w = 64; std::swap(n, w); k<<<1, w>>>(p, n);", "", "not one constant"),
        ("int w = 64; int& v = w; v = 32; k<<<1, w>>>(p, n);", "", "is not a constant"),
        ("int w = 64; ask(n, w); k<<<1, w>>>(p, n);", "void ask(int n, int& w) { w = n; }", "is not a constant"),
        ("start(p, n); start(p, n, 64);", START.replace("int wide)", "int wide = 32)"), "not the same for all callers"),
        ("start(p);", START.replace("int wide)", "int wide = 32)"), "whose callers are not all known"),
        ("hipFuncGetAttributes(&a, (const void*)k); k<<<1, 64>>>(p, n);", "", "otherwise than in a launch"),
        ("START(k);", "#define START(f) f<<<1, 64>>>(p, n)", "otherwise than in a launch"),
        ("START();", "#define START() k<<<1, 64>>>(p, n)", "a macro names k"),
        ("", "", "no launch of k"),
        ("k<<<1, A>>>(p, n);", "#define A B\n#define B A", "in a circle"),
    ],
)
def test_what_is_not_known_is_declined(host: str, before: str, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        sizes(host, before)


CEIL = "static inline int ceil_div(int a, int b) { return (a + b - 1) / b; }"
SHAPE = "dim3 shape(int n) { return dim3(n, 2); }"


@pytest.mark.parametrize(
    ("host", "before", "written"),
    [
        ("k<<<ceil_div(n, 64), 64>>>(p, n);", CEIL, "k<<<(ceil_div(n, 64)) * 8, 64>>>"),
        ("k<<<CEIL(n, 64), 64>>>(p, n);", "#define CEIL(a, b) (a + b - 1) / b", "k<<<(CEIL(n, 64)) * 8, 64>>>"),
        ("auto blocks = ceil_div(n, 64); k<<<blocks, 64>>>(p, n);", CEIL, "k<<<blocks * 8, 64>>>"),
        ("auto grid = dim3(n, 2); k<<<grid, 64>>>(p, n);", "", "k<<<dim3(grid.x * 8, grid.y, grid.z), 64>>>"),
        ("auto grid = shape(n); k<<<grid, 64>>>(p, n);", SHAPE, "k<<<dim3(grid.x * 8, grid.y, grid.z), 64>>>"),
        ("k<<<shape(n), 64>>>(p, n);", SHAPE, "k<<<dim3(shape(n).x * 8, shape(n).y, shape(n).z), 64>>>"),
        ("k<<<shape(n++), 64>>>(p, n);", SHAPE, "is a dim3 that a function returns which does more"),
        ("k<<<shape(n), 64>>>(p, n);", SHAPE.replace("return", "calls++; return"), "which does more"),
        ("k<<<shape(n), 64>>>(p, n);", SHAPE.replace("dim3(n,", "dim3(next(n),"), "which does more"),
        ("k<<<shape(n), 64>>>(p, n);", SHAPE.replace("int n", "int& n"), "which does more"),
        (
            "k<<<shape(n), 64>>>(p, n);",
            CEIL + SHAPE.replace("(n,", "(ceil_div(n, 9),"),
            "dim3(shape(n).x * 8, shape(n).y, shape(n).z)",
        ),
    ],
)
def test_a_grid_is_scaled_however_its_size_is_written(host: str, before: str, written: str) -> None:
    text = f"{KERNEL}{before}\nvoid run(int* p, int n, int width) {{\n{host}\n}}\n"
    (launch,) = Program({"a.hip": text}).launches("k")
    source = Source("a.hip", text)
    try:
        scaled_grid(source, launch, 8)
    except NotApplicable as reason:
        assert written in str(reason)
    else:
        assert written in source.edited()


@pytest.mark.parametrize(("waves", "lanes"), [(1, 32), (32, 16), (60, 8), (900, 4)])
def test_the_fewer_waves_walk_down_columns_the_more_lanes_share_one(waves: int, lanes: int) -> None:
    sharing = of_columns(waves, 3 * 132)
    assert (sharing.lanes, sharing.lanes * sharing.stride) == (lanes, 32)
