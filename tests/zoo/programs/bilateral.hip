// Bilateral filter: ./app [width] [height] [radius] [kind]
#include "zoo.h"
#include <algorithm>

__global__ void bilateral(const float* in, float* out, int w, int h, int radius, float space, float range) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float centre = in[y * w + x];
  float sum = 0.0f, weights = 0.0f;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const int px = min(max(x + dx, 0), w - 1), py = min(max(y + dy, 0), h - 1);
      const float v = in[py * w + px];
      const float d = v - centre;
      const float weight = expf(-(dx * dx + dy * dy) * space) * expf(-d * d * range);
      sum += weight * v;
      weights += weight;
    }
  out[y * w + x] = sum / weights;
}

int main(int argc, char** argv) {
  const int w = zoo::number(argc, argv, 1, 72), h = zoo::number(argc, argv, 2, 40), radius = zoo::number(argc, argv, 3, 2);
  const char* kind = zoo::word(argc, argv, 4, "plain");
  const float space = 1.0f / (2 * radius * radius + 0.5f), range = 6.0f;
  std::vector<float> in = zoo::floats(size_t(w) * h, kind, 21);
  float* d_in = zoo::device(in);
  float* d_out = zoo::device<float>(in.size());
  const dim3 block(16, 16), grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
  hipLaunchKernelGGL(bilateral, grid, block, 0, 0, d_in, d_out, w, h, radius, space, range);
  std::vector<double> exact(in.size());
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      double total = 0, all = 0;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
          const double v = in[std::clamp(y + dy, 0, h - 1) * w + std::clamp(x + dx, 0, w - 1)], d = v - in[y * w + x];
          const double weight = std::exp(-(dx * dx + dy * dy) * double(space) - d * d * double(range));
          total += weight * v;
          all += weight;
        }
      exact[y * w + x] = total / all;
    }
  zoo::check("out", zoo::host(d_out, in.size()), exact, 1e-4);
  return zoo::failed;
}
