// HIP half precision.
#pragma once
#include <hip/hip_runtime.h>
#if defined(__SIMT_CUDA__) || defined(__HIP__)
#include <simt/half.h>
#else
#include <simt/host_half.h>
#endif
