// V1: A contracted and distributed
// V2: A a product with a third instead of a division by three
// V3: A four at a time
// V4: A calculated in double
// V5: A Horner's scheme
// V6: A powf with a whole exponent
// V7: A signs put on and taken off again
// V8: A halved and doubled by ldexp
// V9: A the quotient of both by three
// V10: A terms in another order, one product shared
// V11: C a constant that is wrong in its last places
// V12: C one product rounded to half precision
// V13: C the last three elements are left out
// V14: C one product cut to the upper half of its bits
// V15: C a bias of 1e-9
// V16: S a gain that is known: coincides (only unknowns tell)
// V17: C a small term is dropped
// V18: C a factor of 1 + 2^-23
// V19: C even indices read the neighbour
// V20: C one thread of each wave skips a term
#include "common.h"
template <int V>
__global__ void kernel(const float* x, const float* y, float* out, int n, float gain) {
  const int i = AT;
  if constexpr (V == 3) {
    if (i * 4 + 3 >= n) return;
    const float4 a = reinterpret_cast<const float4*>(x)[i], b = reinterpret_cast<const float4*>(y)[i];
    float4 o;
    o.x = a.x * a.x * gain + a.x * b.x + b.x / 3.0f;
    o.y = a.y * a.y * gain + a.y * b.y + b.y / 3.0f;
    o.z = a.z * a.z * gain + a.z * b.z + b.z / 3.0f;
    o.w = a.w * a.w * gain + a.w * b.w + b.w / 3.0f;
    reinterpret_cast<float4*>(out)[i] = o;
    return;
  }
  if (i >= n) return;
  const float a = x[V == 19 && i % 2 == 0 ? i + 1 : i], b = y[i];
  if (V == 0 || V == 19) out[i] = a * a * gain + a * b + b / 3.0f;
  if (V == 1) out[i] = fmaf(a, fmaf(a, gain, b), b / 3.0f);
  if (V == 2) out[i] = a * a * gain + a * b + b * (1.0f / 3.0f);
  if (V == 4) out[i] = float(double(a) * a * gain + double(a) * b + b / 3.0);
  if (V == 5) out[i] = a * (a * gain + b) + b / 3.0f;
  if (V == 6) out[i] = powf(a, 2.0f) * gain + a * b + b / 3.0f;
  if (V == 7) out[i] = -(-(a * a * gain) - fabsf(a) * b) + copysignf(b, a) / 3.0f;
  if (V == 8) out[i] = ldexpf(ldexpf(a * a * gain + a * b, -1), 1) + b / 3.0f;
  if (V == 9) out[i] = (3.0f * (a * a * gain + a * b) + b) / 3.0f;
  if (V == 10) { const float p = a * b; out[i] = b / 3.0f + p + gain * (a * a); }
  if (V == 11) out[i] = a * a * gain + a * b + b * 0.33333325f;
  if (V == 12) out[i] = a * a * gain + __half2float(__float2half(a * b)) + b / 3.0f;
  if (V == 13 && i < n - 3) out[i] = a * a * gain + a * b + b / 3.0f;
  if (V == 14) out[i] = a * a * gain + __uint_as_float(__float_as_uint(a * b) & 0xffff0000u) + b / 3.0f;
  if (V == 15) out[i] = a * a * gain + a * b + b / 3.0f + 1e-9f;
  if (V == 16) out[i] = a * a * 0.25f + a * b + b / 3.0f;
  if (V == 17) out[i] = a * a * gain + a * b + (b > 0.26f ? b / 3.0f : 0.0f);
  if (V == 18) out[i] = (a * a * gain + a * b + b / 3.0f) * 1.00000012f;
  if (V == 20) out[i] = a * a * gain + (threadIdx.x % 64 == 63 ? 0.0f : a * b) + b / 3.0f;
}
FAMILY(20)
