// expect: race grid None
#include "../zoo.h"
__device__ int root(const volatile int* parent, int p) {
  while (parent[p] != p) p = parent[p];
  return p;
}
// All values that may be read lead to one root. That one was stored announces nothing.
__global__ void shorten(int* parent) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  parent[i] = root(parent, i);
}
int main() {
  const int n = 256;
  std::vector<int> before(n);
  for (int i = 0; i < n; ++i) before[i] = i ? i - 1 : 0;
  int* parent = device<int>(n);
  if (hipMemcpy(parent, before.data(), n * sizeof(int), hipMemcpyHostToDevice)) return 9;
  shorten<<<4, 64>>>(parent);
  return finish(parent, n);
}
