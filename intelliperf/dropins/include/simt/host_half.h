// __half and __half2 for a host compiler without device code.
#pragma once
#include <simt/host_formats.h>

#if defined(__cplusplus)
SIMT_SMALL(__half, __half2, half, HalfFormat)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#else
typedef struct {
  unsigned short x;
} __half;
typedef struct {
  unsigned short x, y;
} __half2;
typedef __half __half_raw;
typedef __half2 __half2_raw;
#endif
