// expect: nothing
#include "../zoo.h"
__global__ void most(const int* in, int* out) {
  const int v = in[blockIdx.x * 64 + threadIdx.x];
  atomicMax(out, v);
}
int main() { int* out = device<int>(1); most<<<8, 64>>>(ascending<int>(512), out); return finish(out, 1); }
