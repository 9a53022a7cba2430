// The nearest of 16 centres in eight dimensions, for points stored point by point or dimension by dimension.
#include "corpus.h"
constexpr int kCentres = 16, kDimensions = 8;
template <class Point>
__device__ int nearest(Point point, const float* centres) {
  int best = 0;
  float least = 1e30f;
  for (int c = 0; c < kCentres; ++c) {
    float square = 0;
    for (int d = 0; d < kDimensions; ++d) {
      const float apart = point(d) - centres[c * kDimensions + d];
      square += apart * apart;
    }
    if (square < least) least = square, best = c;
  }
  return best;
}
__global__ void by_point(const float* p, const float* centres, int* y, int n) {
  const int i = INDEX;
  y[i] = nearest([=](int d) { return p[i * kDimensions + d]; }, centres);
}
__global__ void by_dimension(const float* p, const float* centres, int* y, int n) {
  const int i = INDEX;
  y[i] = nearest([=](int d) { return p[d * n + i]; }, centres);
}
__global__ void held(const float* p, const float* centres, int* y, int n) {
  __shared__ float near[kCentres * kDimensions];
  if (threadIdx.x < kCentres * kDimensions) near[threadIdx.x] = centres[threadIdx.x];
  __syncthreads();
  const int i = INDEX;
  float own[kDimensions];
#pragma unroll
  for (int d = 0; d < kDimensions; ++d) own[d] = p[d * n + i];
  y[i] = nearest([&](int d) { return own[d]; }, near);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 16);
  const auto points = floats(n * kDimensions), centres = floats(kCentres * kDimensions, 9);
  const auto apart = made<float>(n * kDimensions, [&](size_t i) { return points[i % n * kDimensions + i / n]; });
  const float *p = c.input(points), *q = c.input(apart), *m = c.input(centres);
  int* y = c.output(made<int>(n, [&](size_t i) {
    int best = 0;
    float least = 1e30f;
    for (int k = 0; k < kCentres; ++k) {
      float square = 0;
      for (int d = 0; d < kDimensions; ++d) {
        const float between = points[i * kDimensions + d] - centres[k * kDimensions + d];
        square = std::fma(between, between, square);
      }
      if (square < least) least = square, best = k;
    }
    return best;
  }));
  c.variant("by_point", [&] { by_point<<<n / 128, 128>>>(p, m, y, n); });
  c.variant("by_dimension", [&] { by_dimension<<<n / 128, 128>>>(q, m, y, n); });
  c.variant("held", [&] { held<<<n / 128, 128>>>(q, m, y, n); });
  return c.end();
}
