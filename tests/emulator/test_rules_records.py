"""Records through LDS, and pairs of numbers given out anew: run on the emulator before and after."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

RECORDS = "stage_records"
GRID = "renumber_grid"

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
struct Body { float x, v[3]; int kind; float mass; };
typedef struct { double re, im; } Number;
#define AT(i, c) ((i) * 3 + (c))
__global__ void kick(Body* all, const float* force, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Body& b = all[i];
    b.v[1] += force[i] / b.mass;  //@ records
    if (b.kind > 1) all[i].x += all[i].v[1];
  }
}
__global__ void turn(Number* z, const float* __restrict__ p, double* out, int n) {
  const int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  if (i >= n) return;
  const float* mine = p + 3 * i;
  double re = z[i].re * mine[0] - z[i].im * p[AT(i, 1)];  //@ records
  z[i].im = z[i].re * mine[1] + z[i].im * mine[2];
  z[i].re = re;
  out[i] = re;
}
struct Trio { float at[3]; };
__device__ void twist(const float* m, float* r) {
  r[0] = m[2];  //@ records
  r[1] = m[0]; r[2] = m[1];
}
__global__ void spun(const Trio* in, Trio* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  twist(in[i].at, out[i].at);  //^ records
}
__global__ void quads(float* y, const float* x, unsigned n) {
  unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    y[i] += x[i];  //@ records
    y[i + 1] = x[i + 3];
    y[i + 2] = x[i + 1];
    y[i + 3] = x[i + 2];
  }
}
__global__ void wake(Body* all, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (n - 1 < i) return;
  if (all[i].kind > 2) {
    all[i].v[0] += 1;  //@ records
    all[i].x = -1;
  }
}
__global__ void bias(float* m, const float* b, int height, int width) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  int x = blockIdx.y;
  if (y < height) m[y * width + x] += b[x] * y;  //@ grid
}
__global__ void swapped(const int* in, int* out, int rows, int cols) {
  unsigned r = threadIdx.x + blockIdx.x * 8, c = threadIdx.y + blockIdx.y * blockDim.y;
  if (r >= rows || c >= cols) return;
  int sum = 0;
  for (int k = 0; k < 3; ++k) sum += in[(r + k) * cols + c];  //@ grid
  out[r * cols + c] = sum;
}
__global__ void deep(int* v, int nx, int ny, int nz) {
  int k = blockIdx.z, i = threadIdx.x + blockIdx.x * blockDim.x, j = blockDim.y * blockIdx.y + threadIdx.y;
  if (i < nx && j < ny && k < nz) v[(i * ny + j) * nz + k] += i + 10 * j + 100 * k;  //@ grid
}
int main() {
  const int n = 1000;
  static Body h[n]; static float f[3 * n]; static Number z[n]; static double o[n]; static int q[n], r[n];
  for (int i = 0; i < n; ++i) {
    h[i] = {i * .5f, {1, 2, 3}, i % 4, 1.f + i % 3}; z[i] = {i * 1., i * .5}; q[i] = i;
    for (int k = 0; k < 3; ++k) f[3 * i + k] = (i + k) % 8;
  }
  Body* a; float *b, *m; Number* c; double* d; int *e, *g;
  hipMalloc(&a, sizeof h); hipMalloc(&b, sizeof f); hipMalloc(&m, sizeof f); hipMalloc(&c, sizeof z);
  hipMalloc(&d, sizeof o); hipMalloc(&e, sizeof q); hipMalloc(&g, sizeof r); hipMemset(g, 0, sizeof r);
  hipMemcpy(a, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(b, f, sizeof f, hipMemcpyHostToDevice);
  hipMemcpy(m, f, sizeof f, hipMemcpyHostToDevice); hipMemcpy(c, z, sizeof z, hipMemcpyHostToDevice);
  hipMemcpy(e, q, sizeof q, hipMemcpyHostToDevice);
  kick<<<(n + 127) / 128, 128>>>(a, b, n);
  turn<<<(n + 95) / 96, 96>>>(c, b, d, n);
  spun<<<16, 64>>>((Trio*)b, (Trio*)m, n);
  quads<<<8, 64>>>(m, b, n + 2); wake<<<16, 64>>>(a, n - 3);
  bias<<<dim3(2, 30), 64>>>(m, b, 100, 30);
  swapped<<<dim3(3, 2), dim3(8, 16)>>>(e, g, 22, 31);
  deep<<<dim3(2, 3, 11), dim3(6, 4)>>>(g, 9, 10, 11);
  hipMemcpy(h, a, sizeof h, hipMemcpyDeviceToHost); hipMemcpy(z, c, sizeof z, hipMemcpyDeviceToHost);
  hipMemcpy(o, d, sizeof o, hipMemcpyDeviceToHost); hipMemcpy(f, m, sizeof f, hipMemcpyDeviceToHost);
  hipMemcpy(r, g, sizeof r, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 37) printf("%g %g %g %g %g %g %d\\n", h[i].x, h[i].v[1], z[i].re, z[i].im, o[i], f[3 * i], r[i]);
}
"""  # noqa: E501


def as_cuda(text: str) -> str:
    plain = text.replace("hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x", "blockIdx.x * blockDim.x + threadIdx.x")
    return plain.replace("#include <hip/hip_runtime.h>", "").replace("hip", "cuda")


