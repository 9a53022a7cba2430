// Tridiagonal systems by Thomas, a thread each: every system by itself in memory, or all systems interleaved.
#include "../corpus/corpus.h"
constexpr int kSize = 64;
__host__ __device__ void solve(const float* right, float* y, float* kept, long first, long stride) {
  float scale = 1 / 4.0f, value = right[first] * scale;
  kept[first] = scale, y[first] = value;
  for (int k = 1; k < kSize; ++k) {
    const long at = first + k * stride;
    scale = 1 / (4.0f - scale);
    value = (right[at] + value) * scale;
    kept[at] = scale, y[at] = value;
  }
  for (int k = kSize - 2; k >= 0; --k) {
    const long at = first + k * stride;
    value = y[at] + kept[at] * value;
    y[at] = value;
  }
}
__global__ void one_by_one(const float* right, float* y, float* kept, int n) { solve(right, y, kept, INDEX * kSize, 1); }
__global__ void interleaved(const float* right, float* y, float* kept, int n) { solve(right, y, kept, INDEX, n); }
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 12);
  const auto values = made<float>(size_t(n) * kSize, [](size_t) { return 1.0f; });
  std::vector<float> solved(kSize), kept(kSize);
  solve(values.data(), solved.data(), kept.data(), 0, 1);
  const float* x = c.input(values);
  float* scratch = c.input(values);
  float* y = c.checked<float>(values.size(), [=](const std::vector<float>& found) {
    for (size_t i = 0; i < found.size(); ++i)
      if (std::abs(found[i] - solved[i % kSize]) > 1e-5 && std::abs(found[i] - solved[i / n]) > 1e-5)
        return std::to_string(i);
    return std::string();
  });
  c.variant("one_by_one", [&] { one_by_one<<<n / 64, 64>>>(x, y, scratch, n); });
  c.variant("interleaved", [&] { interleaved<<<n / 64, 64>>>(x, y, scratch, n); });
  return c.end();
}
