// One template for four element types.
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

template <class T>
__global__ void shifted(const T* in, T* out, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + by >= n) return;
  const T v = in[i + by];
  out[i] = T(v + T(1));
}

int main() {
  shifted<<<10, 100>>>(filled<unsigned char>(1000, 3), filled<unsigned char>(1000, 5), 1000, 3);
  shifted<<<10, 100>>>(filled<short>(1000, 3), filled<short>(1000, 5), 1000, 5);
  shifted<<<10, 100>>>(filled<float>(1000, 3), filled<float>(1000, 5), 1000, 7);
  shifted<<<10, 100>>>(filled<double>(1000, 3), filled<double>(1000, 5), 1000, 9);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
