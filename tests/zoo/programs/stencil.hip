// A five-point stencil, twice per step, on a grid with a border that stays. ./app [columns] [rows] [kind] [steps]
#include "zoo.h"

struct Grid {
  int nx, ny, pitch;
  float keep, spread;
};

__global__ void relax(const float* from, float* to, Grid g) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= g.nx || y >= g.ny) return;
  const int at = y * g.pitch + x;
  if (x == 0 || y == 0 || x == g.nx - 1 || y == g.ny - 1) {
    to[at] = from[at];
    return;
  }
  const float around = from[at - 1] + from[at + 1] + from[at - g.pitch] + from[at + g.pitch];
  to[at] = g.keep * from[at] + g.spread * around;
}

int main(int argc, char** argv) {
  const int nx = zoo::number(argc, argv, 1, 100), ny = zoo::number(argc, argv, 2, 60);
  const char* kind = zoo::word(argc, argv, 3, "plain");
  const int steps = zoo::number(argc, argv, 4, 4);
  const Grid g{nx, ny, nx + 4, 0.5f, 0.125f};
  const size_t count = size_t(g.pitch) * ny;
  const std::vector<float> start = zoo::floats(count, kind);
  float* a = zoo::device(start);
  float* b = zoo::device(start);
  std::vector<double> exact(start.begin(), start.end()), next = exact;
  const dim3 block(32, 8);
  const dim3 blocks((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
  for (int s = 0; s < steps; ++s) {
    relax<<<blocks, block>>>(a, b, g);
    std::swap(a, b);
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x) {
        const size_t i = size_t(y) * g.pitch + x;
        next[i] = 0.5 * exact[i] + 0.125 * (exact[i - 1] + exact[i + 1] + exact[i - g.pitch] + exact[i + g.pitch]);
      }
    exact.swap(next);
  }
  zoo::check("grid", zoo::host(a, count), exact, 1e-5);
  return zoo::failed;
}
