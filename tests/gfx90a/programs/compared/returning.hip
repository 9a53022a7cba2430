// Atomics whose result is used.
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

__global__ void tickets(unsigned* counter, unsigned* order, unsigned* wrapped, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned mine = atomicAdd(counter + i % 3, 1u + i % 2);
  const unsigned other = atomicExch(wrapped + i % 7, mine);
  order[i] = mine + other;
}

int main() {
  unsigned* a = filled<unsigned>(8, 0); unsigned* b = filled<unsigned>(2000, 3); unsigned* c = filled<unsigned>(8, 3);
  tickets<<<8, 256>>>(a, b, c, 2000);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
