// A loop of compare-and-swap, without contention between waves that would make turns differ.
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

__global__ void swaps(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double v = in[i];
  auto* at = reinterpret_cast<unsigned long long*>(out + i);
  unsigned long long old = __double_as_longlong(0.0), seen;
  do {
    seen = old;
    old = atomicCAS(at, seen, (unsigned long long)__double_as_longlong(v + __longlong_as_double(seen)));
  } while (old != seen);
}

int main() {
  double* a = filled<double>(3000, 7); double* b = filled<double>(3000, 0);
  swaps<<<12, 256>>>(a, b, 3000);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
