// V1: A tiles in shared memory
// V2: A unrolled by four, four accumulators
// V3: A calculated in double
// V4: A added by atomics in two parts
// V5: A backwards
// V6: C inputs of half precision
// V7: C the last column is left out
// V8: C the tile is one row too high
#include "common.h"
template <int V>
__global__ void kernel(const float* x, const float* y, float* out, int n, float gain) {
  const int S = 64, row = AT / S, column = AT % S;
  if (row >= S) return;
  float s = 0;
  if (V == 1 || V == 8) {
    __shared__ float tile[16][64];
    for (int k = 0; k < S; k += 16) {
      for (int j = 0; j < 16; ++j) tile[j][threadIdx.x] = y[(k + j) * S + threadIdx.x];
      __syncthreads();
      for (int j = 0; j < 16; ++j) s += x[row * S + k + j] * tile[V == 8 && k == 48 ? j / 2 * 2 : j][column];
      __syncthreads();
    }
    out[row * S + column] = s;
  } else if (V == 2) {
    float a = 0, b = 0, c = 0;
    for (int k = 0; k < S; k += 4) {
      s += x[row * S + k] * y[k * S + column], a += x[row * S + k + 1] * y[(k + 1) * S + column];
      b += x[row * S + k + 2] * y[(k + 2) * S + column], c += x[row * S + k + 3] * y[(k + 3) * S + column];
    }
    out[row * S + column] = (s + a) + (b + c);
  } else if (V == 3) {
    double d = 0;
    for (int k = 0; k < S; ++k) d += double(x[row * S + k]) * y[k * S + column];
    out[row * S + column] = float(d);
  } else if (V == 4) {
    float a = 0;
    for (int k = 0; k < S / 2; ++k) s += x[row * S + k] * y[k * S + column], a += x[row * S + k + 32] * y[(k + 32) * S + column];
    atomicAdd(&out[row * S + column], s);
    atomicAdd(&out[row * S + column], a);
  } else if (V == 5) {
    for (int k = S; k-- > 0;) s = fmaf(x[row * S + k], y[k * S + column], s);
    out[row * S + column] = s;
  } else if (V == 6) {
    for (int k = 0; k < S; ++k) s += __half2float(__float2half(x[row * S + k])) * __half2float(__float2half(y[k * S + column]));
    out[row * S + column] = s;
  } else {
    for (int k = 0; k < S - (V == 7); ++k) s += x[row * S + k] * y[k * S + column];
    out[row * S + column] = s;
  }
}
FAMILY(8)
