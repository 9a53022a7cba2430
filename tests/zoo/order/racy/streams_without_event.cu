// expect: race grid unordered_streams
#include "../zoo.h"
__global__ void fill(int* x, int v) { x[threadIdx.x] = v; }
__global__ void add(const int* x, int* y) { y[threadIdx.x] += x[63 - threadIdx.x]; }
int main() {
  int *x = device<int>(64), *y = device<int>(64);
  cudaStream_t first, second;
  if (cudaStreamCreate(&first) || cudaStreamCreate(&second)) return 7;
  fill<<<1, 64, 0, first>>>(x, 2);
  add<<<1, 64, 0, second>>>(x, y);
  return finish(y, 64);
}
