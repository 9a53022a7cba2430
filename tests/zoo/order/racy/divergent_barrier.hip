// expect: divergent_barrier
#include "../zoo.h"
__global__ void half(int* out) {
  if (threadIdx.x < 64) {
    out[threadIdx.x] = 1;
    __syncthreads();
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();
  }
}
int main() { int* out = device<int>(128); half<<<1, 128>>>(out); return finish(out, 128); }
