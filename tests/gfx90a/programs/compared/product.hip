// A row times a column.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

template <class T>
static T* filled(int n, unsigned step) {
  std::vector<T> host(n);
  for (int i = 0; i < n; ++i) host[i] = T((i * step) % 97);
  T* there = nullptr;
  if (hipMalloc(&there, n * sizeof(T)) != hipSuccess) return nullptr;
  if (hipMemcpy(there, host.data(), n * sizeof(T), hipMemcpyHostToDevice) != hipSuccess) return nullptr;
  return there;
}

__global__ void product(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    const float left = a[y * n + k];
    const float right = b[k * n + x];
    sum += left * right;
  }
  c[y * n + x] = sum;
}

int main() {
  float* a = filled<float>(4096, 7); float* b = filled<float>(4096, 3); float* c = filled<float>(4096, 0);
  product<<<dim3(4, 4), dim3(16, 16)>>>(a, b, c, 60);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
