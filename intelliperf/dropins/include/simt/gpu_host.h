// The host API under a neutral name, for library headers that serve HIP and CUDA: SIMT_GPU(Malloc).
#pragma once
#if defined(__HIP__)
#include <hip/hip_runtime.h>
#define SIMT_GPU(name) hip##name
#else
#include "../cuda_runtime.h"
#define SIMT_GPU(name) cuda##name
#endif
