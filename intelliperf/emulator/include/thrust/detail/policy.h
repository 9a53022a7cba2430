// Where an algorithm runs: thrust::host, thrust::device, or a stream; and how to run a function for 0 … n-1 there.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <simt/gpu_host.h>
#include <thrust/version.h>

// Thrust's own headers bring these along, and programs rely on it.
#include <cassert>
#include <iostream>

#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace thrust {
struct host_system {};
struct device_system {};
struct any_system {};
using host_system_tag = host_system;
using device_system_tag = device_system;

class system_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {
struct policy_base {};
template <class System>
struct policy : policy_base {
  using system = System;
  SIMT_GPU(Stream_t) stream = nullptr;
  SIMT_HDT policy on(SIMT_GPU(Stream_t) s) const {
    policy out = *this;
    out.stream = s;
    return out;
  }
  template <class Allocator>
  policy operator()(Allocator&) const { return *this; }
};
template <class _P>
inline constexpr bool is_policy = std::is_base_of<policy_base, std::decay_t<_P>>::value;

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define SIMT_INSIDE_KERNELS 1  // each thread runs an algorithm by itself, whatever the policy
#else
#define SIMT_INSIDE_KERNELS 0
#endif
inline void check(SIMT_GPU(Error_t) status, const char* what) {
  if (status != SIMT_GPU(Success)) throw system_error(std::string("thrust: ") + what + ": " + SIMT_GPU(GetErrorString)(status));
}

template <class _F>
__global__ void for_each_index_kernel(long n, _F f) {
  const long step = static_cast<long>(blockDim.x) * gridDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}
template <class _F>
void for_each_index(const policy<device_system>& where, long n, _F f) {
  if (n <= 0) return;
  constexpr long threads = 256;
  const long blocks = (n + threads - 1) / threads;
  for_each_index_kernel<<<static_cast<unsigned int>(blocks < 65535 ? blocks : 65535),
                          static_cast<unsigned int>(n < threads ? n : threads), 0, where.stream>>>(n, f);
  check(SIMT_GPU(GetLastError)(), "launch");
  check(SIMT_GPU(StreamSynchronize)(where.stream), "kernel");
}
template <class _F>
void for_each_index(const policy<host_system>&, long n, _F f) {
  for (long i = 0; i < n; ++i) f(i);
}
template <class System, class _F>
SIMT_DT void for_each_index(const policy<System>&, long n, _F f) {
  // Algorithms for both sides are compiled with this overload for the device: the host's needs the kernel there.
  if constexpr (std::is_same<System, device_system>::value) (void)static_cast<void (*)(long, _F)>(for_each_index_kernel<_F>);
  for (long i = 0; i < n; ++i) f(i);
}

// Uninitialised memory of the policy's system, for trivially destructible values.
template <class _T, class Policy>
class scratch {
 public:
  SIMT_HDT scratch(const Policy&, long n) {
#if SIMT_INSIDE_KERNELS
    data_ = static_cast<_T*>(__simt::allocate(bytes(n)));
#else
    if constexpr (on_device) {
      check(SIMT_GPU(Malloc)(reinterpret_cast<void**>(&data_), bytes(n)), "temporary memory");
    } else {
      data_ = static_cast<_T*>(::operator new(bytes(n)));
    }
#endif
  }
  scratch(const scratch&) = delete;
  SIMT_HDT ~scratch() {
#if SIMT_INSIDE_KERNELS
    __simt::release(data_);
#else
    if constexpr (on_device) {
      (void)SIMT_GPU(Free)(data_);
    } else {
      ::operator delete(data_);
    }
#endif
  }
  SIMT_HDT _T* data() const { return data_; }
  SIMT_HDT _T read(long i) const {
#if SIMT_INSIDE_KERNELS
    return data_[i];
#else
    alignas(_T) unsigned char kept[sizeof(_T)];
    if constexpr (on_device) {
      check(SIMT_GPU(Memcpy)(kept, data_ + i, sizeof(_T), SIMT_GPU(MemcpyDeviceToHost)), "copy");
    } else {
      __builtin_memcpy(kept, data_ + i, sizeof(_T));
    }
    return *std::launder(reinterpret_cast<_T*>(kept));
#endif
  }

 private:
  static constexpr bool on_device = std::is_same<typename Policy::system, device_system>::value;
  SIMT_HDT static size_t bytes(long n) { return sizeof(_T) * static_cast<size_t>(n > 0 ? n : 1); }
  _T* data_ = nullptr;
};
// An element of device memory, or of an iterator that computes it there.
template <class _T, class It>
SIMT_HDT _T read_element(const policy<device_system>& where, It at) {
  scratch<_T, policy<device_system>> kept(where, 1);
  _T* to = kept.data();
  for_each_index(where, 1, [=] __host__ __device__(long) mutable { new (to) _T(*at); });
  return kept.read(0);
}
}  // namespace detail

using host_policy = detail::policy<host_system>;
using device_policy = detail::policy<device_system>;
static constexpr host_policy host{};
static constexpr device_policy device{};
static constexpr host_policy seq{};
template <class _P>
using execution_policy = detail::policy<_P>;

namespace system {
namespace gpu {
static constexpr device_policy par{};
static constexpr device_policy par_nosync{};
using tag = device_system;
}  // namespace gpu
namespace cpu {
static constexpr host_policy par{};
}
}  // namespace system
namespace cuda = system::gpu;
namespace cuda_cub = system::gpu;
namespace hip = system::gpu;
namespace hip_rocprim = system::gpu;
namespace omp = system::cpu;
namespace cpp = system::cpu;
}  // namespace thrust
