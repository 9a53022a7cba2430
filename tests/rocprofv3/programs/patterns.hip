// Four kernels of known access patterns, each launched twice.
#include <hip/hip_runtime.h>

#include <cstdio>

#define CHECK(call)                                                          \
  do {                                                                       \
    const hipError_t status = (call);                                        \
    if (status != hipSuccess) {                                              \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status));    \
      return 1;                                                              \
    }                                                                        \
  } while (0)

constexpr int kSide = 256, kItems = kSide * kSide, kTile = 32;

__global__ void copied(double* to, const double* from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

__global__ void turned(double* to, const double* from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i % kSide * kSide + i / kSide] = from[i];
}

__global__ void columns(float* to, int rounds) {
  __shared__ float tile[kTile * kTile * 2];
  for (int i = threadIdx.x; i < kTile * kTile * 2; i += blockDim.x) tile[i] = i;
  __syncthreads();
  float sum = 0;
  const int column = threadIdx.x * kTile % (kTile * kTile * 2);
  for (int round = 0; round < rounds; ++round) sum += tile[column + (round & (kTile - 1))];
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void crowded(unsigned* totals, const unsigned* keys) {
  const unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(totals + key % 4, key);
}

int main() {
  double *from = nullptr, *to = nullptr;
  CHECK(hipMalloc(&from, kItems * sizeof *from));
  CHECK(hipMalloc(&to, kItems * sizeof *to));
  CHECK(hipMemset(from, 1, kItems * sizeof *from));
  for (int n = 0; n < 2; ++n) {
    copied<<<kItems / 256, 256>>>(to, from);
    turned<<<kItems / 256, 256>>>(to, from);
    columns<<<64, 256>>>(reinterpret_cast<float*>(to), 64);
    crowded<<<kItems / 256, 256>>>(reinterpret_cast<unsigned*>(to), reinterpret_cast<unsigned*>(from));
  }
  CHECK(hipDeviceSynchronize());
  CHECK(hipFree(from));
  CHECK(hipFree(to));
}
