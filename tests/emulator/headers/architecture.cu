// Functions that are for the device only where __CUDA_ARCH__ is defined: nvcc's host side does not look into kernels.
#include <vector>

#include "check.h"

#if defined(__CUDA_ARCH__)
#define FOR_KERNELS __device__
#else
#define FOR_KERNELS
#endif

namespace counters {
FOR_KERNELS inline unsigned int mixed(unsigned int counter, unsigned int key) { return (counter ^ key) * 0x9E3779B9u; }
template <class T>
struct pair {
  T first, second;
  FOR_KERNELS T sum() const { return first + second; }
};
}  // namespace counters

int line_of_the_host() { return __LINE__; }

__global__ void fill(unsigned int* out, unsigned int key) {
  const unsigned int i = threadIdx.x;
  out[i] = counters::pair<unsigned int>{counters::mixed(i, key), i}.sum();
}

int main() {
  std::vector<unsigned int> host(64);
  unsigned int* device;
  cudaMalloc(&device, host.size() * sizeof host[0]);
  fill<<<1, 64>>>(device, 77);
  cudaMemcpy(host.data(), device, host.size() * sizeof host[0], cudaMemcpyDeviceToHost);
  for (unsigned int i = 0; i < host.size(); ++i) expect(host[i] == counters::mixed(i, 77) + i, "a marked function");
  expect(line_of_the_host() == 21, "lines stay what they are");
  return verdict();
}