@pytest.mark.parametrize(("name", "program"), [("app.hip", PROGRAM), ("app.cu", as_cuda(PROGRAM))])
def test_records_and_numbers_leave_the_same_memory(name: str, program: str, tmp_path: Path) -> None:
    first = Bench(tmp_path / "a", {name: program}).rewritten(RECORDS, AccessKind.LOAD, mark="records")
    both = Bench(tmp_path / "b", first, (8, 16, 1)).rewritten(GRID, AccessKind.LOAD, mark="grid")
    text = both[name]
    assert "Body& b = own_all;" in text
    assert "twist(own_in.at, own_out.at);" in text and "in_words[first_word" in text
    assert "own_z.im = own_z.re" in text
    assert re.search(r"end_of_words_\d = static_cast<long long>\(n\) / 4 \* 4;", text)
    assert "block_y[threadIdx.x * 5 + 1] = block_x[threadIdx.x * 5 + 3];" in text
    assert "if (own_all_2.kind > 2) {" in text
    assert text.count("const unsigned long long grid_thread") == 3
    assert re.search(r"number_z\w* = grid_thread\w* % grid_across_z;", text)
    assert output(tmp_path / "c", both) == output(tmp_path / "d", {name: program})


def test_threads_of_blocks_of_three_dimensions_have_numbers_of_their_own(tmp_path: Path) -> None:
    solid = PROGRAM.replace("k = blockIdx.z,", "k = blockIdx.z * blockDim.z + threadIdx.z,")
    text = Bench(tmp_path, {"app.hip": solid}, (6, 4, 2)).rewritten(GRID, AccessKind.LOAD, mark="grid")["app.hip"]
    assert "+ (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;" in text


@pytest.mark.parametrize(
    ("rule", "mark", "old", "new", "reason"),
    [
        (RECORDS, "records", "float mass; };", "float mass; Body* next; };", "lies in memory is not known"),
        (RECORDS, "records", "if (i < n) {", "if (i < n && force[i] > 0) {", "not every thread touches"),
        (
            RECORDS,
            "records",
            "all[i].x += all[i].v[1];",
            "if (all[i].x > 9) return;",
            "threads leave the kernel on line",
        ),
        (RECORDS, "records", "all[i].x += all[i].v[1];", "all[i].x += all[i + 1].x;", "other than at the thread's own"),
        (RECORDS, "records", "all[i].x += all[i].v[1];", "force = &all[0].x;", "uses all as a whole"),
        (RECORDS, "records", "  if (i < n) {", "  __syncthreads();\n  if (i < n) {", "the kernel has __syncthreads"),
        (RECORDS, "records", "(n + 127) / 128, 128", '(n + 127) / 128, n / atoi("8")', "is not a constant"),
        (GRID, "grid", "b[x] * y", "b[x] * threadIdx.x", "other than for the thread's number"),
        (GRID, "grid", "b[x] * y", "b[x] * __shfl(y, 0)", "depends on the order of threads"),
        (GRID, "grid", "m[y * width + x] += b[x] * y", "m[0] += y", "no access that the kernel makes itself"),
        (GRID, "grid", "m[y * width + x]", "m[x * height + y]", "have neighbouring elements already"),
    ],
)
def test_what_a_record_or_a_pair_is_not(rule: str, mark: str, old: str, new: str, reason: str, tmp_path: Path) -> None:
    kernel = PROGRAM[: PROGRAM.index("__global__ void turn")] + PROGRAM[PROGRAM.index("__global__ void bias") :]
    short = (
        kernel.replace("  turn<<<(n + 95) / 96, 96>>>(c, b, d, n);\n", "")
        .replace("  spun<<<16, 64>>>((Trio*)b, (Trio*)m, n);\n", "")
        .replace("  quads<<<8, 64>>>(m, b, n + 2); wake<<<16, 64>>>(a, n - 3);\n", "")
        .replace("//@ grid\n  out", "\n  out")
        .replace("//@ grid\n}\nint", "\n}\nint")
    )
    program = short.replace("for (int k = 0; k < 3; ++k) sum += in[(r + k) * cols + c];  //@ grid", "")
    assert old in program
    assert reason in Bench(tmp_path, {"app.hip": program.replace(old, new)}).declined(rule, AccessKind.LOAD, mark=mark)


def test_a_store_on_a_line_is_no_reason_against_its_load(tmp_path: Path) -> None:
    declined = Bench(tmp_path, {"app.hip": PROGRAM}).declined("stage_rows", AccessKind.STORE, mark="grid")
    assert declined == "no load of global memory is blamed."


LEFT_EARLY = """\
#include <hip/hip_runtime.h>
struct Trade { double price, years, rate; };
__global__ void worth(const Trade* trades, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Trade trade = trades[i];  //@
  if (trade.years <= 0) { out[i] = trade.price; return; }
  out[i] = trade.price * exp(-trade.rate * trade.years);
}
void start(const Trade* trades, double* out, int n) { worth<<<(n + 127) / 128, 128>>>(trades, out, n); }
"""


def test_threads_may_leave_after_they_have_read_their_record(tmp_path: Path) -> None:
    text = Bench(tmp_path, {"app.hip": LEFT_EARLY}).rewritten(RECORDS, AccessKind.LOAD)["app.hip"]
    assert "const Trade trade = own_trades;" in text
    early = LEFT_EARLY.replace("  const Trade trade", "  if (out[i] < 0) return;\n  const Trade trade")
    assert "not every thread touches" in Bench(tmp_path, {"app.hip": early}).declined(RECORDS, AccessKind.LOAD)
    written = LEFT_EARLY.replace("const Trade*", "Trade*").replace("const Trade trade", "Trade& trade")
    written = written.replace("{ out[i] = trade.price; return; }", "{ trade.years = 0; return; }")
    assert "and records of trades change" in Bench(tmp_path, {"app.hip": written}).declined(RECORDS, AccessKind.LOAD)
