// Minimum, maximum and the logical ones.
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

__global__ void bits(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned v = in[i];
  unsigned* mine = out + i % 5;
  atomicMin(mine, v);
  atomicMax(mine + 8, v);
  atomicAnd(mine + 16, v | 1u);
  atomicOr(mine + 24, v);
  atomicXor(mine + 32, v);
}

int main() {
  unsigned* a = filled<unsigned>(3000, 7); unsigned* b = filled<unsigned>(64, 3);
  bits<<<12, 256>>>(a, b, 3000);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
