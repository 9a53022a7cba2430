// CUDA half precision.
#pragma once
#define __CUDA_FP16_H__  // by which programs know that it was included
#include "cuda_runtime.h"
#if defined(__SIMT_CUDA__) || defined(__HIP__)
#include <simt/half.h>
#else
#include <simt/host_half.h>
#endif
