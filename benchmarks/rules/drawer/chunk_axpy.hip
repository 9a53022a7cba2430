// A contiguous share of a vector for each thread, with pointers to its beginning.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void axpy(double a, const double* x, double* y, size_t n, size_t share) {
  size_t thread = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  for (size_t i = thread; i < n; i += (size_t)gridDim.x * blockDim.x) {
    y[i] = a * x[i] + y[i];
  }
}

int main() {
  const size_t n = 4000000, threads = 128 * 256;
  std::vector<double> x(n), y(n);
  for (size_t i = 0; i < n; ++i) { x[i] = i % 31; y[i] = i % 7; }
  double *dx, *dy;
  hipMalloc(&dx, n * 8);
  hipMalloc(&dy, n * 8);
  hipMemcpy(dx, x.data(), n * 8, hipMemcpyHostToDevice);
  hipMemcpy(dy, y.data(), n * 8, hipMemcpyHostToDevice);
  axpy<<<304 * 8, 256>>>(2.0, dx, dy, n, (n + threads - 1) / threads);
  hipMemcpy(y.data(), dy, n * 8, hipMemcpyDeviceToHost);
  double s = 0;
  for (double v : y) s += v;
  printf("%.0f\n", s);
}
