// Brightness of pixels of three bytes: a thread per pixel, per four pixels, and by way of LDS.
#include "corpus.h"
typedef unsigned char byte;
__host__ __device__ inline byte grey(int r, int g, int b) { return byte((77 * r + 151 * g + 28 * b) >> 8); }
__global__ void by_bytes(const byte* x, byte* y, int n) {
  int i = INDEX;
  y[i] = grey(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}
__global__ void by_rows(const byte* x, byte* y, int n) {  // eight neighbouring pixels per thread
  for (int i = INDEX * 8; i < int(INDEX + 1) * 8; ++i) y[i] = grey(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}
__global__ void by_words(const unsigned* x, unsigned* y, int n) {
  int i = INDEX;
  const unsigned w[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
  unsigned result = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int part[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) part[c] = w[(3 * k + c) / 4] >> ((3 * k + c) % 4 * 8) & 255;
    result |= unsigned(grey(part[0], part[1], part[2])) << (8 * k);
  }
  y[i] = result;
}
__global__ void by_lds(const unsigned* x, byte* y, int n) {
  __shared__ unsigned words[192];
  if (threadIdx.x < 192) words[threadIdx.x] = x[blockIdx.x * 192 + threadIdx.x];
  __syncthreads();
  const byte* own = reinterpret_cast<const byte*>(words) + 3 * threadIdx.x;
  y[INDEX] = grey(own[0], own[1], own[2]);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 20);
  const auto values = made<byte>(size_t(n) * 3, [](size_t i) { return noise(unsigned(i)) >> 8; });
  const byte* x = c.input(values);
  byte* y = c.output(made<byte>(n, [&](size_t i) { return grey(values[3 * i], values[3 * i + 1], values[3 * i + 2]); }));
  c.variant("by_bytes", [&] { by_bytes<<<n / 256, 256>>>(x, y, n); });
  c.variant("by_rows", [&] { by_rows<<<n / 8 / 128, 128>>>(x, y, n); });
  c.variant("by_words", [&] { by_words<<<n / 4 / 128, 128>>>((const unsigned*)x, (unsigned*)y, n); });
  c.variant("by_lds", [&] { by_lds<<<n / 256, 256>>>((const unsigned*)x, y, n); });
  return c.end();
}
