// Five points of a plane.
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

__global__ void stencil(const float* in, float* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= w - 1 || y >= h - 1) return;
  const float up = in[(y - 1) * w + x];
  const float down = in[(y + 1) * w + x];
  const float here = in[y * w + x];
  out[y * w + x] = up + down - 2.0f * here;
}

int main() {
  float* a = filled<float>(130 * 70, 7); float* b = filled<float>(130 * 70, 0);
  stencil<<<dim3(5, 9), dim3(32, 8)>>>(a, b, 130, 70);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
