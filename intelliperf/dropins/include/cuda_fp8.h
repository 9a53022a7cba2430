// CUDA's 8-bit floats, and what a toolkit's cuda_fp6.h and cuda_fp4.h take from this header.
#pragma once
#define __CUDA_FP8_H__  // by which programs know that it was included
#include "device_types.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include <simt/fp8.h>

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

SIMT_FP8_TYPE(__nv_fp8_e4m3, e4m3)
SIMT_FP8_TYPE(__nv_fp8_e5m2, e5m2)
SIMT_FP8_VECTORS(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __nv_fp8x2_storage_t, __nv_fp8x4_storage_t)
SIMT_FP8_VECTORS(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __nv_fp8x2_storage_t, __nv_fp8x4_storage_t)

SIMT_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  const bool finite = saturate == __NV_SATFINITE;
  return kind == __NV_E4M3 ? __simt::float_to_fp8<__simt::e4m3>(v, finite) : __simt::float_to_fp8<__simt::e5m2>(v, finite);
}
SIMT_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__simt::narrow_to_odd(v), saturate, kind);
}
SIMT_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__half(v)), saturate, kind);
}
SIMT_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_fp8(v.x, saturate, kind) |
                                           __nv_cvt_float_to_fp8(v.y, saturate, kind) << 8);
}
SIMT_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind) {
  const float wide = kind == __NV_E4M3 ? __simt::fp8_to_float<__simt::e4m3>(v) : __simt::fp8_to_float<__simt::e5m2>(v);
  return static_cast<__half_raw>(__half(wide));
}
SIMT_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t kind) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(v), kind).x,
                     __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(v >> 8), kind).x};
}
SIMT_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(float2{float(__half(__half_raw{v.x})), float(__half(__half_raw{v.y}))}, saturate, kind);
}
SIMT_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_fp8(v.x, saturate, kind) |
                                           __nv_cvt_double_to_fp8(v.y, saturate, kind) << 8);
}
SIMT_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(float(__nv_bfloat16(v)), saturate, kind);
}

SIMT_HD float __internal_halfraw_to_float(__half_raw v) { return float(__half(v)); }
SIMT_HD float2 __internal_halfraw2_to_float2(__half2_raw v) {
  return float2{float(__half(__half_raw{v.x})), float(__half(__half_raw{v.y}))};
}
SIMT_HD float __internal_bf16raw_to_float(__nv_bfloat16_raw v) { return float(__nv_bfloat16(v)); }
SIMT_HD unsigned int __internal_pack_u16x2_to_u32(unsigned short low, unsigned short high) {
  return low | static_cast<unsigned int>(high) << 16;
}
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
