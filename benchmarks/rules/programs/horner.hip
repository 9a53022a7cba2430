// Polynomials with coefficients of their own: each thread walks its row of coefficients.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void horner(const float* coefficients, const float* x, float* y, int n, int degree) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float* c = coefficients + (long)i * (degree + 1);
    float at = x[i];
    float value = c[0];
    for (int k = 1; k <= degree; ++k) value = value * at + c[k];
    y[i] = value;
  }
}

int main() {
  const int n = 20000, degree = 31;
  std::vector<float> c(n * (degree + 1)), x(n);
  for (size_t i = 0; i < c.size(); ++i) c[i] = (i % 13) * 0.1f;
  for (int i = 0; i < n; ++i) x[i] = (i % 10) * 0.05f;
  float *dc, *dx, *dy;
  hipMalloc(&dc, c.size() * 4); hipMalloc(&dx, n * 4); hipMalloc(&dy, n * 4);
  hipMemcpy(dc, c.data(), c.size() * 4, hipMemcpyHostToDevice);
  hipMemcpy(dx, x.data(), n * 4, hipMemcpyHostToDevice);
  horner<<<(n + 255) / 256, 256>>>(dc, dx, dy, n, degree);
  hipMemcpy(x.data(), dy, n * 4, hipMemcpyDeviceToHost);
  double s = 0;
  for (float v : x) s += v;
  printf("%.1f\n", s);
}
