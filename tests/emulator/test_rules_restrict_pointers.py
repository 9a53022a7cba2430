"""`__restrict__` by rule, where a loop stores and uses again what stays the same."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rulebench import Bench, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import AccessKind, Kernel, MemorySpace

PROGRAM = """\
#include <hip/hip_runtime.h>
__global__ void product(const float* A, const float *B, float* C, int n) {  //@ product
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n && c < n)
    for (int k = 0; k < n; k++) C[r * n + c] += A[r * n + k] * B[k * n + c];
}
__global__ void scale(float* rows, const float* factor, int length) {  //@ scale
  float* mine = rows + blockIdx.x * length;
  for (int i = threadIdx.x; i < length; i += blockDim.x) mine[i] *= factor[blockIdx.x];
}
__global__ void copy(float* to, const float* from, int n) {  //@ copy
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
void start(float* a, float* b, float* c, int n) {
  product<<<dim3(2, 2), dim3(16, 16)>>>(a, b, c, n);
  scale<<<n, 64>>>(a, b, n);
  copy<<<1, 64>>>(a, b, n);
}
"""


def propose(root: Path, text: str, kernel: str) -> Proposal:
    bench = Bench(root, {"app.hip": text})
    task = bench.task("restrict_pointers", AccessKind.KERNEL, MemorySpace.GLOBAL, kernel)
    known = Kernel(kernel, kernel, root / "app.hip", task.evidence[0].line)
    finding = dataclasses.replace(task.finding, profile=dataclasses.replace(task.finding.profile, kernel=known))
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, finding=finding), ())
    assert proposal is not None
    return proposal


def test_pointers_of_loops_that_use_an_element_again_are_restricted(tmp_path: Path) -> None:
    product, scale = (propose(tmp_path, PROGRAM, kernel).candidate for kernel in ("product", "scale"))
    assert product is not None
    assert scale is not None
    written = "product(const float* __restrict__ A, const float *__restrict__ B, float* __restrict__ C, int n)"
    assert written in product.edits[0].text
    assert "scale(float* __restrict__ rows, const float* __restrict__ factor, int length)" in scale.edits[0].text


@pytest.mark.parametrize(
    ("kernel", "old", "new", "words"),
    [
        ("copy", "", "", "no loop uses an element again in every turn"),
        ("product", "(a, b, c, n)", "(a, c, c, n)", "app.hip:15 passes c for two parameters"),
        ("scale", "mine = rows + blockIdx.x", "mine = (float*)(size_t)length + blockIdx.x", "what is not a parameter"),
        (
            "scale",
            "(float* rows, const float* factor",
            "(float* __restrict__ rows, const float* __restrict__ factor",
            "already has the form",
        ),
    ],
)
def test_pointers_that_may_overlap_or_need_no_promise_stay(
    kernel: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    declined = propose(tmp_path, PROGRAM.replace(old, new, 1) if old else PROGRAM, kernel).declined
    assert declined is not None
    assert words in declined.reason
