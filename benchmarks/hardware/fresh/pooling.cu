// The mean of 4 x 4 squares of images whose 64 channels are innermost: a thread per square and channel, in two orders.
#include "../corpus/corpus.h"
constexpr int kChannels = 64;
__device__ float mean_of(const float* x, int row, int column, int channel, int side) {
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sum += x[((row * 4 + i) * side + column * 4 + j) * kChannels + channel];
  return sum / 16;
}
__global__ void channels_outside(const float* x, float* y, int side) {
  const int small = side / 4, column = INDEX % small, row = INDEX / small % small, channel = INDEX / small / small;
  y[(row * small + column) * kChannels + channel] = mean_of(x, row, column, channel, side);
}
__global__ void channels_inside(const float* x, float* y, int side) {
  const int small = side / 4, channel = INDEX % kChannels, column = INDEX / kChannels % small;
  const int row = INDEX / kChannels / small;
  y[(row * small + column) * kChannels + channel] = mean_of(x, row, column, channel, side);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int side = c.argument(0, 128), small = side / 4, n = small * small * kChannels;
  const auto values = floats(size_t(side) * side * kChannels);
  const float* x = c.input(values);
  float* y = c.output(made<float>(n, [&](size_t at) {
    float sum = 0;
    const size_t channel = at % kChannels, column = at / kChannels % small, row = at / kChannels / small;
    for (int k = 0; k < 16; ++k)
      sum += values[((row * 4 + k / 4) * side + column * 4 + k % 4) * kChannels + channel];
    return sum / 16;
  }), 1e-5);
  c.variant("channels_outside", [&] { channels_outside<<<n / 256, 256>>>(x, y, side); });
  c.variant("channels_inside", [&] { channels_inside<<<n / 256, 256>>>(x, y, side); });
  return c.end();
}
