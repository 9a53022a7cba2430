// Allocators of device, universal and pinned memory, and the functions to get and return memory of a system.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/iterators.h>

#include <memory>

namespace thrust {
namespace detail {
enum class memory_kind { device, universal, pinned };
template <memory_kind kind>
void* allocate_memory(size_t bytes) {
  void* raw = nullptr;
  if (bytes == 0) return raw;
  if constexpr (kind == memory_kind::device) check(SIMT_GPU(Malloc)(&raw, bytes), "allocation of device memory");
  else if constexpr (kind == memory_kind::universal) check(SIMT_GPU(MallocManaged)(&raw, bytes), "allocation of universal memory");
#if defined(__HIP__)
  else check(hipHostMalloc(&raw, bytes, 0), "allocation of pinned memory");
#else
  else check(cudaMallocHost(&raw, bytes), "allocation of pinned memory");
#endif
  return raw;
}
template <memory_kind kind>
void free_memory(void* raw) {
#if defined(__HIP__)
  if constexpr (kind == memory_kind::pinned) (void)hipHostFree(raw);
#else
  if constexpr (kind == memory_kind::pinned) (void)cudaFreeHost(raw);
#endif
  else (void)SIMT_GPU(Free)(raw);
}
template <class _T, class Pointer, memory_kind kind, template <class> class Self>
struct memory_allocator {
  using value_type = _T;
  using pointer = Pointer;
  using reference = _T&;
  using const_reference = const _T&;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  template <class _U>
  struct rebind {
    using other = Self<_U>;
  };
  pointer allocate(size_type n) { return pointer(static_cast<_T*>(allocate_memory<kind>(n * sizeof(_T)))); }
  void deallocate(pointer p, size_type) { free_memory<kind>(raw_pointer_cast(p)); }
  friend bool operator==(const Self<_T>&, const Self<_T>&) { return true; }
  friend bool operator!=(const Self<_T>&, const Self<_T>&) { return false; }
};
// What thrust calls a construct() of an allocator for, element by element and where the memory is.
template <class Allocator, class = void>
inline constexpr bool has_construct = false;
template <class Allocator>
inline constexpr bool has_construct<
    Allocator, std::void_t<decltype(std::declval<Allocator&>().construct(std::declval<typename Allocator::value_type*>()))>> = true;
}  // namespace detail

#define SIMT_ALLOCATOR(name, _Pointer, kind)                                                         \
  template <class _T>                                                                                \
  struct name : detail::memory_allocator<_T, _Pointer, detail::memory_kind::kind, name> {            \
    using const_pointer = typename std::pointer_traits<_Pointer>::template rebind<const _T>;         \
    name() = default;                                                                                \
    template <class _U>                                                                              \
    name(const name<_U>&) {}                                                                         \
  };
SIMT_ALLOCATOR(device_allocator, device_ptr<_T>, device)
SIMT_ALLOCATOR(device_malloc_allocator, device_ptr<_T>, device)
SIMT_ALLOCATOR(device_new_allocator, device_ptr<_T>, device)
SIMT_ALLOCATOR(universal_allocator, device_ptr<_T>, universal)
namespace system {
namespace gpu {
namespace experimental {
namespace detail = thrust::detail;
SIMT_ALLOCATOR(pinned_allocator, _T*, pinned)
}  // namespace experimental
}  // namespace gpu
}  // namespace system
#undef SIMT_ALLOCATOR

template <class _T>
device_ptr<_T> device_malloc(size_t n) {
  return device_ptr<_T>(static_cast<_T*>(detail::allocate_memory<detail::memory_kind::device>(n * sizeof(_T))));
}
inline device_ptr<void> device_malloc(size_t bytes) {
  return device_ptr<void>(detail::allocate_memory<detail::memory_kind::device>(bytes));
}
template <class _T>
void device_free(device_ptr<_T> p) { (void)SIMT_GPU(Free)(p.get()); }

namespace system {
namespace gpu {
template <class _T>
using pointer = device_ptr<_T>;
template <class _T>
using universal_pointer = device_ptr<_T>;
template <class _T>
using reference = _T&;
template <class _T>
using allocator = device_allocator<_T>;
template <class _T>
pointer<_T> malloc(size_t n) { return device_malloc<_T>(n); }
inline pointer<void> malloc(size_t bytes) { return device_malloc(bytes); }
template <class _T>
void free(pointer<_T> p) { device_free(p); }
}  // namespace gpu
namespace cpu {
template <class _T>
using pointer = _T*;
template <class _T>
_T* malloc(size_t n) { return static_cast<_T*>(::operator new(n * sizeof(_T))); }
template <class _T>
void free(_T* p) { ::operator delete(const_cast<void*>(static_cast<const void*>(p))); }
}  // namespace cpu
}  // namespace system

// Memory of a policy's system. Of the host's too, in one call.
template <class _T, class _P, class = std::enable_if_t<detail::is_policy<_P>>>
auto malloc(const _P&, size_t n) {
  if constexpr (std::is_same_v<typename _P::system, device_system>) return device_malloc<_T>(n);
  else return system::cpu::malloc<_T>(n);
}
template <class _P, class Pointer, class = std::enable_if_t<detail::is_policy<_P>>>
void free(const _P&, Pointer p) {
  if constexpr (std::is_same_v<typename _P::system, device_system>) (void)SIMT_GPU(Free)(raw_pointer_cast(p));
  else system::cpu::free(raw_pointer_cast(p));
}
template <class _T, class _P, class = std::enable_if_t<detail::is_policy<_P>>>
auto get_temporary_buffer(const _P& where, std::ptrdiff_t n) {
  const auto memory = thrust::malloc<_T>(where, static_cast<size_t>(n));
  return pair<std::decay_t<decltype(memory)>, std::ptrdiff_t>(memory, n);
}
template <class _P, class Pointer, class = std::enable_if_t<detail::is_policy<_P>>>
void return_temporary_buffer(const _P& where, Pointer p, std::ptrdiff_t = 0) { thrust::free(where, p); }
// A raw pointer, as one into the memory of a system.
template <class Tag, class _T>
SIMT_HDT auto reinterpret_tag(_T* raw) {
  if constexpr (std::is_same_v<Tag, device_system>) return device_ptr<_T>(raw); else return raw;
}
template <class Tag, class _T>
SIMT_HDT auto reinterpret_tag(const device_ptr<_T>& p) { return thrust::reinterpret_tag<Tag>(p.get()); }
template <class Tag, class Pointer>
SIMT_HDT auto retag(const Pointer& p) { return thrust::reinterpret_tag<Tag>(p); }
}  // namespace thrust
