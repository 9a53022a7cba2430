// Memory resources: where allocators get their memory, exchangeable at run time, and pools that keep what is returned.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/allocators.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace thrust {
namespace mr {
template <class Pointer = void*>
class memory_resource {
 public:
  using pointer = Pointer;
  virtual ~memory_resource() = default;
  pointer allocate(size_t bytes, size_t alignment = alignof(std::max_align_t)) { return do_allocate(bytes, alignment); }
  void deallocate(pointer p, size_t bytes, size_t alignment = alignof(std::max_align_t)) noexcept {
    do_deallocate(p, bytes, alignment);
  }
  bool is_equal(const memory_resource& other) const noexcept { return do_is_equal(other); }
  virtual pointer do_allocate(size_t bytes, size_t alignment) = 0;
  virtual void do_deallocate(pointer p, size_t bytes, size_t alignment) = 0;
  virtual bool do_is_equal(const memory_resource& other) const noexcept { return this == &other; }
};
template <class Pointer>
bool operator==(const memory_resource<Pointer>& a, const memory_resource<Pointer>& b) noexcept { return a.is_equal(b); }
template <class Pointer>
bool operator!=(const memory_resource<Pointer>& a, const memory_resource<Pointer>& b) noexcept { return !a.is_equal(b); }
template <class Resource>
Resource* get_global_resource() {
  static Resource resource;
  return &resource;
}

class new_delete_resource : public memory_resource<> {
 public:
  void* do_allocate(size_t bytes, size_t alignment) override { return ::operator new(bytes, std::align_val_t(alignment)); }
  void do_deallocate(void* p, size_t, size_t alignment) override { ::operator delete(p, std::align_val_t(alignment)); }
};

template <class _T, class Resource>
class allocator {
 public:
  using value_type = _T;
  using void_pointer = typename Resource::pointer;
  using pointer = typename std::pointer_traits<void_pointer>::template rebind<_T>;
  using const_pointer = typename std::pointer_traits<void_pointer>::template rebind<const _T>;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  template <class _U>
  struct rebind {
    using other = allocator<_U, Resource>;
  };
  allocator(Resource* resource) : resource_(resource) {}
  template <class _U>
  allocator(const allocator<_U, Resource>& other) : resource_(other.resource()) {}
  pointer allocate(size_type n) { return static_cast<pointer>(resource_->allocate(n * sizeof(_T), alignof(_T))); }
  void deallocate(pointer p, size_type n) { resource_->deallocate(void_pointer(p), n * sizeof(_T), alignof(_T)); }
  size_type max_size() const { return static_cast<size_type>(PTRDIFF_MAX) / sizeof(_T); }
  Resource* resource() const { return resource_; }
  friend bool operator==(const allocator& a, const allocator& b) noexcept { return *a.resource_ == *b.resource_; }
  friend bool operator!=(const allocator& a, const allocator& b) noexcept { return !(a == b); }

 private:
  Resource* resource_;
};
template <class _T, class Resource>
class stateless_resource_allocator : public allocator<_T, Resource> {
 public:
  template <class _U>
  struct rebind {
    using other = stateless_resource_allocator<_U, Resource>;
  };
  stateless_resource_allocator() : allocator<_T, Resource>(get_global_resource<Resource>()) {}
  template <class _U>
  stateless_resource_allocator(const stateless_resource_allocator<_U, Resource>&) : stateless_resource_allocator() {}
};

template <class Pointer = void*>
class polymorphic_adaptor_resource : public memory_resource<Pointer> {
 public:
  polymorphic_adaptor_resource(memory_resource<Pointer>* upstream) : upstream_(upstream) {}
  Pointer do_allocate(size_t bytes, size_t alignment) override { return upstream_->allocate(bytes, alignment); }
  void do_deallocate(Pointer p, size_t bytes, size_t alignment) override { upstream_->deallocate(p, bytes, alignment); }
  bool do_is_equal(const memory_resource<Pointer>& other) const noexcept override {
    const auto* adaptor = dynamic_cast<const polymorphic_adaptor_resource*>(&other);
    return adaptor != nullptr && upstream_->is_equal(*adaptor->upstream_);
  }

 private:
  memory_resource<Pointer>* upstream_;
};
template <class _T, class Pointer = void*>
using polymorphic_allocator = allocator<_T, polymorphic_adaptor_resource<Pointer>>;
// Another resource's memory, by another pointer.
template <class Upstream, class Pointer>
class fancy_pointer_resource : public memory_resource<Pointer> {
 public:
  fancy_pointer_resource() : upstream_(get_global_resource<Upstream>()) {}
  explicit fancy_pointer_resource(Upstream* upstream) : upstream_(upstream) {}
  Pointer do_allocate(size_t bytes, size_t alignment) override {
    return Pointer(raw_pointer_cast(upstream_->allocate(bytes, alignment)));
  }
  void do_deallocate(Pointer p, size_t bytes, size_t alignment) override {
    upstream_->deallocate(typename Upstream::pointer(raw_pointer_cast(p)), bytes, alignment);
  }
  bool do_is_equal(const memory_resource<Pointer>& other) const noexcept override {
    const auto* same = dynamic_cast<const fancy_pointer_resource*>(&other);
    return same != nullptr && upstream_->is_equal(*same->upstream_);
  }

