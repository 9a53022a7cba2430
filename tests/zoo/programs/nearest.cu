// For each query the number of the nearest point and how far it is. ./app [points] [queries]
#include "zoo.h"

__global__ void nearest(const float2* points, const float2* queries, int* index, float* far, int count, int asked) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= asked) return;
  const float2 at = queries[q];
  float best = 3.0e38f;
  int found = -1;
  for (int p = 0; p < count; ++p) {
    const float dx = points[p].x - at.x, dy = points[p].y - at.y;
    const float d = dx * dx + dy * dy;
    if (d < best) {
      best = d;
      found = p;
    }
  }
  index[q] = found;
  far[q] = best;
}

int main(int argc, char** argv) {
  const int count = zoo::number(argc, argv, 1, 700), asked = zoo::number(argc, argv, 2, 300);
  const std::vector<float> p = zoo::floats(2 * count, "signed", 3), q = zoo::floats(2 * asked, "signed", 5);
  int* index = zoo::device<int>(asked);
  float* far = zoo::device<float>(asked);
  nearest<<<(asked + 63) / 64, 64>>>((float2*)zoo::device(p), (float2*)zoo::device(q), index, far, count, asked);
  std::vector<int> expected(asked);
  for (int i = 0; i < asked; ++i) {
    float best = 3.0e38f;
    for (int k = 0; k < count; ++k) {
      const float dx = p[2 * k] - q[2 * i], dy = p[2 * k + 1] - q[2 * i + 1], d = fmaf(dx, dx, dy * dy);
      if (d < best) best = d, expected[i] = k;
    }
  }
  zoo::same("index", zoo::host(index, asked), expected);
  return zoo::failed;
}
