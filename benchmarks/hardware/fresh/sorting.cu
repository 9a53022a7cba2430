// Bitonic sort of 512 numbers per block, in memory and in LDS.
#include "../corpus/corpus.h"
__device__ void sort(int* own) {
  for (int size = 2; size <= 512; size *= 2)
    for (int step = size / 2; step; step /= 2) {
      __syncthreads();
      const int low = threadIdx.x / step * step * 2 + threadIdx.x % step, high = low + step;
      const int a = own[low], b = own[high];
      if ((a > b) == !(low & size)) own[low] = b, own[high] = a;
    }
}
__global__ void in_memory(const int* x, int* y) {
  int* own = y + blockIdx.x * 512;
  own[threadIdx.x] = x[blockIdx.x * 512 + threadIdx.x];
  own[threadIdx.x + 256] = x[blockIdx.x * 512 + threadIdx.x + 256];
  sort(own);
}
__global__ void in_lds(const int* x, int* y) {
  __shared__ int own[512];
  own[threadIdx.x] = x[blockIdx.x * 512 + threadIdx.x];
  own[threadIdx.x + 256] = x[blockIdx.x * 512 + threadIdx.x + 256];
  sort(own);
  __syncthreads();
  y[blockIdx.x * 512 + threadIdx.x] = own[threadIdx.x];
  y[blockIdx.x * 512 + threadIdx.x + 256] = own[threadIdx.x + 256];
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 16);
  const auto values = made<int>(n, [](size_t i) { return noise(unsigned(i)); });
  auto expected = values;
  for (int at = 0; at < n; at += 512) std::sort(expected.begin() + at, expected.begin() + at + 512);
  const int* x = c.input(values);
  int* y = c.output(expected);
  c.variant("in_memory", [&] { in_memory<<<n / 512, 256>>>(x, y); });
  c.variant("in_lds", [&] { in_lds<<<n / 512, 256>>>(x, y); });
  return c.end();
}
