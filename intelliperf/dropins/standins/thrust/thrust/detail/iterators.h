// device_ptr and the fancy iterators. All are random-access and work on both sides.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/policy.h>
#include <thrust/detail/tuple.h>

#include <cstddef>
#include <iterator>

namespace thrust {
struct use_default {};
using random_access_device_iterator_tag = std::random_access_iterator_tag;

// Everything that follows from at(), advance() and distance_to().
template <class Self, class Value, class Reference>
struct iterator_facade {
  using value_type = Value;
  using reference = Reference;
  using pointer = std::remove_reference_t<Reference>*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  SIMT_HDT Reference operator*() const { return self().at(0); }
  SIMT_HDT Reference operator[](difference_type n) const { return self().at(n); }
  SIMT_HDT Self& operator++() { return self().advance(1), self(); }
  SIMT_HDT Self& operator--() { return self().advance(-1), self(); }
  SIMT_HDT Self operator++(int) { Self old = self(); self().advance(1); return old; }
  SIMT_HDT Self operator--(int) { Self old = self(); self().advance(-1); return old; }
  SIMT_HDT Self& operator+=(difference_type n) { return self().advance(n), self(); }
  SIMT_HDT Self& operator-=(difference_type n) { return self().advance(-n), self(); }
  friend SIMT_HDT Self operator+(Self it, difference_type n) { return it.advance(n), it; }
  friend SIMT_HDT Self operator+(difference_type n, Self it) { return it.advance(n), it; }
  friend SIMT_HDT Self operator-(Self it, difference_type n) { return it.advance(-n), it; }
  friend SIMT_HDT difference_type operator-(const Self& a, const Self& b) { return b.distance_to(a); }
  friend SIMT_HDT bool operator==(const Self& a, const Self& b) { return b.distance_to(a) == 0; }
  friend SIMT_HDT bool operator!=(const Self& a, const Self& b) { return b.distance_to(a) != 0; }
  friend SIMT_HDT bool operator<(const Self& a, const Self& b) { return b.distance_to(a) < 0; }
  friend SIMT_HDT bool operator>(const Self& a, const Self& b) { return b.distance_to(a) > 0; }
  friend SIMT_HDT bool operator<=(const Self& a, const Self& b) { return b.distance_to(a) <= 0; }
  friend SIMT_HDT bool operator>=(const Self& a, const Self& b) { return b.distance_to(a) >= 0; }

