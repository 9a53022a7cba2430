// The part of HIP that this program uses, on CUDA: HIP's own NVIDIA platform maps the names in the same way.
#pragma once

#include <cuda_runtime.h>

#define hipError_t cudaError_t
#define hipFree cudaFree
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipSuccess cudaSuccess
