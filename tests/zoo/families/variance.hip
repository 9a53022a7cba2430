// V1: L one pass, the mean of squares less the square of the mean
// V2: A Welford's recurrence
// V3: A shifted by the first element
// V4: A the mean in double
// V5: C the mean of a sample
// V6: C divided by one less
// V7: C the mean is rounded to half precision
#include "common.h"
template <int V>
__global__ void kernel(const float* x, const float* y, float* out, int n, float gain) {
  const int C = 64, r = AT;
  if (r * C >= n) return;
  x += r * C;
  const float big = 1000.0f;
  float m = 0, s = 0;
  if (V == 1) {
    for (int c = 0; c < C; ++c) { const float d = x[c] + big; m += d; s += d * d; }
    m /= C;
    out[r] = s / C - m * m;
  } else if (V == 2) {
    for (int c = 0; c < C; ++c) { const float d = x[c] + big - m; m += d / (c + 1); s += d * (x[c] + big - m); }
    out[r] = s / C;
  } else if (V == 3) {
    for (int c = 0; c < C; ++c) { const float d = x[c] - x[0]; m += d; s += d * d; }
    out[r] = (s - m * m / C) / C;
  } else {
    double wide = 0;
    for (int c = 0; c < C; c += V == 5 ? 2 : 1) V == 4 ? void(wide += x[c] + big) : void(m += x[c] + big);
    m = V == 4 ? float(wide / C) : m / (V == 5 ? C / 2 : C);
    if (V == 7) m = __half2float(__float2half(m));
    for (int c = 0; c < C; ++c) { const float d = x[c] + big - m; s += d * d; }
    out[r] = s / (V == 6 ? C - 1 : C);
  }
}
FAMILY(7)
