"""Copies of which the host needs the total alone: which edits of its code that opens to declared kernels."""

from __future__ import annotations

import pytest
from readers import Gate

from intelliperf.records import Declaration
from intelliperf.validation.edits.hostcode import Needs

SOURCE = """\
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void parts(float* out, int* found, const float* in, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) atomicAdd(out + blockIdx.x, in[i]);
  if (i < n && in[i] > 0) atomicAdd(found + blockIdx.x, 1);
}
static void fetch(void* to, const void* from, size_t bytes) {
  if (hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost) != hipSuccess) exit(2);
}
int main(int argc, char** argv) {
  const int n = atoi(argv[1]);
  int blocks = (n + 63) / 64;
  float *in, *out;
  int* found;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out, blocks * 4) || hipMalloc(&found, blocks * 4)) return 3;
  std::vector<float> data(n, 1.5f);
  hipMemcpy(in, data.data(), n * 4, hipMemcpyHostToDevice);
  hipMemset(out, 0, blocks * 4);
  hipMemset(found, 0, blocks * 4);
  parts<<<blocks, 64>>>(out, found, in, n);
  std::vector<float> sums(blocks);
  fetch(sums.data(), out, sums.size() * sizeof(float));
  double sum = 0;
  for (float each : sums) sum += each;
  int* counts = (int*)malloc(blocks * sizeof(int));
  fetch(counts, found, blocks * sizeof(int));
  long above = 0;
  for (int i = 0; i < blocks; i++) above += counts[i];
  free(counts);
  printf("%f %ld\\n", sum, above);
  return 0;
}
"""
HALF = ("int blocks = (n + 63) / 64;", "int blocks = (n + 127) / 128;")
FETCH = "fetch(counts, found, blocks * sizeof(int));"
ADD = "for (int i = 0; i < blocks; i++) above += counts[i];"
KERNELS = Declaration(kernels=True, reason="fewer blocks")


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    return Gate(
        tmp_path_factory.mktemp("totals"), {"app.hip": SOURCE}, "parts(float*, int*, float const*, int)", "-DN=1"
    )


def test_how_many_partial_results_there_are_is_the_candidates_matter(gate):
    found = gate.replaced(HALF, declares=KERNELS)
    assert (found.refusal, found.needs) == ("", Needs.KERNELS)
    assert [(mine.element, mine.how, mine.cast, mine.kept) for mine, _ in found.totals] == [
        ("float", "fadd", "fpext", "double"),
        ("i32", "add", "sext", "i64"),
    ]
    assert [places[0][0] for places in (theirs.places for _, theirs in found.totals)] == ["app.hip", "app.hip"]
    assert "--allow-kernels" in gate.replaced(HALF).refusal


def test_the_only_element_stands_for_the_total_of_many(gate):
    one = "int count = 0;\n  fetch(&count, found, sizeof count);\n  long above = count;\n"
    found = gate.replaced(
        ("int* counts = (int*)malloc(blocks * sizeof(int));\n", ""),
        (f"{FETCH}\n  long above = 0;\n  {ADD}\n  free(counts);\n", one),
        declares=KERNELS,
    )
    assert found.refusal == ""
    assert [theirs.how for _, theirs in found.totals] == ["fadd", ""]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ADD, "for (int i = 1; i < blocks; i++) above += counts[i];"),
        (ADD, "for (int i = 0; i < blocks - 1; i++) above += counts[i];"),
        (ADD, "for (int i = 0; i < blocks; i += 2) above += counts[i];"),
        (ADD, "if (blocks > 3) " + ADD),
        (ADD, ADD.replace("+= counts[i]", "+= counts[i] + 1")),
        (ADD, ADD.replace("+= counts[i]", "-= counts[i]")),
        (ADD, ADD.replace("+= counts[i]", "+= (short)counts[i]")),
        (ADD, ADD.replace("+= counts[i]", "+= counts[i] > 5 ? 5 : counts[i]")),
        (ADD, f"counts[0] = 7; {ADD}"),
        (ADD, f"{ADD} above += counts[0];"),
        (ADD, f'{ADD} printf("%d\\n", counts[0]);'),
        (ADD, f"{ADD} if (n == 1000) above = 64;"),
        (FETCH, "fetch(counts, found, (blocks - 1) * sizeof(int));"),
        (FETCH, "fetch(counts + 1, found, (blocks - 1) * sizeof(int));"),
        (f"{FETCH}\n  long above = 0;\n  {ADD}", f"long above = 0;\n  {ADD}\n  {FETCH}"),
        ("long above = 0;", "long above = n == 1000;"),
        ("malloc(blocks * sizeof(int))", "malloc(blocks)"),
    ],
)
def test_nothing_else_that_the_host_does_with_them_is_free(gate, old, new):
    assert gate.replaced(HALF, (old, new), declares=KERNELS).refusal != ""
