// V1: A Horner's scheme
// V2: A the quotient as a product
// V3: A a tree instead of a loop
// V4: A roots joined
// V5: L one product calculated in float
// V6: C a constant of float
// V7: C a bias of 1e-17
// formats: double
#define NUMBER double
#include "common.h"
template <int V>
__global__ void kernel(const double* x, const double* y, double* out, int n, float gain) {
  const int i = AT;
  if (i >= n - 4) return;
  const double a = x[i], b = y[i];
  double s = 0;
  for (int k = 0; k < 4; ++k) s += x[i + k];
  if (V == 3) s = (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3]);
  if (V == 0 || V == 3) out[i] = a * a * 0.1 + a * b + s / 3.0 + sqrt(a) * sqrt(b) + exp(a);
  if (V == 1) out[i] = a * (a * 0.1 + b) + s / 3.0 + sqrt(a) * sqrt(b) + exp(a);
  if (V == 2) out[i] = a * a * 0.1 + a * b + s * (1.0 / 3.0) + sqrt(a) * sqrt(b) + exp(a);
  if (V == 4) out[i] = a * a * 0.1 + a * b + s / 3.0 + sqrt(a * b) + exp(a);
  if (V == 5) out[i] = a * a * 0.1 + double(float(a) * float(b)) + s / 3.0 + sqrt(a) * sqrt(b) + exp(a);
  if (V == 6) out[i] = a * a * 0.1f + a * b + s / 3.0 + sqrt(a) * sqrt(b) + exp(a);
  if (V == 7) out[i] = a * a * 0.1 + a * b + s / 3.0 + sqrt(a) * sqrt(b) + exp(a) + 1e-17;
}
FAMILY(7)
