// expect: race grid read_only_load
#include "../zoo.h"
__global__ void twice(float* x) {
  const int i = threadIdx.x;
  x[i] = 2.0f * i;
  __syncthreads();
  x[i] += __ldg(&x[63 - i]);
}
int main() { float* x = device<float>(64); twice<<<1, 64>>>(x); return finish(x, 64); }
