// A functor and a lambda as template arguments.
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

struct Square {
  __device__ float operator()(float v) const { return v * v; }
};
template <class F>
__device__ void apply(const float* in, float* out, int i, F f) {
  const float v = in[i];
  out[i] = f(v);
}
__global__ void functors(const float* in, float* out, int n, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  apply(in, out, i, Square());
  apply(in + w, out + w, i * 2, [=](float v) { return v + i; });
}

int main() {
  float* a = filled<float>(10000, 7); float* b = filled<float>(10000, 0);
  functors<<<12, 256>>>(a, b, 3000, 3500);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
