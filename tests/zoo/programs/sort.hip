// Segments of keys sorted in LDS, bitonic. ./app [segments] [kind]
#include "zoo.h"
#include <algorithm>

constexpr int SIZE = 128;

__global__ void sort_segments(int* keys, int n) {
  __shared__ int s[SIZE];
  const int t = threadIdx.x;
  const int i = blockIdx.x * SIZE + t;
  s[t] = i < n ? keys[i] : 0x7fffffff;
  __syncthreads();
  for (int size = 2; size <= SIZE; size *= 2) {
    for (int d = size / 2; d > 0; d /= 2) {
      const int other = t ^ d;
      if (other > t) {
        const bool up = (t & size) == 0;
        const int a = s[t], b = s[other];
        if ((a > b) == up) {
          s[t] = b;
          s[other] = a;
        }
      }
      __syncthreads();
    }
  }
  if (i < n) keys[i] = s[t];
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 5000);
  const char* kind = zoo::word(argc, argv, 2, "plain");
  std::vector<int> keys = zoo::ints(n, 100000, kind);
  int* dk = zoo::device(keys);
  sort_segments<<<(n + SIZE - 1) / SIZE, SIZE>>>(dk, n);
  for (int i = 0; i < n; i += SIZE) std::sort(keys.begin() + i, keys.begin() + std::min(n, i + SIZE));
  zoo::same("keys", zoo::host(dk, n), keys);
  return zoo::failed;
}
