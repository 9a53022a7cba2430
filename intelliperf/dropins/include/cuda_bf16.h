// CUDA bfloat16.
#pragma once
#define __CUDA_BF16_H__  // by which programs know that it was included
#include "cuda_runtime.h"
#if defined(__SIMT_CUDA__) || defined(__HIP__)
#include <simt/bfloat16.h>
#else
#include <simt/host_bfloat16.h>
#endif
