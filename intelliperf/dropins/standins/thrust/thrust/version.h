// The version of thrust whose interface this is, and what its configuration header tells programs.
#pragma once
#define THRUST_VERSION 200400
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 4
#define THRUST_SUBMINOR_VERSION 0
#define THRUST_PATCH_NUMBER 0
#define THRUST_UNUSED_VAR(expression) do { (void)(expression); } while (0)
#define THRUST_CPP_DIALECT (__cplusplus >= 202002L ? 2020 : __cplusplus >= 201703L ? 2017 : 2014)
#define THRUST_NS_QUALIFIER ::thrust
#define THRUST_NAMESPACE_BEGIN namespace thrust {
#define THRUST_NAMESPACE_END }
#define THRUST_HOST __host__
#define THRUST_DEVICE __device__
#define THRUST_HOST_DEVICE __host__ __device__
#define THRUST_FORCEINLINE __forceinline__
#define THRUST_NODISCARD [[nodiscard]]
#define THRUST_CONSTEXPR constexpr
#define THRUST_INLINE_CONSTANT inline constexpr
#define THRUST_DEVICE_SYSTEM_CUDA 1
#define THRUST_DEVICE_SYSTEM_OMP 2
#define THRUST_DEVICE_SYSTEM_TBB 3
#define THRUST_DEVICE_SYSTEM_CPP 4
#define THRUST_DEVICE_SYSTEM_HIP 5
#define THRUST_HOST_SYSTEM_CPP 1
#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP
#ifndef THRUST_DEVICE_SYSTEM
#if defined(__HIP__)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_HIP
#else
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CUDA
#endif
#endif
