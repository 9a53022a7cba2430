// Shuffles within the wave, one store per wave.
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

__global__ void wave_sums(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  if (i < n)
    v = in[i];
  for (int by = warpSize / 2; by > 0; by /= 2) v += __shfl_down(v, by);
  if (threadIdx.x % warpSize == 0)
    out[i / warpSize] = v;
}

int main() {
  float* a = filled<float>(3000, 7); float* b = filled<float>(3000, 0);
  wave_sums<<<12, 256>>>(a, b, 2990);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
