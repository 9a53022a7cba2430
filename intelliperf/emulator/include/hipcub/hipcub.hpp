// hipCUB: the same classes as CUB under its namespace.
#pragma once
#include <cub/cub.cuh>
namespace hipcub {
using namespace cub;
}
#define HIPCUB_VERSION 300200
#define HIPCUB_VERSION_MAJOR 3
#define HIPCUB_VERSION_MINOR 2
#define HIPCUB_VERSION_PATCH 0
#define HIPCUB_ROCPRIM_API 1
#define HIPCUB_HOST __host__
#define HIPCUB_DEVICE __device__
#define HIPCUB_HOST_DEVICE __host__ __device__
#define HIPCUB_RUNTIME_FUNCTION __host__
#define HIPCUB_FORCEINLINE __attribute__((always_inline))
#define HIPCUB_SHARED_MEMORY __shared__
#define HIPCUB_IF_CONSTEXPR constexpr
#define HIPCUB_WARP_THREADS (static_cast<unsigned int>(SIMT_WAVE_SIZE))
#define HIPCUB_DEVICE_WARP_THREADS HIPCUB_WARP_THREADS
#define HIPCUB_HOST_WARP_THREADS HIPCUB_WARP_THREADS
#define HIPCUB_ARCH 1
