// One sum of all, through a device function.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__device__ void accumulate(float* where, float what) {
  atomicAdd(where, what);
}

__global__ void energy(const float* signal, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = signal[i];
    accumulate(total, s * s);
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
  energy<<<(n + 255) / 256, 256>>>(d, t, n);
  hipMemcpy(&total, t, 4, hipMemcpyDeviceToHost);
  printf("%.0f\n", total);
}
