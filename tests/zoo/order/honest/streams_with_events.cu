// expect: nothing
#include "../zoo.h"
__global__ void fill(int* x, int v) { x[threadIdx.x] = v; }
__global__ void add(const int* x, int* y) { y[threadIdx.x] += x[63 - threadIdx.x]; }
int main() {
  int *x = device<int>(64), *y = device<int>(64);
  cudaStream_t first, second;
  cudaEvent_t filled, added;
  if (cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) || cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking)) return 7;
  if (cudaEventCreate(&filled) || cudaEventCreate(&added)) return 7;
  for (int k = 0; k < 3; ++k) {
    fill<<<1, 64, 0, first>>>(x, k);
    cudaEventRecord(filled, first);
    cudaStreamWaitEvent(second, filled, 0);
    add<<<1, 64, 0, second>>>(x, y);
    cudaEventRecord(added, second);
    cudaStreamWaitEvent(first, added, 0);
  }
  cudaStreamSynchronize(second);
  fill<<<1, 64, 0, first>>>(y, 3);
  return finish(y, 64);
}
