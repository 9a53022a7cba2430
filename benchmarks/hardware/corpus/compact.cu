// The values above a limit, in any order: a third of all.
#include "corpus.h"
__global__ void place_each(const int* x, int* kept, int* count, int n) {
  if (INDEX < n && x[INDEX] % 3 == 0) kept[atomicAdd(count, 1)] = x[INDEX];
}
__global__ void place_per_warp(const int* x, int* kept, int* count, int n) {
  const int value = INDEX < n ? x[INDEX] : 1, lane = threadIdx.x % 32;
  const unsigned takers = __ballot_sync(0xFFFFFFFF, value % 3 == 0);
  int first = 0;
  if (lane == 0 && takers) first = atomicAdd(count, __popc(takers));
  first = __shfl_sync(0xFFFFFFFF, first, 0);
  if (value % 3 == 0) kept[first + __popc(takers & ((1u << lane) - 1))] = value;
}
__global__ void place_per_block(const int* x, int* kept, int* count, int n) {
  __shared__ int before[8], first;
  const int value = INDEX < n ? x[INDEX] : 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned takers = __ballot_sync(0xFFFFFFFF, value % 3 == 0);
  if (lane == 0) before[warp] = __popc(takers);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < 8; ++k) {
      const int own = before[k];
      before[k] = sum, sum += own;
    }
    first = atomicAdd(count, sum);
  }
  __syncthreads();
  if (value % 3 == 0) kept[first + before[warp] + __popc(takers & ((1u << lane) - 1))] = value;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 19);
  const auto values = made<int>(n, [](size_t i) { return noise(unsigned(i)); });
  std::vector<int> expected;
  for (int value : values)
    if (value % 3 == 0) expected.push_back(value);
  std::sort(expected.begin(), expected.end());
  const int* x = c.input(values);
  int* kept = c.checked<int>(expected.size(), [=](std::vector<int> found) {
    std::sort(found.begin(), found.end());
    return found == expected ? "" : "some value";
  });
  int* count = c.output(std::vector<int>{int(expected.size())});
  c.variant("place_each", [&] { place_each<<<(n + 255) / 256, 256>>>(x, kept, count, n); });
  c.variant("place_per_warp", [&] { place_per_warp<<<(n + 255) / 256, 256>>>(x, kept, count, n); });
  c.variant("place_per_block", [&] { place_per_block<<<(n + 255) / 256, 256>>>(x, kept, count, n); });
  return c.end();
}
