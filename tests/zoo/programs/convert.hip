// Floats to bytes, saturated; what is not a number becomes 0. ./app [count] [kind]
#include "zoo.h"

__global__ void to_bytes(const float* in, unsigned char* out, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = in[i] * scale;
  if (v != v) out[i] = 0;
  else if (v <= 0.0f) out[i] = 0;
  else if (v >= 255.0f) out[i] = 255;
  else out[i] = (unsigned char)(v + 0.5f);
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 10001);
  const char* kind = zoo::word(argc, argv, 2, "signed");
  const std::vector<float> in = zoo::floats(n, kind);
  unsigned char* out = zoo::device<unsigned char>(n);
  to_bytes<<<(n + 255) / 256, 256>>>(zoo::device(in), out, n, 400.0f);
  std::vector<unsigned char> expected(n);
  for (int i = 0; i < n; ++i) {
    const float v = in[i] * 400.0f;
    expected[i] = v >= 255.0f ? 255 : v > 0.0f ? (unsigned char)(v + 0.5f) : 0;
  }
  zoo::same("bytes", zoo::host(out, n), expected);
  return zoo::failed;
}
