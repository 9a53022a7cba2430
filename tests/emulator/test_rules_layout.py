"""LDS layouts and thread numberings rewritten by rule, run on the emulator before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind, MemorySpace

PAD = "pad_lds"
SWAP = "interchange_index"
TILE = "transpose_through_lds"
LDS = MemorySpace.SHARED
GLOBAL = MemorySpace.GLOBAL

PROGRAM = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdio>
constexpr int kSide = 16;
#define CHUNK 512
#define COLUMN threadIdx.x
template <typename T, int S>
__global__ void turn(T* out, const T* in, int w, int h) {
  __shared__ T tile[S][S];
  int x = blockIdx.x * S + threadIdx.x, y = blockIdx.y * S + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  x = blockIdx.y * S + threadIdx.x;
  y = blockIdx.x * S + threadIdx.y;
  out[y * h + x] = tile[threadIdx.x][threadIdx.y];  //@ tile
}
typedef double DATA_TYPE;
__global__ void flat(DATA_TYPE* out, const DATA_TYPE* in) {
  __shared__ DATA_TYPE buffer[kSide * kSide];
  buffer[threadIdx.y * kSide + threadIdx.x] = in[threadIdx.y * kSide + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * kSide + threadIdx.x] = buffer[threadIdx.x * kSide + threadIdx.y];  //@ flat
}
__global__ void scan(const int* in, int* out) {
  __shared__ int tree[CHUNK];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  int stride, offset = 1;
  tree[t] = in[t];
  tree[t + CHUNK / 2] = in[t + CHUNK / 2];
  for (stride = CHUNK / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    if (t < stride) {
      int left = offset * (2 * t + 1) - 1;
      int right = offset * (2 * t + 2) - 1;
      tree[right] += tree[left];  //@ scan
    }
    offset *= 2;
  }
  __syncthreads();
  out[t] = tree[t];
  out[t + CHUNK / 2] = tree[t + CHUNK / 2];
}
__global__ void chunks(const int* in, int* out) {
  __shared__ int buf[CHUNK], rows[32][16];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = t; i < CHUNK; i += 32) { buf[i] = in[i]; rows[i / 16][i % 16] = in[i + CHUNK]; }
  __syncthreads();
  int* mine = &buf[t * 16];
  int* line = rows[t];
  for (int k = 1; k < 16; ++k) {
    mine[k] += mine[k - 1];  //@ chunk
    line[k] += line[k - 1] + mine[k - 1];  //@ line
  }
  __syncthreads();
  for (int i = t; i < CHUNK; i += 32) out[i] = buf[i] - rows[i / 16][i % 16];
}
__global__ void scale(const float* in, float* out, int rows, int columns, float f) {
  const int r = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  const int c = hipBlockIdx_y * hipBlockDim_y + hipThreadIdx_y;
  // printf("%d %d", r, c);  A comment asks for no order of threads.
  if (r < rows && c < columns) {
    const float v = f * in[r * columns + c];  //@ swap
    out[r * columns + c] = v + 1;             //@ swap
  }
}
template <typename T>
__global__ void turned(T* __restrict__ out, const T* __restrict__ in, const int width, const int height) {
  unsigned x, y;
  x = blockDim.x * blockIdx.x + threadIdx.x;
  y = blockDim.y * blockIdx.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  T v = in[y * width + x];
  out[x * height + y] = v * T(3);  //@ turned
}
__global__ void guarded(const __half* in, __half* out, int w, int h) {
  int y;
  y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) {
    const int x = blockIdx.x * blockDim.x + COLUMN;
    if (x < w) out[x * h + y] = in[y * w + x];  //@ guarded
  }
}
__global__ void in_turns(const float* in, float* out, int w, int h) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += blockDim.y) {
    const int row = y + j;
    if (x < w && row < h)
      out[x * h + row] = in[row * w + x] + (j > 8);  //@ turns
  }
}
__global__ void picked(const double* in, double* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= h || y >= w) return;
  out[y * h + x] = 2 * in[x * w + y];  //@ picked
}
__global__ void picks(const int* in, int* out, int w, int h) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) out[(y + j) * h + x] = in[x * w + (y + j)] - threadIdx.x;  //@ picks
}
template <typename T> double weigh(const T* device, int n) {
  static T host[8192];
  hipMemcpy(host, device, n * sizeof(T), hipMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(host[i]) * (i % 1001);
  return sum;
}
int main() {
  static float f[8192]; static double d[8192]; static int k[8192];
  for (int i = 0; i < 8192; ++i) { f[i] = i % 97; d[i] = i % 89; k[i] = i % 83; }
  float *fi, *fo; double *di, *dd; int *ki, *ko;
  hipMalloc(&fi, sizeof f); hipMalloc(&fo, sizeof f); hipMalloc(&di, sizeof d); hipMalloc(&dd, sizeof d);
  hipMalloc(&ki, sizeof k); hipMalloc(&ko, sizeof k);
  hipMemcpy(fi, f, sizeof f, hipMemcpyHostToDevice); hipMemcpy(di, d, sizeof d, hipMemcpyHostToDevice);
  hipMemcpy(ki, k, sizeof k, hipMemcpyHostToDevice);
  turn<float, 16><<<dim3(4, 4), dim3(16, 16)>>>(fo, fi, 64, 64); printf("%f\\n", weigh(fo, 4096));
  turn<double, 16><<<dim3(4, 4), dim3(16, 16)>>>(dd, di, 64, 64); printf("%f\\n", weigh(dd, 4096));
  flat<<<1, dim3(16, 16)>>>(dd, di); printf("%f\\n", weigh(dd, 4096));
  scan<<<1, dim3(16, 16)>>>(ki, ko); printf("%f\\n", weigh(ko, 512));
  chunks<<<1, dim3(8, 4)>>>(ki, ko); printf("%f\\n", weigh(ko, CHUNK));
  turned<float><<<dim3(3, 13), dim3(32, 8)>>>(fo, fi, 70, 100); printf("%f\\n", weigh(fo, 7000));
  turned<int><<<dim3(5, 7), dim3(16, 16)>>>(ko, ki, 70, 100); printf("%f\\n", weigh(ko, 7000));
  guarded<<<dim3(9, 25, 1), dim3(8, 4, 2)>>>((__half*)fi, (__half*)fo, 70, 100);
  printf("%f\\n", weigh((short*)fo, 7000));
  in_turns<<<dim3(3, 4), dim3(32, 8)>>>(fi, fo, 70, 100); printf("%f\\n", weigh(fo, 7000));
  picked<<<dim3(13, 18), dim3(8, 4)>>>(di, dd, 70, 100); printf("%f\\n", weigh(dd, 7000));
  picks<<<dim3(4, 3), dim3(32, 8)>>>(ki, ko, 70, 100); printf("%f\\n", weigh(ko, 7000));
  scale<<<dim3(4, 9), dim3(32, 8)>>>(fi, fo, 100, 70, 2.f); printf("%f\\n", weigh(fo, 7000));
}
"""