 private:
  SIMT_HDT Self& self() { return static_cast<Self&>(*this); }
  SIMT_HDT const Self& self() const { return static_cast<const Self&>(*this); }
};

namespace detail {
template <class Iterator>
using value_t = typename std::iterator_traits<Iterator>::value_type;
template <class Iterator>
using reference_t = decltype(*std::declval<Iterator>());
template <class Iterator, class = void>
struct system_of {
  using type = host_system;  // pointers and the standard library's iterators
};
template <class Iterator>
struct system_of<Iterator, std::void_t<typename Iterator::thrust_system>> {
  using type = typename Iterator::thrust_system;
};
template <class Iterator>
using system_of_t = typename system_of<Iterator>::type;
// A device iterator among the arguments decides; one that is at home everywhere does not.
template <class... Iterator>
using joint_system = std::conditional_t<(std::is_same_v<system_of_t<Iterator>, device_system> || ...), device_system,
                                        host_system>;
template <class... Iterator>
using joint_kind = std::conditional_t<
    (std::is_same_v<system_of_t<Iterator>, device_system> || ...), device_system,
    std::conditional_t<(std::is_same_v<system_of_t<Iterator>, any_system> && ...), any_system, host_system>>;
}  // namespace detail

template <class Iterator>
struct iterator_traits : std::iterator_traits<Iterator> {};
template <class Iterator>
struct iterator_value {
  using type = detail::value_t<Iterator>;
};
template <class Iterator>
using iterator_value_t = detail::value_t<Iterator>;
template <class Iterator>
struct iterator_difference {
  using type = std::ptrdiff_t;
};
template <class Iterator>
struct iterator_reference {
  using type = detail::reference_t<Iterator>;
};
template <class Iterator>
struct iterator_system {
  using type = detail::system_of_t<Iterator>;
};

// What iterators of programs are built on: a class that overrides dereference() and befriends iterator_core_access.
class iterator_core_access {
 public:
  template <class It>
  static SIMT_HDT decltype(auto) dereference(const It& it) { return it.dereference(); }
};
namespace detail {
template <class Asked, class Otherwise>
using or_default = std::conditional_t<std::is_same_v<Asked, use_default>, Otherwise, Asked>;
template <class Value, class Reference, class Base>
using adapted_reference =
    or_default<Reference, std::conditional_t<std::is_same_v<Value, use_default>, reference_t<Base>, std::add_lvalue_reference_t<Value>>>;
}  // namespace detail
template <class Self, class Base, class Value = use_default, class System = use_default, class Traversal = use_default,
          class Reference = use_default, class Difference = use_default>
class iterator_adaptor : public iterator_facade<Self, detail::or_default<Value, detail::value_t<Base>>,
                                                detail::adapted_reference<Value, Reference, Base>> {
 public:
  using thrust_system = detail::or_default<System, detail::system_of_t<Base>>;
  using base_type = Base;
  using reference = detail::adapted_reference<Value, Reference, Base>;
  iterator_adaptor() = default;
  SIMT_HDT explicit iterator_adaptor(const Base& base) : base_(base) {}
  SIMT_HDT const Base& base() const { return base_; }
  SIMT_HDT reference at(std::ptrdiff_t n) const {
    Self moved = static_cast<const Self&>(*this);
    moved += n;
    return iterator_core_access::dereference(moved);
  }
  SIMT_HDT void advance(std::ptrdiff_t n) { base_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const iterator_adaptor& other) const { return other.base_ - base_; }

 protected:
  friend class iterator_core_access;
  SIMT_HDT const Base& base_reference() const { return base_; }
  SIMT_HDT Base& base_reference() { return base_; }
  SIMT_HDT reference dereference() const { return *base_; }

 private:
  Base base_;
};

template <class _T>
class device_ptr : public iterator_facade<device_ptr<_T>, std::remove_cv_t<_T>, _T&> {
 public:
  using thrust_system = device_system;
  using element_type = _T;
  template <class _U>
  using rebind = device_ptr<_U>;
  device_ptr() = default;
  SIMT_HDT device_ptr(std::nullptr_t) {}
  SIMT_HDT explicit device_ptr(_T* raw) : raw_(raw) {}
  template <class _U, class = std::enable_if_t<std::is_convertible_v<_U*, _T*>>>
  SIMT_HDT device_ptr(const device_ptr<_U>& other) : raw_(other.get()) {}
  SIMT_HDT _T* get() const { return raw_; }
  SIMT_HDT _T* operator->() const { return raw_; }
  SIMT_HDT explicit operator bool() const { return raw_ != nullptr; }
  SIMT_HDT _T& at(std::ptrdiff_t n) const { return raw_[n]; }
  SIMT_HDT void advance(std::ptrdiff_t n) { raw_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const device_ptr& other) const { return other.raw_ - raw_; }

 private:
  _T* raw_ = nullptr;
};
// Memory of no type: what resources hand out.
template <>
class device_ptr<void> {
 public:
  using element_type = void;
  using difference_type = std::ptrdiff_t;
  using thrust_system = device_system;
  template <class _U>
  using rebind = device_ptr<_U>;
  device_ptr() = default;
  SIMT_HDT device_ptr(std::nullptr_t) {}
  SIMT_HDT explicit device_ptr(void* raw) : raw_(raw) {}
  template <class _U>
  SIMT_HDT device_ptr(const device_ptr<_U>& other) : raw_(other.get()) {}
  template <class _U>
  SIMT_HDT explicit operator device_ptr<_U>() const { return device_ptr<_U>(static_cast<_U*>(raw_)); }
  SIMT_HDT void* get() const { return raw_; }
  SIMT_HDT explicit operator bool() const { return raw_ != nullptr; }
  friend SIMT_HDT bool operator==(const device_ptr& a, const device_ptr& b) { return a.raw_ == b.raw_; }
  friend SIMT_HDT bool operator!=(const device_ptr& a, const device_ptr& b) { return a.raw_ != b.raw_; }

