// Three interleaved bytes per pixel.
#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void toGray(const uint8_t* rgb, uint8_t* gray, int pixels) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < pixels) {
    uint8_t r = rgb[3 * p];
    uint8_t g = rgb[3 * p + 1];
    uint8_t b = rgb[3 * p + 2];
    gray[p] = (uint8_t)((77 * r + 150 * g + 29 * b) >> 8);
  }
}

int main() {
  const int width = 2000, height = 1500, pixels = width * height;
  std::vector<uint8_t> in(3 * pixels), out(pixels);
  for (int i = 0; i < 3 * pixels; ++i) in[i] = i * 5 % 251;
  uint8_t *a, *b;
  cudaMalloc(&a, 3 * pixels);
  cudaMalloc(&b, pixels);
  cudaMemcpy(a, in.data(), 3 * pixels, cudaMemcpyHostToDevice);
  toGray<<<(pixels + 255) / 256, 256>>>(a, b, pixels);
  cudaMemcpy(out.data(), b, pixels, cudaMemcpyDeviceToHost);
  long s = 0;
  for (auto v : out) s += v;
  printf("%ld\n", s);
}
