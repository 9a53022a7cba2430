// 8-bit floats against their definition: every code, and rounding at the midpoints between neighbours.
#include <cuda_fp8.h>

#include "check.h"

template <class _T>
__global__ void widen(float* out) {
  _T value;
  value.__x = static_cast<unsigned char>(threadIdx.x);
  out[threadIdx.x] = static_cast<float>(value);
}
template <class _T>
__global__ void narrow(const float* in, unsigned char* out) {
  out[threadIdx.x] = _T(in[threadIdx.x]).__x;
}

static double meaning(int code, int mantissa, int bias) {
  const int exponent = (code & 127) >> mantissa, fraction = code & ((1 << mantissa) - 1);
  const double sign = code & 128 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
  return sign * std::ldexp((1 << mantissa) + fraction, exponent - bias - mantissa);
}

template <class _T>
static void check(const char* name, int mantissa, int bias, int largest) {
  float wide[256], *values;
  unsigned char narrowed[256], *codes;
  cudaMalloc(&values, sizeof wide);
  cudaMalloc(&codes, sizeof narrowed);
  widen<_T><<<1, 256>>>(values);
  cudaMemcpy(wide, values, sizeof wide, cudaMemcpyDeviceToHost);
  for (int code = 0; code < 256; ++code)
    if ((code & 127) <= largest) expect_close(wide[code], meaning(code, mantissa, bias), 0, name);
  expect(std::isnan(wide[0x7f]), name);
  narrow<_T><<<1, 256>>>(values, codes);
  cudaMemcpy(narrowed, codes, sizeof narrowed, cudaMemcpyDeviceToHost);
  for (int code = 0; code < 256; ++code)
    if ((code & 127) <= largest) expect(narrowed[code] == code, name);
  for (int code = 0; code < 256; ++code)
    wide[code] = static_cast<float>((code & 127) < largest ? (meaning(code, mantissa, bias) + meaning(code + 1, mantissa, bias)) / 2 : 1e9);
  cudaMemcpy(values, wide, sizeof wide, cudaMemcpyHostToDevice);
  narrow<_T><<<1, 256>>>(values, codes);
  cudaMemcpy(narrowed, codes, sizeof narrowed, cudaMemcpyDeviceToHost);
  for (int code = 0; code < 256; ++code)
    expect(narrowed[code] == ((code & 127) < largest ? code + (code & 1) : largest), name);
}

int main() {
  check<__nv_fp8_e4m3>("e4m3", 3, 7, 0x7e);
  check<__nv_fp8_e5m2>("e5m2", 2, 15, 0x7b);
  const float4 four = static_cast<float4>(__nv_fp8x4_e4m3(float4{1, -2, 0.5f, 448}));
  expect(four.x == 1 && four.y == -2 && four.z == 0.5f && four.w == 448, "four in a word");
  expect(__nv_cvt_float_to_fp8(1e6f, __NV_NOSAT, __NV_E5M2) == 0x7c, "infinity");
  const __nv_fp8x2_e4m3 both(__floats2half2_rn(1.5f, -2.0f));
  expect(static_cast<float2>(both).y == -2 && __high2float(static_cast<__half2>(both)) == -2, "a pair of halves");
  return verdict();
}
