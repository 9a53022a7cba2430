// One sum of all, through a device function.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__device__ void accumulate(float* where, float what) {
  atomicAdd(where, what);
}

__device__ float waveSum(float v) {
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
  return v;
}

__global__ void energy(const float* signal, float* total, int n) {
  __shared__ float parts[16];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += signal[i] * signal[i];
  sum = waveSum(sum);
  if (threadIdx.x % warpSize == 0) parts[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w * warpSize < blockDim.x; ++w) sum += parts[w];
    accumulate(total, sum);
  }
}

int main() {
  const int n = 300000;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i % 9) * 0.01f;
  float *d, *t, total;
  hipMalloc(&d, n * 4);
  hipMalloc(&t, 4);
  hipMemcpy(d, h.data(), n * 4, hipMemcpyHostToDevice);
  hipMemset(t, 0, 4);
  energy<<<304, 256>>>(d, t, n);
  hipMemcpy(&total, t, 4, hipMemcpyDeviceToHost);
  printf("%.0f\n", total);
}
