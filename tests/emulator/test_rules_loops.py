"""Loops over chunks rewritten by rule, run on the emulator before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

CHUNKS = "interleave_chunks"

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
struct Body { float place[3], speed[3]; double mass; };
struct View { const float* from; float* to; int count; };
__device__ float pull(float speed, double mass) { return speed + float(1 / mass); }
__global__ void move(Body* bodies, int count, int per, float dt) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = t * per;
  const int last = min(first + per, count);
  for (int i = first; i < last; ++i) {
    for (int axis = 0; axis < 3; axis++) bodies[i].speed[axis] = pull(bodies[i].speed[axis], bodies[i].mass);  //@ move
    Body& b = bodies[i];
    if (b.speed[0] < 0) continue;
    for (int axis = 0; axis < 3; axis++) b.place[axis] += b.speed[axis] * dt;
  }
}
template <typename T, int Per>
__global__ void scale(T* __restrict__ out, const T* __restrict__ in, const size_t n, T f) {
  for (size_t i = (threadIdx.x + size_t(blockIdx.x) * blockDim.x) * Per;
       i < (threadIdx.x + size_t(blockIdx.x) * blockDim.x + 1) * Per && i < n; i++)
    out[i] = f * in[i];  //@ scale
}
__global__ void smooth(View v, int per) {
  const int width = blockDim.x, block = blockIdx.x, thread = threadIdx.x;
  int t = thread + width * block;
  int start = per * t, stop = start + per;
  if (v.count > 2) {
    for (int i = start; i < (stop < v.count ? stop : v.count); i += 1) {
      float left = i > 0 ? v.from[i - 1] : 0.f;  //@ smooth
      v.to[i] = left + v.from[i];
    }
  }
}
typedef float DATA_TYPE;
__global__ void halve(DATA_TYPE *a, int n, int per) {
  int i, k, start;
  DATA_TYPE part;
  start = (blockIdx.x * blockDim.x + threadIdx.x) * per;
  for (i = start; i < start + per && i < n; i = i + 1) {
    part = 0;
    for (k = 0; k < 3; k++) part += a[i] / 6;  //@ halve
    a[i] = part;
  }
  for (i = 0; i < 2; i++) __syncthreads();
}
template <int Per> __global__ void each(const float* in, float* out, int n) {
  const int first = (blockIdx.x * 50 + threadIdx.x) * Per;
  for (int k = 0; k < Per; ++k) {
    const int at = first + k;
    if (at < n) out[at] += in[first + k] * 2 + at;  //@ each
  }
}
int main() {
  const int n = 1000;
  static Body host[n]; static float f[n]; static double sums[3];
  for (int i = 0; i < n; ++i) { f[i] = i % 97; host[i] = {{1.f * i, 2, 3}, {i % 7 - 3.f, 1, 2}, 1. + i % 5}; }
  Body* bodies; float *a, *b;
  hipMalloc(&bodies, sizeof host); hipMalloc(&a, sizeof f); hipMalloc(&b, sizeof f);
  hipMemcpy(bodies, host, sizeof host, hipMemcpyHostToDevice); hipMemcpy(a, f, sizeof f, hipMemcpyHostToDevice);
  hipMemset(b, 0, sizeof f);
  move<<<2, 70>>>(bodies, n, 8, 0.5f);
  move<<<2, 64>>>(bodies, n, 3, 0.5f);
  scale<float, 4><<<3, 50>>>(b, a, n, 3.f);
  scale<float, 16><<<1, 64>>>(a, b, n - 9, 2.f);
  smooth<<<5, 30>>>(View{a, b, n}, 7);
  halve<<<2, 64>>>(b, n, 6);
  each<5><<<3, 50>>>(a, b, n - 300);
  hipMemcpy(host, bodies, sizeof host, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) sums[0] += (i % 101) * host[i].place[i % 3] + host[i].speed[i % 3];
  hipMemcpy(f, a, sizeof f, hipMemcpyDeviceToHost); for (int i = 0; i < n; ++i) sums[1] += f[i] * (i % 103);
  hipMemcpy(f, b, sizeof f, hipMemcpyDeviceToHost); for (int i = 0; i < n; ++i) sums[2] += f[i] * (i % 107);
  printf("%f %f %f\\n", sums[0], sums[1], sums[2]);
}
"""


