// One kernel over memory of every kind and size: fragments of a block, whole blocks, variables, host memory.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

constexpr size_t kBytes[] = {4, 2048, 5000, 1000000, 3 << 20};
__device__ unsigned counted[300];

__global__ void fill(unsigned char* to, size_t n, unsigned seed) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = static_cast<unsigned char>((i * 2654435761u + seed) >> 7);
  if (i < 300) counted[i] += seed + i;
}

void run(unsigned char* to, size_t n, unsigned seed) {
  fill<<<(n + 255) / 256, 256>>>(to, n, seed);
  if (hipDeviceSynchronize() != hipSuccess) std::exit(1);
}

int main() {
  unsigned char *device[5], *pinned = nullptr, *managed = nullptr;
  for (int i = 0; i < 5; ++i)
    if (hipMalloc(&device[i], kBytes[i]) != hipSuccess) return 2;
  if (hipHostMalloc(&pinned, 3000) != hipSuccess) return 3;
  if (hipMallocManaged(&managed, 3000) != hipSuccess) return 4;
  for (int i = 0; i < 5; ++i) run(device[i], kBytes[i], 17u * i);
  run(pinned, 3000, 101);
  run(managed, 3000, 202);
  if (hipFree(device[2]) != hipSuccess || hipMalloc(&device[2], 7000) != hipSuccess) return 5;
  run(device[2] + 16, 6000, 303);
  return 0;
}
