// Coordinates x, y, z side by side; distance to a centre.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#define IDX(i, c) ((i) * 6 + (c))

__global__ void distance(const float* __restrict__ points, float* __restrict__ out, float cx, float cy, float cz, int n) {
  const int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  if (i >= n) return;
  const float dx = points[IDX(i, 0)] - cx;
  const float dy = points[IDX(i, 1)] - cy;
  const float dz = points[IDX(i, 2)] - cz;
  const float wx = points[IDX(i, 3)], wy = points[IDX(i, 4)], wz = points[IDX(i, 5)];
  out[i] = sqrtf(wx * dx * dx + wy * dy * dy + wz * dz * dz);
}

int main() {
  int n = 1000000;
  std::vector<float> h(6 * n), o(n);
  for (int i = 0; i < 6 * n; ++i) h[i] = (i * 17 % 100) / 10.f;
  float *p, *out;
  hipMalloc(&p, h.size() * 4);
  hipMalloc(&out, o.size() * 4);
  hipMemcpy(p, h.data(), h.size() * 4, hipMemcpyHostToDevice);
  distance<<<(n + 191) / 192, 192>>>(p, out, 1, 2, 3, n);
  hipMemcpy(o.data(), out, o.size() * 4, hipMemcpyDeviceToHost);
  double s = 0;
  for (float v : o) s += v;
  printf("%.0f\n", s);
}
