// V1: A tanh by an exponential
// V2: A sine and cosine together
// V3: A factors in another order
// V4: B the logarithm of a product as a sum
// V5: A the hardware's functions
// V6: A the reciprocal of a root
// V7: A a product of roots
// V8: B x rsqrt(x) for the root
// V9: A log2 times ln 2
// V10: A a logistic function by tanh
// V11: C a sine by its series
// V12: C a root by bits and three Newton steps
// V13: C tanh by a rational function
// V14: C an exponential of a rounded argument
// V15: B the logarithm of three times that, less that of three
// V16: C likewise, less four digits of that
#include "common.h"
template <int V>
__global__ void kernel(const float* x, const float* y, float* out, int n, float gain) {
  const int i = AT;
  if (i >= n) return;
  const float a = x[i], b = y[i];
  const auto gate = [](float t) {
    if (V == 1 || V == 10) return 1.0f - 2.0f / (expf(2.0f * t) + 1.0f);
    if (V == 13) return t * (27.0f + t * t) / (27.0f + 9.0f * t * t);
    return tanhf(t);
  };
  float sine = sinf(b), l = logf(a * b), grown = expf(a + b), root = sqrtf(a), r = 1.0f / sqrtf(a * b);
  if (V == 2) { float cosine; sincosf(b, &sine, &cosine); grown = expf(a) * expf(b); }
  if (V == 4) l = logf(a) + logf(b);
  if (V == 5) sine = __sinf(b), grown = __expf(a + b), l = __logf(a * b);
  if (V == 6) r = rsqrtf(a * b);
  if (V == 7) r = rsqrtf(a) * rsqrtf(b);
  if (V == 8) root = a * rsqrtf(a);
  if (V == 9) l = log2f(a * b) * 0.69314718f;
  if (V == 15) l = logf(3.0f * a * b) - logf(3.0f);
  if (V == 16) l = logf(3.0f * a * b) - 1.0986f;
  if (V == 11) { const float q = b * b; sine = b * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72)))); }
  if (V == 12) {
    const float t = a * b;
    r = __uint_as_float(0x5f3759dfu - (__float_as_uint(t) >> 1));
    for (int k = 0; k < 3; ++k) r *= 1.5f - 0.5f * t * r * r;
  }
  if (V == 14) grown = expf(floorf((a + b) * 65536.0f) / 65536.0f);
  const float inner = 0.79788456f * (a + 0.044715f * a * a * a);
  out[i] = V == 3 ? sine * grown + r * l + (gate(0.79788456f * a * (1 + 0.044715f * a * a)) + 1) * a * 0.5f + root
                  : 0.5f * a * (1 + gate(inner)) + sine * grown + l * r + root;
}
FAMILY(16)
