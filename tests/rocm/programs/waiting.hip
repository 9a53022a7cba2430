// A kernel that ends when the host has done what it does after two launches, and one that writes the same buffer.
#include <hip/hip_runtime.h>

__global__ void waits(const volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  out[threadIdx.x] = *flag + threadIdx.x;
}

__global__ void doubles(int* out) { out[threadIdx.x] *= 2; }

int main() {
  int *flag, *out;
  if (hipHostMalloc(&flag, sizeof *flag, hipHostMallocCoherent) != hipSuccess) return 1;
  if (hipMalloc(&out, 64 * sizeof *out) != hipSuccess) return 2;
  *flag = 0;
  waits<<<1, 64>>>(flag, out);
  doubles<<<1, 64>>>(out);
  *static_cast<volatile int*>(flag) = 5;
  int host[64];
  if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 3;
  return host[63] != 136;
}
