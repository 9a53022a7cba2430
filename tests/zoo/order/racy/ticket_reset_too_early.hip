// expect: race grid
#include "../zoo.h"
__device__ int ticket, done;
__global__ void work(int* out) {
  if (threadIdx.x == 0) {
    out[blockIdx.x] = 1;
    const int mine = atomicAdd(&ticket, 1);
    if (mine == 3) ticket = 0;
    if (mine == (int)gridDim.x - 1) out[gridDim.x] = out[0];
  }
}
int main() { int* out = device<int>(9); work<<<8, 64>>>(out); return finish(out, 9); }
