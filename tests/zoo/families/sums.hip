// V1: A shuffles within a wave
// V2: A compare-and-swap on the bits
// V3: A a tree in shared memory, one atomic per block
// V4: A compensated summation
// V5: A shuffles of doubles
// V6: A two elements per thread
// V7: A one thread, backwards
// V8: A a tree by shuffles, then shared memory
// V9: A butterflies
// V10: A unsafe add on shared memory first
// V11: C accumulators of half precision
// V12: C every 1024th is dropped
// V13: C the width of the shuffles is too small
// V14: C the first element counts twice
// V15: C terms below a threshold are dropped
// V16: C the answer times 1.000001
// V17: C products are cut to 12 bits
#include "common.h"
template <int V>
__global__ void kernel(const float* x, const float* y, float* out, int n, float gain) {
  const int i = AT, t = threadIdx.x;
  if (V == 0) { if (i < n) atomicAdd(out, x[i] * y[i]); }
  if (V == 1 || V == 13) {
    float v = i < n ? x[i] * y[i] : 0.0f;
    for (int d = warpSize / (V == 13 ? 4 : 2); d; d /= 2) v += __shfl_down(v, d);
    if (t % warpSize == 0) atomicAdd(out, v);
  }
  if (V == 2) {
    const float v = x[i] * y[i];
    unsigned* p = reinterpret_cast<unsigned*>(out);
    unsigned seen = *p, want;
    do { want = seen; seen = atomicCAS(p, want, __float_as_uint(__uint_as_float(want) + v)); } while (seen != want);
  }
  if (V == 3 || V == 16) {
    __shared__ float s[BLOCK];
    s[t] = x[i] * y[i];
    __syncthreads();
    for (int w = BLOCK / 2; w; w /= 2) { if (t < w) s[t] += s[t + w]; __syncthreads(); }
    if (t == 0) atomicAdd(out, V == 16 ? s[0] * 1.000001f : s[0]);
  }
  if (V == 4) {
    if (i) return;
    float s = 0, c = 0;
    for (int k = 0; k < n; ++k) { const float q = x[k] * y[k] - c, r = s + q; c = (r - s) - q; s = r; }
    out[0] = s;
  }
  if (V == 5) {
    double v = double(x[i]) * y[i];
    for (int d = warpSize / 2; d; d /= 2) v += __shfl_xor(v, d);
    if (t % warpSize == 0) atomicAdd(out, float(v));
  }
  if (V == 6) { if (2 * i + 1 < n) atomicAdd(out, x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1]); }
  if (V == 7) { if (i) return; float s = 0; for (int k = n; k-- > 0;) s += x[k] * y[k]; out[0] = s; }
  if (V == 8) {
    __shared__ float s[8];
    float v = x[i] * y[i];
    for (int d = 16; d; d /= 2) v += __shfl_down(v, d, 32);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t == 0) { float r = 0; for (int k = 0; k < BLOCK / 32; ++k) r += s[k]; atomicAdd(out, r); }
  }
  if (V == 9) {
    float v = x[i] * y[i];
    for (int d = 1; d < warpSize; d *= 2) v += __shfl_xor(v, d);
    if (t % warpSize == 0) atomicAdd(out, v);
  }
  if (V == 10) {
    __shared__ float s;
    if (t == 0) s = 0.0f;
    __syncthreads();
    atomicAdd(&s, x[i] * y[i]);
    __syncthreads();
    if (t == 0) atomicAdd(out, s);
  }
  if (V == 11) {
    if (i) return;
    float r = 0;
    for (int k = 0; k < n; k += 16) { __half s = __float2half(0.0f); for (int j = 0; j < 16; ++j) s = __hadd(s, __float2half(x[k + j] * y[k + j])); r += __half2float(s); }
    out[0] = r;
  }
  if (V == 12) { if (i % 1024 != 5) atomicAdd(out, x[i] * y[i]); }
  if (V == 14) { atomicAdd(out, x[i] * y[i]); if (i == 0) atomicAdd(out, x[0] * y[0]); }
  if (V == 15) { if (x[i] * y[i] > 0.02f) atomicAdd(out, x[i] * y[i]); }
  if (V == 17) atomicAdd(out, __uint_as_float(__float_as_uint(x[i] * y[i]) & 0xfffff000u));
}
FAMILY(17)
