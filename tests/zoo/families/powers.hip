// V1: A a logarithm to base 10 by one to base 2
// V2: A and the other way
// V3: A a power by an exponential and a logarithm
// V4: A three halves by a root
// V5: B the logarithm of four times that as a sum
// V6: A a power of ten by one of two
// V7: C log10 2 of five digits
// V8: C three halves and a little
// V9: C a power of the other one
#include "common.h"
template <int V>
__global__ void kernel(const float* x, const float* y, float* out, int n, float gain) {
  const int i = AT;
  if (i >= n) return;
  const float a = x[i], b = y[i] * 0.125f;
  float ten = log10f(a), two = log2f(b), raised = powf(a, b), halves = powf(a, 1.5f);
  float times = logf(4.0f * a), tens = exp10f(b);
  if (V == 1) ten = log2f(a) * 0.30103f;
  if (V == 2) two = log10f(b) * 3.3219281f;
  if (V == 3) raised = exp2f(b * log2f(a));
  if (V == 4) halves = a * sqrtf(a);
  if (V == 5) times = logf(a) + 1.3862944f;
  if (V == 6) tens = exp2f(b * 3.3219281f);
  if (V == 7) ten = log2f(a) * 0.30102f;
  if (V == 8) halves = powf(a, 1.5001f);
  if (V == 9) raised = powf(b, a);
  out[i] = ten + two + raised + halves + times + tens;
}
FAMILY(9)
