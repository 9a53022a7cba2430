// device_vector and host_vector.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/algorithms.h>
#include <thrust/detail/resources.h>
#include <thrust/detail/output_iterators.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace thrust {
template <class _T, class Allocator = device_allocator<_T>>
class device_vector;

template <class _T, class Allocator = std::allocator<_T>>
class host_vector : public std::vector<_T, Allocator> {
 public:
  using std::vector<_T, Allocator>::vector;
  host_vector() = default;
  host_vector(const std::vector<_T, Allocator>& other) : std::vector<_T, Allocator>(other) {}
  template <class _U, class _A>
  host_vector(const device_vector<_U, _A>& other) { *this = other; }
  template <class _U, class _A>
  host_vector& operator=(const device_vector<_U, _A>& other) {
    this->resize(other.size());
    thrust::copy(other.begin(), other.end(), this->begin());
    return *this;
  }
};

template <class _T, class Allocator>
class device_vector : private Allocator {  // which is empty most of the time
 public:
  using value_type = _T;
  using allocator_type = Allocator;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = device_ptr<_T>;
  using const_iterator = device_ptr<const _T>;
  using pointer = device_ptr<_T>;
  using const_pointer = device_ptr<const _T>;
  using reference = _T&;
  using const_reference = const _T&;
  using thrust_system = device_system;

  device_vector() = default;
  explicit device_vector(const Allocator& allocator) : Allocator(allocator) {}
  explicit device_vector(size_t n) { resize(n); }
  device_vector(size_t n, const Allocator& allocator) : Allocator(allocator) { resize(n); }
  device_vector(size_t n, const _T& value) { resize(n, value); }
  device_vector(size_t n, const _T& value, const Allocator& allocator) : Allocator(allocator) { resize(n, value); }
  device_vector(const device_vector& other) : Allocator(other.get_allocator()) { assign(other.begin(), other.end()); }
  device_vector(const device_vector& other, const Allocator& allocator) : Allocator(allocator) { assign(other.begin(), other.end()); }
  device_vector(device_vector&& other) noexcept : Allocator(other.get_allocator()) { swap(other); }
  template <class _U, class _A>
  device_vector(const device_vector<_U, _A>& other) { assign(other.begin(), other.end()); }
  template <class _U, class _A>
  device_vector(const std::vector<_U, _A>& other) { assign(other.begin(), other.end()); }
  device_vector(std::initializer_list<_T> values) { assign(values.begin(), values.end()); }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::value_type>
  device_vector(Iterator first, Iterator last) { assign(first, last); }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::value_type>
  device_vector(Iterator first, Iterator last, const Allocator& allocator) : Allocator(allocator) { assign(first, last); }
  ~device_vector() { release(); }

