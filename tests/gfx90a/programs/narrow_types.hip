// 16-bit floats of both kinds, pairs of halves, bytes, shorts, and vectors of four.
#include <hip/hip_fp16.h>

#include "check.h"

constexpr int kCount = 512;

__host__ __device__ inline uint16_t to_bf16(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
__host__ __device__ inline float from_bf16(uint16_t half) {
  const uint32_t bits = uint32_t(half) << 16;
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

__global__ void halves(const _Float16* a, const _Float16* b, _Float16* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const _Float16 x = a[i], y = b[i];
  out[i] = x + y;
  out[i + kCount] = x * y - x;
  out[i + 2 * kCount] = x < y ? x : y;
  out[i + 3 * kCount] = x / y;
  out[i + 4 * kCount] = __builtin_fmaf16(x, y, x);
}

__global__ void pairs(const __half2* a, const __half2* b, __half2* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __hadd2(__hmul2(a[i], b[i]), b[i]);
}

__global__ void brains(const uint16_t* a, const uint16_t* b, uint16_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = to_bf16(from_bf16(a[i]) * from_bf16(b[i]) + 0.5f);
}

__global__ void bytes(const int8_t* a, const uint8_t* b, const int16_t* c, int8_t* low, uint16_t* high, uchar4* four) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  low[i] = int8_t(a[i] + b[i]);
  high[i] = uint16_t(c[i] * a[i]);
  four[i] = make_uchar4(b[i], uint8_t(a[i]), uint8_t(c[i]), uint8_t(c[i] >> 8));
}

__global__ void fours(const float4* a, float4* out, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = a[i];
  out[i] = make_float4(v.w * factor, v.z + v.x, v.y, v.x - factor);
}

__global__ void conversions(const float* in, int* whole, unsigned* positive, double* wide, _Float16* narrow) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  whole[i] = int(in[i]);
  positive[i] = unsigned(fabsf(in[i]));
  wide[i] = double(in[i]) + double(whole[i]) + double(positive[i]);
  narrow[i] = _Float16(in[i]);
}

int main() {
  Buffer<_Float16> a(kCount), b(kCount), out(5 * kCount);
  Buffer<uint16_t> brain_a(kCount), brain_b(kCount), brain_out(kCount), high(kCount);
  Buffer<int8_t> signed_bytes(kCount), low(kCount);
  Buffer<uint8_t> plain_bytes(kCount);
  Buffer<int16_t> shorts(kCount);
  Buffer<uchar4> quads(kCount);
  Buffer<float4> four(kCount), four_out(kCount);
  Buffer<float> floats(kCount);
  Buffer<int> whole(kCount);
  Buffer<unsigned> positive(kCount);
  Buffer<double> wide(kCount);
  Buffer<_Float16> narrow(kCount);
  for (int i = 0; i < kCount; ++i) {
    a.host[i] = _Float16(0.37f * i - 60);
    b.host[i] = _Float16(11.5f - 0.11f * i);
    brain_a.host[i] = to_bf16(1.7f * i - 300);
    brain_b.host[i] = to_bf16(0.01f * i);
    signed_bytes.host[i] = int8_t(i * 7);
    plain_bytes.host[i] = uint8_t(i * 13);
    shorts.host[i] = int16_t(i * 331 - 20000);
    four.host[i] = make_float4(i, 2.0f * i, 0.5f * i, -i);
    floats.host[i] = (i - 256) * 1234.56f;
  }
  a.upload(), b.upload(), brain_a.upload(), brain_b.upload(), signed_bytes.upload(), plain_bytes.upload();
  shorts.upload(), four.upload(), floats.upload();
  halves<<<kCount / 64, 64>>>(a.device, b.device, out.device);
  out.download();
  for (int i = 0; i < kCount; ++i) {
    const float x = a.host[i], y = b.host[i];
    expect("half sum", i, float(out.host[i]), float(_Float16(x + y)));
    expect("half product", i, float(out.host[i + kCount]), float(_Float16(x * y - x)), 2e-3);
    expect("half minimum", i, float(out.host[i + 2 * kCount]), x < y ? x : y);
    expect("half quotient", i, float(out.host[i + 3 * kCount]), float(_Float16(x / y)), 1e-3);
    expect("half fma", i, float(out.host[i + 4 * kCount]), float(_Float16(double(x) * y + x)));
  }
  pairs<<<kCount / 128, 64>>>(reinterpret_cast<__half2*>(a.device), reinterpret_cast<__half2*>(b.device),
                              reinterpret_cast<__half2*>(out.device));
  out.download();
  for (int i = 0; i < kCount; ++i) {
    const float x = a.host[i], y = b.host[i];
    expect("pair", i, float(out.host[i]), float(_Float16(float(_Float16(x * y)) + y)), 2e-3);
  }
  brains<<<kCount / 64, 64>>>(brain_a.device, brain_b.device, brain_out.device);
  bytes<<<kCount / 64, 64>>>(signed_bytes.device, plain_bytes.device, shorts.device, low.device, high.device, quads.device);
  fours<<<kCount / 64, 64>>>(four.device, four_out.device, 1.5f);
  conversions<<<kCount / 64, 64>>>(floats.device, whole.device, positive.device, wide.device, narrow.device);
  brain_out.download(), low.download(), high.download(), quads.download(), four_out.download(), whole.download();
  positive.download(), wide.download(), narrow.download();
  for (int i = 0; i < kCount; ++i) {
    const uint16_t sum = to_bf16(__builtin_fmaf(from_bf16(brain_a.host[i]), from_bf16(brain_b.host[i]), 0.5f));
    expect("bf16", i, brain_out.host[i], sum);
    expect("byte", i, low.host[i], int8_t(signed_bytes.host[i] + plain_bytes.host[i]));
    expect("short", i, high.host[i], uint16_t(shorts.host[i] * signed_bytes.host[i]));
    expect("uchar4", i, quads.host[i].w, uint8_t(shorts.host[i] >> 8));
    expect("uchar4", i, quads.host[i].x, plain_bytes.host[i]);
    expect("float4", i, four_out.host[i].x, -i * 1.5f);
    expect("float4", i, four_out.host[i].y, 1.5f * i);
    expect("float4", i, four_out.host[i].w, i - 1.5f);
    expect("int", i, whole.host[i], int(floats.host[i]));
    expect("unsigned", i, positive.host[i], unsigned(std::fabs(floats.host[i])));
    expect("double", i, wide.host[i], double(floats.host[i]) + whole.host[i] + positive.host[i]);
    expect("half", i, float(narrow.host[i]), float(_Float16(floats.host[i])));
  }
  return finish();
}
