// Running sums within blocks of 256 numbers.
#include "corpus.h"
__global__ void one_thread(const int* x, int* y) {
  if (threadIdx.x) return;
  int sum = 0;
  for (int k = 0; k < 256; ++k) y[blockIdx.x * 256 + k] = sum += x[blockIdx.x * 256 + k];
}
__global__ void doubling(const int* x, int* y) {
  __shared__ int part[2][256];
  int from = 0, thread = threadIdx.x;
  part[0][thread] = x[INDEX];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2, from = 1 - from) {
    part[1 - from][thread] = part[from][thread] + (thread >= step ? part[from][thread - step] : 0);
    __syncthreads();
  }
  y[INDEX] = part[from][thread];
}
__global__ void two_sweeps(const int* x, int* y) {  // of 128 threads
  __shared__ int part[256];
  const int thread = threadIdx.x, at = blockIdx.x * 256;
  const int own[2] = {x[at + thread], x[at + thread + 128]};
  part[thread] = own[0], part[thread + 128] = own[1];
  int step = 1;
  for (int pairs = 128; pairs; pairs /= 2, step *= 2) {
    __syncthreads();
    if (thread < pairs) part[step * (2 * thread + 2) - 1] += part[step * (2 * thread + 1) - 1];
  }
  if (thread == 0) part[255] = 0;
  for (int pairs = 1; pairs < 256; pairs *= 2) {
    step /= 2;
    __syncthreads();
    if (thread >= pairs) continue;
    const int left = step * (2 * thread + 1) - 1, right = step * (2 * thread + 2) - 1, kept = part[left];
    part[left] = part[right];
    part[right] += kept;
  }
  __syncthreads();
  y[at + thread] = part[thread] + own[0];
  y[at + thread + 128] = part[thread + 128] + own[1];
}
__global__ void by_warps(const int* x, int* y) {
  __shared__ int sums[8];
  int value = x[INDEX], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int step = 1; step < 32; step *= 2) {
    const int left = __shfl_up_sync(0xFFFFFFFF, value, step);
    if (lane >= step) value += left;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  for (int k = 0; k < warp; ++k) value += sums[k];
  y[INDEX] = value;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 18), blocks = n / 256;
  const auto values = made<int>(n, [](size_t i) { return noise(unsigned(i)) % 100; });
  const int* x = c.input(values);
  int running = 0;
  int* y = c.output(made<int>(n, [&](size_t i) { return running = (i % 256 ? running : 0) + values[i]; }));
  c.variant("one_thread", [&] { one_thread<<<blocks, 32>>>(x, y); });
  c.variant("doubling", [&] { doubling<<<blocks, 256>>>(x, y); });
  c.variant("two_sweeps", [&] { two_sweeps<<<blocks, 128>>>(x, y); });
  c.variant("by_warps", [&] { by_warps<<<blocks, 256>>>(x, y); });
  return c.end();
}
