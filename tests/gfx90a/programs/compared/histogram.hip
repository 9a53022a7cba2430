// Integer atomics on few and on many addresses.
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

__global__ void histogram(const unsigned* in, unsigned* bins, int n, unsigned count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned v = in[i];
  atomicAdd(bins + v % count, 1u + (v & 1u));
}

int main() {
  unsigned* a = filled<unsigned>(5000, 7); unsigned* b = filled<unsigned>(512, 0);
  for (unsigned count : {3u, 64u, 500u}) histogram<<<20, 256>>>(a, b, 5000, count);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
