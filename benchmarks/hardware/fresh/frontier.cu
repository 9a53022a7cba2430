// A step of a search through a graph: all vertices look whether they are on the frontier, by threads or by warps; or a
// list of those that are.
#include "../corpus/corpus.h"
__device__ void visit(const int* targets, const int* depth, int* y, int from, int to, int step) {
  for (int k = from; k < to; k += step)
    if (depth[targets[k]] < 0) y[targets[k]] = 1;
}
__global__ void thread_per_vertex(const int* starts, const int* targets, const int* depth, int* y, int n) {
  int v = INDEX;
  if (v < n && depth[v] == 2) visit(targets, depth, y, starts[v], starts[v + 1], 1);
}
__global__ void warp_per_vertex(const int* starts, const int* targets, const int* depth, int* y, int n) {
  int v = INDEX / 32;
  if (v < n && depth[v] == 2) visit(targets, depth, y, starts[v] + threadIdx.x % 32, starts[v + 1], 32);
}
__global__ void listed(const int* list, const int* starts, const int* targets, const int* depth, int* y, int count) {
  int i = INDEX / 32;
  if (i < count) visit(targets, depth, y, starts[list[i]] + threadIdx.x % 32, starts[list[i] + 1], 32);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 15);
  std::vector<int> starts{0}, targets, list, depth(n), expected(n);
  for (int v = 0; v < n; ++v) {
    depth[v] = noise(v) % 8 == 0 ? 2 : noise(v) % 8 < 3 ? 1 : -1;
    if (depth[v] == 2) list.push_back(v);
    starts.push_back(starts.back() + 8 + noise(v + 99) % 48);
    for (int k = starts[v]; k < starts[v + 1]; ++k) targets.push_back(noise(unsigned(k) + 5) % n);
  }
  for (int v : list)
    for (int k = starts[v]; k < starts[v + 1]; ++k)
      if (depth[targets[k]] < 0) expected[targets[k]] = 1;
  const int *s = c.input(starts), *t = c.input(targets), *d = c.input(depth), *l = c.input(list);
  const int count = int(list.size());
  int* y = c.output(expected);
  c.variant("thread_per_vertex", [&] { thread_per_vertex<<<(n + 255) / 256, 256>>>(s, t, d, y, n); });
  c.variant("warp_per_vertex", [&] { warp_per_vertex<<<(n + 7) / 8, 256>>>(s, t, d, y, n); });
  c.variant("listed", [&] { listed<<<(count + 7) / 8, 256>>>(l, s, t, d, y, count); });
  return c.end();
}
