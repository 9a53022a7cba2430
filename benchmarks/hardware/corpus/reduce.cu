// The sum of an array. The values are small whole numbers, so that no order of adding makes a difference.
#include "corpus.h"
__global__ void atomic_each(const float* x, float* sum, int n) {
  int i = INDEX;
  if (i < n) atomicAdd(sum, x[i]);
}
__global__ void atomic_each_int(const float* x, int* sum, int n) {
  int i = INDEX;
  if (i < n) atomicAdd(sum, int(x[i]));
}
__global__ void atomic_in_lds(const float* x, float* sum, int n) {
  __shared__ float part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  int i = INDEX;
  if (i < n) atomicAdd(&part, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, part);
}
__global__ void atomic_in_lds_int(const float* x, int* sum, int n) {
  __shared__ int part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  int i = INDEX;
  if (i < n) atomicAdd(&part, int(x[i]));
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, part);
}
__global__ void tree_modulo(const float* x, float* sum, int n) {
  __shared__ float part[256];
  part[threadIdx.x] = INDEX < n ? x[INDEX] : 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
__global__ void tree(const float* x, float* sum, int n) {
  __shared__ float part[256];
  part[threadIdx.x] = INDEX < n ? x[INDEX] : 0;
  __syncthreads();
  for (int step = 128; step; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
__global__ void shuffled(const float* x, float* sum, int n) {
  float part = block_sum(INDEX < n ? x[INDEX] : 0);
  if (threadIdx.x == 0) atomicAdd(sum, part);
}
__global__ void shuffled_many(const float* x, float* sum, int n) {
  float part = 0;
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) part += x[i];
  part = block_sum(part);
  if (threadIdx.x == 0) atomicAdd(sum, part);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 18), blocks = (n + 255) / 256;
  const auto values = made<float>(n, [](size_t i) { return i % 4; });
  const float* x = c.input(values);
  float* sum = nullptr;
  int* whole = nullptr;
  double expected = 0;
  for (float value : values) expected += value;
  // One of both is written by each variant: either must have the sum.
  float* both = c.checked<float>(2, [=](const std::vector<float>& found) {
    int bits;
    std::copy_n(reinterpret_cast<const char*>(&found[1]), 4, reinterpret_cast<char*>(&bits));
    return found[0] == expected || bits == expected ? "" : std::to_string(found[0]) + " or " + std::to_string(bits);
  });
  sum = both, whole = reinterpret_cast<int*>(both + 1);
  c.variant("atomic_each", [&] { atomic_each<<<blocks, 256>>>(x, sum, n); });
  c.variant("atomic_each_int", [&] { atomic_each_int<<<blocks, 256>>>(x, whole, n); });
  c.variant("atomic_in_lds", [&] { atomic_in_lds<<<blocks, 256>>>(x, sum, n); });
  c.variant("atomic_in_lds_int", [&] { atomic_in_lds_int<<<blocks, 256>>>(x, whole, n); });
  c.variant("tree_modulo", [&] { tree_modulo<<<blocks, 256>>>(x, sum, n); });
  c.variant("tree", [&] { tree<<<blocks, 256>>>(x, sum, n); });
  c.variant("shuffled", [&] { shuffled<<<blocks, 256>>>(x, sum, n); });
  c.variant("shuffled_many", [&] { shuffled_many<<<264, 256>>>(x, sum, n); });
  return c.end();
}
