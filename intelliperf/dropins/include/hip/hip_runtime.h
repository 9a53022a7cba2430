// HIP for programs: the host API and, in a file that is compiled as HIP, the device language.
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H

#if defined(__cplusplus)  // what HIP's own header brings along, too: programs have come to rely on it
#include <assert.h>
#include <limits.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iosfwd>
#include <limits>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#else
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#endif
#include <hip/hip_runtime_api.h>

#if defined(__HIP__) || defined(__CUDACC__)  // as CUDA: HIP on its NVIDIA platform
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define hipLaunchKernelGGLInternal(kernel, blocks, threads, shared_bytes, stream, ...)      \
  do {                                                                                      \
    kernel<<<(blocks), (threads), (shared_bytes), (stream)>>>(__VA_ARGS__);                 \
  } while (0)
#define hipLaunchKernelGGL(kernel, ...) hipLaunchKernelGGLInternal((kernel), __VA_ARGS__)

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#endif

#endif
