"""Loops over chunks and rows rewritten by rule, run on the emulator before and after."""

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
  int t = threadIdx.x + blockDim.x * blockIdx.x;
  int start = per * t, stop = start + per;
  if (v.count > 2) {
    for (int i = start; i < (stop < v.count ? stop : v.count); i += 1) {
      float left = i > 0 ? v.from[i - 1] : 0.f;  //@ smooth
      v.to[i] = left + v.from[i];
    }
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
    assert text.count("i += grid_threads") == 3
    assert "for (int i = t; i < count && i < grid_threads * per; i += grid_threads) {" in text
    assert "const int first" not in text and "const int last" not in text
    assert output(tmp_path / "b", changed) == expected


REFUSED = """
#include <hip/hip_runtime.h>
#define MINE t * per
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
__global__ void macro(float* a, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = MINE; i < MINE + per; ++i) a[i] = 1;  //@ macro
}
__global__ void uneven(float* a, const int* starts) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = starts[t]; i < starts[t + 1]; ++i) a[i] = 1;  //@ uneven
}
__global__ void once(float* a) { a[threadIdx.x * 32] = 1; }  //@ once
"""


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("sum", "carries total from one element to the next"),
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
        ("macro", "macro"),
        ("uneven", "not known to be a thread's chunk"),
        ("once", "not in a loop"),
    ],
)
def test_chunks_stay_where_their_elements_depend_on_each_other(mark: str, words: str, tmp_path: Path) -> None:
    assert words in Bench(tmp_path, {"r.hip": REFUSED}).declined(CHUNKS, AccessKind.LOAD, mark=mark)
