// device_vector and host_vector.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/algorithms.h>
#include <thrust/detail/output_iterators.h>

#include <initializer_list>
#include <vector>

namespace thrust {
template <class _T>
using device_allocator = std::allocator<_T>;
template <class _T>
struct device_malloc_allocator : std::allocator<_T> {
  using value_type = _T;
  using pointer = device_ptr<_T>;
  using const_pointer = device_ptr<const _T>;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  template <class _U>
  struct rebind {
    using other = device_malloc_allocator<_U>;
  };
  pointer allocate(size_type n, const_pointer = const_pointer()) { return device_malloc<_T>(n); }
  void deallocate(pointer p, size_type) { device_free(p); }
};
template <class _T>
using device_new_allocator = device_malloc_allocator<_T>;
template <class _T>
using universal_allocator = std::allocator<_T>;

template <class _T, class Allocator = std::allocator<_T>>
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
class device_vector {
 public:
  using value_type = _T;
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
  explicit device_vector(size_t n) { resize(n); }
  device_vector(size_t n, const _T& value) { resize(n, value); }
  device_vector(const device_vector& other) { assign(other.begin(), other.end()); }
  device_vector(device_vector&& other) noexcept { swap(other); }
  template <class _U, class _A>
  device_vector(const device_vector<_U, _A>& other) { assign(other.begin(), other.end()); }
  template <class _U, class _A>
  device_vector(const std::vector<_U, _A>& other) { assign(other.begin(), other.end()); }
  device_vector(std::initializer_list<_T> values) { assign(values.begin(), values.end()); }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::value_type>
  device_vector(Iterator first, Iterator last) { assign(first, last); }
  ~device_vector() { (void)SIMT_GPU(Free)(data_); }

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
  bool empty() const { return size_ == 0; }
  // On the host too: device memory is in the process's address space here.
  reference operator[](size_t i) { return data_[i]; }
  const_reference operator[](size_t i) const { return data_[i]; }
  reference front() { return data_[0]; }
  reference back() { return data_[size_ - 1]; }
  const_reference front() const { return data_[0]; }
  const_reference back() const { return data_[size_ - 1]; }

  void reserve(size_t n) {
    if (n <= capacity_) return;
    _T* larger = nullptr;
    detail::check(SIMT_GPU(Malloc)(reinterpret_cast<void**>(&larger), n * sizeof(_T)), "device_vector");
    if (size_ != 0)
      detail::check(SIMT_GPU(Memcpy)(larger, data_, size_ * sizeof(_T), SIMT_GPU(MemcpyDeviceToDevice)), "device_vector");
    (void)SIMT_GPU(Free)(data_);
    data_ = larger;
    capacity_ = n;
  }
  void resize(size_t n) { resize(n, _T()); }
  void resize(size_t n, const _T& value) {
    const size_t old = size_;
    reserve(n);
    size_ = n;
    if (n > old) thrust::fill(begin() + static_cast<std::ptrdiff_t>(old), end(), value);
  }
  void clear() { size_ = 0; }
  void shrink_to_fit() {}
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
  template <class Iterator>
  void insert(iterator at, Iterator first, Iterator last) {
    const std::ptrdiff_t before = at - begin();
    device_vector tail(at, end());
    size_ = static_cast<size_t>(before);
    const size_t added = static_cast<size_t>(last - first);
    reserve(size_ + added + tail.size());
    size_ += added + tail.size();
    thrust::copy(first, last, begin() + before);
    thrust::copy(tail.begin(), tail.end(), begin() + before + static_cast<std::ptrdiff_t>(added));
  }
  void swap(device_vector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void allocate(size_t n) {
    size_ = 0;
    reserve(n);
    size_ = n;
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
template <class _T, class Allocator = std::allocator<_T>>
using universal_vector = device_vector<_T, Allocator>;
template <class _T, class _A>
void swap(device_vector<_T, _A>& a, device_vector<_T, _A>& b) noexcept { a.swap(b); }
}  // namespace thrust
