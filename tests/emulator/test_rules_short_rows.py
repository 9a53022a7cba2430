"""Rows that have fewer elements than a wave has lanes: as many lanes walk one as find work in it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rowproposals import propose
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.codegen.rules import groups
from intelliperf.records import AccessKind, MemorySpace, Metric, Provenance, Quantity

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void k(float* m, double* sums, int* at, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0;
  float best = m[r * cols];
  int place = 0;
  for (int c = 0; c < cols; ++c) {
    sum += m[r * cols + c];  //@
    if (m[r * cols + c] < best) { best = m[r * cols + c]; place = c; }
  }
  for (int c = 0; c < cols; ++c) m[r * cols + c] -= best;
  float last = 0;
  for (int c = cols - 1; c >= 0; --c) last = m[r * cols + c] > last ? m[r * cols + c] : last;
  sums[r] = sum + last;
  at[r] = place;
}
int main() {
  const int rows = 150, cols = 11;
  float h[rows * cols], *m; double s[rows], *sums; int a[rows], *at;
  for (int i = 0; i < rows * cols; ++i) h[i] = i * 7919 % 1013 % 97;
  hipMalloc(&m, sizeof h); hipMalloc(&sums, sizeof s); hipMalloc(&at, sizeof a);
  hipMemcpy(m, h, sizeof h, hipMemcpyHostToDevice);
  k<<<(rows + 63) / 64, 64>>>(m, sums, at, rows, cols);
  hipMemcpy(h, m, sizeof h, hipMemcpyDeviceToHost); hipMemcpy(s, sums, sizeof s, hipMemcpyDeviceToHost);
  hipMemcpy(a, at, sizeof a, hipMemcpyDeviceToHost);
  for (int i = 0; i < rows; ++i) printf("%g %d %g ", s[i], a[i], h[i * cols + i % cols]);
}
"""


def as_cuda(text: str) -> str:
    return text.replace("#include <hip/hip_runtime.h>\n", "").replace("hip", "cuda")


@pytest.mark.parametrize(("name", "program"), [("app.hip", PROGRAM), ("app.cu", as_cuda(PROGRAM))])
def test_a_row_gets_as_many_lanes_as_it_has_elements(name: str, program: str, tmp_path: Path) -> None:
    task = Bench(tmp_path / "k", {name: program}).task("row_per_wave", AccessKind.LOAD, MemorySpace.GLOBAL)
    waves = 16 * 256 // task.device.wave_size
    requests = {Metric.REQUESTS: Quantity(11.0 * waves, Provenance.MEASURED)}
    evidence = tuple(dataclasses.replace(item, quantities=requests) for item in task.evidence)
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, evidence=evidence), ())
    assert proposal is not None and proposal.candidate is not None, proposal
    (edit,) = proposal.candidate.edits
    assert "const int lane = threadIdx.x % 16;  // 16 lanes share a row" in edit.text
    assert "int r = blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16;" in edit.text
    assert "k<<<((rows + 63) / 64) * 16, 64>>>" in edit.text and "distance = 8; distance > 0;" in edit.text
    assert output(tmp_path / "after", {name: edit.text}) == output(tmp_path / "before", {name: program})


@pytest.mark.parametrize(("turns", "lanes"), [(0.5, 4), (4, 4), (5, 8), (16, 16), (17, 32), (1e9, 32)])
def test_no_more_lanes_than_elements_by_powers_of_two(turns: float, lanes: int) -> None:
    assert groups.of_turns(turns) == groups.Sharing(lanes, 1)


def test_lengths_that_the_source_tells_need_no_counts(tmp_path: Path) -> None:
    text = PROGRAM.replace("c < cols;", "c < 5;").replace("c = cols - 1; c >= 0; --c", "c = 1; c <= 8; ++c")
    bench = Bench(tmp_path, {"app.hip": text})
    files = bench.rewritten("row_per_wave", AccessKind.LOAD)
    assert "threadIdx.x % 8;  // 8 lanes share a row" in files["app.hip"]
    assert output(tmp_path / "after", files) == output(tmp_path / "before", {"app.hip": text})


