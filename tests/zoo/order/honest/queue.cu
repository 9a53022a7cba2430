// expect: nothing
#include "../zoo.h"
__global__ void work(const int* in, int* items, unsigned int* tail, unsigned int* head, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned int at = atomicAdd(tail, 1u);
  items[2 * at] = in[i] + 1;
  __threadfence();
  atomicExch(&items[2 * at + 1], 1);
  const unsigned int take = atomicAdd(head, 1u);
  while (atomicAdd(&items[2 * take + 1], 0) == 0) {}
  __threadfence();
  out[i] = items[2 * take];
}
int main() {
  const int n = 512;
  int* out = device<int>(n);
  work<<<8, 64>>>(ascending<int>(n), device<int>(2 * n), device<unsigned int>(1), device<unsigned int>(1), out);
  return finish(out, n);
}
