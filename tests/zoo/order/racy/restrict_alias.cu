// expect: race grid read_only_load
#include "../zoo.h"
__global__ void shift(const float* __restrict__ in, float* out, int n) {
  const int i = threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    if (i > 0) out[i] = in[i - 1] + 1.0f;
    __syncthreads();
  }
}
int main() { float* x = ascending<float>(64); shift<<<1, 64>>>(x, x, 64); return finish(x, 64); }