def test_lengths_may_be_named_by_macros(tmp_path: Path) -> None:
    text = PROGRAM.replace("c < cols;", "c < MOST;", 1).replace("c < cols;", "c != MOST;")
    text = text.replace("__global__", "#define MOST 7\n__global__").replace(
        "c = cols - 1; c >= 0; --c", "c = 0; ENDS; ++c"
    )
    text = text.replace("#define MOST 7\n", "#define MOST 7\n#define ENDS c < MOST\n", 1)
    bench = Bench(tmp_path, {"app.hip": text})
    files = bench.rewritten("row_per_wave", AccessKind.LOAD)
    assert "for (int c = lane; c < MOST; c += 8)" in files["app.hip"] and "; ENDS; c += 8)" in files["app.hip"]
    assert output(tmp_path / "after", files) == output(tmp_path / "before", {"app.hip": text})


CHUNKS = """\
#include <hip/hip_runtime.h>
#include <cstdio>
#define CHUNK 12
#define AFTER(t) (t + 1)
__global__ void k(const float* in, float* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * CHUNK; i < AFTER(t) * CHUNK; i++) {
    if (i < n) out[i] = in[i] * 2.0f + 1.0f;  //@
  }
}
int main() {
  const int n = 3000;
  float h[n], *in, *out;
  for (int i = 0; i < n; ++i) h[i] = i * 7919 % 1013;
  hipMalloc(&in, sizeof h); hipMalloc(&out, sizeof h); hipMemcpy(in, h, sizeof h, hipMemcpyHostToDevice);
  k<<<((n + CHUNK - 1) / CHUNK + 63) / 64, 64>>>(in, out, n);
  hipMemcpy(h, out, sizeof h, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 7) printf("%g ", h[i]);
}
"""


@pytest.mark.parametrize("rule", ["interleave_chunks", "row_per_wave"])
def test_the_first_value_may_end_with_a_macro(rule: str, tmp_path: Path) -> None:
    files = Bench(tmp_path / "k", {"app.hip": CHUNKS}).rewritten(rule, AccessKind.LOAD)
    assert output(tmp_path / "after", files) == output(tmp_path / "before", {"app.hip": CHUNKS})


def test_a_first_value_that_a_macro_with_arguments_ends_stays(tmp_path: Path) -> None:
    text = CHUNKS.replace("i = t * CHUNK;", "i = CHUNK * AFTER(t);")
    declined = Bench(tmp_path, {"app.hip": text}).declined("row_per_wave", AccessKind.LOAD)
    assert "the first value of the loop on line 7 is written by a macro" in declined


PAIRS = """\
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdio>
__global__ void scaled(__half2* data, const float* by, int rows, int pairs) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int j = 0; j < pairs; j++) {
    float2 v = __half22float2(data[r * pairs + j]);
    data[r * pairs + j] = __floats2half2_rn(v.x * by[r], v.y - by[r]);
  }
}
int main() {
  const int rows = 100, pairs = 40;
  static __half2 h[rows * pairs]; static float f[rows];
  for (int i = 0; i < rows * pairs; ++i) h[i] = __floats2half2_rn(i % 19, i % 23);
  for (int i = 0; i < rows; ++i) f[i] = i % 5;
  __half2* d; float* b;
  hipMalloc(&d, sizeof h); hipMalloc(&b, sizeof f);
  hipMemcpy(d, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(b, f, sizeof f, hipMemcpyHostToDevice);
  scaled<<<2, 64>>>(d, b, rows, pairs);
  hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < rows * pairs; ++i) sum += (double)__low2float(h[i]) * (i % 7) + __high2float(h[i]);
  printf("%f\\n", sum);
}
"""


def test_rows_of_pairs_of_halves_are_walked_by_groups(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "rule", "app.hip", PAIRS, "scaled")
    assert proposal.candidate is not None, proposal.declined
    text = proposal.candidate.edits[0].text
    assert "for (int j = lane; j < pairs; j += 32)" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PAIRS})
