// Bias and rectifier over bf16 activations; each thread takes a run of neighbouring elements.
//// both
#include <cuda_bf16.h>

#include "cuda_support.h"
constexpr int kRows = 8448, kWidth = 1024, kCount = kRows * kWidth, kRun = 32;
//// planted
__global__ void bias_relu(__nv_bfloat16* x, const __nv_bfloat16* bias, int count, int width) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * kRun;
  for (int k = 0; k < kRun; ++k) {
    int i = first + k;
    if (i < count) {
      float value = __bfloat162float(x[i]) + __bfloat162float(bias[i % width]);
      x[i] = __float2bfloat16(value > 0 ? value : 0);
    }
  }
}
void launch(__nv_bfloat16* x, const __nv_bfloat16* bias) {
  bias_relu<<<(kCount / kRun + 255) / 256, 256>>>(x, bias, kCount, kWidth);
}
//// expert
__global__ void bias_relu(__nv_bfloat162* x, const __nv_bfloat162* bias, int pairs, int width) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
    float2 value = __bfloat1622float2(x[i]), add = __bfloat1622float2(bias[i % width]);
    x[i] = __floats2bfloat162_rn(fmaxf(value.x + add.x, 0), fmaxf(value.y + add.y, 0));
  }
}
void launch(__nv_bfloat16* x, const __nv_bfloat16* bias) {
  bias_relu<<<2112, 256>>>((__nv_bfloat162*)x, (const __nv_bfloat162*)bias, kCount / 2, kWidth / 2);
}
//// both
int main() {
  std::vector<__nv_bfloat16> x(kCount), bias(kWidth);
  for (int i = 0; i < kCount; ++i) x[i] = __float2bfloat16(noise(i) * 4 - 2);
  for (int i = 0; i < kWidth; ++i) bias[i] = __float2bfloat16(noise(i + 99) - 0.5f);
  __nv_bfloat16* device = upload(x);
  launch(device, upload(bias));
  const auto found = download(device, kCount);
  bool right = true;
  for (int i = 0; i < kCount; i += 101) {
    const float value = __bfloat162float(x[i]) + __bfloat162float(bias[i % kWidth]);
    right &= near(__bfloat162float(found[i]), value > 0 ? value : 0, 1e-2);
  }
  return told(right);
}
