"""Outline, edits and bank arithmetic of the rule-based rewriter: no compiler needed."""

from __future__ import annotations

import pytest

from intelliperf.codegen.rules.lanes import phases
from intelliperf.codegen.rules.wave import CUDA, HIP, OPERATIONS, aggregated_atomic, block_atomic
from intelliperf.codegen.syntax.outline import (
    enclosing_function,
    encoded,
    filter_name,
    functions,
    insertion_point,
    launch_sites,
)
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import TreeBuilder

TEXT = """\
#pragma once
// about nothing

/* belongs to kern */
extern "C" {
__global__ void __launch_bounds__(256) kern(int* a) { a[0] = 1; }
}
namespace a { namespace b {
// grüße
template <typename T>
struct S {
  __device__ void operator()(T x) const { atomicAdd(p, x); }
  T* p;
};
template <typename T, int B>
static __global__ void sum(const T* in) {
  auto f = [=](int k) { return k; };
}
} }
#ifdef USE
int main() {
  a::kern<<<1, dim3(2, 3), 0, s>>>(p);
  if (x) b::sum<float, 16><<<n / 256, 4>>>(q);
  hipLaunchKernelGGL((sum<float, 8>), dim3(4), dim3(64), 0, 0, a);
  cudaLaunchKernel((const void*)sum<float, 2>, g, b, args, 0, 0);
  summary<<<1, 1>>>();
}
#endif
"""


def at(word: str) -> int:
    return encoded(TEXT).index(encoded(word))


def test_functions_are_found_with_their_template_headers() -> None:
    found = {region.name: region for region in functions(TEXT)}

    assert list(found) == ["kern", "operator()", "sum", "main"]
    assert found["kern"].is_kernel and found["sum"].is_kernel
    assert found["operator()"].is_device and not found["main"].is_kernel
    assert (found["sum"].first_line, found["sum"].last_line) == (15, 18)


def test_the_innermost_function_encloses_a_line() -> None:
    inner = enclosing_function(TEXT, 12)
    assert inner is not None and inner.name == "operator()"
    assert filter_name(TEXT, inner) == "S"
    assert enclosing_function(TEXT, 2) is None


def test_every_launch_syntax_is_a_launch_site() -> None:
    assert [site.first_line for site in launch_sites(TEXT, "sum")] == [23, 24, 25]
    assert [site.first_line for site in launch_sites(TEXT, "kern")] == [22]


@pytest.mark.parametrize(
    ("inside", "first"),
    [
        ("a[0]", "/* belongs"),
        ("atomicAdd", "// grüße"),
        ("auto f", "template <typename T, int B>"),
        ("kern<<<", "int main"),
    ],
)
def test_a_declaration_goes_above_comments_templates_and_language_linkage(inside: str, first: str) -> None:
    point = insertion_point(TEXT, at(inside))
    assert encoded(TEXT)[point:].startswith(encoded(first))


def test_a_comment_right_below_a_directive_stays_with_its_kernel() -> None:
    text = "#include <vector>\n// one thread per row\n__global__ void k(int* a) { *a = 1; }\n"
    assert text[insertion_point(text, text.index("*a = 1")) :].startswith("// one thread")
    trailing = "int x;  // of x\n__global__ void k(int* a) { *a = 1; }\n"
    assert trailing[insertion_point(trailing, trailing.index("*a = 1")) :].startswith("__global__")


def test_edits_keep_bytes_and_line_endings() -> None:
    source = Source("f.cu", "a\r\nb\udcff\r\nc\r\n")
    source.replace(3, 4, "x\ny")
    source.insert_declaration(7, "d;\n")
    source.replace(3, 4, "x\ny")  # the same edit of another instantiation

    assert source.edited() == "a\r\nx\r\ny\udcff\r\n\r\nd;\r\n\r\nc\r\n"


def test_overlapping_edits_are_refused() -> None:
    source = Source("f.cu", "abcdef")
    source.replace(0, 4, "x")
    source.replace(2, 5, "y")
    with pytest.raises(ValueError, match="overlapping"):
        source.edited()


@pytest.mark.parametrize(
    ("stride", "size", "cycles"), [(1, 4, 2), (32, 4, 64), (33, 4, 2), (2, 4, 4), (1, 8, 4), (16, 8, 64), (17, 8, 4)]
)
def test_bank_cycles_follow_the_stride(stride: int, size: int, cycles: int) -> None:
    assert phases([lane * stride * size for lane in range(64)], size, 32) == cycles


def test_lanes_that_are_absent_or_share_a_word_cost_nothing() -> None:
    assert phases([None] * 64, 4, 32) == 0
    assert phases([128] * 64, 4, 32) == 2


@pytest.mark.parametrize("callee", sorted(OPERATIONS))
@pytest.mark.parametrize("returns", [True, False])
def test_helpers_use_the_masks_of_their_language_and_never_a_barrier(callee: str, returns: bool) -> None:
    cuda = aggregated_atomic("f", callee, returns, False, CUDA)
    hip = aggregated_atomic("f", callee, returns, False, HIP)

    assert "__activemask()" in cuda and "_sync(active" in cuda
    assert "_sync(" not in hip
    assert all("unsigned long long peers" in text for text in (cuda, hip))  # a source may be built for both
    assert "__syncthreads" not in cuda + hip


def test_a_block_reduction_names_the_lanes_of_a_partial_wave() -> None:
    assert "lanes == 64 ? ~0ull : (1ull << lanes) - 1" in block_atomic("f", "atomicAdd", "0", CUDA)
    assert "__shfl_down(value, distance)" in block_atomic("f", "atomicAdd", "0", HIP)


@pytest.mark.parametrize(
    ("described", "canonical"),
    [
        ({"qualType": "uint32_t *"}, "unsigned int *"),
        ({"qualType": "const std::size_t *"}, "const unsigned long *"),
        ({"qualType": "std::array<uint8_t, 4> *"}, "std::array<unsigned char, 4> *"),
        ({"qualType": "count_t", "desugaredQualType": "unsigned long long"}, "unsigned long long"),
        ({"qualType": "mine::size_t *"}, "mine::size_t *"),
        ({"qualType": "my_uint32_t *"}, "my_uint32_t *"),
    ],
)
def test_fixed_width_names_that_clang_leaves_behind_pointers_are_resolved(
    described: dict[str, str], canonical: str
) -> None:
    assert TreeBuilder().build({"kind": "DeclRefExpr", "type": described}).canonical == canonical
