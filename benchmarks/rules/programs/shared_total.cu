// All threads of a block add to one number in shared memory.
#include <cstdio>
#include <vector>

__global__ void dot(const float* a, const float* b, float* result, int n) {
  __shared__ float block;
  if (threadIdx.x == 0) block = 0.0f;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&block, a[i] * b[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(result, block);
}

int main() {
  const int n = 4000000;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i % 5) * 0.1f;
  float *a, *b, *r, out;
  cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&r, 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(r, 0, 4);
  dot<<<(n + 511) / 512, 512>>>(a, b, r, n);
  cudaMemcpy(&out, r, 4, cudaMemcpyDeviceToHost);
  printf("%.0f\n", out);
}
