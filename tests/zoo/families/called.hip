// V1: A the function is inlined
// V2: A through shared memory and two functions
// V3: C another element
// V4: C the function forgets a term
#include "common.h"
__device__ __attribute__((noinline)) float blend(float a, float b, float gain) { return a * gain + b * (1.0f - gain); }
__device__ __attribute__((noinline)) float sum4(const float* at, int stride) {
  float s = 0;
  for (int k = 0; k < 4; ++k) s += blend(at[k * stride], at[(k ^ 1) * stride], 0.3f);
  return s;
}
__device__ __attribute__((noinline)) float three(const float* at) { return at[0] + at[1] + at[2]; }
template <int V>
__global__ void kernel(const float* x, const float* y, float* out, int n, float gain) {
  __shared__ float s[4 * BLOCK];
  const int i = AT, t = threadIdx.x;
  if (i >= n - 8) return;
  if (V == 0) out[i] = blend(sum4(x + i, 1), y[i], gain);
  if (V == 1) {
    float r = 0;
    for (int k = 0; k < 4; ++k) r += x[i + k] * 0.3f + x[i + (k ^ 1)] * 0.7f;
    out[i] = r * gain + y[i] * (1.0f - gain);
  }
  if (V == 2) {
    for (int k = 0; k < 4; ++k) s[k * BLOCK + t] = x[i + k];
    out[i] = y[i] + (sum4(s + t, BLOCK) - y[i]) * gain;
  }
  if (V == 3) out[i] = blend(sum4(x + i, 1), y[i + 1], gain);
  if (V == 4) out[i] = blend(three(x + i), y[i], gain);
}
FAMILY(4)
