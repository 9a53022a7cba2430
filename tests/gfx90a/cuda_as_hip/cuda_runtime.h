// CUDA's names for HIP's functions, so that the CUDA examples run here too: what the examples use, no more.
#pragma once
#include <hip/hip_runtime.h>

#define cudaDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount
#define cudaDeviceGetAttribute hipDeviceGetAttribute
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaError_t hipError_t
#define cudaFree hipFree
#define cudaGetDevice hipGetDevice
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaMalloc hipMalloc
#define cudaMemcpy hipMemcpy
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemset hipMemset
#define cudaPeekAtLastError hipPeekAtLastError
#define cudaSuccess hipSuccess

template <class T>
__device__ T __shfl_down_sync(unsigned, T value, unsigned distance, int width = warpSize) {
  return __shfl_down(value, distance, width);
}
template <class T>
__device__ T __shfl_xor_sync(unsigned, T value, int mask, int width = warpSize) {
  return __shfl_xor(value, mask, width);
}
