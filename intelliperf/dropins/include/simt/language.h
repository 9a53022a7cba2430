// Keywords, version macros and the shorthands that the other headers declare functions with.
// Template parameters have reserved names throughout (_T): programs define macros of one letter.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <stddef.h>
#include <stdint.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define __constant__ __attribute__((constant, annotate("simt.constant")))  // see emulator/ir/variables.py
#else
#define __constant__ __attribute__((constant))
#endif
#if defined(__HIP__)
#define __managed__ __attribute__((managed))
#else  // clang has the attribute for HIP only; the runtime keeps both copies of what this section holds equal
#define __managed__ __attribute__((device, section("simt_managed")))
#endif
#if defined(__AMDGCN__)  // whose compiler knows the bounds by other names; the second is waves per SIMD, as in HIP
#define SIMT_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define SIMT_BOUNDS_2(threads, waves) SIMT_BOUNDS_1(threads) __attribute__((amdgpu_waves_per_eu(waves)))
#define SIMT_BOUNDS_OF(_1, _2, name, ...) name
#define __launch_bounds__(...) SIMT_BOUNDS_OF(__VA_ARGS__, SIMT_BOUNDS_2, SIMT_BOUNDS_1, )(__VA_ARGS__)
#else
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
#define __cluster_dims__(...) static_assert(false, "intelliperf: thread block clusters are not supported")
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __thread__ __thread
#if !defined(__grid_constant__)
#define __grid_constant__
#endif
#define __device_builtin__
#define __cudart_builtin__
#define __host_defines_h__

// nodebug: once inlined, the code belongs to the line of the program that called it.
#define SIMT_HIDDEN __inline__ __attribute__((always_inline, nodebug))
#define SIMT_D static SIMT_HIDDEN __attribute__((device))
#define SIMT_HD static SIMT_HIDDEN __attribute__((host, device))
// For templates and members, where "static" would be wrong or mean something else.
#define SIMT_DT SIMT_HIDDEN __attribute__((device))
#define SIMT_HDT SIMT_HIDDEN __attribute__((host, device))

#if defined(__HIP__)
#define __HIPCC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#define __HIP_ROCclr__ 1
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 41133
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)
#if defined(__CUDA_ARCH__)
#undef __CUDA_ARCH__
#endif
#if defined(__HIP_DEVICE_COMPILE__)
#if !defined(__AMDGCN_WAVEFRONT_SIZE)
#define __AMDGCN_WAVEFRONT_SIZE SIMT_WAVE_SIZE
#endif
#if !defined(__AMDGCN_WAVEFRONT_SIZE__)
#define __AMDGCN_WAVEFRONT_SIZE__ SIMT_WAVE_SIZE
#endif
#endif
#define __HIP_ARCH_HAS_GLOBAL_INT32_ATOMICS__ 1
#define __HIP_ARCH_HAS_GLOBAL_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_SHARED_INT32_ATOMICS__ 1
#define __HIP_ARCH_HAS_SHARED_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_FLOAT_ATOMIC_ADD__ 1
#define __HIP_ARCH_HAS_GLOBAL_INT64_ATOMICS__ 1
#define __HIP_ARCH_HAS_SHARED_INT64_ATOMICS__ 1
#define __HIP_ARCH_HAS_DOUBLES__ 1
#define __HIP_ARCH_HAS_WARP_VOTE__ 1
#define __HIP_ARCH_HAS_WARP_BALLOT__ 1
#define __HIP_ARCH_HAS_WARP_SHUFFLE__ 1
#define __HIP_ARCH_HAS_WARP_FUNNEL_SHIFT__ 0
#define __HIP_ARCH_HAS_THREAD_FENCE_SYSTEM__ 1
#define __HIP_ARCH_HAS_SYNC_THREAD_EXT__ 0
#define __HIP_ARCH_HAS_SURFACE_FUNCS__ 0
#define __HIP_ARCH_HAS_3DGRID__ 1
#define __HIP_ARCH_HAS_DYNAMIC_PARALLEL__ 0
#else
#if !defined(__CUDACC__)
#define __CUDACC__ 1
#endif
#if !defined(__NVCC__)
#define __NVCC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 131
#define __CUDACC_EXTENDED_LAMBDA__ 1
// nvcc's questions about closures of its own making; clang's lambdas with attributes are ordinary ones.
#define __nv_is_extended_device_lambda_closure_type(_T) false
#define __nv_is_extended_host_device_lambda_closure_type(_T) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(_T) false
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDA_API_VERSION 12040
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040
#endif

// Lane masks: HIP's are 64 bits wide whatever the wave size, CUDA's 32.
namespace __simt {
#if defined(__HIP__)
using lane_mask = unsigned long long;
#else
using lane_mask = unsigned int;
#endif
template <bool _B, class _T = void>
struct enable_if {};
template <class _T>
struct enable_if<true, _T> {
  using type = _T;
};
template <bool _B, class _T = void>
using enable_if_t = typename enable_if<_B, _T>::type;
template <class _T>
struct type_identity {
  using type = _T;
};
template <class _T>
using same_as_t = typename type_identity<_T>::type;  // keeps a parameter out of template argument deduction
template <class _A, class _B>
inline constexpr bool is_same = __is_same(_A, _B);
}  // namespace __simt
