// hipCUB: CUB's classes under another name, and some of its own.
#pragma once
#include <cub/cub.cuh>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>

#define HipcubDebug(e) CubDebug(e)
#define HipcubDebugExit(e) CubDebugExit(e)

namespace cub {
using thrust::get;
using thrust::make_tuple;
using thrust::tie;
using thrust::tuple;
struct Division {
  template <class _A, class _B>
  SIMT_HDT constexpr auto operator()(const _A& a, const _B& b) const {
    return a / b;
  }
};
template <int lanes, class _T>
SIMT_DT _T ShuffleIndex(_T value, int source_lane, unsigned int) {
  return __shfl(value, source_lane, lanes);
}
template <int lanes, class _T>
SIMT_DT _T ShuffleUp(_T value, int offset, int first_thread, unsigned int) {
  const _T moved = __shfl_up(value, static_cast<unsigned int>(offset), lanes);
  return static_cast<int>(__simt::lane()) % lanes - offset < first_thread ? value : moved;
}
template <int lanes, class _T>
SIMT_DT _T ShuffleDown(_T value, int offset, int last_thread, unsigned int) {
  const _T moved = __shfl_down(value, static_cast<unsigned int>(offset), lanes);
  return static_cast<int>(__simt::lane()) % lanes + offset > last_thread ? value : moved;
}
// hipCUB also has them outside DeviceFor.
#define SIMT_FOR(name)                                                                \
  template <class... _A>                                                              \
  detail::status_t name(_A&&... arguments) {                                          \
    return DeviceFor::name(static_cast<_A&&>(arguments)...);                          \
  }
SIMT_FOR(ForEach)
SIMT_FOR(ForEachN)
SIMT_FOR(ForEachCopy)
SIMT_FOR(ForEachCopyN)
SIMT_FOR(Bulk)
#undef SIMT_FOR
}  // namespace cub
namespace hipcub = cub;  // so that programs can specialise what they find in it
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
#define HIPCUB_WARP_SIZE_32 32u
#define HIPCUB_WARP_SIZE_64 64u
#define HIPCUB_MAX_WARP_SIZE HIPCUB_WARP_SIZE_64
#define HIPCUB_WARP_THREADS (static_cast<unsigned int>(SIMT_WAVE_SIZE))
#define HIPCUB_DEVICE_WARP_THREADS HIPCUB_WARP_THREADS
#define HIPCUB_HOST_WARP_THREADS HIPCUB_WARP_THREADS
#define HIPCUB_ARCH 1
