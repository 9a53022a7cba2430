// Three dispatches of two kernels, for the interception protocol.
#include <hip/hip_runtime.h>
#include <cstdio>

__device__ int state = 5;
struct Pair {
  int n;
  float* out;
};
__global__ void fill(float* out, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
  if (i == 0) state += 1;
}
__global__ void shift(Pair pair) {
  if (threadIdx.x < unsigned(pair.n)) pair.out[threadIdx.x] += 1;
}

int main() {
  float *unused, *out, host[100];
  if (hipMalloc(&unused, 64) != hipSuccess || hipMalloc(&out, sizeof host) != hipSuccess) return 1;
  fill<<<2, 64>>>(out + 10, 90, 2.5f);
  shift<<<1, 64>>>(Pair{20, out});
  fill<<<2, 64>>>(out, 100, 1.5f);
  if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 2;
  std::printf("%g\n", host[99]);
  return 0;
}
