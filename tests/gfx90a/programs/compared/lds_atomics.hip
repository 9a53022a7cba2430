// A histogram in LDS, added to the whole at the end.
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

__global__ void local_bins(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const unsigned v = in[i];
    atomicAdd(bins + v % 64, 1u + (v & 1u));
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    const unsigned sum = bins[threadIdx.x];
    atomicAdd(out + threadIdx.x, sum);
  }
}

int main() {
  unsigned* a = filled<unsigned>(5000, 7); unsigned* b = filled<unsigned>(64, 0);
  local_bins<<<20, 256>>>(a, b, 5000);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
