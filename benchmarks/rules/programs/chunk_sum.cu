// Each thread adds up a contiguous share, then the block adds in shared memory; a capped grid.
#include <cstdio>
#include <vector>
#define THREADS 256
#define BLOCKS 64

__global__ void sumShares(const float* data, float* partial, int n) {
  __shared__ float cache[THREADS];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int share = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
  float sum = 0;
  for (int i = t * share; i < (t + 1) * share && i < n; i++) sum += data[i];
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = cache[0];
}

int main() {
  const int n = 4000000;
  std::vector<float> h(n), p(BLOCKS);
  for (int i = 0; i < n; ++i) h[i] = (i % 8) * 0.125f;
  float *d, *o;
  cudaMalloc(&d, n * sizeof(float));
  cudaMalloc(&o, BLOCKS * sizeof(float));
  cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sumShares<<<BLOCKS, THREADS>>>(d, o, n);
  cudaMemcpy(p.data(), o, BLOCKS * sizeof(float), cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : p) s += v;
  printf("%.1f\n", s);
}
