// Levels of a breadth-first search, with a queue of vertices per level. ./app [vertices] [degree] [path]
#include "zoo.h"
#include <algorithm>

__global__ void expand(const int* first, const int* edges, const int* queue, int queued, int* level, int* next, int* nexts,
                       int depth) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= queued) return;
  const int v = queue[t];
  for (int e = first[v]; e < first[v + 1]; ++e) {
    const int w = edges[e];
    if (atomicCAS(&level[w], -1, depth) == -1) next[atomicAdd(nexts, 1)] = w;
  }
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 1200), degree = zoo::number(argc, argv, 2, 6);
  const bool path = strcmp(zoo::word(argc, argv, 3, "random"), "path") == 0;
  std::vector<int> first(n + 1, 0), edges;
  const std::vector<int> to = zoo::ints(size_t(n) * degree + 1, n);
  for (int v = 0; v < n; ++v) {
    const int many = path ? 1 : v % 97 == 0 ? 4 * degree : v % degree;
    for (int e = 0; e < many; ++e) edges.push_back(path ? (v + 1) % n : to[(size_t(v) * 5 + e * 31) % to.size()]);
    first[v + 1] = int(edges.size());
  }
  std::vector<int> expected(n, -1), wave{0};
  expected[0] = 0;
  for (int depth = 1; !wave.empty(); ++depth) {
    std::vector<int> further;
    for (int v : wave)
      for (int e = first[v]; e < first[v + 1]; ++e)
        if (expected[edges[e]] < 0) expected[edges[e]] = depth, further.push_back(edges[e]);
    wave = further;
  }
  std::vector<int> start(n, -1);
  start[0] = 0;
  int *d_first = zoo::device(first), *d_edges = zoo::device(edges), *level = zoo::device(start);
  int *queue = zoo::device<int>(n), *next = zoo::device<int>(n), *nexts = zoo::device<int>(1);
  for (int queued = 1, depth = 1; queued > 0; ++depth) {
    cudaMemset(nexts, 0, sizeof(int));
    expand<<<(queued + 127) / 128, 128>>>(d_first, d_edges, queue, queued, level, next, nexts, depth);
    cudaMemcpy(&queued, nexts, sizeof(int), cudaMemcpyDeviceToHost);
    std::swap(queue, next);
  }
  zoo::same("levels", zoo::host(level, n), expected);
  return zoo::failed;
}
