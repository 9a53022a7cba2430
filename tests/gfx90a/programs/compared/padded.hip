// The same with a column more, two rows per lane.
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
__global__ void padded(const double* in, double* out, int width) {
  __shared__ double part[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  part[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  const double v = part[threadIdx.x][threadIdx.y];
  out[(blockIdx.x * kTile + threadIdx.y) * width + blockIdx.y * kTile + threadIdx.x] = v;
}

int main() {
  double* a = filled<double>(64 * 64, 3); double* b = filled<double>(64 * 64, 5);
  padded<<<dim3(4, 4), dim3(kTile, kTile)>>>(a, b, 64);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
