// expect: nothing
#include "../zoo.h"
__global__ void fill(int* x, int v) { x[threadIdx.x] = v; }
__global__ void add(const int* x, int* y) { y[threadIdx.x] += x[63 - threadIdx.x]; }
int main() {
  int *x = device<int>(64), *y = device<int>(64);
  hipStream_t s;
  if (hipStreamCreate(&s)) return 7;
  for (int k = 0; k < 3; ++k) {
    fill<<<1, 64, 0, s>>>(x, k);
    add<<<1, 64, 0, s>>>(x, y);
  }
  if (hipStreamSynchronize(s)) return 7;
  return finish(y, 64);
}
