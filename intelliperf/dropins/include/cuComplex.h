// CUDA's complex numbers: cuFloatComplex is float2, cuDoubleComplex is double2.
#pragma once
#include "cuda_runtime.h"
#define SIMT_COMPLEX_PREFIX cu
#include <simt/complex.h>
#undef SIMT_COMPLEX_PREFIX
