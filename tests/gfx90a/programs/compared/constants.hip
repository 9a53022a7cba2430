// A table in constant memory, indexed by lane.
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

__constant__ __attribute__((aligned(64))) float table[128];  // at the beginning of a line wherever it lies
__global__ void looked_up(const int* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int at = in[i];
  out[i] = table[at % 128];
}

int main() {
  int* a = filled<int>(3000, 7); float* b = filled<float>(3000, 0); float host[128];
  for (int i = 0; i < 128; ++i) host[i] = i;
  if (hipMemcpyToSymbol(HIP_SYMBOL(table), host, sizeof host) != hipSuccess) return 2;
  looked_up<<<12, 256>>>(a, b, 3000);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
