"""Rows that threads walk alone, walked by groups of lanes: run on the emulator before and after."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from rowproposals import propose
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.records import AccessKind, Kernel, MemorySpace, SourceEvidence

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdio>
typedef unsigned int word;
struct Table { const int* data; int rows, cols; };
__device__ float inner(const float* a, const float* b, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
__global__ void several(float* m, const float* w, float* out, int rows, int cols) {
  int row = threadIdx.x + blockIdx.x * blockDim.x;
  if (row >= rows) return;
  float* x = m + row * cols;
  float top = x[0], total = 0;
  for (int c = 1; c < cols; ++c) top = fmaxf(top, x[c]);
  for (int c = 0; c < cols; c++) {
    x[c] = x[c] - top;
    total += x[c];
  }
  if (total != 0)
    for (int c = 0; c < cols; ++c) x[c] /= total;
  out[row] = inner(x, w, cols) + total;
}
template <typename T>
__global__ void places(const T* m, T* best, int* where, word rows, word cols) {
  for (word r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
    T top = 100000;
    int at = -1;
    word odd = 0;
    for (word c = 0; c < cols; c += 1) {
      if (m[r * cols + c] < top) { top = m[r * cols + c]; at = c; }
      if (m[r * cols + c] & 1) odd++;
    }
    best[r] = top;
    where[r] = at * 1000 + odd;
  }
}
__global__ void running(int* m, int* sums, Table t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j, total;
  if (i < t.rows) {
    total = i;
    for (j = 0; j < t.cols; j++) {
      total += t.data[i * t.cols + j];
      m[i * t.cols + j] = total * 2;
    }
    sums[i] = total;
    for (j = 0; j < t.cols; j++)
      sums[i] += t.data[i * t.cols + j];
  }
}
__global__ void again(int* m, int rows, int cols) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
    int* row = &m[i * cols];
    int most = row[0];
    for (int k = 1; k < cols; ++k) most = most < row[k] ? row[k] : most;
    for (int k = 0; k < cols; ++k) row[k] -= most;
    if (row[1] < 0) row[0] = row[cols - 1] + most;
  }
}
__global__ void halves(const __half* m, __half* out, int rows, int cols) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * rows + line;
  if (line >= rows) return;
  int most = 0;
  m += row * cols;
  out += row * cols;
  for (int c = 0; c < cols; ++c) most = max(most, int(__half2float(m[c])));
  for (int c = 0; c < cols; ++c) {
    __half v = m[c];
    out[c] = __float2half(__half2float(v) - most);
  }
}
__global__ void ragged(const int* start, const int* column, const double* value, double* y, int n) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n) {
    double product = 1;
    for (int k = start[r]; k < start[r + 1]; ++k) product *= value[column[k]];
    y[r] = product;
  }
}
struct Seen {
  float sum = 0, top = -1; int count = 0, odd = 0;
  __device__ void add(const float& value, int k) {
    const float scaled = 2 * value;
    sum += scaled; top = fmaxf(top, value); ++count;
    if (k & 1) odd += k;
  }
  __device__ float mean() const { return sum / count; }
  __device__ float spread() const { return top - mean(); }
};
#define TID (blockIdx.x * blockDim.x + threadIdx.x)
struct Ratio { float n; __device__ Ratio& operator*=(const Ratio& o) { n *= o.n; return *this; } };
__device__ float at(const float* m, int i) { return m[i]; }
__device__ float both(const float* m, int i) { return at(m, i) + m[i + 1]; }
__global__ void stretched(Ratio* r, const float* m, int rows, int cols) {
  int row = TID;
  if (row >= rows) return;
  const Ratio by = {2};
  for (int c = 0; c < cols; ++c) {
    r[row * cols + c] *= by;
    r[row * cols + c].n += both(m, row + c);
  }
}
__global__ void observed(const float* m, float* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  Seen seen;
  for (int c = 0; c < cols; ++c) seen.add(m[row * cols + c], c);
  out[row] = seen.spread() + seen.odd;
}
struct Tally {
  int all; double part;
  __host__ __device__ Tally(int a = 0, double p = 0) : all(a), part(p) {}
  __device__ Tally& operator+=(const Tally& o) { all += o.all; part += o.part; return *this; }
};
__global__ void gathered(const int* table, const int* which, Tally* out, int4* spread, int n, int cols) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const int* mine = table + (size_t)(which[t] % n) * cols;
  Tally total(7, 0.5);
  int4 s = {0, 0, 1, 9};
  for (int k = 0; k < cols; ++k) {
    total += Tally(mine[k], 0.25 * (k % 4));
    s.x += mine[k] & 1;
    s.y = s.y + k;
    s.z = s.z < mine[k] ? mine[k] : s.z;
  }
  out[t] = total;
  s.w -= s.x;
  spread[t] = s;
}
__global__ void down(const float* m, const int* k, double* s, int* top, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols) {
    s[c] = 1;
    int most = -1;
    for (int r = 0; r < rows; r++) {
      s[c] += m[r * cols + c] * m[r * cols];
      if (k[r * cols + c] > most) most = k[r * cols + c];
    }
    top[c] = most;
    s[c] /= rows;
  }
}
__global__ void upto(const int* m, int* sums, int rows, int cols) {
  const int r = threadIdx.x + blockDim.x * blockIdx.x;
  if (r >= rows) return;
  int* line = &sums[r * cols];
  line[0] = m[r * cols] * 2;
  for (int c = 1; c < cols; c++) {
    line[c] = m[r * cols + c] * 2 + line[c - 1];
    if (c == cols - 1) line[c] ^= 1;
  }
  for (int c = 1; c < cols; c++) line[c] += line[c - 1];
}
int main() {
  const int rows = 150, cols = 75, n = rows * cols;
  static float f[n]; static int v[n]; static double d[n];
  for (int i = 0; i < n; ++i) { f[i] = (i * 31) % 64; v[i] = (i * 7919) % 1013; d[i] = i % 3 ? 1 : 2; }
  float *m, *w, *out; int *keys, *best, *where, *sums, *start, *columns; double *value, *y;
  hipMalloc(&m, 4 * n); hipMalloc(&w, 4 * n); hipMalloc(&out, 4 * rows); hipMalloc(&keys, 4 * n);
  hipMalloc(&best, 4 * rows); hipMalloc(&where, 4 * rows); hipMalloc(&sums, 4 * rows); hipMalloc(&start, 4 * rows + 4);
  hipMalloc(&columns, 4 * n); hipMalloc(&value, 8 * n); hipMalloc(&y, 8 * rows);
  hipMemcpy(m, f, 4 * n, hipMemcpyHostToDevice); hipMemcpy(w, f, 4 * n, hipMemcpyHostToDevice);
  hipMemcpy(keys, v, 4 * n, hipMemcpyHostToDevice); hipMemcpy(value, d, 8 * n, hipMemcpyHostToDevice);
  static int starts[rows + 1];
  for (int i = 0; i <= rows; ++i) starts[i] = i * (i % 2) + 20 * i;
  for (int i = 1; i <= rows; ++i) if (starts[i] < starts[i - 1]) starts[i] = starts[i - 1];
  for (int i = 0; i < n; ++i) v[i] %= n;
  hipMemcpy(start, starts, 4 * rows + 4, hipMemcpyHostToDevice); hipMemcpy(columns, v, 4 * n, hipMemcpyHostToDevice);
  Table t{keys, rows, cols};
  dim3 grid((rows + 63) / 64);
  several<<<grid, 64>>>(m, w, out, rows, cols);
  places<int><<<1, 96>>>(keys, best, where, rows, cols);
  hipLaunchKernelGGL(ragged, dim3(rows), dim3(1), 0, 0, start, columns, value, y, rows);
  static float hf[rows]; static int a[rows], b[rows], c[rows], e[n]; static double hd[rows];
  hipMemcpy(hf, out, 4 * rows, hipMemcpyDeviceToHost); hipMemcpy(a, best, 4 * rows, hipMemcpyDeviceToHost);
  hipMemcpy(b, where, 4 * rows, hipMemcpyDeviceToHost); hipMemcpy(hd, y, 8 * rows, hipMemcpyDeviceToHost);
  const int blocks = (rows + 31) / 32;
  running<<<blocks, 32>>>(columns, sums, t);
  hipMemcpy(c, sums, 4 * rows, hipMemcpyDeviceToHost); hipMemcpy(e, columns, 4 * n, hipMemcpyDeviceToHost);
  again<<<2, 32>>>(keys, rows, cols);
  observed<<<grid, 64>>>(w, out, rows, cols);
  stretched<<<grid, 64>>>((Ratio*)m, w, rows, cols);
  hipMemcpy(f, m, 4 * n, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 57) printf("%.9g ", f[i]);
  static float of[rows];
  hipMemcpy(of, out, 4 * rows, hipMemcpyDeviceToHost);
  for (int i = 0; i < rows; ++i) printf("%.9g ", of[i]);
  Tally* sent; int4* spread; static Tally tallies[rows]; static int4 fours[rows];
  hipMalloc(&sent, sizeof tallies); hipMalloc(&spread, sizeof fours);
  gathered<<<3, 64>>>(keys, columns, sent, spread, rows, cols);
  hipMemcpy(tallies, sent, sizeof tallies, hipMemcpyDeviceToHost);
  hipMemcpy(fours, spread, sizeof fours, hipMemcpyDeviceToHost);
  for (int i = 0; i < rows; ++i) printf("%d %g %d %d %d %d ", tallies[i].all, tallies[i].part, fours[i].x, fours[i].y, fours[i].z, fours[i].w);
  down<<<2, 64>>>(w, columns, y, sums, rows, cols);
  hipMemcpy(hd, y, 8 * cols, hipMemcpyDeviceToHost); hipMemcpy(c, sums, 4 * cols, hipMemcpyDeviceToHost);
  for (int i = 0; i < cols; ++i) printf("%.9g %d ", hd[i], c[i]);
  static __half h[n];
  for (int i = 0; i < n; ++i) h[i] = __float2half(i * 13 % 101);
  __half *hm, *ho;
  hipMalloc(&hm, sizeof h); hipMalloc(&ho, sizeof h); hipMemcpy(hm, h, sizeof h, hipMemcpyHostToDevice);
  halves<<<dim3(3, 2), 32>>>(hm, ho, rows / 2, cols);
  hipMemcpy(h, ho, sizeof h, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 41) printf("%g ", __half2float(h[i]));
  upto<<<grid, 64>>>(keys, columns, rows, cols);
  hipMemcpy(v, columns, 4 * n, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 7) printf("%d ", v[i]);
  hipMemcpy(v, keys, 4 * n, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 31) printf("%d ", v[i] + v[i - i % cols]);
  for (int i = 0; i < rows; i += 7) printf("%.3g %d %d %d %.4g", hf[i], a[i], b[i], c[i], hd[i]);
  for (int i = 0; i < n; i += 777) printf(" %d\\n", e[i]);
}
"""  # noqa: E501
KERNELS = (
    "several",
    "places",
    "running",
    "again",
    "halves",
    "ragged",
    "gathered",
    "down",
    "observed",
    "stretched",
    "upto",
)