  device_vector& operator=(const device_vector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  device_vector& operator=(device_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <class _U, class _A>
  device_vector& operator=(const std::vector<_U, _A>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  device_vector& operator=(std::initializer_list<_T> values) {
    assign(values.begin(), values.end());
    return *this;
  }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::value_type>
  void assign(Iterator first, Iterator last) {
    allocate(static_cast<size_t>(last - first));
    thrust::copy(first, last, begin());
  }
  void assign(size_t n, const _T& value) {
    allocate(n);
    thrust::fill(begin(), end(), value);
  }

  iterator begin() { return iterator(data_); }
  iterator end() { return iterator(data_ + size_); }
  const_iterator begin() const { return const_iterator(data_); }
  const_iterator end() const { return const_iterator(data_ + size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator<iterator> rbegin() { return reverse_iterator<iterator>(end()); }
  reverse_iterator<iterator> rend() { return reverse_iterator<iterator>(begin()); }
  reverse_iterator<const_iterator> rbegin() const { return reverse_iterator<const_iterator>(end()); }
  reverse_iterator<const_iterator> rend() const { return reverse_iterator<const_iterator>(begin()); }
  pointer data() { return pointer(data_); }
  const_pointer data() const { return const_pointer(data_); }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  size_t max_size() const { return static_cast<size_t>(PTRDIFF_MAX) / sizeof(_T); }
  bool empty() const { return size_ == 0; }
  Allocator get_allocator() const { return *this; }
  // On the host too: device memory is in the process's address space here.
  reference operator[](size_t i) { return data_[i]; }
  const_reference operator[](size_t i) const { return data_[i]; }
  reference front() { return data_[0]; }
  reference back() { return data_[size_ - 1]; }
  const_reference front() const { return data_[0]; }
  const_reference back() const { return data_[size_ - 1]; }

  void reserve(size_t n) {
    if (n > capacity_) move_to(n);
  }
  void resize(size_t n) {
    if constexpr (detail::has_construct<Allocator>) {
      const size_t old = size_;
      grow(n);
      Allocator allocator = *this;
      _T* const to = data_ + old;
      detail::for_each_index(device_policy(), static_cast<long>(n) - static_cast<long>(old),
                             [=] __host__ __device__(long i) mutable { allocator.construct(to + i); });
    } else {
      resize(n, _T());
    }
  }
  void resize(size_t n, const _T& value) {
    const size_t old = size_;
    grow(n);
    if (n > old) thrust::fill(begin() + static_cast<std::ptrdiff_t>(old), end(), value);
  }
  void clear() { size_ = 0; }
  void shrink_to_fit() {
    if (size_ < capacity_) move_to(size_);
  }
  void push_back(const _T& value) {
    if (size_ == capacity_) reserve(size_ == 0 ? 16 : size_ * 2);
    detail::check(SIMT_GPU(Memcpy)(data_ + size_, &value, sizeof(_T), SIMT_GPU(MemcpyHostToDevice)), "push_back");
    ++size_;
  }
  void pop_back() { --size_; }
  iterator erase(iterator first, iterator last) {
    thrust::copy(last, end(), first);
    size_ -= static_cast<size_t>(last - first);
    return first;
  }
  iterator erase(iterator at) { return erase(at, at + 1); }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::value_type>
  void insert(const_iterator at, Iterator first, Iterator last) {
    const std::ptrdiff_t before = at - cbegin();
    device_vector tail(begin() + before, end());
    size_ = static_cast<size_t>(before);
    const size_t added = static_cast<size_t>(last - first);
    reserve(size_ + added + tail.size());
    size_ += added + tail.size();
    thrust::copy(first, last, begin() + before);
    thrust::copy(tail.begin(), tail.end(), begin() + before + static_cast<std::ptrdiff_t>(added));
  }
  void insert(const_iterator at, size_t n, const _T& value) {
    const constant_iterator<_T> repeated(value);
    insert(at, repeated, repeated + static_cast<std::ptrdiff_t>(n));
  }
  iterator insert(const_iterator at, const _T& value) {
    const std::ptrdiff_t before = at - cbegin();
    insert(at, 1, value);
    return begin() + before;
  }
  void swap(device_vector& other) noexcept {
    std::swap(static_cast<Allocator&>(*this), static_cast<Allocator&>(other));
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void allocate(size_t n) {
    size_ = 0;
    grow(n);
  }
  void grow(size_t n) {
    reserve(n);
    size_ = n;
  }
  void move_to(size_t capacity) {
    _T* const moved = capacity == 0 ? nullptr : raw_pointer_cast(Allocator::allocate(capacity));
    if (size_ != 0)
      detail::check(SIMT_GPU(Memcpy)(moved, data_, size_ * sizeof(_T), SIMT_GPU(MemcpyDeviceToDevice)), "device_vector");
    release();
    data_ = moved;
    capacity_ = capacity;
  }
  void release() {
    using allocated = typename std::allocator_traits<Allocator>::pointer;
    if (data_ != nullptr) Allocator::deallocate(allocated(data_), capacity_);
    data_ = nullptr;
    capacity_ = 0;
  }
  _T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};
template <class _T, class _A>
bool operator==(const device_vector<_T, _A>& a, const device_vector<_T, _A>& b) {
  return a.size() == b.size() && thrust::equal(a.begin(), a.end(), b.begin());
}
template <class _T, class _A>
bool operator!=(const device_vector<_T, _A>& a, const device_vector<_T, _A>& b) { return !(a == b); }
template <class _T, class _A, class _B>
bool operator==(const host_vector<_T, _A>& a, const device_vector<_T, _B>& b) {
  return device_vector<_T, _B>(a.begin(), a.end()) == b;
}
template <class _T, class _A, class _B>
bool operator==(const device_vector<_T, _A>& a, const host_vector<_T, _B>& b) { return b == a; }
template <class _T, class Allocator = universal_allocator<_T>>
using universal_vector = device_vector<_T, Allocator>;
template <class _T>
device_ptr<_T> device_new(size_t n = 1) {
  const device_ptr<_T> made = device_malloc<_T>(n);
  thrust::fill(made, made + static_cast<std::ptrdiff_t>(n), _T());
  return made;
}
template <class _T>
device_ptr<_T> device_new(device_ptr<void> place, size_t n = 1) {
  const device_ptr<_T> made(static_cast<_T*>(place.get()));
  thrust::fill(made, made + static_cast<std::ptrdiff_t>(n), _T());
  return made;
}
template <class _T>
void device_delete(device_ptr<_T> p, size_t = 0) { device_free(p); }
namespace system {
namespace gpu {
template <class _T, class Allocator = device_allocator<_T>>
using vector = device_vector<_T, Allocator>;
template <class _T, class Allocator = universal_allocator<_T>>
using universal_vector = device_vector<_T, Allocator>;
}  // namespace gpu
namespace cpu {
template <class _T, class Allocator = std::allocator<_T>>
using vector = host_vector<_T, Allocator>;
}
}  // namespace system
template <class _T, class _A>
void swap(device_vector<_T, _A>& a, device_vector<_T, _A>& b) noexcept { a.swap(b); }
}  // namespace thrust