@pytest.mark.slow
def test_other_layouts_and_numberings_leave_the_same_memory(tmp_path: Path) -> None:
    files = {"app.hip": PROGRAM}
    expected = output(tmp_path / "original", files)
    for number, (rule, space, mark) in enumerate(
        [
            (PAD, LDS, "tile"),
            (PAD, LDS, "flat"),
            (PAD, LDS, "scan"),
            (PAD, LDS, "chunk"),
            (PAD, LDS, "line"),
            (SWAP, GLOBAL, "swap"),
            (TILE, GLOBAL, "turned"),
            (TILE, GLOBAL, "guarded"),
            (TILE, GLOBAL, "turns"),
            (TILE, GLOBAL, "picked"),
            (TILE, GLOBAL, "picks"),
        ]
    ):
        blocks = {"guarded": (64, 4, 1), "chunk": (8, 4, 1), "line": (8, 4, 1)}
        block = (32, 8, 1) if mark in ("turns", "picked", "picks") else blocks.get(mark, (16, 16, 1))
        bench = Bench(tmp_path / str(number), files, block)
        stores = rule == TILE and not mark.startswith("pick")
        files = bench.rewritten(rule, AccessKind.STORE if stores else AccessKind.LOAD, space, mark)

    text = files["app.hip"]
    assert "tile[S][S + " in text
    assert "buffer[lds_skewed_" in text
    assert "(t * 16 + k)] += buf[lds_skewed_" in text and "mine" not in text
    assert "rows[32][16 + 1];" in text
    assert "__shared__ int tree[CHUNK + CHUNK / " in text
    assert "hipBlockIdx_x * hipBlockDim_x + thread_x;" in text
    assert output(tmp_path / "changed", files) == expected


