// Keeps the positive numbers, in no order, and counts them. ./app [count] [kind]
#include "zoo.h"
#include <algorithm>

__global__ void keep_positive(const int* in, int* out, int* kept, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) out[atomicAdd(kept, 1)] = in[i];
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 6000);
  const char* kind = zoo::word(argc, argv, 2, "outside");
  const std::vector<int> in = zoo::ints(n, 50000, kind);
  int *out = zoo::device<int>(n), *kept = zoo::device<int>(1);
  keep_positive<<<(n + 127) / 128, 128>>>(zoo::device(in), out, kept, n);
  std::vector<int> expected;
  for (int v : in) if (v > 0) expected.push_back(v);
  std::vector<int> found = zoo::host(out, n);
  const int count = zoo::host(kept, 1)[0];
  zoo::same("count", std::vector<int>{count}, std::vector<int>{int(expected.size())});
  found.resize(std::min(n, std::max(0, count)));
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  found.resize(expected.size());
  zoo::same("kept", found, expected);
  return zoo::failed;
}
