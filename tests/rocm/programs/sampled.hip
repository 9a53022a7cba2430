// One line that all waves queue at, one that they do not, and one that most lanes sit out.
#include <hip/hip_runtime.h>

__global__ void busy(unsigned* totals, unsigned* spread, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicXor(spread + i, i);
  float sum = i;
  if (threadIdx.x % 64 == 0)
    for (int k = 0; k < 200; ++k) sum = sum * 1.5f + k;
  out[i] = sum;
  atomicMax(totals + i % 2, i * 2654435761u);
}

int main() {
  constexpr int n = 4096;
  unsigned *totals, *spread;
  float* out;
  if (hipMalloc(&totals, 8) != hipSuccess || hipMalloc(&spread, n * 4) != hipSuccess) return 1;
  if (hipMalloc(&out, n * 4) != hipSuccess) return 2;
  busy<<<n / 256, 256>>>(totals, spread, out, n);
  return hipDeviceSynchronize() != hipSuccess;
}
