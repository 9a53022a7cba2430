// Two sums of doubles in a grid-stride loop.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void moments(const double* x, double* sums, int n) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  int step = gridDim.x * blockDim.x;
  for (int i = tid; i < n; i += step) {
    double v = x[i];
    atomicAdd(&sums[0], v);
    atomicAdd(&sums[1], v * v);
  }
}

int main() {
  const int n = 4000000;
  std::vector<double> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i % 17) * 0.25;
  double *d, *s, out[2];
  hipMalloc(&d, n * 8);
  hipMalloc(&s, 16);
  hipMemcpy(d, h.data(), n * 8, hipMemcpyHostToDevice);
  hipMemset(s, 0, 16);
  moments<<<1024, 256>>>(d, s, n);
  hipMemcpy(out, s, 16, hipMemcpyDeviceToHost);
  printf("%.3f %.3f\n", out[0] / n, out[1] / n);
}