REFUSED = """
#include <hip/hip_runtime.h>
#define AT(i) cell[i]
__device__ float total(const float* p) { return p[threadIdx.x]; }
__device__ int place() { return threadIdx.x; }
__global__ void dynamic(float* o) {
  extern __shared__ float d[];
  o[threadIdx.x] = d[threadIdx.x * 32];  //@ dynamic
}
__global__ void passed(float* o) {
  __shared__ float a[32][32];
  a[threadIdx.x][0] = 1;  //@ passed
  o[0] = total(a[0]);
}
__global__ void cast(float* o) {
  __shared__ float b[32][32];
  b[threadIdx.x][0] = 1;  //@ cast
  o[0] = (*(float4*)&b[0][4]).x;
}
__global__ void pointer(float* o) {
  __shared__ float c[1024];
  c[threadIdx.x * 32] = 1;  //@ pointer
  volatile float* v = c;
  o[0] = v[3];
}
__global__ void hidden(float* o) {
  __shared__ float cell[1024];
  AT(threadIdx.x * 32) = 1;
  o[0] = cell[threadIdx.x * 32];  //@ macro
}
__global__ void huge(float* o) {
  __shared__ float e[128][128];
  o[0] = e[threadIdx.x][0];  //@ huge
}
__global__ void good(float* o) {
  __shared__ float g[32][33];
  o[0] = g[threadIdx.x][0];  //@ good
}
__global__ void beyond(float* o) {
  __shared__ float h[32][32];
  o[0] = h[threadIdx.x][0] + h[0][40];  //@ beyond
}
__global__ void global_only(float* o) { o[threadIdx.x * 32] = 1; }  //@ global
__global__ void waves(float* o, const float* i, int n) {
  float v = i[(blockIdx.x * blockDim.x + threadIdx.x) * n + threadIdx.y];
  o[(blockIdx.x * blockDim.x + threadIdx.x) * n + threadIdx.y] = __shfl_xor(v, 1);  //@ waves
}
__global__ void called(float* o, int n) { o[place() * n + threadIdx.y + threadIdx.x * n] = 1; }  //@ called
__device__ float first_lane(float v) { return __shfl(v, 0); }
__global__ void led(float* o, const float* i, int n) {
  o[threadIdx.x * n + threadIdx.y] = first_lane(i[threadIdx.x * n + threadIdx.y]);  //@ led
}
__global__ void fine(float* o, int n) { o[threadIdx.y * n + threadIdx.x] = 1; }  //@ fine
__global__ void gather(float* o, const int* w) { o[w[threadIdx.y * 16 + threadIdx.x]] = 1; }  //@ gather
__global__ void then(float* o, const float* i, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
  o[x * n + y] = i[y * n + x];  //@ then
  o[0] = 1;
}
__global__ void looped(float* o, const float* i, int n) {
  for (int y = threadIdx.y; y < n; y += 16) o[threadIdx.x * n + y] = i[y * n + threadIdx.x];  //@ looped
}
__global__ void halves(float* o, const float* i, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  for (int y = 0; y < n; y += 16) {
    o[x * n + y + threadIdx.y] = i[(y + threadIdx.y) * n + x];  //@ halves
  }
}
__global__ void ended(float* o, const float* i, int n) {
  for (int y = 0; y < n; y += 16) {
    if (y == 32) continue;
    o[threadIdx.x * n + y + threadIdx.y] = i[y * n + threadIdx.x];  //@ ended
  }
}
__global__ void sparse(float* o, const float* i, const int* at, int n) {
  int x = at[threadIdx.x];
  if (x < n) o[threadIdx.x * n + threadIdx.y] = i[x];  //@ sparse
}
__global__ void synced(float* o, const float* i, int n) {
  __shared__ float s[256];
  int x = threadIdx.x, y = threadIdx.y;
  if (x >= n) return;
  s[x] = i[x];
  __syncthreads();
  o[x * n + y] = s[y] + i[y * n + x];  //@ synced
}
__global__ void data(float* o, int** w) { o[*w[threadIdx.y] + threadIdx.x] = 1; }
__global__ void row(float* o, int n) { for (int i = 0; i < n; ++i) o[threadIdx.x * n + i] = 1; }  //@ row
"""


