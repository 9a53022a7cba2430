// thrust::tuple and thrust::pair: like std's, but every member can also run on the device.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <cstddef>
#include <type_traits>
#include <utility>

namespace thrust {
template <class A, class B>
struct pair {
  using first_type = A;
  using second_type = B;
  A first;
  B second;
  pair() = default;
  SIMT_HDT constexpr pair(const A& a, const B& b) : first(a), second(b) {}
  template <class C, class D>
  SIMT_HDT constexpr pair(const pair<C, D>& other) : first(other.first), second(other.second) {}
};
template <class A, class B>
SIMT_HDT constexpr pair<std::decay_t<A>, std::decay_t<B>> make_pair(A&& a, B&& b) {
  return {a, b};
}
template <class A, class B>
SIMT_HDT constexpr bool operator==(const pair<A, B>& x, const pair<A, B>& y) {
  return x.first == y.first && x.second == y.second;
}
template <class A, class B>
SIMT_HDT constexpr bool operator!=(const pair<A, B>& x, const pair<A, B>& y) {
  return !(x == y);
}
template <class A, class B>
SIMT_HDT constexpr bool operator<(const pair<A, B>& x, const pair<A, B>& y) {
  return x.first < y.first || (!(y.first < x.first) && x.second < y.second);
}

namespace detail {
template <size_t i, class T>
struct leaf {
  T value;
};
template <size_t i, class T>
SIMT_HDT constexpr T& value_of(leaf<i, T>& at) {
  return at.value;
}
template <size_t i, class T>
SIMT_HDT constexpr const T& value_of(const leaf<i, T>& at) {
  return at.value;
}
template <class Indices, class... T>
struct leaves;
template <size_t... i, class... T>
struct leaves<std::index_sequence<i...>, T...> : leaf<i, T>... {
  leaves() = default;
  template <class... U>
  SIMT_HDT constexpr explicit leaves(int, U&&... values) : leaf<i, T>{static_cast<U&&>(values)}... {}
};
}  // namespace detail

template <class... T>
struct tuple : detail::leaves<std::index_sequence_for<T...>, T...> {
  using base = detail::leaves<std::index_sequence_for<T...>, T...>;
  using indices = std::index_sequence_for<T...>;
  tuple() = default;
  tuple(const tuple&) = default;
  template <class... U, class = std::enable_if_t<sizeof...(U) == sizeof...(T) && sizeof...(U) != 0 &&
                                                 (std::is_convertible_v<U&&, T> && ...)>>
  SIMT_HDT constexpr tuple(U&&... values) : base(0, static_cast<U&&>(values)...) {}
  template <class... U, class = std::enable_if_t<sizeof...(U) == sizeof...(T)>>
  SIMT_HDT constexpr tuple(const tuple<U...>& other) : tuple(other, indices()) {}
  SIMT_HDT tuple& operator=(const tuple& other) { return assign(other, indices()); }
  template <class... U>
  SIMT_HDT tuple& operator=(const tuple<U...>& other) {
    return assign(other, indices());
  }
  template <class A, class B>
  SIMT_HDT tuple& operator=(const pair<A, B>& other) {
    detail::value_of<0>(*this) = other.first;
    detail::value_of<1>(*this) = other.second;
    return *this;
  }

 private:
  template <class Other, size_t... i>
  SIMT_HDT constexpr tuple(const Other& other, std::index_sequence<i...>) : base(0, detail::value_of<i>(other)...) {}
  template <class Other, size_t... i>
  SIMT_HDT tuple& assign(const Other& other, std::index_sequence<i...>) {
    ((detail::value_of<i>(*this) = detail::value_of<i>(other)), ...);
    return *this;
  }
};
template <class... T>
tuple(T...) -> tuple<T...>;

struct null_type {};
template <size_t i, class Tuple>
struct tuple_element;
template <size_t i, class... T>
struct tuple_element<i, tuple<T...>> {
  using type = std::tuple_element_t<i, tuple<T...>>;
};
template <class Tuple>
struct tuple_size;
template <class... T>
struct tuple_size<tuple<T...>> : std::integral_constant<size_t, sizeof...(T)> {};

template <size_t i, class... T>
SIMT_HDT constexpr auto& get(tuple<T...>& values) {
  return detail::value_of<i>(values);
}
template <size_t i, class... T>
SIMT_HDT constexpr const auto& get(const tuple<T...>& values) {
  return detail::value_of<i>(values);
}
template <size_t i, class A, class B>
SIMT_HDT constexpr auto& get(pair<A, B>& values) {
  if constexpr (i == 0) return values.first; else return values.second;
}
template <size_t i, class A, class B>
SIMT_HDT constexpr const auto& get(const pair<A, B>& values) {
  if constexpr (i == 0) return values.first; else return values.second;
}
template <class... T>
SIMT_HDT constexpr tuple<std::decay_t<T>...> make_tuple(T&&... values) {
  return tuple<std::decay_t<T>...>(static_cast<T&&>(values)...);
}
template <class... T>
SIMT_HDT constexpr tuple<T&...> tie(T&... values) {
  return tuple<T&...>(values...);
}
namespace detail {
template <size_t i, size_t n, class A, class B>
SIMT_HDT constexpr bool same_from(const A& a, const B& b) {
  if constexpr (i == n) return true;
  else return value_of<i>(a) == value_of<i>(b) && same_from<i + 1, n>(a, b);
}
template <size_t i, size_t n, class A, class B>
SIMT_HDT constexpr bool less_from(const A& a, const B& b) {
  if constexpr (i == n) return false;
  else return value_of<i>(a) < value_of<i>(b) || (!(value_of<i>(b) < value_of<i>(a)) && less_from<i + 1, n>(a, b));
}
}  // namespace detail
template <class... A, class... B>
SIMT_HDT constexpr bool operator==(const tuple<A...>& a, const tuple<B...>& b) {
  return detail::same_from<0, sizeof...(A)>(a, b);
}
template <class... A, class... B>
SIMT_HDT constexpr bool operator!=(const tuple<A...>& a, const tuple<B...>& b) {
  return !(a == b);
}
template <class... A, class... B>
SIMT_HDT constexpr bool operator<(const tuple<A...>& a, const tuple<B...>& b) {
  return detail::less_from<0, sizeof...(A)>(a, b);
}
template <class... A, class... B>
SIMT_HDT constexpr bool operator>(const tuple<A...>& a, const tuple<B...>& b) {
  return b < a;
}
}  // namespace thrust

namespace std {
template <class... T>
struct tuple_size<thrust::tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <size_t i, class First, class... Rest>
struct tuple_element<i, thrust::tuple<First, Rest...>> : tuple_element<i - 1, thrust::tuple<Rest...>> {};
template <class First, class... Rest>
struct tuple_element<0, thrust::tuple<First, Rest...>> {
  using type = First;
};
}  // namespace std
