// Enters keys in a table with open addressing, then looks queries up. ./app [keys] [kind] [slots as a power of two]
#include "zoo.h"
#include <set>

__device__ inline unsigned start(int key) { return (unsigned)key * 2654435761u >> 7; }

__global__ void enter(const int* keys, int* slots, int n, int mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i];
  for (int probe = 0; probe <= mask; ++probe) {
    int* slot = &slots[(start(key) + probe) & mask];
    const int seen = atomicCAS(slot, -1, key);
    if (seen == -1 || seen == key) return;
  }
}

__global__ void look(const int* queries, const int* slots, int* found, int n, int mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = queries[i];
  int known = 0;
  for (int probe = 0; probe <= mask; ++probe) {
    const int seen = slots[(start(key) + probe) & mask];
    if (seen == key) known = 1;
    if (seen == key || seen == -1) break;
  }
  found[i] = known;
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 1400);
  const char* kind = zoo::word(argc, argv, 2, "plain");
  const int size = 1 << zoo::number(argc, argv, 3, 12);
  std::vector<int> keys = zoo::ints(n, 100000, "plain", 7), queries = zoo::ints(n, 100000, kind, 9);
  if (strcmp(kind, "known") == 0) queries = keys;
  for (int i = 0; i < n; i += 2) queries[i] = keys[(i * 5) % n];
  int *slots = zoo::device(std::vector<int>(size, -1)), *found = zoo::device<int>(n);
  enter<<<(n + 127) / 128, 128>>>(zoo::device(keys), slots, n, size - 1);
  look<<<(n + 127) / 128, 128>>>(zoo::device(queries), slots, found, n, size - 1);
  const std::set<int> known(keys.begin(), keys.end());
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = known.count(queries[i]);
  zoo::same("found", zoo::host(found, n), expected);
  return zoo::failed;
}
