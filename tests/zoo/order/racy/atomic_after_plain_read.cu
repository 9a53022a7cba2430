// expect: race grid
#include "../zoo.h"
__global__ void peek(int* total, int* out) {
  if (threadIdx.x == 0) {
    const int before = *total;
    const int old = atomicAdd(total, 1);
    *total = before + (old >= 0);
    out[blockIdx.x] = old;
  }
}
int main() { int* out = device<int>(8); peek<<<8, 32>>>(device<int>(1), out); return finish(out, 8); }
