// Walsh and Hadamard's transform of 256 numbers per block: stages through memory, through LDS, by shuffles.
#include "../corpus/corpus.h"
__global__ void through_memory(const int* x, int* y, int n) {
  int* own = y + blockIdx.x * 256;
  const int t = threadIdx.x;
  own[t] = x[blockIdx.x * 256 + t];
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const int mine = own[t], other = own[t ^ step];
    __syncthreads();
    own[t] = t & step ? other - mine : mine + other;
  }
}
__global__ void through_lds(const int* x, int* y, int n) {
  __shared__ int own[256];
  const int t = threadIdx.x;
  own[t] = x[blockIdx.x * 256 + t];
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const int mine = own[t], other = own[t ^ step];
    __syncthreads();
    own[t] = t & step ? other - mine : mine + other;
  }
  y[blockIdx.x * 256 + t] = own[t];
}
__global__ void by_shuffles(const int* x, int* y, int n) {
  __shared__ int own[256];
  const int t = threadIdx.x;
  int mine = x[blockIdx.x * 256 + t];
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_xor_sync(0xFFFFFFFF, mine, step);
    mine = t & step ? other - mine : mine + other;
  }
  for (int step = 32; step < 256; step *= 2) {
    __syncthreads();
    own[t] = mine;
    __syncthreads();
    mine = t & step ? own[t ^ step] - mine : mine + own[t ^ step];
  }
  y[blockIdx.x * 256 + t] = mine;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 16);
  const auto values = made<int>(n, [](size_t i) { return noise(unsigned(i)) % 1000; });
  std::vector<int> expected = values;
  for (int at = 0; at < n; at += 256)
    for (int step = 1; step < 256; step *= 2)
      for (int t = 0; t < 256; ++t)
        if (!(t & step)) {
          const int a = expected[at + t], b = expected[at + t + step];
          expected[at + t] = a + b, expected[at + t + step] = a - b;
        }
  const int* x = c.input(values);
  int* y = c.output(expected);
  c.variant("through_memory", [&] { through_memory<<<n / 256, 256>>>(x, y, n); });
  c.variant("through_lds", [&] { through_lds<<<n / 256, 256>>>(x, y, n); });
  c.variant("by_shuffles", [&] { by_shuffles<<<n / 256, 256>>>(x, y, n); });
  return c.end();
}
