// Interleaved pixels to brightness, three strided byte loads per thread.
#include <cstdio>
#include <vector>
typedef unsigned char byte;

__global__ void brightness(const byte* rgb, byte* gray, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    int p = y * width + x;
    byte r = rgb[3 * p], g = rgb[3 * p + 1], b = rgb[3 * p + 2];
    gray[p] = (byte)((r * 77 + g * 150 + b * 29) >> 8);
  }
}

int main() {
  int w = 1920, h = 1080;
  std::vector<byte> in(w * h * 3), out(w * h);
  for (size_t i = 0; i < in.size(); i++) in[i] = (byte)(i * 31 + (i >> 7));
  byte *a, *b;
  cudaMalloc(&a, in.size()); cudaMalloc(&b, out.size());
  cudaMemcpy(a, in.data(), in.size(), cudaMemcpyHostToDevice);
  dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
  brightness<<<grid, block>>>(a, b, w, h);
  cudaMemcpy(out.data(), b, out.size(), cudaMemcpyDeviceToHost);
  long sum = 0;
  for (byte v : out) sum += v;
  printf("%ld\n", sum);
}
