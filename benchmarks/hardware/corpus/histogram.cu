// How often each value occurs; of the skewed values four in five are the same.
#include "corpus.h"
__global__ void in_global(const int* x, int* bins, int n, int count) {
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1);
}
__global__ void in_global_one_each(const int* x, int* bins, int n) {
  if (INDEX < n) atomicAdd(&bins[x[INDEX]], 1);
}
__global__ void in_lds(const int* x, int* bins, int n, int count) {
  extern __shared__ int own[];
  for (int k = threadIdx.x; k < count; k += blockDim.x) own[k] = 0;
  __syncthreads();
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < count; k += blockDim.x) atomicAdd(&bins[k], own[k]);
}
__global__ void per_warp(const int* x, int* bins, int n, int count) {
  extern __shared__ int own[];
  for (int k = threadIdx.x; k < count * 8; k += blockDim.x) own[k] = 0;
  __syncthreads();
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[threadIdx.x / 32 * count + x[i]], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    int sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += own[warp * count + k];
    atomicAdd(&bins[k], sum);
  }
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 20), count = c.argument(1, 256), blocks = std::min(n / 256, 528);
  const auto even = made<int>(n, [&](size_t i) { return noise(unsigned(i)) % count; });
  const auto skewed = made<int>(n, [&](size_t i) { return noise(unsigned(i)) % 5 ? 7 : even[i]; });
  std::vector<int> of_even(count), of_skewed(count);
  for (int i = 0; i < n; ++i) ++of_even[even[i]], ++of_skewed[skewed[i]];
  const int *x = c.input(even), *z = c.input(skewed);
  int* bins = c.checked<int>(count, [=](const std::vector<int>& found) {
    return found == of_even || found == of_skewed ? "" : "the counts";
  });
  c.variant("global_one_each", [&] { in_global_one_each<<<n / 256, 256>>>(x, bins, n); });
  c.variant("global", [&] { in_global<<<blocks, 256>>>(x, bins, n, count); });
  c.variant("lds", [&] { in_lds<<<blocks, 256, count * 4>>>(x, bins, n, count); });
  c.variant("per_warp", [&] { per_warp<<<blocks, 256, count * 32>>>(x, bins, n, count); });
  c.variant("global_skewed", [&] { in_global<<<blocks, 256>>>(z, bins, n, count); });
  c.variant("lds_skewed", [&] { in_lds<<<blocks, 256, count * 4>>>(z, bins, n, count); });
  c.variant("per_warp_skewed", [&] { per_warp<<<blocks, 256, count * 32>>>(z, bins, n, count); });
  return c.end();
}