def test_interleaved_chunks_leave_the_same_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a", {"app.hip": PROGRAM})
    expected = output(tmp_path / "a", bench.files)

    changed = bench.rewritten(CHUNKS, AccessKind.LOAD)

    text = changed["app.hip"]
    assert text.count("i += grid_threads") == 4
    assert "out[at] += in[static_cast<int>(blockIdx.x) * blockDim.x + threadIdx.x + k * grid_threads" in text
    assert "const int first = (blockIdx" not in text
    assert "for (int i = t; i < count && i < grid_threads * per; i += grid_threads) {" in text
    assert "for (i = static_cast<int>(blockIdx.x) * blockDim.x + threadIdx.x; i < n && i < grid" in text
    assert "const int first" not in text and "const int last" not in text
    assert output(tmp_path / "b", changed) == expected


REFUSED = """
#include <hip/hip_runtime.h>
__device__ int counter;
__device__ int next() { return ++counter; }
__global__ void sum(const float* in, float* out, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float total = 0;
  for (int i = t * per; i < (t + 1) * per; ++i) total += in[i];  //@ sum
  out[t] = total;
}
__global__ void prefix(float* a, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per; ++i) a[i] += a[i - 1];  //@ prefix
}
__global__ void early(float* a, int n, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t * per >= n) return;
  for (int i = t * per; i < (t + 1) * per; ++i) a[i] += 1;  //@ early
}
__global__ void local(float* a, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per; ++i) a[i] += t;  //@ local
}
__global__ void ordered(float* a, float* o, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per; ++i) atomicAdd(o, a[i]);  //@ ordered
}
__global__ void stateful(int* a, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per; ++i) a[i] = next();  //@ stateful
}
__global__ void longer(float* a, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per + 1; ++i) a[i] = 1;  //@ longer
}
__global__ void offset(float* a, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 1 + t * per; i < 1 + (t + 1) * per; ++i) a[i] = 1;  //@ offset
}
__global__ void searching(float* a, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per; ++i) { if (a[i] < 0) break; a[i] = 1; }  //@ searching
}
__global__ void scatter(float* a, const int* w, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per; ++i) a[w[i]] = 1;  //@ scatter
}
__global__ void gather(int* a, const int* w, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per; ++i) a[i] = w[w[i]];  //@ gather
}
__global__ void kept(float* a, float* o, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float last[2] = {0, 0};
  for (int i = t * per; i < (t + 1) * per; ++i) { last[i & 1] = a[i]; a[i] = 1; }  //@ kept
  o[t] = last[0];
}
__global__ void strided(float* a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i * 9] = 1;  //@ strided
}
__global__ void uneven(float* a, const int* starts) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = starts[t]; i < starts[t + 1]; ++i) a[i] = 1;  //@ uneven
}
__global__ void after(float* a, int n, int per) {
  int i, t = blockIdx.x * blockDim.x + threadIdx.x;
  for (i = t * per; i < (t + 1) * per; i++) a[i] += 1;  //@ after
  if (i == n) a[0] = 7;
}
__global__ void captured(float* a, int per) {
  int i, t = blockIdx.x * blockDim.x + threadIdx.x;
  auto last = [&] { return i; };
  for (i = t * per; i < (t + 1) * per; i++) a[i] += 1;  //@ captured
  a[t] = last();
}
__global__ void addressed(float* a, int per) {
  int i, t = blockIdx.x * blockDim.x + threadIdx.x, *at = &i;
  for (i = t * per; i < (t + 1) * per; i++) a[i] += 1;  //@ addressed
  a[t] = *at;
}
__global__ void again(float* a, int per) {
  int i, t = blockIdx.x * blockDim.x + threadIdx.x;
from_here:
  for (i = t * per; i < (t + 1) * per; i++) a[i] += 1;  //@ again
  if (per > 90) goto from_here;
}
__global__ void skipping(float* a, int per) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per; i < (t + 1) * per; i++) { a[i] += 1; i += 1; }  //@ skipping
}
__global__ void carried(float* a, int per) {
  int i, t = blockIdx.x * blockDim.x + threadIdx.x; float last;
  for (i = t * per; i < (t + 1) * per; i++) { if (a[i] > 3) a[i] = last; last = a[i]; }  //@ carried
}
__global__ void entered(float* a, int n, int per) {
  int x, i, t = blockIdx.x * blockDim.x + threadIdx.x;
  for (i = t * per; i < (t + 1) * per; i++) {
    switch (n) {
      case 0: {
        x = i;
        case 1: a[i] = x;  //@ entered
      }
    }
  }
}
__global__ void once(float* a) { a[threadIdx.x * 32] = 1; }  //@ once
"""


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("sum", "each thread keeps what the loop on line 8 makes of total"),
        ("prefix", "reads another element of an array that the loop writes"),
        ("early", "some threads do not reach the loop"),
        ("local", "uses t, which differs between threads"),
        ("ordered", "whose order may matter"),
        ("stateful", "uses counter"),
        ("longer", "does not end where the next chunk begins"),
        ("offset", "does not start at the thread's number"),
        ("searching", "leaves the loop early"),
        ("scatter", "writes to more than the loop's own element"),
        ("gather", "data-dependent index"),
        ("kept", "carries last"),
        ("strided", "does not count up by one"),
        ("uneven", "not known to be a thread's chunk"),
        ("after", "counts with i, which others may use, too"),
        ("captured", "counts with i, which others may use, too"),
        ("addressed", "counts with i, which others may use, too"),
        ("again", "counts with i, which others may use, too"),
        ("skipping", "changes i, by which the loop counts"),
        ("carried", "uses last, which differs between threads"),
        ("entered", "carries x from one element to the next"),
        ("once", "not in a loop"),
    ],
)
def test_chunks_stay_where_their_elements_depend_on_each_other(mark: str, words: str, tmp_path: Path) -> None:
    assert words in Bench(tmp_path, {"r.hip": REFUSED}).declined(CHUNKS, AccessKind.LOAD, mark=mark)


