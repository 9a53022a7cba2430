// One global counter for the whole grid, through a device function.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

struct Stats { unsigned int even; unsigned int odd; };

__device__ inline void bump(unsigned int* counter) { atomicAdd(counter, 1u); }

__global__ void count(const int* values, Stats* stats, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) {
    if (values[id] % 2 == 0) bump(&stats->even);
    else bump(&stats->odd);
  }
}

int main() {
  const int n = 2000000;
  std::vector<int> v(n);
  for (int i = 0; i < n; ++i) v[i] = i * 7 + i / 3;
  int* d; Stats* s; Stats out{};
  hipMalloc(&d, n * sizeof(int)); hipMalloc(&s, sizeof(Stats));
  hipMemset(s, 0, sizeof(Stats));
  hipMemcpy(d, v.data(), n * sizeof(int), hipMemcpyHostToDevice);
  hipLaunchKernelGGL(count, dim3((n + 255) / 256), dim3(256), 0, 0, d, s, n);
  hipMemcpy(&out, s, sizeof out, hipMemcpyDeviceToHost);
  printf("%u %u\n", out.even, out.odd);
}
