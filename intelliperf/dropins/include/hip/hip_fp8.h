// HIP's 8-bit floats: OCP's and the fnuz forms of CDNA3.
#pragma once
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <simt/fp8.h>

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
typedef enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE } __hip_saturation_t;
typedef enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ } __hip_fp8_interpretation_t;

SIMT_FP8_TYPE(__hip_fp8_e4m3, e4m3)
SIMT_FP8_TYPE(__hip_fp8_e5m2, e5m2)
SIMT_FP8_TYPE(__hip_fp8_e4m3_fnuz, e4m3_fnuz)
SIMT_FP8_TYPE(__hip_fp8_e5m2_fnuz, e5m2_fnuz)
SIMT_FP8_VECTORS(__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3, __hip_fp8x2_storage_t, __hip_fp8x4_storage_t)
SIMT_FP8_VECTORS(__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2, __hip_fp8x2_storage_t, __hip_fp8x4_storage_t)
SIMT_FP8_VECTORS(__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz, __hip_fp8x2_storage_t, __hip_fp8x4_storage_t)
SIMT_FP8_VECTORS(__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz, __hip_fp8x2_storage_t, __hip_fp8x4_storage_t)

SIMT_HD __hip_fp8_storage_t __hip_cvt_float_to_fp8(float v, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
  const bool finite = saturate == __HIP_SATFINITE;
  if (kind == __HIP_E4M3) return __simt::float_to_fp8<__simt::e4m3>(v, finite);
  if (kind == __HIP_E5M2) return __simt::float_to_fp8<__simt::e5m2>(v, finite);
  if (kind == __HIP_E4M3_FNUZ) return __simt::float_to_fp8<__simt::e4m3_fnuz>(v, finite);
  return __simt::float_to_fp8<__simt::e5m2_fnuz>(v, finite);
}
