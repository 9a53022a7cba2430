// HIP's complex numbers: hipFloatComplex is float2, hipDoubleComplex is double2.
#pragma once
#include <hip/hip_runtime.h>
#define SIMT_COMPLEX_PREFIX hip
#include <simt/complex.h>
#undef SIMT_COMPLEX_PREFIX
