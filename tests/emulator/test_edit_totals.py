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


@pytest.mark.slow
def test_an_element_that_is_copied_alone_comes_from_where_it_did(tmp_path):
    text = SOURCE.replace("  int* counts", "  int first = 0;\n  fetch(&first, in, sizeof first);\n  int* counts")
    text = text.replace("return 0;", "return first;")
    gate = Gate(tmp_path, {"app.hip": text}, "parts(float*, int*, float const*, int)")
    assert gate.replaced(HALF, declares=KERNELS).refusal == ""
    assert gate.replaced(HALF, ("fetch(&first, in,", "fetch(&first, out,"), declares=KERNELS).refusal != ""
    assert gate.replaced(("fetch(&first, in,", "fetch(&first, out,"), declares=KERNELS).refusal != ""


FETCH_SUMS = "fetch(sums.data(), out, sums.size() * sizeof(float));"
ADD_SUMS = "double sum = 0;\n  for (float each : sums) sum += each;"
COUNTS = "int* counts = (int*)malloc(blocks * sizeof(int));"


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [
        [(COUNTS, "int* counts = (int*)calloc(blocks, sizeof(int));")],
        [(COUNTS, "int* counts = new int[blocks];"), ("free(counts);", "delete[] counts;")],
        [(COUNTS, "int* counts; if (hipHostMalloc(&counts, blocks * sizeof(int), 0)) return 1;"),
         ("free(counts);", "hipHostFree(counts);"),
         (FETCH, "hipMemcpyAsync(counts, found, blocks * sizeof(int), hipMemcpyDeviceToHost, 0);\n"
                 "  hipDeviceSynchronize();")],
        [(COUNTS, "int counts[256];"), ("free(counts);", "")],
        [("long above = 0;", "long above = counts[0];"), (ADD, ADD.replace("int i = 0", "int i = 1"))],
        [(ADD_SUMS, "double sum = 0;"), (ADD, ADD.replace("above", "{ sum += sums[i]; above") + " }")],
        [(ADD_SUMS, "double sum = std::accumulate(sums.begin(), sums.end(), 0.0);")],
        [("int main(", "static float whole(const std::vector<float>& all) {\n  float sum = 0;\n"
                       "  for (size_t i = 0; i < all.size(); i++) sum += all[i];\n  return sum;\n}\nint main("),
         (ADD_SUMS, "double sum = whole(sums);")],
    ],
)  # fmt: skip
def test_totals_are_seen_however_the_host_is_written(tmp_path, form):
    text = SOURCE
    for old, new in form:
        assert text.count(old) == 1
        text = text.replace(old, new)
    gate = Gate(tmp_path, {"app.hip": text}, "parts(float*, int*, float const*, int)")
    found = gate.replaced(HALF, declares=KERNELS)
    assert (found.refusal, len(found.totals)) == ("", 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [
        [(ADD, f"free(counts);\n  {ADD}"), (f"{ADD}\n  free(counts);", ADD)],
        [(ADD, "int i = 0;\n  for (; i < blocks; i++) above += counts[i];\n  above += i;")],
        [(ADD, ADD.replace("above += counts[i];", '{ above += counts[i]; printf("%ld", above); }'))],
        [(COUNTS, "int* counts = (int*)malloc(blocks * sizeof(int));\n  int* const same = counts;"),
         (ADD, f"same[blocks - 1] = 0;\n  {ADD}")],
        [(ADD, ADD.replace("i < blocks", "i < (blocks & ~3)"))],
        [(ADD, ADD.replace("i < blocks", "i < (unsigned char)blocks"))],
        [(ADD, ADD.replace("above += counts[i]", "above = above > counts[i] ? above : counts[i]"))],
    ],
)  # fmt: skip
def test_other_uses_are_not_totals(tmp_path, form):
    text = SOURCE
    for old, new in form:
        assert text.count(old) >= 1
        text = text.replace(old, new, 1)
    gate = Gate(tmp_path, {"app.hip": text}, "parts(float*, int*, float const*, int)")
    assert gate.replaced(HALF, declares=KERNELS).refusal != ""
