// For HIP and CUDA.
#pragma once
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#else
#include <cuda_runtime.h>
#define hipMalloc cudaMalloc
#define hipSuccess cudaSuccess
#define hipDeviceSynchronize cudaDeviceSynchronize
#endif

// Of another translation unit.
__device__ int reverse_in_block(int value, int count);
