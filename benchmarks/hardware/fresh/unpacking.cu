// Weights of four bits times a vector, a warp per row of 2048: read by bytes, by words, by four words.
#include "../corpus/corpus.h"
constexpr int kWide = 2048;
__device__ float product(unsigned word, int count, const float* v) {
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += (int(word >> 4 * k & 15) - 8) * v[k];
  return sum;
}
template <class T>
__global__ void warp_per_row(const T* x, const float* v, float* y) {
  constexpr int kEach = sizeof(T) * 2, kTs = kWide / kEach;
  const int row = INDEX / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = lane; k < kTs; k += 32) {
    const T own = x[row * kTs + k];
    if constexpr (sizeof(T) == 16) {
      const unsigned words[] = {own.x, own.y, own.z, own.w};
      for (int j = 0; j < 4; ++j) sum += product(words[j], 8, v + k * kEach + j * 8);
    } else {
      sum += product(own, kEach, v + k * kEach);
    }
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int rows = c.argument(0, 512);
  const auto packed = made<unsigned char>(size_t(rows) * kWide / 2, [](size_t i) { return noise(unsigned(i)); });
  const auto vector = floats(kWide);
  const unsigned char* x = c.input(packed);
  const float* v = c.input(vector);
  float* y = c.output(made<float>(rows, [&](size_t row) {
    double sum = 0;
    for (int k = 0; k < kWide; ++k) sum += (int(packed[row * kWide / 2 + k / 2] >> k % 2 * 4 & 15) - 8) * vector[k];
    return sum;
  }), 1e-2);
  c.variant("by_bytes", [&] { warp_per_row<<<rows / 4, 128>>>(x, v, y); });
  c.variant("by_words", [&] { warp_per_row<<<rows / 4, 128>>>((const unsigned*)x, v, y); });
  c.variant("by_fours", [&] { warp_per_row<<<rows / 4, 128>>>((const uint4*)x, v, y); });
  return c.end();
}
