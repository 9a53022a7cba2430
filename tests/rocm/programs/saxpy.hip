// Two kernels, device variables, a structure by value that holds a pointer, a pointer into the middle of a buffer.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__device__ int calls;
__constant__ float offset = 1.0f;

struct View {
  int n;
  float* data;
};

namespace {
__global__ void shift(View view) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < view.n) view.data[i] += offset;
}
}  // namespace

extern "C" __global__ void saxpy(float* __restrict__ y, const float* __restrict__ x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
  if (i == 0) calls += 1;
}

__global__ void scale(float* data, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = FACTOR * by * data[i];
}

int main() {
  const int n = 1000;
  std::vector<float> host(n, 2.0f);
  float *x, *y;
  if (hipMalloc(&x, n * sizeof(float)) != hipSuccess || hipMalloc(&y, n * sizeof(float)) != hipSuccess) return 1;
  if (hipMemcpy(x, host.data(), n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 2;
  if (hipMemcpy(y, host.data(), n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 3;
  for (int k = 0; k < 2; k++) saxpy<<<(n + 127) / 128, 128>>>(y, x, 3.0f, n);
  shift<<<(n + 127) / 128, 128>>>(View{n, y});
  if (LAUNCH) scale<<<2, 64>>>(y + 100, 2.0f, 100);
  if (hipMemcpy(host.data(), y, n * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess) return 4;
  std::printf("%g %g\n", host[5], host[105]);
  return 0;
}
