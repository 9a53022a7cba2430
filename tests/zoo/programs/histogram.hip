// A histogram with keys that may lie outside. ./app [count] [bins] [kind]
#include "zoo.h"

__global__ void count_keys(const int* keys, unsigned int* bins, int n, int number) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int key = keys[i];
    if (key >= 0 && key < number) atomicAdd(&bins[key], 1u);
  }
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 30000), number = zoo::number(argc, argv, 2, 200);
  const char* kind = zoo::word(argc, argv, 3, "plain");
  const std::vector<int> keys = zoo::ints(n, number, kind);
  const int* dk = zoo::device(keys);
  unsigned int* bins = zoo::device<unsigned int>(number);
  count_keys<<<24, 256>>>(dk, bins, n, number);
  std::vector<unsigned int> expected(number);
  for (int key : keys) if (key >= 0 && key < number) ++expected[key];
  zoo::same("bins", zoo::host(bins, number), expected);
  return zoo::failed;
}