@pytest.mark.parametrize(
    ("rule", "mark", "words"),
    [
        (PAD, "dynamic", "dynamic LDS"),
        (PAD, "passed", "other than by a full subscript"),
        (PAD, "cast", "address of an element"),
        (PAD, "pointer", "other than by a full subscript"),
        (PAD, "macro", "macro"),
        (PAD, "huge", "bytes of LDS"),
        (PAD, "good", "bank cycles per wave"),
        (PAD, "beyond", "beyond a row"),
        (PAD, "global", "no LDS array"),
        (SWAP, "waves", "depends on the order of threads"),
        (SWAP, "called", "threadIdx.x is written as place()"),
        (SWAP, "led", "first_lane, which the kernel calls, depends on the order of threads (__shfl)"),
        (SWAP, "fine", "not worth a change"),
        (SWAP, "gather", "not worth a change"),
        (SWAP, "row", "two thread coordinates"),
        (TILE, "then", "not the last thing"),
        (TILE, "looped", "need not go through the loop"),
        (TILE, "halves", "need not go through the loop"),
        (TILE, "ended", "or left early"),
        (TILE, "sparse", "more than coordinates"),
        (TILE, "synced", "barrier after the early return"),
        (TILE, "fine", "not worth a barrier"),
    ],
)
def test_a_rule_says_why_it_declines(rule: str, mark: str, words: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"r.hip": REFUSED}, block=(16, 16, 1))
    access = AccessKind.STORE if rule == TILE else AccessKind.LOAD
    assert words in bench.declined(rule, access, LDS if rule == PAD else GLOBAL, mark)


def test_kernels_that_leave_the_edges_alone_are_followed_in_the_middle(tmp_path: Path) -> None:
    program = """
#include <hip/hip_runtime.h>
const int N = 256;
__global__ void smooth(float* next, const float* now) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < N - 1 && y > 0 && y < N - 1)
    next[x * N + y] = 0.25f * (now[x * N + y - 1] + now[x * N + y + 1] + now[x * N - N + y] + now[x * N + N + y]);  //@
}
int main() { smooth<<<dim3(4, 4), dim3(64, 4)>>>(nullptr, nullptr); }
"""
    text = Bench(tmp_path, {"app.hip": program}, (64, 4, 1)).rewritten(SWAP, AccessKind.LOAD)["app.hip"]
    assert "int x = blockIdx.x * blockDim.x + thread_x" in text


BEHIND_METHODS = """
#include <hip/hip_runtime.h>
#include <cstdio>
struct Matrix {
  float* data; int rows, cols;
  __device__ float& operator()(int r, int c) { return data[r * cols + c]; }
  __device__ float at(int r, int c) const { return data[r * cols + c]; }
};
__global__ void turn(const Matrix in, Matrix out) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < in.rows && c < in.cols) out(c, r) = in.at(r, c);  //@ turn
}
__global__ void biased(Matrix m, const float* bias) {
  int r = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < m.rows && c < m.cols) m(r, c) = m(r, c) + bias[c];  //@ biased
}
int main() {
  const int rows = 40, cols = 50;
  static float h[rows * cols]; float *p, *q;
  for (int i = 0; i < rows * cols; ++i) h[i] = i % 97;
  hipMalloc(&p, sizeof h); hipMalloc(&q, sizeof h); hipMemcpy(p, h, sizeof h, hipMemcpyHostToDevice);
  Matrix a{p, rows, cols}, b{q, cols, rows};
  turn<<<dim3(4, 3), dim3(16, 16)>>>(a, b);
  biased<<<dim3(4, 3), dim3(16, 16)>>>(b, p);
  hipMemcpy(h, q, sizeof h, hipMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < rows * cols; ++i) sum += h[i] * (i % 1001);
  printf("%f\\n", sum);
}
"""


def test_elements_behind_methods_and_operators_are_followed_by_neighbours(tmp_path: Path) -> None:
    files = {"app.hip": BEHIND_METHODS}
    for rule, mark, access in ((TILE, "turn", AccessKind.STORE), (SWAP, "biased", AccessKind.LOAD)):
        files = Bench(tmp_path / mark, files, (16, 16, 1)).rewritten(rule, access, mark=mark)
    assert "if (r < in.rows && c < in.cols) { out(c, r) = store_tile" in " ".join(files["app.hip"].split())
    assert output(tmp_path / "b", files) == output(tmp_path / "a", {"app.hip": BEHIND_METHODS})
