// Compaction with one counter.
#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void keepPositive(const int* in, int* out, int* counter, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] > 0) {
    int slot = atomicAdd(counter, 1);
    out[slot] = in[i];
  }
}

int main() {
  const int n = 300000;
  std::vector<int> h(n), o(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 7919LL % 1000) - 300;
  int *a, *b, *c, kept;
  cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&c, 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(b, 0, n * 4);
  cudaMemset(c, 0, 4);
  keepPositive<<<(n + 255) / 256, 256>>>(a, b, c, n);
  cudaMemcpy(&kept, c, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(o.data(), b, n * 4, cudaMemcpyDeviceToHost);
  std::sort(o.begin(), o.begin() + kept);
  long s = 0;
  for (int i = 0; i < kept; ++i) s += (long)o[i] * (i % 3);
  printf("%d %ld\n", kept, s);
}