JOINED = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void shares(const float* data, float* parts, int n) {
  __shared__ float cache[64];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int share = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
  float sum = 0;
  for (int i = t * share; i < (t + 1) * share && i < n; i++) sum += data[i];  //@ shares
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = cache[0];
}
__global__ void extremes(const int* data, int* most, unsigned long long* over, int n, int per) {
  const int t = threadIdx.x + blockIdx.x * blockDim.x;
  int best = data[0];
  unsigned long long count = 0;
  for (int k = 0; k < per; ++k) {
    int i = t * per + k;
    if (i < n) {
      best = max(best, data[i]);
      if (data[i] > 50) count++;  //@ extremes
    }
  }
  atomicMax(most, best);
  atomicAdd(over, count);
}
int main() {
  const int n = 3000;
  static float f[n]; static int d[n]; float parts[4]; int most = 0; unsigned long long over = 0;
  for (int i = 0; i < n; ++i) { f[i] = i % 37; d[i] = i * 7919 % 101; }
  float *a, *p; int *b, *m; unsigned long long* o;
  hipMalloc(&a, sizeof f); hipMalloc(&p, sizeof parts); hipMalloc(&b, sizeof d); hipMalloc(&m, 4); hipMalloc(&o, 8);
  hipMemcpy(a, f, sizeof f, hipMemcpyHostToDevice); hipMemcpy(b, d, sizeof d, hipMemcpyHostToDevice);
  hipMemset(m, 0, 4); hipMemset(o, 0, 8);
  shares<<<4, 64>>>(a, p, n - 5);
  extremes<<<4, 64>>>(b, m, o, n - 5, 12);
  hipMemcpy(parts, p, sizeof parts, hipMemcpyDeviceToHost);
  hipMemcpy(&most, m, 4, hipMemcpyDeviceToHost); hipMemcpy(&over, o, 8, hipMemcpyDeviceToHost);
  printf("%d %llu", most, over);
  for (float part : parts) printf(" %f", part);
}
"""


def test_sums_that_a_block_joins_keep_each_blocks_part(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a", {"app.hip": JOINED})
    changed = bench.rewritten(CHUNKS, AccessKind.LOAD)
    text = changed["app.hip"]
    assert "for (int i = block_first + static_cast<int>(threadIdx.x); i < n && i < block_first + " in text
    assert text.count(" = static_cast<int>(blockIdx.x) * static_cast<int>(blockDim.x) * ") == 2
    assert "int i = block_first_2 + static_cast<int>(threadIdx.x) + k * static_cast<int>(blockDim.x);" in text
    assert output(tmp_path / "b", changed) == output(tmp_path / "a", bench.files)


@pytest.mark.parametrize(
    ("mark", "old", "new", "words"),
    [
        ("shares", "sum += data[i];", "sum = sum * 0.5f + data[i];", "carries sum from one element to the next"),
        (
            "shares",
            "sum += data[i];",
            "{ sum += data[i]; parts[i] = sum; }",
            "carries sum from one element to the next",
        ),
        (
            "extremes",
            "best = max(best, data[i]);",
            "if (data[i] > best) { best = data[i]; most[1] = i; }",
            "uses best, which differs between threads",
        ),
    ],
)
def test_chunks_stay_where_the_order_of_their_turns_decides(mark, old, new, words, tmp_path: Path) -> None:
    changed = JOINED.replace(old, new)
    assert changed != JOINED
    assert words in Bench(tmp_path, {"r.hip": changed}).declined(CHUNKS, AccessKind.LOAD, mark=mark)


METHODS = """
#include <hip/hip_runtime.h>
#include <cstdio>
struct Gain { float slope, offset; __device__ float operator()(float v) const { return slope * v + offset; } };
struct Two {
  float x, y;
  __device__ Two operator+(const Two& o) const { return Two{x + o.x, y + o.y}; }
  __device__ float sum() const { float s = x; s += y; return s; }
};
template <class Op> __global__ void apply(float* data, int n, int chunk, Op op) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  for (int k = 0; k < chunk; ++k) {
    int i = first + k;
    if (i < n) data[i] = op(data[i]);  //@ apply
  }
}
__global__ void pairs(const Two* in, float* out, int n, int chunk) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  for (int k = 0; k < chunk; ++k) {
    int i = first + k;
    if (i < n) out[i] = (in[i] + in[i]).sum();  //@ pairs
  }
}
__global__ void letters(const char* text, int* bins, int length, int per) {
  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * per;
  int end = min(begin + per, length);
  for (int i = begin; i < end; i++) {
    char c = text[i];  //@ letters
    if (c >= 'a' && c <= 'z') atomicAdd(&bins[c - 'a'], 1);
  }
}
int main() {
  const int n = 900;
  static float f[n]; static char text[n]; static int counts[26];
  for (int i = 0; i < n; ++i) { f[i] = i % 37; text[i] = 'A' + i * 7 % 60; }
  float *a, *b; char* t; int* bins;
  hipMalloc(&a, sizeof f); hipMalloc(&b, sizeof f); hipMalloc(&t, n); hipMalloc(&bins, sizeof counts);
  hipMemcpy(a, f, sizeof f, hipMemcpyHostToDevice); hipMemcpy(t, text, n, hipMemcpyHostToDevice);
  hipMemset(b, 0, sizeof f); hipMemset(bins, 0, sizeof counts);
  apply<<<2, 64>>>(a, n - 3, 8, Gain{1.5f, -2});
  pairs<<<1, 64>>>(reinterpret_cast<Two*>(a), b, n / 2, 8);
  letters<<<2, 64>>>(t, bins, n, 7);
  double sums[2] = {};
  hipMemcpy(f, a, sizeof f, hipMemcpyDeviceToHost); for (int i = 0; i < n; ++i) sums[0] += f[i] * (i % 103);
  hipMemcpy(f, b, sizeof f, hipMemcpyDeviceToHost); for (int i = 0; i < n; ++i) sums[1] += f[i] * (i % 107);
  hipMemcpy(counts, bins, sizeof counts, hipMemcpyDeviceToHost);
  printf("%f %f", sums[0], sums[1]);
  for (int c : counts) printf(" %d", c);
}
"""


def test_chunks_with_methods_operators_and_commuting_atomics_leave_the_same_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a", {"app.hip": METHODS})
    changed = bench.rewritten(CHUNKS, AccessKind.LOAD)
    assert changed["app.hip"].count("const int grid_threads") == 3
    assert output(tmp_path / "b", changed) == output(tmp_path / "a", bench.files)


@pytest.mark.parametrize(
    ("mark", "old", "new", "words"),
    [
        ("apply", "float v) const { return", "float v) { offset += v; return", "calls operator(), which is not const"),
        ("apply", "return slope * v", "return all[0] * v", "which looks into memory on line 4"),
        ("pairs", "float s = x; s += y; return s;", "seen += 1; return x;", "which writes more than its own variables"),
        ("letters", "int* bins", "float* bins", "calls atomicAdd, whose order may matter"),
        ("letters", "char c = text[i];", "char c = text[i] + bins[0];", "calls atomicAdd, whose order may matter"),
        (
            "letters",
            "    if (c >=",
            "    if (c == '.') atomicMax(&bins[0], i);\n    if (c >=",
            "calls atomicMax",
        ),
        (
            "letters",
            "atomicAdd(&bins[c - 'a'], 1)",
            "bins[25] = atomicAdd(&bins[c - 'a'], 1)",
            "calls atomicAdd, whose",
        ),
    ],
)
def test_chunks_whose_methods_or_atomics_depend_on_order_stay(
    mark: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    text = METHODS.replace(old, new)
    assert text != METHODS
    text = text.replace("float slope, offset;", "float slope, offset; float* all;") if "all[0]" in new else text
    text = text.replace("  float x, y;", "  float x, y; mutable int seen;") if "seen" in new else text
    assert words in Bench(tmp_path, {"app.hip": text}).declined(CHUNKS, AccessKind.LOAD, mark=mark)