 private:
  void* raw_ = nullptr;
};
template <class _T>
using universal_ptr = device_ptr<_T>;
template <class _T>
using device_reference = _T&;
template <class _A, class _B>
SIMT_HDT void swap(_A& a, _B& b) {
  _A kept = a;
  a = b;
  b = kept;
}
template <class _T>
SIMT_HDT device_ptr<_T> device_pointer_cast(_T* raw) { return device_ptr<_T>(raw); }
template <class _T>
SIMT_HDT device_ptr<_T> device_pointer_cast(const device_ptr<_T>& p) { return p; }
template <class _T>
SIMT_HDT _T* raw_pointer_cast(_T* raw) { return raw; }
template <class _T>
SIMT_HDT _T* raw_pointer_cast(const device_ptr<_T>& p) { return p.get(); }
template <class _T>
SIMT_HDT _T& raw_reference_cast(_T& value) { return value; }

template <class _T, class System = any_system, class Traversal = use_default, class Difference = use_default>
class counting_iterator : public iterator_facade<counting_iterator<_T, System, Traversal, Difference>, _T, _T> {
 public:
  using thrust_system = any_system;
  counting_iterator() = default;
  SIMT_HDT explicit counting_iterator(_T start) : value_(start) {}
  SIMT_HDT _T at(std::ptrdiff_t n) const { return static_cast<_T>(value_ + static_cast<_T>(n)); }
  SIMT_HDT void advance(std::ptrdiff_t n) { value_ = at(n); }
  SIMT_HDT std::ptrdiff_t distance_to(const counting_iterator& other) const {
    return static_cast<std::ptrdiff_t>(other.value_) - static_cast<std::ptrdiff_t>(value_);
  }

 private:
  _T value_{};
};
template <class _T>
SIMT_HDT counting_iterator<_T> make_counting_iterator(_T start) { return counting_iterator<_T>(start); }

template <class _T, class Incrementable = use_default, class System = any_system>
class constant_iterator : public iterator_facade<constant_iterator<_T, Incrementable, System>, _T, _T> {
 public:
  using thrust_system = any_system;
  constant_iterator() = default;
  SIMT_HDT explicit constant_iterator(const _T& value, std::ptrdiff_t index = 0) : value_(value), index_(index) {}
  SIMT_HDT _T at(std::ptrdiff_t) const { return value_; }
  SIMT_HDT void advance(std::ptrdiff_t n) { index_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const constant_iterator& other) const { return other.index_ - index_; }

 private:
  _T value_{};
  std::ptrdiff_t index_ = 0;
};
template <class _T>
SIMT_HDT constant_iterator<_T> make_constant_iterator(_T value, std::ptrdiff_t index = 0) {
  return constant_iterator<_T>(value, index);
}

namespace detail {
struct swallow {
  template <class _T>
  SIMT_HDT const swallow& operator=(const _T&) const { return *this; }
};
}  // namespace detail
template <class System = any_system>
class discard_iterator : public iterator_facade<discard_iterator<System>, detail::swallow, detail::swallow> {
 public:
  using thrust_system = any_system;
  SIMT_HDT explicit discard_iterator(std::ptrdiff_t index = 0) : index_(index) {}
  SIMT_HDT detail::swallow at(std::ptrdiff_t) const { return {}; }
  SIMT_HDT void advance(std::ptrdiff_t n) { index_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const discard_iterator& other) const { return other.index_ - index_; }

