// expect: race grid
#include "../zoo.h"
__global__ void smooth(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float next = i + 1 < n ? x[i + 1] : 0.0f, own = x[i];
  __syncthreads();
  x[i] = 0.5f * (own + next);
}
int main() { float* x = ascending<float>(2048); smooth<<<8, 256>>>(x, 2048); return finish(x, 2048); }
