// HIP bfloat16.
#pragma once
#include <hip/hip_runtime.h>
#if defined(__SIMT_CUDA__) || defined(__HIP__)
#include <simt/bfloat16.h>
#else
#include <simt/host_bfloat16.h>
#endif
