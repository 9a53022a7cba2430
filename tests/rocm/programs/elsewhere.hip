// A kernel that is passed an address of the host's own memory, which it does not use.
#include <hip/hip_runtime.h>

#include <cstdlib>

__global__ void fill(float* out, const float* other, int use) {
  out[threadIdx.x] = use ? other[threadIdx.x] : 1.0f;
}

int main() {
  float *out = nullptr, *host = static_cast<float*>(std::malloc(256));
  if (hipMalloc(&out, 256) != hipSuccess) return 1;
  fill<<<1, 64>>>(out, host, 0);
  fill<<<1, 64>>>(out, nullptr, 0);
  return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
