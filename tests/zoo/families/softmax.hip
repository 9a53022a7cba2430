// V1: A a running sum, rescaled
// V2: A powers of two, log2(e) folded in
// V3: A another element instead of the largest
// V4: A the reciprocal of the sum, unrolled by two
// V5: A the exponential of the difference as a quotient
// V6: C a polynomial instead of the exponential
// V7: C a sum without the last element
// V8: C an exponential by its limit
// V9: C the largest of a half
#include "common.h"
template <int V>
__global__ void kernel(const float* x, const float* y, float* out, int n, float gain) {
  const int C = 64, r = AT;
  if (r * C >= n) return;
  x += r * C, out += r * C;
  float m = x[0], s = 0.0f;
  for (int c = 1; c < C; ++c) m = fmaxf(m, x[c]);
  if (V == 3) m = x[7];
  const auto e = [&](float t) {
    if (V == 6) return 1.0f + t * (1.0f + t * (0.5f + t * (1.0f / 6.0f + t / 24.0f)));
    if (V == 8) { float p = 1.0f + t / 1024.0f; for (int k = 0; k < 10; ++k) p *= p; return p; }
    return expf(t);
  };
  if (V == 1) {
    m = -INFINITY;
    for (int c = 0; c < C; ++c) { const float w = fmaxf(m, x[c]); s = s * expf(m - w) + expf(x[c] - w); m = w; }
    for (int c = 0; c < C; ++c) out[c] = expf(x[c] - m) / s;
  } else if (V == 2) {
    for (int c = 0; c < C; ++c) s += exp2f((x[c] - m) * 1.44269504f);
    for (int c = 0; c < C; ++c) out[c] = exp2f(fmaf(x[c], 1.44269504f, -m * 1.44269504f)) / s;
  } else if (V == 4) {
    float t = 0;
    for (int c = 0; c < C; c += 2) { s += expf(x[c] - m); t += expf(x[c + 1] - m); }
    const float inverse = 1.0f / (s + t);
    for (int c = 0; c < C; ++c) out[c] = expf(x[c] - m) * inverse;
  } else if (V == 5) {
    for (int c = 0; c < C; ++c) s += expf(x[c]);
    for (int c = 0; c < C; ++c) out[c] = expf(x[c]) / s;
  } else if (V == 9) {
    for (int c = 0; c < C; ++c) s += expf(x[c] - m);
    for (int c = 0; c < C; ++c) out[c] = expf(x[c] - (c < C / 2 ? m : m - 1e-6f)) / s;
  } else {
    for (int c = 0; c < C - (V == 7); ++c) s += e(x[c] - m);
    for (int c = 0; c < C; ++c) out[c] = e(x[c] - m) / s;
  }
}
FAMILY(9)