def as_cuda(text: str) -> str:
    return text.replace("#include <hip/hip_runtime.h>", "").replace("hip/hip_fp16.h", "cuda_fp16.h").replace(
        "hipLaunchKernelGGL(ragged, dim3(rows), dim3(1), 0, 0, start", "ragged<<<rows, 1>>>(start"
    ).replace("hip", "cuda")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "program"), [("app.hip", PROGRAM), ("app.cu", as_cuda(PROGRAM))])
def test_groups_of_lanes_leave_what_single_threads_leave(name: str, program: str, tmp_path: Path) -> None:
    text = program
    for kernel in KERNELS:
        proposal = propose(tmp_path / kernel, name, text, kernel)
        assert proposal.candidate is not None, proposal.declined
        (edit,) = proposal.candidate.edits
        text = edit.text
        assert proposal.candidate.declares.geometry
    assert "const int r = blockIdx.x * 1 + 0;" in text
    assert "sums[i] += part" in text
    assert "total += group_running_sum(" in text
    assert "group_least_place(top, at);" in text
    assert re.search(r"int part\w*_sum2 = 1 < cols \? line\[1 - 1\] : 0;", text)
    assert "total = group_object_sum(total);" in text and "other.part = __shfl" in text and "words[" not in text
    assert "s[c] += part" in text and "blockDim.x / 32) + threadIdx.x / 32" in text, (
        "of few columns each gets a whole group"
    )
    assert "s.x = group_sum(s.x);" in text
    assert re.search(r"seen.top = group_float_max\w*\(seen.top\);", text) and " != 0) seen.sum = 0;" in text
    assert output(tmp_path / "after", {name: text}) == output(tmp_path / "before", {name: program})


