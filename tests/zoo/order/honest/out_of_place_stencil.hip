// expect: nothing
#include "../zoo.h"
__global__ void smooth(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i + 1 < n ? 0.5f * (x[i] + x[i + 1]) : x[i];
}
int main() { float* y = device<float>(2048); smooth<<<8, 256>>>(ascending<float>(2048), y, 2048); smooth<<<8, 256>>>(y, ascending<float>(2048), 2048); return finish(y, 2048); }
