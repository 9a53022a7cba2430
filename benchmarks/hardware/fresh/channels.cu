// Images with channels outermost to images with channels innermost: in order of the source, of the target, by tiles.
#include "../corpus/corpus.h"
constexpr int kChannels = 32;
__global__ void read_in_order(const float* x, float* y, int pixels) {
  const int channel = INDEX / pixels, pixel = INDEX % pixels;
  y[pixel * kChannels + channel] = x[INDEX];
}
__global__ void written_in_order(const float* x, float* y, int pixels) {
  const int channel = INDEX % kChannels, pixel = INDEX / kChannels;
  y[INDEX] = x[channel * pixels + pixel];
}
__global__ void by_tiles(const float* x, float* y, int pixels) {
  __shared__ float tile[kChannels][33];
  const int first = blockIdx.x * 32;
  for (int k = threadIdx.y; k < kChannels; k += 8) tile[k][threadIdx.x] = x[k * pixels + first + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) y[(first + k) * kChannels + threadIdx.x] = tile[threadIdx.x][k];
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int pixels = c.argument(0, 1 << 13), n = pixels * kChannels;
  const auto values = floats(n);
  const float* x = c.input(values);
  float* y = c.output(made<float>(n, [&](size_t at) { return values[at % kChannels * pixels + at / kChannels]; }));
  c.variant("read_in_order", [&] { read_in_order<<<n / 256, 256>>>(x, y, pixels); });
  c.variant("written_in_order", [&] { written_in_order<<<n / 256, 256>>>(x, y, pixels); });
  c.variant("by_tiles", [&] { by_tiles<<<pixels / 32, dim3(32, 8)>>>(x, y, pixels); });
  return c.end();
}