 private:
  std::ptrdiff_t index_;
};
SIMT_HD discard_iterator<> make_discard_iterator(std::ptrdiff_t index = 0) { return discard_iterator<>(index); }

template <class _F, class Iterator, class Reference = use_default, class Value = use_default>
class transform_iterator
    : public iterator_facade<transform_iterator<_F, Iterator, Reference, Value>,
                             std::decay_t<std::invoke_result_t<_F, detail::reference_t<Iterator>>>,
                             std::invoke_result_t<_F, detail::reference_t<Iterator>>> {
 public:
  using thrust_system = detail::system_of_t<Iterator>;
  SIMT_HDT transform_iterator(Iterator base, _F f) : base_(base), f_(f) {}
  SIMT_HDT explicit transform_iterator(Iterator base) : base_(base) {}
  SIMT_HDT std::invoke_result_t<_F, detail::reference_t<Iterator>> at(std::ptrdiff_t n) const { return f_(*(base_ + n)); }
  SIMT_HDT void advance(std::ptrdiff_t n) { base_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const transform_iterator& other) const { return other.base_ - base_; }
  SIMT_HDT const Iterator& base() const { return base_; }

 private:
  Iterator base_;
  mutable _F f_;
};
template <class _F, class Iterator>
SIMT_HDT transform_iterator<_F, Iterator> make_transform_iterator(Iterator base, _F f) {
  return transform_iterator<_F, Iterator>(base, f);
}

template <class Elements, class Indices>
class permutation_iterator : public iterator_facade<permutation_iterator<Elements, Indices>, detail::value_t<Elements>,
                                                    detail::reference_t<Elements>> {
 public:
  using thrust_system = detail::joint_kind<Elements, Indices>;
  SIMT_HDT permutation_iterator(Elements elements, Indices indices) : elements_(elements), indices_(indices) {}
  SIMT_HDT detail::reference_t<Elements> at(std::ptrdiff_t n) const {
    return *(elements_ + static_cast<std::ptrdiff_t>(*(indices_ + n)));
  }
  SIMT_HDT void advance(std::ptrdiff_t n) { indices_ += n; }
  SIMT_HDT std::ptrdiff_t distance_to(const permutation_iterator& other) const { return other.indices_ - indices_; }

 private:
  Elements elements_;
  Indices indices_;
};
template <class Elements, class Indices>
SIMT_HDT permutation_iterator<Elements, Indices> make_permutation_iterator(Elements elements, Indices indices) {
  return {elements, indices};
}

template <class Iterator>
class reverse_iterator
    : public iterator_facade<reverse_iterator<Iterator>, detail::value_t<Iterator>, detail::reference_t<Iterator>> {
 public:
  using thrust_system = detail::system_of_t<Iterator>;
  SIMT_HDT explicit reverse_iterator(Iterator base) : base_(base) {}
  SIMT_HDT detail::reference_t<Iterator> at(std::ptrdiff_t n) const { return *(base_ - (n + 1)); }
  SIMT_HDT void advance(std::ptrdiff_t n) { base_ -= n; }
  SIMT_HDT std::ptrdiff_t distance_to(const reverse_iterator& other) const { return base_ - other.base_; }

 private:
  Iterator base_;
};
template <class Iterator>
SIMT_HDT reverse_iterator<Iterator> make_reverse_iterator(Iterator base) { return reverse_iterator<Iterator>(base); }

template <class Tuple>
class zip_iterator;
template <class... It>
class zip_iterator<tuple<It...>> : public iterator_facade<zip_iterator<tuple<It...>>, tuple<detail::value_t<It>...>,
                                                          tuple<detail::reference_t<It>...>> {
 public:
  using thrust_system = detail::joint_kind<It...>;
  using indices = std::index_sequence_for<It...>;
  SIMT_HDT explicit zip_iterator(const tuple<It...>& its) : its_(its) {}
  SIMT_HDT tuple<detail::reference_t<It>...> at(std::ptrdiff_t n) const { return at(n, indices()); }
  SIMT_HDT void advance(std::ptrdiff_t n) { advance(n, indices()); }
  SIMT_HDT std::ptrdiff_t distance_to(const zip_iterator& other) const { return get<0>(other.its_) - get<0>(its_); }
  SIMT_HDT const tuple<It...>& get_iterator_tuple() const { return its_; }

 private:
  template <size_t... i>
  SIMT_HDT tuple<detail::reference_t<It>...> at(std::ptrdiff_t n, std::index_sequence<i...>) const {
    return tuple<detail::reference_t<It>...>(*(get<i>(its_) + n)...);
  }
  template <size_t... i>
  SIMT_HDT void advance(std::ptrdiff_t n, std::index_sequence<i...>) {
    ((get<i>(its_) += n), ...);
  }
  tuple<It...> its_;
};
template <class... It>
SIMT_HDT zip_iterator<tuple<It...>> make_zip_iterator(const tuple<It...>& its) { return zip_iterator<tuple<It...>>(its); }
template <class... It>
SIMT_HDT zip_iterator<tuple<It...>> make_zip_iterator(It... its) {
  return zip_iterator<tuple<It...>>(tuple<It...>(its...));
}
template <class _F>
struct zip_function {
  mutable _F f;
  template <class... _T>
  SIMT_HDT auto operator()(const tuple<_T...>& values) const { return apply(values, std::index_sequence_for<_T...>()); }

 private:
  template <class Tuple, size_t... i>
  SIMT_HDT auto apply(const Tuple& values, std::index_sequence<i...>) const { return f(get<i>(values)...); }
};
template <class _F>
SIMT_HDT zip_function<_F> make_zip_function(_F f) { return {f}; }

template <class Iterator>
SIMT_HDT std::ptrdiff_t distance(Iterator first, Iterator last) { return last - first; }
template <class Iterator, class Distance>
SIMT_HDT void advance(Iterator& it, Distance n) { it += n; }
template <class Iterator>
SIMT_HDT Iterator next(Iterator it, std::ptrdiff_t n = 1) { return it + n; }
}  // namespace thrust
