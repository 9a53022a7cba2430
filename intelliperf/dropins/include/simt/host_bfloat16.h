// bfloat16 for a host compiler without device code, under the name of the including header's vendor.
#pragma once
#include <simt/host_formats.h>

#if defined(__cplusplus)
#if defined(__HIP_PLATFORM_AMD__)
SIMT_SMALL(__hip_bfloat16, __hip_bfloat162, bfloat16, BfloatFormat)
#else
SIMT_SMALL(__nv_bfloat16, __nv_bfloat162, bfloat16, BfloatFormat)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
#else
typedef struct {
  unsigned short x;
} __nv_bfloat16;
typedef struct {
  unsigned short x, y;
} __nv_bfloat162;
#endif
