// A tile in LDS, read by columns.
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

constexpr int kTile = 32;
__global__ void tile(const float* in, float* out, int width) {
  __shared__ float part[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  part[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  const float v = part[threadIdx.x][threadIdx.y];
  out[(blockIdx.x * kTile + threadIdx.y) * width + blockIdx.y * kTile + threadIdx.x] = v;
}

int main() {
  float* a = filled<float>(96 * 96, 3); float* b = filled<float>(96 * 96, 5);
  tile<<<dim3(3, 3), dim3(kTile, kTile)>>>(a, b, 96);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