def test_a_kernel_is_found_by_its_name_where_an_earlier_change_has_moved_it(tmp_path: Path) -> None:
    proposal = propose(tmp_path, "app.hip", SMALL, "k", moved=1)  # a device function's line
    assert proposal.candidate is not None, proposal.declined


def test_one_rewritten_source_is_read_by_both_languages(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "cuda", "app.cu", as_cuda(PROGRAM), "several")
    assert proposal.candidate is not None
    text = proposal.candidate.edits[0].text
    shared = "#include <hip/hip_runtime.h>\n" + text.replace("<cuda_fp16", "<hip/hip_fp16").replace("cuda", "hip")
    assert output(tmp_path / "hip", {"app.hip": shared})


WALK = "for (int c = 0; c < cols; ++c) sum += m[row * cols + c];"
SOFT = "for (int c = 0; c < cols; ++c) { float o = t; t = fmaxf(t, m[c]); d = d * expf(o - t) + expf(c - t); }"
SMALL = """\
#include <hip/hip_runtime.h>
constexpr int kBlock = 256;
__device__ int counts[4];
#define AT(d) (blockIdx.d * blockDim.d + threadIdx.d)
struct Mean { float mean = 0; int n = 0; __device__ void add(int v) { ++n; mean += (v - mean) / n; } };
__device__ int first(const int* x, int i) { int v = x[i]; return v; }
__device__ int squared(const int* x, int n) { int s = 0; for (int i = 0; i < n; ++i) s += x[i] * x[i]; return s; }
__global__ void k(int* m, int* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  float2 last = {0, 0}, step = {1, 1};
  Mean mean;
  if (row < rows) {
    for (int c = 0; c < cols; ++c) sum += m[row * cols + c];
    out[row] = sum;
  }
}
int main() {
  k<<<4, 256>>>(nullptr, nullptr, 0, 0);
}
"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("sum += m[row * cols + c];", "sum = sum * 3 + m[row * cols + c];", "carries sum from one turn to the next"),
        ("sum += m[row * cols + c];", "{ sum += m[row * cols + c]; if (sum > 9) break; }", "leaves the loop"),
        ("sum += m[row * cols + c];", "{ sum += m[row * cols + c]; last = last + step; }", "carries last from one"),
        ("sum += m[row * cols + c];", "{ sum += m[row * cols + c]; m[row * cols + c + 1] = 0; }", "another element"),
        ("sum += m[row * cols + c];", "{ sum += m[row * cols + c]; m[c] += 1; }", "uses another element"),
        ("sum += m[row * cols + c];", "{ sum += m[row * cols + c]; last.x += 1; last = step; }", "carries last"),
        ("sum += m[row * cols + c];", "{ sum += m[row * cols + c]; mean.add(c); }", "does more than add to members"),
        ("sum += m[row * cols + c];", "{ sum += first(m, c); m[row * cols + c] = 0; }", "what the kernel may write"),
        ("sum += m[row * cols + c];", "sum += m[c * rows + row];", "no loop of the kernel walks neighbouring"),
        ("for (int c = 0; c < cols; ++c) sum += m[row * cols + c];", "sum += m[row * cols];", "the kernel has no loop"),
        ("    out[row] = sum;", "    out[row] = sum + threadIdx.x;", "other than for the thread's number"),
        ("  int sum = 0;", "  __shared__ int t; int sum = 0;", "the kernel uses LDS (t)"),
        ("blockIdx.x * blockDim.x", "blockIdx.x * 256", ""),
        ("blockIdx.x * blockDim.x", "blockIdx.x * kBlock", ""),
        ("blockIdx.x * blockDim.x", "blockIdx.x * 128", "other than for the thread's number"),
        ("blockIdx.x * blockDim.x + threadIdx.x", "AT(x)", "is written by a macro"),
        ("<<<4, 256>>>", "<<<4, 50>>>", "blocks of 50 threads are not whole groups of 32"),
        ("out[row] = sum;", "out[row] = sum + squared(m + row * cols, cols) + squared(m, 4) * (row > 3 ? 1 : 0);", ""),
        ("int main() {", "__global__ void other(int* o) { o[0] = squared(o, 4); }\nint main() {\n", ""),
        ("    out[row] = sum;", "    out[row] = sum; if (row) out[row] = m[row * cols];", ""),
        ("    out[row] = sum;", "    counts[row % 4] += sum;", "does more than one store"),
        ("    out[row] = sum;", "    out[row] = sum; int* p = out; ++p; if (*p) *p = 1;", ""),
        ("    out[row] = sum;", "    out[row] = sum; int* p = row > 3 ? m : out; if (*p) *p = 1;", "may lead to what"),
        (WALK, "int c = 0; while (c != cols) sum += m[row * cols + c++]; out[0] = c;", "uses c, which the loop"),
        (WALK, "int c = 0; while (c < cols) { if (m[c]) sum += m[row * cols + c++]; }", "does not count up by one"),
        (WALK, "int at = 0; for (int c = cols; c > 0; c--) if (m[c] > sum) { sum = m[c]; at = c; }", "the last place"),
        (WALK, f"float t = 0, d = 0; {SOFT.replace('d * expf(o - t)', 'd * expf(t - o)')}", "carries d from one"),
        (WALK, f"float t = 0, d = 0; {SOFT.replace('expf(c - t)', 'expf(c)')}", "carries d from one"),
        (WALK, "for (int c = 0; c < cols; ++c) { sum += m[c]; sum *= m[c + 1]; }", "changed twice"),
        (WALK, "float t = 0; for (int c = 0; c < cols; ++c) { if (c) t = t - 3; m[row * cols] = t; }", "another rest"),
        (WALK, "unsigned c = cols; while (c > 0) sum += m[row * cols + --c];", "does not count up"),
        (WALK, "int* p = m + row; while (p < m + cols) { sum += *p++; sum += *p; }", "does not count up by one"),
    ],
)  # fmt: skip
def test_what_one_turn_owes_another_is_told(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in SMALL
    proposal = propose(tmp_path, "app.hip", SMALL.replace(old, new), "k")
    assert proposal.declined is None if not reason else reason in proposal.declined.reason  # type: ignore[union-attr]


def test_blocks_of_one_thread_stay_as_large_as_the_kernel_says(tmp_path: Path) -> None:
    program = SMALL.replace("<<<4, 256>>>", "<<<4, 1>>>")
    assert propose(tmp_path / "free", "app.hip", program, "k").candidate is not None
    bounded = program.replace("__global__ void k(", "__launch_bounds__(1)\n__global__ void k(")
    proposal = propose(tmp_path / "bounded", "app.hip", bounded, "k")
    assert proposal.declined is not None
    assert "bounds for its blocks" in proposal.declined.reason


def test_a_function_that_single_threads_call_as_well_stays(tmp_path: Path) -> None:
    program = SMALL.replace("out[row] = sum;", "out[row] = sum + squared(m + row * cols, cols);").replace(
        "int main() {", "__global__ void other(int* o) { o[threadIdx.x] = squared(o, 4); }\nint main() {\n"
    )
    proposal = propose(tmp_path, "app.hip", program, "k")
    assert proposal.declined is not None
    assert "squared is also used elsewhere (app.hip:" in proposal.declined.reason


def test_what_only_shares_its_name_with_a_function_is_no_use_of_it(tmp_path: Path) -> None:
    named = (
        'struct Norm { int squared; };\nvoid told(int squared, Norm n) { printf("squared %d", squared + n.squared); }\n'
    )
    program = SMALL.replace("out[row] = sum;", "out[row] = sum + squared(m + row * cols, cols);").replace(
        "int main() {", f"{named}int main() {{\n"
    )
    prototype = re.search(r"__device__ [^\n{]*\bsquared\([^)]*\)", program)
    assert prototype is not None
    program = program.replace(prototype[0], f"{prototype[0]};\n{prototype[0]}", 1)
    assert propose(tmp_path, "app.hip", program, "k").candidate is not None


def test_a_source_that_is_only_included_is_read_where_it_is_compiled(tmp_path: Path) -> None:
    kernels = SMALL[SMALL.index("struct Mean") : SMALL.index("int main")].replace("void k(", "void k(Scalar unused, ")
    main = '#include <hip/hip_runtime.h>\ntypedef float Scalar;\n#include "kernels.hip"\nint main() {\n'
    program = main + "  k<<<4, 256>>>(0, nullptr, nullptr, 0, 0);\n}\n"
    bench = Bench(tmp_path, {"kernels.hip": kernels, "main.hip": program})
    line = next(n for n, text in enumerate(kernels.splitlines(), 1) if "__global__" in text)
    known = Kernel("k", "k", tmp_path / "kernels.hip", line)
    task = bench.task("row_per_wave", AccessKind.KERNEL, MemorySpace.GLOBAL)
    where = (known, tmp_path / "kernels.hip", line, 0, "")
    evidence = SourceEvidence(*where, AccessKind.KERNEL, MemorySpace.GLOBAL, "", 4, (), {})
    finding = dataclasses.replace(task.finding, profile=dataclasses.replace(task.finding.profile, kernel=known))
    compiled = {"main.hip": task.compile_arguments["main.hip"]}
    asked = dataclasses.replace(task, finding=finding, evidence=(evidence,), compile_arguments=compiled)
    proposal = RuleRewriter(parser()).propose(asked, ())
    assert proposal is not None and proposal.candidate is not None, proposal
    assert [edit.path for edit in proposal.candidate.edits] == ["kernels.hip", "main.hip"]


def test_a_load_in_a_function_is_blamed_where_the_kernel_calls_it(tmp_path: Path) -> None:
    text = SMALL.replace(
        "__global__", "__device__ int tripled(const int& v) {\n  return v * 3;  //@ t\n}\n__global__", 1
    )
    text = text.replace("sum += m[row * cols + c];", "sum += tripled(m[row * cols + c]);  //^ t")
    task = Bench(tmp_path, {"app.hip": text}).task("row_per_wave", AccessKind.LOAD, MemorySpace.GLOBAL)
    line = next(n for n, words in enumerate(text.splitlines(), 1) if "__global__" in words)
    known = dataclasses.replace(task.finding.profile, kernel=Kernel("k", "k", tmp_path / "app.hip", line))
    asked = dataclasses.replace(task, finding=dataclasses.replace(task.finding, profile=known))
    proposal = RuleRewriter(parser()).propose(asked, ())
    assert proposal is not None and proposal.candidate is not None, proposal
