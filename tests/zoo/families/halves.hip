// V1: A another order
// V2: A calculated in float, rounded once
// V3: A pairs
// V4: C a neighbour's element
// V5: C one term less
// formats: float half
#define NUMBER __half
#include "common.h"
template <int V>
__global__ void kernel(const __half* x, const __half* y, __half* out, int n, float gain) {
  const int i = AT;
  if (V == 3) {
    if (2 * i + 1 >= n) return;
    const __half2 a = reinterpret_cast<const __half2*>(x)[i], b = reinterpret_cast<const __half2*>(y)[i];
    reinterpret_cast<__half2*>(out)[i] = __hadd2(__hmul2(a, b), __hadd2(a, b));
    return;
  }
  if (i >= n) return;
  const __half a = x[i], b = y[i];
  if (V == 0) out[i] = __hadd(__hmul(a, b), __hadd(a, b));
  if (V == 1) out[i] = __hadd(a, __hadd(b, __hmul(b, a)));
  if (V == 2) out[i] = __float2half(__half2float(a) * __half2float(b) + __half2float(a) + __half2float(b));
  if (V == 4) out[i] = __hadd(__hmul(a, y[(i + 1) % n]), __hadd(a, b));
  if (V == 5) out[i] = __hadd(__hmul(a, b), a);
}
FAMILY(5)
