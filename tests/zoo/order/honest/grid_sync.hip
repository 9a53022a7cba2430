// expect: nothing
#include "../zoo.h"
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rounds(float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    b[i] = a[(i + 1) % n] * 0.5f;
    cg::this_grid().sync();
    a[i] = b[(i + n - 1) % n];
    cg::this_grid().sync();
  }
}
int main() {
  int n = 1024;
  float *a = ascending<float>(n), *b = device<float>(n);
  void* args[] = {&a, &b, &n};
  if (hipLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), dim3(8), dim3(128), args, 0, 0)) return 7;
  return finish(a, n);
}
