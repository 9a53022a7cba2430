// The same from tiles in LDS.
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

constexpr int kTile = 16;
__global__ void tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    left[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < kTile; ++k) {
      const float l = left[threadIdx.y][k];
      const float r = right[k][threadIdx.x];
      sum += l * r;
    }
    __syncthreads();
  }
  c[y * n + x] = sum;
}

int main() {
  float* a = filled<float>(4096, 7); float* b = filled<float>(4096, 3); float* c = filled<float>(4096, 0);
  tiles<<<dim3(4, 4), dim3(kTile, kTile)>>>(a, b, c, 64);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