 private:
  Upstream* upstream_;
};

struct pool_options {
  size_t min_blocks_per_chunk = 16, min_bytes_per_chunk = 1024;
  size_t max_blocks_per_chunk = size_t(1) << 20, max_bytes_per_chunk = size_t(1) << 30;
  size_t smallest_block_size = alignof(std::max_align_t), largest_block_size = size_t(1) << 20;
  size_t alignment = alignof(std::max_align_t);
  bool cache_oversized = true;
  size_t cached_size_cutoff_factor = 16, cached_alignment_cutoff_factor = 16;
};
// Blocks of powers of two, each from upstream on its own; release() and the end give all of them back.
template <class Upstream, class Mutex>
class caching_pool : public memory_resource<typename Upstream::pointer> {
 public:
  using pointer = typename Upstream::pointer;
  static pool_options get_default_options() { return {}; }
  explicit caching_pool(Upstream* upstream, pool_options options = {}) : upstream_(upstream), options_(options) {}
  explicit caching_pool(pool_options options = {}) : caching_pool(get_global_resource<Upstream>(), options) {}
  template <class Bookkeeper>
  caching_pool(Upstream* upstream, Bookkeeper*, pool_options options = {}) : caching_pool(upstream, options) {}
  caching_pool(const caching_pool&) = delete;
  ~caching_pool() override { release(); }
  void release() {
    const std::lock_guard<Mutex> guard(mutex_);
    for (const auto& block : blocks_) upstream_->deallocate(pointer(block.first), block.second, alignof(std::max_align_t));
    blocks_.clear();
    free_.clear();
  }
  pointer do_allocate(size_t bytes, size_t alignment) override {
    const std::lock_guard<Mutex> guard(mutex_);
    const size_t size = size_of(bytes, alignment);
    std::vector<void*>& unused = free_[size];
    if (unused.empty()) {
      void* const made = raw_pointer_cast(upstream_->allocate(size, alignof(std::max_align_t)));
      blocks_.emplace(made, size);
      return pointer(made);
    }
    void* const kept = unused.back();
    unused.pop_back();
    return pointer(kept);
  }
  void do_deallocate(pointer p, size_t bytes, size_t alignment) override {
    const std::lock_guard<Mutex> guard(mutex_);
    free_[size_of(bytes, alignment)].push_back(raw_pointer_cast(p));
  }

 private:
  size_t size_of(size_t bytes, size_t alignment) const {
    size_t size = options_.smallest_block_size;
    while (size < bytes || size < alignment) size *= 2;
    return size;
  }
  Upstream* upstream_;
  pool_options options_;
  Mutex mutex_;
  std::unordered_map<void*, size_t> blocks_;
  std::map<size_t, std::vector<void*>> free_;
};
struct no_mutex {
  void lock() {}
  void unlock() {}
};
template <class Upstream>
using unsynchronized_pool_resource = caching_pool<Upstream, no_mutex>;
template <class Upstream>
using synchronized_pool_resource = caching_pool<Upstream, std::mutex>;
template <class Upstream, class Bookkeeper>
using disjoint_unsynchronized_pool_resource = caching_pool<Upstream, no_mutex>;
template <class Upstream, class Bookkeeper>
using disjoint_synchronized_pool_resource = caching_pool<Upstream, std::mutex>;
template <class Upstream>
unsynchronized_pool_resource<Upstream>& tls_pool(Upstream* upstream = get_global_resource<Upstream>()) {
  static thread_local unsynchronized_pool_resource<Upstream> pool(upstream);
  return pool;
}
template <class Upstream, class Bookkeeper>
auto& tls_disjoint_pool(Upstream* upstream = get_global_resource<Upstream>(),
                        Bookkeeper* = get_global_resource<Bookkeeper>()) {
  return tls_pool<Upstream>(upstream);
}
}  // namespace mr

namespace detail {
template <memory_kind kind, class Pointer>
class kind_resource : public mr::memory_resource<Pointer> {
 public:
  Pointer do_allocate(size_t bytes, size_t) override { return Pointer(allocate_memory<kind>(bytes)); }
  void do_deallocate(Pointer p, size_t, size_t) override { free_memory<kind>(raw_pointer_cast(p)); }
  bool do_is_equal(const mr::memory_resource<Pointer>& other) const noexcept override {
    return dynamic_cast<const kind_resource*>(&other) != nullptr;
  }
};
}  // namespace detail
namespace system {
namespace gpu {
using memory_resource = thrust::detail::kind_resource<thrust::detail::memory_kind::device, device_ptr<void>>;
using universal_memory_resource = thrust::detail::kind_resource<thrust::detail::memory_kind::universal, device_ptr<void>>;
using universal_host_pinned_memory_resource = thrust::detail::kind_resource<thrust::detail::memory_kind::pinned, device_ptr<void>>;
namespace detail {
// Of any two functions of the runtime's that get and return memory.
template <SIMT_GPU(Error_t) (*get)(void**, size_t), SIMT_GPU(Error_t) (*put)(void*), class Pointer>
class cuda_memory_resource : public mr::memory_resource<Pointer> {
 public:
  Pointer do_allocate(size_t bytes, size_t) override {
    void* raw = nullptr;
    thrust::detail::check(get(&raw, bytes), "allocation by a memory resource");
    return Pointer(raw);
  }
  void do_deallocate(Pointer p, size_t, size_t) override {
    thrust::detail::check(put(raw_pointer_cast(p)), "deallocation by a memory resource");
  }
};
}  // namespace detail
}  // namespace gpu
namespace cpu {
using memory_resource = mr::new_delete_resource;
}
}  // namespace system
using device_memory_resource = system::gpu::memory_resource;
using universal_memory_resource = system::gpu::universal_memory_resource;
using universal_host_pinned_memory_resource = system::gpu::universal_host_pinned_memory_resource;
using host_memory_resource = mr::new_delete_resource;
template <class Upstream>
using device_ptr_memory_resource = mr::fancy_pointer_resource<Upstream, device_ptr<void>>;
}  // namespace thrust
