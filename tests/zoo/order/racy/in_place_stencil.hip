// expect: race
#include "../zoo.h"
__global__ void smooth(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) x[i] = 0.5f * (x[i] + x[i + 1]);
}
int main() { float* x = ascending<float>(2048); smooth<<<8, 256>>>(x, 2048); return finish(x, 2048); }
