// Vector types: four and two words per lane.
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

__global__ void quads(const float4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 v = in[i];
  out[i] = make_float4(v.w, v.z, v.y, v.x);
}
__global__ void pairs(const double2* in, double2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double2 v = in[i];
  out[i] = make_double2(v.y, v.x);
}

int main() {
  float* a = filled<float>(8192, 3); float* b = filled<float>(8192, 5);
  quads<<<8, 256>>>((float4*)a, (float4*)b, 2000);
  pairs<<<8, 256>>>((double2*)a, (double2*)b, 1900);
  const hipError_t ended = hipDeviceSynchronize();
  if (ended != hipSuccess) std::printf("%s\n", hipGetErrorString(ended));
  return ended != hipSuccess;
}
