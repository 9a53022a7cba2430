// Where an algorithm runs: thrust::host, thrust::device, or a stream; and how to run a function for 0 … n-1 there.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/errors.h>
#include <thrust/version.h>

// Thrust's own headers bring these along, and programs rely on it.
#include <cassert>
#include <iostream>

#include <memory>
#include <new>
#include <type_traits>

namespace thrust {
struct host_system {};
struct device_system {};
struct any_system {};
using host_system_tag = host_system;
using device_system_tag = device_system;

namespace detail {
struct policy_base {};
template <class System, class Allocator, bool is_resource = false>
struct allocating_policy;
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
  allocating_policy<System, Allocator> operator()(Allocator& allocator) const {
    return allocating_policy<System, Allocator>{*this, &allocator};
  }
  template <class Resource>
  auto operator()(Resource* resource) const {
    return allocating_policy<System, Resource, true>{*this, resource};
  }
  template <class... Dependencies>
  policy after(const Dependencies&...) const { return *this; }  // all work is done when a call returns
};
// Temporary memory comes from the program's allocator, in units of what it allocates, or from its memory resource.
template <class System, class Allocator, bool is_resource>
struct allocating_policy : policy<System> {
  Allocator* allocator;
  allocating_policy(const policy<System>& where, Allocator* from) : policy<System>(where), allocator(from) {}
  allocating_policy on(SIMT_GPU(Stream_t) s) const { return allocating_policy(policy<System>::on(s), allocator); }
  void* allocate(size_t bytes) const {
    if constexpr (is_resource) return pointer_to(allocator->allocate(bytes, alignof(std::max_align_t)));
    else return pointer_to(allocator->allocate(units_of(bytes)));
  }
  void deallocate(void* memory, size_t bytes) const {
    if constexpr (is_resource) {
      allocator->deallocate(typename Allocator::pointer(memory), bytes, alignof(std::max_align_t));
    } else {
      using pointer = typename std::allocator_traits<Allocator>::pointer;
      allocator->deallocate(pointer(static_cast<typename Allocator::value_type*>(memory)), units_of(bytes));
    }
  }

 private:
  template <class Pointer>
  static void* pointer_to(const Pointer& memory) {
    if constexpr (std::is_pointer_v<Pointer>) return memory; else return memory.get();
  }
  static size_t units_of(size_t bytes) {
    constexpr size_t unit = sizeof(typename Allocator::value_type);
    return (bytes + unit - 1) / unit;
  }
};
template <class _P, class = void>
inline constexpr bool has_allocator = false;
template <class _P>
inline constexpr bool has_allocator<_P, std::void_t<decltype(std::declval<const _P&>().allocator)>> = true;
template <class _P>
inline constexpr bool is_policy = std::is_base_of<policy_base, std::decay_t<_P>>::value;

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define SIMT_INSIDE_KERNELS 1  // each thread runs an algorithm by itself, whatever the policy
#else
#define SIMT_INSIDE_KERNELS 0
#endif
#if defined(__SIMT_CUDA__) || defined(__HIP__)
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
#else
template <class _F>
void for_each_index(const policy<device_system>&, long, _F) {
  static_assert(sizeof(_F) == 0, "intelliperf: algorithms on device memory need a file that nvcc or hipcc compiles as GPU code");
}
#endif
template <class _F>
void for_each_index(const policy<host_system>&, long n, _F f) {
  for (long i = 0; i < n; ++i) f(i);
}
#if defined(__SIMT_CUDA__) || defined(__HIP__)
template <class System, class _F>
SIMT_DT void for_each_index(const policy<System>&, long n, _F f) {
  // Algorithms for both sides are compiled with this overload for the device: the host's needs the kernel there.
  if constexpr (std::is_same<System, device_system>::value) (void)static_cast<void (*)(long, _F)>(for_each_index_kernel<_F>);
  for (long i = 0; i < n; ++i) f(i);
}
#endif

// Uninitialised memory of the policy's system, for trivially destructible values.
template <class _T, class Policy>
class scratch {
 public:
  SIMT_HDT scratch(const Policy& where, long n) : where_(where), n_(n) {
#if SIMT_INSIDE_KERNELS
    data_ = static_cast<_T*>(__simt::allocate(bytes(n)));
#else
    if constexpr (has_allocator<Policy>) {
      data_ = static_cast<_T*>(where.allocate(bytes(n)));
    } else if constexpr (on_device) {
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
    if constexpr (has_allocator<Policy>) {
      where_.deallocate(data_, bytes(n_));
    } else if constexpr (on_device) {
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
  Policy where_;
  long n_;
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
namespace detail {}
static constexpr device_policy par{};
static constexpr device_policy par_nosync{};
using tag = device_system;
}  // namespace gpu
namespace cpu {
static constexpr host_policy par{};
using tag = host_system;
}  // namespace cpu
namespace cuda = gpu;
namespace hip = gpu;
namespace cpp = cpu;
namespace omp = cpu;
namespace tbb = cpu;
}  // namespace system
namespace cuda = system::gpu;
namespace cuda_cub = system::gpu;
namespace hip = system::gpu;
namespace hip_rocprim = system::gpu;
namespace omp = system::cpu;
namespace cpp = system::cpu;
namespace tbb = system::cpu;
}  // namespace thrust
