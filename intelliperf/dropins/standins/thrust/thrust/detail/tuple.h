// thrust::tuple and thrust::pair: like std's, but every member can also run on the device.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/language.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace thrust {
template <class _A, class _B>
struct pair {
  using first_type = _A;
  using second_type = _B;
  _A first;
  _B second;
  pair() = default;
  SIMT_HDT constexpr pair(const _A& a, const _B& b) : first(a), second(b) {}
  template <class _C, class _D>
  SIMT_HDT constexpr pair(const pair<_C, _D>& other) : first(other.first), second(other.second) {}
};
template <class _A, class _B>
SIMT_HDT constexpr pair<std::decay_t<_A>, std::decay_t<_B>> make_pair(_A&& a, _B&& b) {
  return {a, b};
}
template <class _A, class _B>
SIMT_HDT constexpr bool operator==(const pair<_A, _B>& x, const pair<_A, _B>& y) {
  return x.first == y.first && x.second == y.second;
}
template <class _A, class _B>
SIMT_HDT constexpr bool operator!=(const pair<_A, _B>& x, const pair<_A, _B>& y) {
  return !(x == y);
}
template <class _A, class _B>
SIMT_HDT constexpr bool operator<(const pair<_A, _B>& x, const pair<_A, _B>& y) {
  return x.first < y.first || (!(y.first < x.first) && x.second < y.second);
}

namespace detail {
template <size_t i, class _T>
struct leaf {
  _T value;
};
template <size_t i, class _T>
SIMT_HDT constexpr _T& value_of(leaf<i, _T>& at) {
  return at.value;
}
template <size_t i, class _T>
SIMT_HDT constexpr const _T& value_of(const leaf<i, _T>& at) {
  return at.value;
}
template <class Indices, class... _T>
struct leaves;
template <size_t... i, class... _T>
struct leaves<std::index_sequence<i...>, _T...> : leaf<i, _T>... {
  leaves() = default;
  template <class... _U>
  SIMT_HDT constexpr explicit leaves(int, _U&&... values) : leaf<i, _T>{static_cast<_U&&>(values)}... {}
};
}  // namespace detail

template <class... _T>
struct tuple : detail::leaves<std::index_sequence_for<_T...>, _T...> {
  using base = detail::leaves<std::index_sequence_for<_T...>, _T...>;
  using indices = std::index_sequence_for<_T...>;
  tuple() = default;
  tuple(const tuple&) = default;
  template <class... _U, class = std::enable_if_t<sizeof...(_U) == sizeof...(_T) && sizeof...(_U) != 0 &&
                                                 (std::is_convertible_v<_U&&, _T> && ...)>>
  SIMT_HDT constexpr tuple(_U&&... values) : base(0, static_cast<_U&&>(values)...) {}
  template <class... _U, class = std::enable_if_t<sizeof...(_U) == sizeof...(_T)>>
  SIMT_HDT constexpr tuple(const tuple<_U...>& other) : tuple(other, indices()) {}
  SIMT_HDT tuple& operator=(const tuple& other) { return assign(other, indices()); }
  template <class... _U>
  SIMT_HDT tuple& operator=(const tuple<_U...>& other) {
    return assign(other, indices());
  }
  template <class _A, class _B>
  SIMT_HDT tuple& operator=(const pair<_A, _B>& other) {
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
template <class... _T>
tuple(_T...) -> tuple<_T...>;

struct null_type {};
template <size_t i, class Tuple>
struct tuple_element;
template <size_t i, class... _T>
struct tuple_element<i, tuple<_T...>> {
  using type = std::tuple_element_t<i, tuple<_T...>>;
};
template <class Tuple>
struct tuple_size;
template <class... _T>
struct tuple_size<tuple<_T...>> : std::integral_constant<size_t, sizeof...(_T)> {};

template <size_t i, class... _T>
SIMT_HDT constexpr decltype(auto) get(tuple<_T...>& values) {
  return detail::value_of<i>(values);
}
template <size_t i, class... _T>
SIMT_HDT constexpr decltype(auto) get(const tuple<_T...>& values) {  // of references: what they refer to
  return detail::value_of<i>(values);
}
template <size_t i, class _A, class _B>
SIMT_HDT constexpr auto& get(pair<_A, _B>& values) {
  if constexpr (i == 0) return values.first; else return values.second;
}
template <size_t i, class _A, class _B>
SIMT_HDT constexpr const auto& get(const pair<_A, _B>& values) {
  if constexpr (i == 0) return values.first; else return values.second;
}
template <class... _T>
SIMT_HDT constexpr tuple<std::decay_t<_T>...> make_tuple(_T&&... values) {
  return tuple<std::decay_t<_T>...>(static_cast<_T&&>(values)...);
}
template <class... _T>
SIMT_HDT constexpr tuple<_T&...> tie(_T&... values) {
  return tuple<_T&...>(values...);
}
namespace detail {
template <size_t i, size_t n, class _A, class _B>
SIMT_HDT constexpr bool same_from(const _A& a, const _B& b) {
  if constexpr (i == n) return true;
  else return value_of<i>(a) == value_of<i>(b) && same_from<i + 1, n>(a, b);
}
template <size_t i, size_t n, class _A, class _B>
SIMT_HDT constexpr bool less_from(const _A& a, const _B& b) {
  if constexpr (i == n) return false;
  else return value_of<i>(a) < value_of<i>(b) || (!(value_of<i>(b) < value_of<i>(a)) && less_from<i + 1, n>(a, b));
}
}  // namespace detail
template <class... _A, class... _B>
SIMT_HDT constexpr bool operator==(const tuple<_A...>& a, const tuple<_B...>& b) {
  return detail::same_from<0, sizeof...(_A)>(a, b);
}
template <class... _A, class... _B>
SIMT_HDT constexpr bool operator!=(const tuple<_A...>& a, const tuple<_B...>& b) {
  return !(a == b);
}
template <class... _A, class... _B>
SIMT_HDT constexpr bool operator<(const tuple<_A...>& a, const tuple<_B...>& b) {
  return detail::less_from<0, sizeof...(_A)>(a, b);
}
template <class... _A, class... _B>
SIMT_HDT constexpr bool operator>(const tuple<_A...>& a, const tuple<_B...>& b) {
  return b < a;
}
}  // namespace thrust

namespace std {
template <class... _T>
struct tuple_size<thrust::tuple<_T...>> : integral_constant<size_t, sizeof...(_T)> {};
template <size_t i, class First, class... Rest>
struct tuple_element<i, thrust::tuple<First, Rest...>> : tuple_element<i - 1, thrust::tuple<Rest...>> {};
template <class First, class... Rest>
struct tuple_element<0, thrust::tuple<First, Rest...>> {
  using type = First;
};
}  // namespace std
